/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_KIND_H
#define MEMSPAN_SHMEM_PARTITION_KIND_H

/* The kinds of memory that a partition may have, a row each. A new kind is a number in
 * SHMEMX_KIND_MAP (shmemx.h), a row here, and its lines in the manual. */

#include "core/base/platform.h"
#include <memspan/device.h>
#include <shmemx.h>
#include <stdbool.h>

/* How memory of the kind is had (placement.c). */
enum msp_kind_source {
    MSP_KIND_PAGES,  /* host pages, bound to NUMA nodes */
    MSP_KIND_LOCKED, /* host pages, locked and imported into drivers */
    MSP_KIND_SHARED, /* host pages where the device reaches them, else a block of its driver's */
    MSP_KIND_BLOCK,  /* a block of a device's driver, which the host does not touch */
};

struct msp_partition_kind {
    const char *name;
    const char *letters; /* one of them alone means this kind although other names begin so */
    const char *backend; /* whose devices its number counts; "": Memspan's numbers */
    shmemx_kind_t kind;
    enum msp_kind_source source;
    memspan_kind_t memory; /* of MSP_KIND_SHARED and MSP_KIND_BLOCK */
    long hint;             /* of shmem_malloc_with_hints() that it suits; 0: none */
};

/* In the order of the numbers, then the other names of some; ends at name NULL. */
extern const struct msp_partition_kind msp_partition_kinds[] MSP_HIDDEN;

/* The row of a kind; NULL: there is none. */
const struct msp_partition_kind *msp_partition_kind(shmemx_kind_t kind, const char *backend);

#endif /* MEMSPAN_SHMEM_PARTITION_KIND_H */
