/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c: reductions and scans of teams. */

#include "shmem/api/collective.h"
#include "shmem/api/routine.h"

static struct memspan_team *enter(const char *call, shmem_team_t handle, void *dest,
                                  const void *source, size_t count, size_t element_bytes)
{
    struct memspan_team *team = memspan_require_team(call, "team", handle);
    size_t size_bytes         = memspan_part_bytes(call, team, count, element_bytes);

    if (MEMSPAN_UNLIKELY(memspan_job.checks)) {
        memspan_check_parts(call, team, dest, size_bytes, source, size_bytes, true);
    }
    return team;
}

#define REDUCE(NAME, TYPE, OP)                                                                     \
    MEMSPAN_ROUTINE(int, shmem_##NAME##_##OP##_reduce, shmem_team_t team, TYPE *dest,              \
                    const TYPE *source, size_t nreduce)                                            \
    {                                                                                              \
        return memspan_collective_reduce(                                                          \
            enter(MEMSPAN_CALL, team, dest, source, nreduce, sizeof(TYPE)),                        \
            MEMSPAN_REDUCTION_##OP, MEMSPAN_NUMBER_OF(TYPE), dest, source, nreduce);               \
    }
MEMSPAN_SHMEM_REDUCE_BITS_TYPES(REDUCE, and)
MEMSPAN_SHMEM_REDUCE_BITS_TYPES(REDUCE, or)
MEMSPAN_SHMEM_REDUCE_BITS_TYPES(REDUCE, xor)
MEMSPAN_SHMEM_RMA_TYPES(REDUCE, max)
MEMSPAN_SHMEM_RMA_TYPES(REDUCE, min)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(REDUCE, sum)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(REDUCE, prod)

#define IS_INCLUSIVE_inscan true
#define IS_INCLUSIVE_exscan false
#define SCAN(NAME, TYPE, OP)                                                                       \
    MEMSPAN_ROUTINE(int, shmem_##NAME##_sum_##OP, shmem_team_t team, TYPE *dest,                   \
                    const TYPE *source, size_t nelems)                                             \
    {                                                                                              \
        return memspan_collective_scan(                                                            \
            enter(MEMSPAN_CALL, team, dest, source, nelems, sizeof(TYPE)),                         \
            MEMSPAN_NUMBER_OF(TYPE), IS_INCLUSIVE_##OP, dest, source, nelems);                     \
    }
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(SCAN, inscan)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(SCAN, exscan)
