/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: symmetric allocation by its standard names, from the default partition. */

#include "shmem/memory.h"
#include "shmem/api/routine.h"
#include "shmem/partition.h"

static void *allocate(const char *call, size_t size_bytes, unsigned flags)
{
    return memspan_memory_alloc(call, MEMSPAN_PARTITION_DEFAULT, 0, size_bytes, flags);
}

static void *allocate_aligned(const char *call, size_t align_bytes, size_t size_bytes)
{
    memspan_job_require(call);
    if (!memspan_is_power_of_two(align_bytes)) {
        memspan_error(MEMSPAN_ERR_INVALID, "%s: alignment %zu is no power of two", call,
                      align_bytes);
        return NULL;
    }
    return memspan_memory_alloc(call, MEMSPAN_PARTITION_DEFAULT, align_bytes, size_bytes, 0);
}

static void *reallocate(const char *call, void *pointer, size_t size_bytes)
{
    return memspan_memory_realloc(call, MEMSPAN_PARTITION_DEFAULT, pointer, size_bytes, 0);
}

MEMSPAN_ROUTINE(void *, shmem_malloc, size_t size)
{
    return allocate(MEMSPAN_CALL, size, 0);
}

MEMSPAN_ROUTINE(void *, shmem_calloc, size_t count, size_t size)
{
    return allocate(MEMSPAN_CALL, memspan_bytes_of(count, size), MEMSPAN_MEMORY_ZEROED);
}

MEMSPAN_ROUTINE(void *, shmem_align, size_t alignment, size_t size)
{
    return allocate_aligned(MEMSPAN_CALL, alignment, size);
}

MEMSPAN_ROUTINE(void *, shmem_realloc, void *ptr, size_t size)
{
    return reallocate(MEMSPAN_CALL, ptr, size);
}

MEMSPAN_ROUTINE(void, shmem_free, void *ptr)
{
    memspan_memory_free(MEMSPAN_CALL, ptr, 0);
}

/* ---- with hints ---- */

static bool suits(const shmemx_partition_info_t *info, long hints)
{
    if ((hints & SHMEMX_MALLOC_DEVICE) != 0) {
        return (info->kind == SHMEMX_KIND_DEVICE) || (info->kind == SHMEMX_KIND_LIBOMP);
    }
    return info->kind == SHMEMX_KIND_FASTMEM;
}

/* The first partition that suits, and has room. All PEs find the same one: their partitions and
 * what is allocated from them are the same. */
static int partition_for(long hints, size_t size_bytes)
{
    int ids[MEMSPAN_PARTITION_MAX];
    int count;
    int i;

    if ((hints & (SHMEMX_MALLOC_DEVICE | SHMEMX_MALLOC_HIGH_BW)) == 0) {
        return MEMSPAN_PARTITION_DEFAULT;
    }
    count = memspan_partition_ids(ids, MEMSPAN_PARTITION_MAX);
    for (i = 0; i < count; i++) {
        shmemx_partition_info_t info = {.struct_size = sizeof info};

        if ((memspan_partition_describe(ids[i], &info) == MEMSPAN_OK) && suits(&info, hints) &&
            (info.team == SHMEM_TEAM_WORLD) && (info.largest_bytes >= size_bytes)) {
            return ids[i];
        }
    }
    return MEMSPAN_PARTITION_DEFAULT;
}

MEMSPAN_ROUTINE(void *, shmem_malloc_with_hints, size_t size, long hints)
{
    unsigned flags = ((hints & SHMEMX_MALLOC_NO_BARRIER) != 0) ? MEMSPAN_MEMORY_NO_BARRIER : 0;

    memspan_job_require(MEMSPAN_CALL);
    return memspan_memory_alloc(MEMSPAN_CALL, partition_for(hints, size), 0, size, flags);
}

/* ---- by the names before 1.2 ---- */

MEMSPAN_ROUTINE(void *, shmalloc, size_t size)
{
    return allocate(MEMSPAN_CALL, size, 0);
}

MEMSPAN_ROUTINE(void *, shmemalign, size_t alignment, size_t size)
{
    return allocate_aligned(MEMSPAN_CALL, alignment, size);
}

MEMSPAN_ROUTINE(void *, shrealloc, void *ptr, size_t size)
{
    return reallocate(MEMSPAN_CALL, ptr, size);
}

MEMSPAN_ROUTINE(void, shfree, void *ptr)
{
    memspan_memory_free(MEMSPAN_CALL, ptr, 0);
}
