/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_COMBINE_H
#define MEMSPAN_SHMEM_COLLECTIVE_COMBINE_H

#include "shmem/collective/collective.h"

/* The arithmetic of reductions: one loop for each operation and C type. */

/* to[i] = x[i] OPERATION y[i]; to may be x or y. */
typedef void (*msp_combine_t)(void *to, const void *x, const void *y, size_t count);

/* NULL: the type has no such operation. */
msp_combine_t msp_combine_of(enum msp_reduction operation, enum msp_number type);

size_t msp_number_bytes(enum msp_number type);

/* ---- chunks ---- */

/* Chunks of a vector that PEs of one host reduce, each its own. */

/* The bytes that a PE combines at a time: they stay in the first cache. */
enum { MSP_CHUNK_PIECE_BYTES = 16 << 10 };

/* The elements [*first_p, *end_p) of chunk @p number of so many: whole cache lines. */
void msp_chunk_of(int number, int chunk_count, size_t element_bytes, size_t count, size_t *first_p,
                  size_t *end_p);

/* @p count elements, @p bytes, of all PEs' @p source, wherever that is, to memory of the host; at
 * most MSP_CHUNK_PIECE_BYTES. */
void msp_chunk_combine_all(struct msp_team *team, msp_combine_t combine, char *to,
                           const char *source, size_t bytes, size_t count);

/* This PE's chunk [@p first, @p end) of dest: the same elements of all PEs' source, which may be
 * dest. */
void msp_chunk_combine(struct msp_team *team, msp_combine_t combine, char *dest, const char *source,
                       size_t element_bytes, size_t first, size_t end);

/* The chunks of dest that other PEs have reduced, from them: a chunk for each PE of the team. */
void msp_chunk_read_others(struct msp_team *team, char *dest, size_t element_bytes, size_t count);

/* All PEs of the team have it mapped. */
bool msp_chunk_is_mapped(const struct msp_team *team, const void *address, size_t bytes);

/* ---- devices ---- */

/* Reductions of large vectors in memory of devices, by the devices' kernels. */

/* Whether such a reduction is one of these: the same in all members. */
bool msp_device_reduce_takes(const void *dest, const void *source, size_t bytes);

/* As msp_collective_reduce(). */
void msp_device_reduce(struct msp_team *team, enum msp_reduction operation, enum msp_number type,
                       void *dest, const void *source, size_t count);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_COMBINE_H */
