/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_DATA_PAGES_H
#define MEMSPAN_SHMEM_TRANSPORT_DATA_PAGES_H

/* Pages of the executable's variables that are not readable and writable, because the program has
 * protected or closed them: a stack's guard, the arena of a collector. A mapping that replaces
 * theirs gets the same protection, page by page. */

#include "core/base/platform.h"

struct msp_data_pages {
    struct msp_data_run {
        uintptr_t first;
        uintptr_t end;
        int protection; /* PROT_; of addresses without a mapping PROT_NONE */
        bool is_guard;  /* a guard region: an access is a fault, whatever the protection */
    } * runs;
    size_t count;
    size_t capacity;
};

/* The runs from @p first to @p end (whole pages); false with errno where they cannot be known. To
 * be freed in either case. */
bool msp_data_pages_read(struct msp_data_pages *pages, uintptr_t first, uintptr_t end);

/* Add a guard region that msp_data_pages_read() has not seen: Linux 6.13 and 6.14 do not show them.
 */
bool msp_data_pages_add_guard(struct msp_data_pages *pages, uintptr_t first, uintptr_t end);

/* Make closed pages readable, for a copy of their contents. */
bool msp_data_pages_unlock(const struct msp_data_pages *pages);

/* Give what is mapped there now the protection of the runs; false with errno. */
bool msp_data_pages_apply(const struct msp_data_pages *pages);

void msp_data_pages_free(struct msp_data_pages *pages);

/* ---- the kernel's record of each page ---- */

enum { MSP_PAGEMAP_BATCH = 512 };
#define MSP_PAGEMAP_GUARD   (UINT64_C(1) << 58) /* since Linux 6.15 */
#define MSP_PAGEMAP_TOUCHED (UINT64_C(3) << 62) /* present or swapped; of guards, too */

/* The entries of @p count (at most MSP_PAGEMAP_BATCH) pages from @p first on; -1 for @p fd is
 * allowed. False: unknown. */
bool msp_pagemap_read(int fd, uintptr_t first, size_t count, uint64_t *entries);

#endif /* MEMSPAN_SHMEM_TRANSPORT_DATA_PAGES_H */
