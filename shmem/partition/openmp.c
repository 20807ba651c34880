/* SPDX-License-Identifier: BSD-3-Clause */
/* openmp.c: the allocators that libmemspan is given: for mapped variables (core/omp/mapped.c, or an
 * OpenMP runtime that takes one), and for memspan_omp_symmetric_mem_alloc. */

#define SHMEMX_PARTITION_NAMES
#include "shmem/memory.h"
#include "shmem/option.h"
#include "shmem/partition/memory.h"
#include "shmem/partition/partition.h"
#include <memspan/omp.h>
#include <stdatomic.h>
#include <stdio.h>

/* As drivers of GPUs align their own allocations. */
enum { MAPPED_ALIGN_BYTES = 256 };

typedef void *partition_alloc(size_t size_bytes, int id);
typedef void partition_free(void *pointer);

static struct {
    int partition; /* MSP_PARTITION_NONE: mapped variables have no allocator */
    int device;
    partition_alloc *alloc; /* the program's own, or NULL */
    partition_free *release;
    atomic_size_t count; /* of blocks, which those functions free */
} mapped = {.partition = MSP_PARTITION_NONE};

/* Both do nothing once the job has ended: blocks go with their partition, and a runtime that still
 * maps has memory of its own. */
static void *map_alloc(size_t size_bytes)
{
    bool is_open  = (mapped.partition != MSP_PARTITION_NONE);
    void *pointer = NULL;

    if (is_open && (mapped.alloc != NULL)) {
        pointer = mapped.alloc(size_bytes, mapped.partition);
    } else if (is_open) {
        pointer = msp_memory_alloc("an OpenMP map clause", mapped.partition, MAPPED_ALIGN_BYTES,
                                   size_bytes, MSP_MEMORY_NO_BARRIER);
    }
    atomic_fetch_add(&mapped.count, (pointer != NULL) ? 1 : 0);
    return pointer;
}

static void map_free(void *pointer)
{
    if (mapped.partition == MSP_PARTITION_NONE) {
        return;
    }
    atomic_fetch_sub(&mapped.count, 1);
    if (mapped.release != NULL) {
        mapped.release(pointer);
    } else {
        msp_memory_free("an OpenMP map clause", pointer, MSP_MEMORY_NO_BARRIER);
    }
}

static bool is_libomp(int id, int device)
{
    const struct msp_partition_record *record = msp_partition_get(id)->memory;

    return (record->memory.placement.kind == SHMEMX_KIND_LIBOMP) &&
           (record->memory.placement.device == device);
}

static int find_partition(int device)
{
    int ids[MSP_PARTITION_MAX];
    int count = msp_partition_ids(ids, MSP_PARTITION_MAX);
    int i;

    if (msp_shmem_option_is_set(MEMSPAN_SHMEM_LIBOMP_PARTITION)) {
        int id = (int)msp_shmem_option_number(MEMSPAN_SHMEM_LIBOMP_PARTITION);

        return (msp_partition_get(id) != NULL) ? id : MSP_PARTITION_NONE;
    }
    for (i = 0; i < count; i++) {
        if (is_libomp(ids[i], device)) {
            return ids[i];
        }
    }
    return MSP_PARTITION_NONE;
}

static memspan_status_t set_allocator(int device, partition_alloc *alloc, partition_free *release)
{
    int id = find_partition(device);

    if ((mapped.partition != MSP_PARTITION_NONE) && (mapped.device != device)) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "device %d has the PE's symmetric mapped variables",
                             mapped.device);
    }
    if ((atomic_load(&mapped.count) > 0) &&
        ((alloc != mapped.alloc) || (release != mapped.release))) {
        return memspan_error(MEMSPAN_ERR_CONFLICT,
                             "%zu variables are mapped, which the functions set before will free",
                             atomic_load(&mapped.count));
    }
    if (id == MSP_PARTITION_NONE) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND,
                             "no partition has KIND=LIBOMP and device %d, nor the number that "
                             "SHMEMX_LIBOMP_PARTITION names",
                             device);
    }
    mapped.partition = id;
    mapped.device    = device;
    mapped.alloc     = alloc;
    mapped.release   = release;
    if (__tgt_set_device_allocator(device, map_alloc, map_free) != 0) {
        mapped.partition = MSP_PARTITION_NONE;
        return memspan_error_last()->status;
    }
    msp_debug_note("OpenMP's mapped variables on device %d come from partition %d", device, id);
    return MEMSPAN_OK;
}

/* OpenSHMEM's functions stand for the same without a barrier: PEs that map need not wait. */
int __tgt_set_shmem_allocator(partition_alloc *alloc, partition_free *release, int device)
{
    bool is_own = (alloc == NULL) || (alloc == shmem_partition_malloc) ||
                  (alloc == shmemx_partition_malloc) || (alloc == shmemx_partition_malloc_nosync);
    memspan_status_t status;
    char reason[512];

    msp_job_require(__func__);
    if (!is_own && (release == NULL)) {
        msp_refuse(MEMSPAN_ERR_INVALID, "%s: an allocator without a function to free", __func__);
        return -1;
    }
    status = set_allocator(device, is_own ? NULL : alloc, is_own ? NULL : release);
    if (status != MEMSPAN_OK) {
        snprintf(reason, sizeof reason, "%s", memspan_error_text()); /* the record is made again */
        msp_refuse(status, "%s: %s", __func__, reason);
    }
    return (status == MEMSPAN_OK) ? 0 : -1;
}

static void *symmetric_alloc(size_t align_bytes, size_t size_bytes, int zeroed)
{
    return msp_memory_alloc("omp_alloc", MSP_PARTITION_DEFAULT, align_bytes, size_bytes,
                            (zeroed != 0) ? MSP_MEMORY_ZEROED : 0);
}

static void symmetric_free(void *pointer)
{
    msp_memory_free("omp_free", pointer, 0);
}

void msp_partition_openmp_open(void)
{
    memspan_symmetric_allocator_set(symmetric_alloc, symmetric_free);
    if (msp_shmem_option_is_set(MEMSPAN_SHMEM_LIBOMP_PARTITION)) {
        int id = find_partition(0);
        const struct msp_partition_record *record =
            (id == MSP_PARTITION_NONE) ? NULL : msp_partition_get(id)->memory;
        int device = (record == NULL) ? 0 : record->memory.placement.device;

        if (set_allocator((device < 0) ? 0 : device, NULL, NULL) != MEMSPAN_OK) {
            msp_debug_note("OpenMP's mapped variables come from no partition: %s",
                           memspan_error_text());
        }
    }
}

void msp_partition_openmp_close(void)
{
    memspan_symmetric_allocator_set(NULL, NULL);
    if (mapped.partition != MSP_PARTITION_NONE) {
        mapped.partition = MSP_PARTITION_NONE;
        atomic_store(&mapped.count, 0);
        (void)__tgt_reset_device_allocator(mapped.device);
    }
}
