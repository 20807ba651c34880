/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_MEMORY_H
#define MEMSPAN_SHMEM_MEMORY_H

/* Symmetric allocation: every PE makes the same calls, so every PE's heap gives the same offsets
 * and nothing is exchanged. Collective over the world (a partition made by a team: over that team).
 * NULL with an error record (and a warning with a remedy) when there is no space. */

#include "shmem/error.h"
#include <stdbool.h>
#include <stddef.h>

/* Hints of shmem_malloc_with_hints() that concern us here. */
enum msp_memory_flag {
    MSP_MEMORY_ZEROED     = 1u << 0,
    MSP_MEMORY_NO_BARRIER = 1u << 1, /* the caller synchronises */
};

/* @p partition: its number, or MSP_PARTITION_DEFAULT. @p align_bytes: 0, or a power of two.
 * @p call: for messages. */
void *msp_memory_alloc(const char *call, int partition, size_t align_bytes, size_t size_bytes,
                       unsigned flags);
void *msp_memory_realloc(const char *call, int partition, void *pointer, size_t size_bytes,
                         unsigned flags);
/* Any partition's. NULL: nothing to do. An address that is no live block's start is refused with a
 * message. */
void msp_memory_free(const char *call, void *pointer, unsigned flags);

#endif /* MEMSPAN_SHMEM_MEMORY_H */
