/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c: reductions and scans of teams. */

#include "shmem/api/collective.h"
#include "shmem/api/routine.h"

static struct msp_team *enter(const char *call, shmem_team_t handle, void *dest, const void *source,
                              size_t count, size_t element_bytes)
{
    struct msp_team *team = msp_require_team(call, "team", handle);
    size_t size_bytes     = msp_part_bytes(call, team, count, element_bytes);

    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_parts(call, team, dest, size_bytes, source, size_bytes, true);
    }
    return team;
}

#define REDUCE(NAME, TYPE, OP)                                                                     \
    MSP_ROUTINE(int, shmem_##NAME##_##OP##_reduce, shmem_team_t team, TYPE *dest,                  \
                const TYPE *source, size_t nreduce)                                                \
    {                                                                                              \
        return msp_collective_reduce(enter(MSP_CALL, team, dest, source, nreduce, sizeof(TYPE)),   \
                                     MSP_REDUCTION_##OP, MSP_NUMBER_OF(TYPE), dest, source,        \
                                     nreduce);                                                     \
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
    MSP_ROUTINE(int, shmem_##NAME##_sum_##OP, shmem_team_t team, TYPE *dest, const TYPE *source,   \
                size_t nelems)                                                                     \
    {                                                                                              \
        return msp_collective_scan(enter(MSP_CALL, team, dest, source, nelems, sizeof(TYPE)),      \
                                   MSP_NUMBER_OF(TYPE), IS_INCLUSIVE_##OP, dest, source, nelems);  \
    }
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(SCAN, inscan)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(SCAN, exscan)
