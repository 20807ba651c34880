/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_RETIRED_H
#define MEMSPAN_CORE_ENGINE_RETIRED_H

/* The counts of allocators that have ended, by name and kind; those without a name are one group
 * for each kind. All under the lock of the table of allocators. */

#include <memspan/device.h>
#include <stdint.h>

struct msp_account;

struct msp_retired {
    const char *name; /* "" for those without */
    memspan_kind_t kind;
    uint64_t allocator_count;
    uint64_t allocated_count; /* and freed */
    uint64_t failed_count;
    uint64_t fallback_count;
    uint64_t peak_bytes; /* the sum of their peaks */
    struct msp_retired *next;
};

/* The group of a kind and a name, which stays. Where there are too many groups, or there is
 * no memory for one, that of all others. */
struct msp_retired *msp_retired_group(const char *name, memspan_kind_t kind);

/* Adds the counts of an unused account. */
void msp_retired_add(struct msp_retired *group, const struct msp_account *account);

/* The first group; NULL at the end of the list. */
const struct msp_retired *msp_retired_first(void);

/* A name that stays as long as the process; equal ones are one. NULL without memory. */
const char *msp_name_intern(const char *name);

#endif /* MEMSPAN_CORE_ENGINE_RETIRED_H */
