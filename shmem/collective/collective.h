/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_H
#define MEMSPAN_SHMEM_COLLECTIVE_H

/* Collectives of a team. All members call in the same order; 0, or nonzero with an error record.
 * Sizes are bytes of one PE's part. */

#include "core/base/platform.h"
#include "shmem/team.h"

/* A barrier; members' local stores before it are seen after it. */
void msp_collective_sync(struct msp_team *team);
/* The same, and all puts on the default context are complete: shmem_barrier_all(). */
void msp_collective_barrier(struct msp_team *team);

/* Into every dest; of an active set, every one but the root's. */
int msp_collective_broadcast(struct msp_team *team, void *dest, const void *source,
                             size_t size_bytes, int root);
int msp_collective_collect(struct msp_team *team, void *dest, const void *source,
                           size_t size_bytes);
int msp_collective_fcollect(struct msp_team *team, void *dest, const void *source,
                            size_t size_bytes);
int msp_collective_alltoall(struct msp_team *team, void *dest, const void *source,
                            size_t size_bytes);
int msp_collective_alltoalls(struct msp_team *team, void *dest, const void *source,
                             ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t element_bytes,
                             size_t count);

/* Of the checked mode. True in every member when all give the same @p value. */
bool msp_collective_agrees(struct msp_team *team, uint64_t value);
/* Fatal, with both values, unless all members are in this @p call and give the same @p value for
 * that @p argument (read as a signed number). */
void msp_collective_check(const char *call, struct msp_team *team, const char *argument,
                          uint64_t value) __attribute__((cold));

/* The operation on two elements, by operation and C type; combine.h does it. */
enum msp_reduction {
    MSP_REDUCE_SUM,
    MSP_REDUCE_PROD,
    MSP_REDUCE_MIN,
    MSP_REDUCE_MAX,
    MSP_REDUCE_AND,
    MSP_REDUCE_OR,
    MSP_REDUCE_XOR,
    MSP_REDUCE_COUNT
};
enum msp_number {
    MSP_NUMBER_S8,
    MSP_NUMBER_U8,
    MSP_NUMBER_S16,
    MSP_NUMBER_U16,
    MSP_NUMBER_S32,
    MSP_NUMBER_U32,
    MSP_NUMBER_S64,
    MSP_NUMBER_U64,
    MSP_NUMBER_F32,
    MSP_NUMBER_F64,
    MSP_NUMBER_F80, /* long double */
    MSP_NUMBER_C32,
    MSP_NUMBER_C64,
    MSP_NUMBER_COUNT
};
int msp_collective_reduce(struct msp_team *team, enum msp_reduction operation, enum msp_number type,
                          void *dest, const void *source, size_t count);
/* @p inclusive: shmem_sum_inscan(), else exscan. */
int msp_collective_scan(struct msp_team *team, enum msp_number type, bool inclusive, void *dest,
                        const void *source, size_t count);

/* The active set (start, log2 of stride, size) as a team for one call. Fatal, naming @p call, when
 * this PE is not in it or it is none.
 *
 * Its barriers use the program's @p sync (pSync), which must be symmetric and SHMEM_SYNC_SIZE
 * longs. A set of all PEs uses the world's, which are faster; not where threads may be in
 * collective calls of several sets at once. */
struct msp_active_set {
    struct msp_team team;
};
void msp_active_set_open(const char *call, struct msp_active_set *set, int start, int log_stride,
                         int size, long *sync);
/* The pSync is as it was, for this PE. */
void msp_active_set_close(struct msp_active_set *set);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_H */
