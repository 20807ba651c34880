/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: symmetric allocation by its standard names, from the default partition. */

#include "shmem/memory.h"
#include "shmem/api/routine.h"
#include "shmem/partition/partition.h"
#include "shmem/partition/placement.h"

static void *allocate(const char *call, size_t size_bytes, unsigned flags)
{
    return msp_memory_alloc(call, MSP_PARTITION_DEFAULT, 0, size_bytes, flags);
}

static void *allocate_aligned(const char *call, size_t align_bytes, size_t size_bytes)
{
    msp_job_require(call);
    if (!msp_is_power_of_two(align_bytes)) {
        msp_refuse(MEMSPAN_ERR_INVALID, "%s: alignment %zu is no power of two", call, align_bytes);
        return NULL;
    }
    return msp_memory_alloc(call, MSP_PARTITION_DEFAULT, align_bytes, size_bytes, 0);
}

static void *reallocate(const char *call, void *pointer, size_t size_bytes)
{
    return msp_memory_realloc(call, MSP_PARTITION_DEFAULT, pointer, size_bytes, 0);
}

MSP_ROUTINE(void *, shmem_malloc, size_t size)
{
    return allocate(MSP_CALL, size, 0);
}

MSP_ROUTINE(void *, shmem_calloc, size_t count, size_t size)
{
    return allocate(MSP_CALL, msp_bytes_of(count, size), MSP_MEMORY_ZEROED);
}

MSP_ROUTINE(void *, shmem_align, size_t alignment, size_t size)
{
    return allocate_aligned(MSP_CALL, alignment, size);
}

MSP_ROUTINE(void *, shmem_realloc, void *ptr, size_t size)
{
    return reallocate(MSP_CALL, ptr, size);
}

MSP_ROUTINE(void, shmem_free, void *ptr)
{
    msp_memory_free(MSP_CALL, ptr, 0);
}

/* ---- with hints ---- */

/* A device's memory comes first where both are requested. */
static bool suits(const shmemx_partition_info_t *info, long hints)
{
    long wanted =
        ((hints & SHMEMX_MALLOC_DEVICE) != 0) ? SHMEMX_MALLOC_DEVICE : SHMEMX_MALLOC_HIGH_BW;

    return msp_partition_kind(info->kind, "")->hint == wanted;
}

/* The first partition that suits and has enough memory. All PEs find the same one: their partitions
 * and allocations are the same. */
static int partition_for(long hints, size_t size_bytes)
{
    int ids[MSP_PARTITION_MAX];
    int count;
    int i;

    if ((hints & (SHMEMX_MALLOC_DEVICE | SHMEMX_MALLOC_HIGH_BW)) == 0) {
        return MSP_PARTITION_DEFAULT;
    }
    count = msp_partition_ids(ids, MSP_PARTITION_MAX);
    for (i = 0; i < count; i++) {
        shmemx_partition_info_t info = {.struct_size = sizeof info};

        if ((msp_partition_describe(ids[i], &info) == MEMSPAN_OK) && suits(&info, hints) &&
            (info.team == SHMEM_TEAM_WORLD) && (info.largest_bytes >= size_bytes)) {
            return ids[i];
        }
    }
    return MSP_PARTITION_DEFAULT;
}

MSP_ROUTINE(void *, shmem_malloc_with_hints, size_t size, long hints)
{
    unsigned flags = ((hints & SHMEMX_MALLOC_NO_BARRIER) != 0) ? MSP_MEMORY_NO_BARRIER : 0;

    msp_job_require(MSP_CALL);
    return msp_memory_alloc(MSP_CALL, partition_for(hints, size), 0, size, flags);
}

/* ---- by the names before 1.2 ---- */

MSP_ROUTINE(void *, shmalloc, size_t size)
{
    return allocate(MSP_CALL, size, 0);
}

MSP_ROUTINE(void *, shmemalign, size_t alignment, size_t size)
{
    return allocate_aligned(MSP_CALL, alignment, size);
}

MSP_ROUTINE(void *, shrealloc, void *ptr, size_t size)
{
    return reallocate(MSP_CALL, ptr, size);
}

MSP_ROUTINE(void, shfree, void *ptr)
{
    msp_memory_free(MSP_CALL, ptr, 0);
}
