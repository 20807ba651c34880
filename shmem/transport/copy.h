/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_COPY_H
#define MEMSPAN_SHMEM_TRANSPORT_COPY_H

/* Copies from mapping to mapping. The C library's memcpy() is as fast as the memory where the data
 * does not fit the first cache, and for a few lines. In between it leaves the copying to the
 * processor's microcode, which stores half as much a cycle as the widest registers do. */

#include "shmem/job.h"
#include <stddef.h>
#include <string.h>

/* From where microcode begins to where source and destination exceed the smallest usual L1 cache.
 */
enum { MSP_COPY_WIDE_MIN = 3072, MSP_COPY_WIDE_MAX = 16384 };

/* With the widest registers that there are; @p size_bytes at least 512. */
void msp_copy_wide(void *to, const void *from, size_t size_bytes) MSP_HIDDEN;

static inline void msp_copy_block(void *to, const void *from, size_t size_bytes)
{
    if (size_bytes - MSP_COPY_WIDE_MIN <= (size_t)(MSP_COPY_WIDE_MAX - MSP_COPY_WIDE_MIN)) {
        msp_copy_wide(to, from, size_bytes);
    } else {
        memcpy(to, from, size_bytes);
    }
}

#endif /* MEMSPAN_SHMEM_TRANSPORT_COPY_H */
