/* SPDX-License-Identifier: BSD-3-Clause */
/* collective.c: barriers and data movement of teams.
 *
 * Arguments are checked here; the data is moved in shmem/collective/. Sizes become bytes of one
 * member's part, so that one routine serves all types. */

#include "shmem/collective/collective.h"
#include "shmem/api/collective.h"
#include "shmem/api/routine.h"
#include <string.h>

/* ---- arguments ---- */

size_t msp_part_bytes(const char *call, const struct msp_team *team, size_t count,
                      size_t element_bytes)
{
    size_t size_bytes;
    size_t all_bytes;

    if (__builtin_mul_overflow(count, element_bytes, &size_bytes) ||
        __builtin_mul_overflow(size_bytes, (size_t)team->size, &all_bytes)) {
        msp_fatal("%s: %zu elements of %zu bytes from %d PEs are more than there can be", call,
                  count, element_bytes, team->size);
    }
    return size_bytes;
}

static void check_disjoint(const char *call, const void *dest, size_t dest_bytes,
                           const void *source, size_t source_bytes)
{
    if (((uintptr_t)dest - (uintptr_t)source < source_bytes) ||
        ((uintptr_t)source - (uintptr_t)dest < dest_bytes)) {
        msp_fatal("%s: dest %p (%zu bytes) and source %p (%zu bytes) overlap", call, dest,
                  dest_bytes, source, source_bytes);
    }
}

void msp_check_parts(const char *call, struct msp_team *team, const void *dest, size_t dest_bytes,
                     const void *source, size_t source_bytes, bool may_be_same)
{
    msp_check_symmetric(call, "dest", dest, dest_bytes);
    msp_check_symmetric(call, "source", source, source_bytes);
    if ((dest_bytes != 0) && (source_bytes != 0) && !(may_be_same && (dest == source))) {
        check_disjoint(call, dest, dest_bytes, source, source_bytes);
    }
    msp_check_agreement(call, team, "the number of bytes", source_bytes);
}

/* ---- arrival ---- */

MSP_ROUTINE(void, shmem_barrier_all, void)
{
    msp_job_require(MSP_CALL);
    msp_collective_barrier(msp_team_world());
}

MSP_ROUTINE(void, shmem_sync_all, void)
{
    msp_job_require(MSP_CALL);
    msp_collective_sync(msp_team_world());
}

MSP_ROUTINE(int, shmem_team_sync, shmem_team_t team)
{
    msp_collective_sync(msp_require_team(MSP_CALL, "team", team));
    return 0;
}

/* ---- one to all ---- */

static int broadcast(const char *call, shmem_team_t handle, void *dest, const void *source,
                     size_t count, size_t element_bytes, int root)
{
    struct msp_team *team = msp_require_team(call, "team", handle);
    size_t size_bytes     = msp_part_bytes(call, team, count, element_bytes);

    if ((unsigned)root >= (unsigned)team->size) {
        msp_fatal("%s: PE_root %d is not in the team: its PEs are 0 to %d", call, root,
                  team->size - 1);
    }
    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_parts(call, team, dest, size_bytes, source, size_bytes, true);
        msp_check_agreement(call, team, "PE_root", (uint64_t)root);
    }
    return msp_collective_broadcast(team, dest, source, size_bytes, root);
}

#define BROADCAST(NAME, TYPE, OP)                                                                  \
    MSP_ROUTINE(int, shmem_##NAME##_broadcast, shmem_team_t team, TYPE *dest, const TYPE *source,  \
                size_t nelems, int PE_root)                                                        \
    {                                                                                              \
        return broadcast(MSP_CALL, team, dest, source, nelems, sizeof(TYPE), PE_root);             \
    }
MEMSPAN_SHMEM_RMA_TYPES(BROADCAST, )
MSP_ROUTINE(int, shmem_broadcastmem, shmem_team_t team, void *dest, const void *source,
            size_t nelems, int PE_root)
{
    return broadcast(MSP_CALL, team, dest, source, nelems, 1, PE_root);
}

/* ---- all to all ---- */

/* Parts may differ in size: the members' sizes need not agree. */
static int collect(const char *call, shmem_team_t handle, void *dest, const void *source,
                   size_t count, size_t element_bytes)
{
    struct msp_team *team = msp_require_team(call, "team", handle);
    size_t size_bytes     = msp_part_bytes(call, team, count, element_bytes);

    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_symmetric(call, "dest", dest, size_bytes);
        msp_check_symmetric(call, "source", source, size_bytes);
    }
    return msp_collective_collect(team, dest, source, size_bytes);
}

static int fcollect(const char *call, shmem_team_t handle, void *dest, const void *source,
                    size_t count, size_t element_bytes)
{
    struct msp_team *team = msp_require_team(call, "team", handle);
    size_t size_bytes     = msp_part_bytes(call, team, count, element_bytes);

    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_parts(call, team, dest, size_bytes * (size_t)team->size, source, size_bytes,
                        false);
    }
    return msp_collective_fcollect(team, dest, source, size_bytes);
}

static int alltoall(const char *call, shmem_team_t handle, void *dest, const void *source,
                    size_t count, size_t element_bytes)
{
    struct msp_team *team = msp_require_team(call, "team", handle);
    size_t size_bytes     = msp_part_bytes(call, team, count, element_bytes);

    if (MSP_UNLIKELY(msp_job.checks)) {
        size_t all_bytes = size_bytes * (size_t)team->size;

        msp_check_parts(call, team, dest, all_bytes, source, all_bytes, false);
    }
    return msp_collective_alltoall(team, dest, source, size_bytes);
}

#define COLLECTIVE(NAME, TYPE, OP)                                                                 \
    MSP_ROUTINE(int, shmem_##NAME##_##OP, shmem_team_t team, TYPE *dest, const TYPE *source,       \
                size_t nelems)                                                                     \
    {                                                                                              \
        return OP(MSP_CALL, team, dest, source, nelems, sizeof(TYPE));                             \
    }
#define COLLECTIVE_MEM(OP)                                                                         \
    MSP_ROUTINE(int, shmem_##OP##mem, shmem_team_t team, void *dest, const void *source,           \
                size_t nelems)                                                                     \
    {                                                                                              \
        return OP(MSP_CALL, team, dest, source, nelems, 1);                                        \
    }
MEMSPAN_SHMEM_RMA_TYPES(COLLECTIVE, collect)
COLLECTIVE_MEM(collect)
MEMSPAN_SHMEM_RMA_TYPES(COLLECTIVE, fcollect)
COLLECTIVE_MEM(fcollect)
MEMSPAN_SHMEM_RMA_TYPES(COLLECTIVE, alltoall)
COLLECTIVE_MEM(alltoall)

static int alltoalls(const char *call, shmem_team_t handle, void *dest, const void *source,
                     ptrdiff_t dst, ptrdiff_t sst, size_t count, size_t element_bytes)
{
    struct msp_team *team = msp_require_team(call, "team", handle);

    (void)msp_part_bytes(call, team, count, element_bytes);
    if ((dst < 1) || (sst < 1)) {
        msp_fatal("%s: strides are at least 1; dst is %td, sst %td", call, dst, sst);
    }
    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_symmetric(call, "dest", dest, count * element_bytes);
        msp_check_symmetric(call, "source", source, count * element_bytes);
        msp_check_agreement(call, team, "nelems", count);
    }
    return msp_collective_alltoalls(team, dest, source, dst, sst, element_bytes, count);
}

#define ALLTOALLS(NAME, TYPE, OP)                                                                  \
    MSP_ROUTINE(int, shmem_##NAME##_alltoalls, shmem_team_t team, TYPE *dest, const TYPE *source,  \
                ptrdiff_t dst, ptrdiff_t sst, size_t nelems)                                       \
    {                                                                                              \
        return alltoalls(MSP_CALL, team, dest, source, dst, sst, nelems, sizeof(TYPE));            \
    }
MEMSPAN_SHMEM_RMA_TYPES(ALLTOALLS, )
MSP_ROUTINE(int, shmem_alltoallsmem, shmem_team_t team, void *dest, const void *source,
            ptrdiff_t dst, ptrdiff_t sst, size_t nelems)
{
    return alltoalls(MSP_CALL, team, dest, source, dst, sst, nelems, 1);
}
