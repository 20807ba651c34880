/* SPDX-License-Identifier: BSD-3-Clause */
/* partition.c: partitions by all names that calls have had for them, and their description. */

#include "shmem/partition/partition.h"
#include "shmem/memory.h"
#include "shmem/partition/space.h"
#include <shmem.h>
#include <string.h>

/* Numbers of callers: those that mean something to the library are no partitions. */
static int checked(int id)
{
    return (id < 0) ? MSP_PARTITION_NONE : id;
}

static void *allocate(const char *call, int id, size_t size_bytes, unsigned flags)
{
    return msp_memory_alloc(call, checked(id), 0, size_bytes, flags);
}

static void *allocate_aligned(const char *call, int id, size_t align_bytes, size_t size_bytes)
{
    msp_job_require(call);
    if (!msp_is_power_of_two(align_bytes)) {
        msp_refuse(MEMSPAN_ERR_INVALID, "%s: alignment %zu is no power of two", call, align_bytes);
        return NULL;
    }
    return msp_memory_alloc(call, checked(id), align_bytes, size_bytes, 0);
}

static void *allocate_zeroed(const char *call, int id, size_t count, size_t size_bytes)
{
    size_t all_bytes;

    if (__builtin_mul_overflow(count, size_bytes, &all_bytes)) {
        all_bytes = SIZE_MAX;
    }
    return msp_memory_alloc(call, checked(id), 0, all_bytes, MSP_MEMORY_ZEROED);
}

/* A block does not move between partitions; only the checked mode refuses the attempt. */
static void check_owner(const char *call, int id, const void *pointer)
{
    const struct msp_partition *partition;

    msp_job_require(call);
    if (!msp_job.checks || (pointer == NULL)) {
        return;
    }
    partition = msp_partition_of(pointer);
    if ((partition != NULL) && (partition->id != id)) {
        msp_fatal("%s: %p is of partition %d, not %d", call, pointer, partition->id, id);
    }
}

static void *reallocate(const char *call, int id, void *pointer, size_t size_bytes)
{
    check_owner(call, id, pointer);
    return msp_memory_realloc(call, checked(id), pointer, size_bytes, 0);
}

/* ---- by number ---- */

void *shmemx_partition_malloc(size_t size, int id)
{
    return allocate(__func__, id, size, 0);
}

void *shmemx_partition_malloc_nosync(size_t size, int id)
{
    return allocate(__func__, id, size, MSP_MEMORY_NO_BARRIER);
}

void *shmemx_partition_calloc(size_t count, size_t size, int id)
{
    return allocate_zeroed(__func__, id, count, size);
}

void *shmemx_partition_align(size_t alignment, size_t size, int id)
{
    return allocate_aligned(__func__, id, alignment, size);
}

void *shmemx_partition_realloc(void *ptr, size_t size, int id)
{
    return msp_memory_realloc(__func__, checked(id), ptr, size, 0);
}

void shmemx_partition_free(void *ptr)
{
    msp_memory_free(__func__, ptr, 0);
}

void *shmem_partition_malloc(size_t size, int id)
{
    return allocate(__func__, id, size, 0);
}

void *shmem_partition_align(size_t alignment, size_t size, int id)
{
    return allocate_aligned(__func__, id, alignment, size);
}

void shmem_partition_free(void *ptr)
{
    msp_memory_free(__func__, ptr, 0);
}

void *shmemx_kind_malloc(size_t size, int id)
{
    return allocate(__func__, id, size, 0);
}

void *shmemx_kind_align(size_t alignment, size_t size, int id)
{
    return allocate_aligned(__func__, id, alignment, size);
}

/* ---- by index and by name ---- */

void *shmemx_malloc_by_index(shmemx_heap_index_t index, size_t size)
{
    return allocate(__func__, index, size, 0);
}

void *shmemx_calloc_by_index(shmemx_heap_index_t index, size_t count, size_t size)
{
    return allocate_zeroed(__func__, index, count, size);
}

void *shmemx_realloc_by_index(shmemx_heap_index_t index, void *ptr, size_t size)
{
    return reallocate(__func__, index, ptr, size);
}

void *shmemx_align_by_index(shmemx_heap_index_t index, size_t alignment, size_t size)
{
    return allocate_aligned(__func__, index, alignment, size);
}

void shmemx_free_by_index(shmemx_heap_index_t index, void *ptr)
{
    check_owner(__func__, index, ptr);
    msp_memory_free(__func__, ptr, 0);
}

void *shmemx_malloc_by_name(const char *name, size_t size)
{
    return allocate(__func__, shmemx_name_to_index(name), size, 0);
}

void *shmemx_calloc_by_name(const char *name, size_t count, size_t size)
{
    return allocate_zeroed(__func__, shmemx_name_to_index(name), count, size);
}

void *shmemx_realloc_by_name(const char *name, void *ptr, size_t size)
{
    return reallocate(__func__, shmemx_name_to_index(name), ptr, size);
}

void *shmemx_align_by_name(const char *name, size_t alignment, size_t size)
{
    return allocate_aligned(__func__, shmemx_name_to_index(name), alignment, size);
}

void shmemx_free_by_name(const char *name, void *ptr)
{
    check_owner(__func__, shmemx_name_to_index(name), ptr);
    msp_memory_free(__func__, ptr, 0);
}

shmemx_heap_index_t shmemx_name_to_index(const char *name)
{
    msp_job_require(__func__);
    if (name == NULL) {
        msp_refuse(MEMSPAN_ERR_INVALID, "%s: name is NULL", __func__);
        return MSP_PARTITION_NONE;
    }
    return msp_partition_by_name(name);
}

const char *shmemx_index_to_name(shmemx_heap_index_t index)
{
    msp_job_require(__func__);
    return msp_partition_name(checked(index));
}

/* ---- questions ---- */

int shmemx_partition_count(void)
{
    msp_job_require(__func__);
    return msp_partition_ids(NULL, 0);
}

int shmemx_partition_ids(int *ids, int capacity)
{
    msp_job_require(__func__);
    return msp_partition_ids(ids, (ids == NULL) ? 0 : capacity);
}

int shmemx_partition_info(int id, shmemx_partition_info_t *info)
{
    shmemx_partition_info_t all = {.struct_size = sizeof all};
    size_t known_bytes;
    memspan_status_t status;

    msp_job_require(__func__);
    if ((info == NULL) || (info->struct_size < offsetof(shmemx_partition_info_t, kind_asked))) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID,
                               "%s: info is NULL or its struct_size is not set", __func__);
    }
    status = msp_partition_describe(checked(id), &all);
    if (status != MEMSPAN_OK) {
        return (int)status;
    }
    /* Fields of the caller's version; those that this library lacks stay as they are. */
    known_bytes     = (info->struct_size < sizeof all) ? info->struct_size : sizeof all;
    all.struct_size = info->struct_size;
    memcpy(info, &all, known_bytes);
    return 0;
}

/* Only the fields that the program was built with are written. */
int shmemx_partition_plan(int index, shmemx_partition_info_t *info)
{
    shmemx_partition_info_t all = {.struct_size = sizeof all, .id = SHMEMX_PARTITION_NONE};
    memspan_status_t status;

    if ((info == NULL) || (info->struct_size < offsetof(shmemx_partition_info_t, kind_asked))) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID,
                               "%s: info is NULL or its struct_size is not set", __func__);
    }
    status = msp_partition_foresee(index, &all);
    if (all.id != SHMEMX_PARTITION_NONE) {
        all.struct_size = info->struct_size;
        memcpy(info, &all, (info->struct_size < sizeof all) ? info->struct_size : sizeof all);
    }
    return (int)status;
}

int shmemx_partition_of(const void *address)
{
    const struct msp_partition *partition;
    const struct msp_segment *data = &msp_segments[MSP_SEGMENT_DATA];

    msp_job_require(__func__);
    if ((uintptr_t)address - (uintptr_t)data->base < data->size_bytes) {
        return SHMEMX_PARTITION_STATIC;
    }
    partition = msp_partition_of(address);
    return (partition != NULL) ? partition->id : SHMEMX_PARTITION_NONE;
}

const char *shmemx_partition_name(int id)
{
    msp_job_require(__func__);
    return msp_partition_name(checked(id));
}
