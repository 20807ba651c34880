/* SPDX-License-Identifier: BSD-3-Clause */
/* active_set.c: collectives of active sets, on a team that lives for one call. */

#include "shmem/api/collective.h"
#include "shmem/api/routine.h"
#include "shmem/transport/order.h"

/* Each call has the set, three numbers, and the pSync among its arguments, in an order of its own.
 */
#define OPEN(set)  msp_active_set_open(MSP_CALL, &(set), PE_start, logPE_stride, PE_size, pSync)
#define ACTIVE_SET int PE_start, int logPE_stride, int PE_size, long *pSync

MSP_ROUTINE(void, shmem_barrier, ACTIVE_SET)
{
    struct msp_active_set set;

    OPEN(set);
    msp_quiet(msp_context_default());
    msp_collective_sync(&set.team);
    msp_active_set_close(&set);
}

MSP_ROUTINE(void, shmem_sync, ACTIVE_SET)
{
    struct msp_active_set set;

    OPEN(set);
    msp_collective_sync(&set.team);
    msp_active_set_close(&set);
}

/* They return no status: failures are fatal. */
static void leave(const char *call, struct msp_active_set *set, int status)
{
    if (status != 0) {
        msp_fatal_error(call);
    }
    msp_active_set_close(set);
}

static void check(const char *call, struct msp_active_set *set, const void *dest, size_t dest_bytes,
                  const void *source, size_t source_bytes)
{
    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_parts(call, &set->team, dest, dest_bytes, source, source_bytes, true);
    }
}

/* ---- data movement ---- */

/* Into every dest but the root's. */
static int broadcast(const char *call, struct msp_active_set *set, void *dest, const void *source,
                     size_t count, size_t element_bytes, int root)
{
    size_t size_bytes = msp_part_bytes(call, &set->team, count, element_bytes);

    if ((unsigned)root >= (unsigned)set->team.size) {
        msp_fatal("%s: PE_root %d is not in the active set: its PEs are 0 to %d", call, root,
                  set->team.size - 1);
    }
    check(call, set, dest, size_bytes, source, size_bytes);
    return msp_collective_broadcast(&set->team, dest, source, size_bytes, root);
}

static int collect(const char *call, struct msp_active_set *set, void *dest, const void *source,
                   size_t count, size_t element_bytes)
{
    size_t size_bytes = msp_part_bytes(call, &set->team, count, element_bytes);

    return msp_collective_collect(&set->team, dest, source, size_bytes);
}

static int fcollect(const char *call, struct msp_active_set *set, void *dest, const void *source,
                    size_t count, size_t element_bytes)
{
    size_t size_bytes = msp_part_bytes(call, &set->team, count, element_bytes);

    check(call, set, dest, size_bytes * (size_t)set->team.size, source, size_bytes);
    return msp_collective_fcollect(&set->team, dest, source, size_bytes);
}

static int alltoall(const char *call, struct msp_active_set *set, void *dest, const void *source,
                    size_t count, size_t element_bytes)
{
    size_t size_bytes = msp_part_bytes(call, &set->team, count, element_bytes);
    size_t all_bytes  = size_bytes * (size_t)set->team.size;

    check(call, set, dest, all_bytes, source, all_bytes);
    return msp_collective_alltoall(&set->team, dest, source, size_bytes);
}

static int alltoalls(const char *call, struct msp_active_set *set, void *dest, const void *source,
                     ptrdiff_t dst, ptrdiff_t sst, size_t count, size_t element_bytes)
{
    (void)msp_part_bytes(call, &set->team, count, element_bytes);
    if ((dst < 1) || (sst < 1)) {
        msp_fatal("%s: strides are at least 1; dst is %td, sst %td", call, dst, sst);
    }
    return msp_collective_alltoalls(&set->team, dest, source, dst, sst, element_bytes, count);
}

#define BROADCAST(BITS, OP)                                                                        \
    MSP_ROUTINE(void, shmem_broadcast##BITS, void *dest, const void *source, size_t nelems,        \
                int PE_root, ACTIVE_SET)                                                           \
    {                                                                                              \
        struct msp_active_set set;                                                                 \
                                                                                                   \
        OPEN(set);                                                                                 \
        leave(MSP_CALL, &set,                                                                      \
              broadcast(MSP_CALL, &set, dest, source, nelems, (BITS) / 8, PE_root));               \
    }
#define COLLECTIVE(BITS, OP)                                                                       \
    MSP_ROUTINE(void, shmem_##OP##BITS, void *dest, const void *source, size_t nelems, ACTIVE_SET) \
    {                                                                                              \
        struct msp_active_set set;                                                                 \
                                                                                                   \
        OPEN(set);                                                                                 \
        leave(MSP_CALL, &set, OP(MSP_CALL, &set, dest, source, nelems, (BITS) / 8));               \
    }
#define ALLTOALLS(BITS, OP)                                                                        \
    MSP_ROUTINE(void, shmem_alltoalls##BITS, void *dest, const void *source, ptrdiff_t dst,        \
                ptrdiff_t sst, size_t nelems, ACTIVE_SET)                                          \
    {                                                                                              \
        struct msp_active_set set;                                                                 \
                                                                                                   \
        OPEN(set);                                                                                 \
        leave(MSP_CALL, &set,                                                                      \
              alltoalls(MSP_CALL, &set, dest, source, dst, sst, nelems, (BITS) / 8));              \
    }
MEMSPAN_SHMEM_ACTIVE_SIZES(BROADCAST, )
MEMSPAN_SHMEM_ACTIVE_SIZES(COLLECTIVE, collect)
MEMSPAN_SHMEM_ACTIVE_SIZES(COLLECTIVE, fcollect)
MEMSPAN_SHMEM_ACTIVE_SIZES(COLLECTIVE, alltoall)
MEMSPAN_SHMEM_ACTIVE_SIZES(ALLTOALLS, )

/* ---- reductions: pWrk is not used ---- */

static void reduce(const char *call, struct msp_active_set *set, enum msp_reduction operation,
                   enum msp_number number, void *dest, const void *source, int count,
                   size_t element_bytes)
{
    size_t size_bytes;

    if (count < 0) {
        msp_fatal("%s: nreduce %d is negative", call, count);
    }
    size_bytes = msp_part_bytes(call, &set->team, (size_t)count, element_bytes);
    check(call, set, dest, size_bytes, source, size_bytes);
    leave(call, set,
          msp_collective_reduce(&set->team, operation, number, dest, source, (size_t)count));
}

#define TO_ALL(NAME, TYPE, OP)                                                                     \
    MSP_ROUTINE(void, shmem_##NAME##_##OP##_to_all, TYPE *dest, const TYPE *source, int nreduce,   \
                int PE_start, int logPE_stride, int PE_size, TYPE *pWrk, long *pSync)              \
    {                                                                                              \
        struct msp_active_set set;                                                                 \
                                                                                                   \
        (void)pWrk;                                                                                \
        OPEN(set);                                                                                 \
        reduce(MSP_CALL, &set, MSP_REDUCTION_##OP, MSP_NUMBER_OF(TYPE), dest, source, nreduce,     \
               sizeof(TYPE));                                                                      \
    }
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(TO_ALL, and)
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(TO_ALL, or)
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(TO_ALL, xor)
MEMSPAN_SHMEM_ACTIVE_TYPES(TO_ALL, max)
MEMSPAN_SHMEM_ACTIVE_TYPES(TO_ALL, min)
MEMSPAN_SHMEM_ACTIVE_SUM_TYPES(TO_ALL, sum)
MEMSPAN_SHMEM_ACTIVE_SUM_TYPES(TO_ALL, prod)
