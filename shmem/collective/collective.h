/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_H
#define MEMSPAN_SHMEM_COLLECTIVE_H

/* Collectives of a team. All members call in the same order; 0, or nonzero with an error record.
 * Sizes are bytes of one PE's part. */

#include "core/base/platform.h"
#include "shmem/team.h"

/* All members have come; what they stored locally before is seen. */
void memspan_collective_sync(struct memspan_team *team);
/* The same, and all puts on the default context are complete: shmem_barrier_all(). */
void memspan_collective_barrier(struct memspan_team *team);

/* Into every dest; of an active set, every one but the root's. */
int memspan_collective_broadcast(struct memspan_team *team, void *dest, const void *source,
                                 size_t size_bytes, int root);
int memspan_collective_collect(struct memspan_team *team, void *dest, const void *source,
                               size_t size_bytes);
int memspan_collective_fcollect(struct memspan_team *team, void *dest, const void *source,
                                size_t size_bytes);
int memspan_collective_alltoall(struct memspan_team *team, void *dest, const void *source,
                                size_t size_bytes);
int memspan_collective_alltoalls(struct memspan_team *team, void *dest, const void *source,
                                 ptrdiff_t dest_stride, ptrdiff_t source_stride,
                                 size_t element_bytes, size_t count);

/* Of the checked mode. True in every member when all give the same @p value. */
bool memspan_collective_agrees(struct memspan_team *team, uint64_t value);
/* Fatal, with both values, unless all members are in this @p call and give the same @p value for
 * that @p argument (read as a signed number). */
void memspan_collective_check(const char *call, struct memspan_team *team, const char *argument,
                              uint64_t value) __attribute__((cold));

/* What is done with two elements, by operation and C type; see reduce.h. */
enum memspan_reduction {
    MEMSPAN_REDUCE_SUM,
    MEMSPAN_REDUCE_PROD,
    MEMSPAN_REDUCE_MIN,
    MEMSPAN_REDUCE_MAX,
    MEMSPAN_REDUCE_AND,
    MEMSPAN_REDUCE_OR,
    MEMSPAN_REDUCE_XOR,
    MEMSPAN_REDUCE_COUNT
};
enum memspan_number {
    MEMSPAN_NUMBER_S8,
    MEMSPAN_NUMBER_U8,
    MEMSPAN_NUMBER_S16,
    MEMSPAN_NUMBER_U16,
    MEMSPAN_NUMBER_S32,
    MEMSPAN_NUMBER_U32,
    MEMSPAN_NUMBER_S64,
    MEMSPAN_NUMBER_U64,
    MEMSPAN_NUMBER_F32,
    MEMSPAN_NUMBER_F64,
    MEMSPAN_NUMBER_F80, /* long double */
    MEMSPAN_NUMBER_C32,
    MEMSPAN_NUMBER_C64,
    MEMSPAN_NUMBER_COUNT
};
int memspan_collective_reduce(struct memspan_team *team, enum memspan_reduction operation,
                              enum memspan_number type, void *dest, const void *source,
                              size_t count);
/* @p inclusive: shmem_sum_inscan(), else exscan. */
int memspan_collective_scan(struct memspan_team *team, enum memspan_number type, bool inclusive,
                            void *dest, const void *source, size_t count);

/* The active set (start, log2 of stride, size) as a team for one call. Fatal, naming @p call, when
 * this PE is not in it or it is none.
 *
 * It meets in the program's @p sync (pSync), which must be symmetric and SHMEM_SYNC_SIZE longs. A
 * set of all PEs meets as the world does, which is faster; not where threads may be in collective
 * calls of several sets at once. */
struct memspan_active_set {
    struct memspan_team team;
};
void memspan_active_set_open(const char *call, struct memspan_active_set *set, int start,
                             int log_stride, int size, long *sync);
/* The pSync is as it was, for this PE. */
void memspan_active_set_close(struct memspan_active_set *set);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_H */
