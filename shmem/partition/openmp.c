/* SPDX-License-Identifier: BSD-3-Clause */
/* partition_openmp.c: two names under which runtimes take an allocator, both looked for when the
 * job starts: no runtime that is released has them, so nothing may depend on them. */

#include "shmem/partition/openmp.h"
#include "shmem/memory.h"
#include "shmem/option.h"
#include "shmem/partition/memory.h"
#include "shmem/partition/partition.h"
#include <dlfcn.h>

typedef void *map_alloc_call(size_t size_bytes);
typedef void map_free_call(void *pointer);

/* Experimental LLVM, which declares both as void *: 0 is success. */
typedef int set_device_allocator(int64_t device, map_alloc_call *alloc, map_free_call *release);
typedef int reset_device_allocator(int64_t device);
/* The name in the paper; its third argument is taken for the device. */
typedef int set_shmem_allocator(map_alloc_call *alloc, map_free_call *release, int device);

static int mapped_partition = MSP_PARTITION_NONE;
static int64_t mapped_device;

static void *map_alloc(size_t size_bytes)
{
    return msp_memory_alloc("an OpenMP map clause", mapped_partition, 0, size_bytes,
                            MSP_MEMORY_NO_BARRIER);
}

static void map_free(void *pointer)
{
    msp_memory_free("an OpenMP map clause", pointer, MSP_MEMORY_NO_BARRIER);
}

static int find_partition(void)
{
    int ids[MSP_PARTITION_MAX];
    int count = msp_partition_ids(ids, MSP_PARTITION_MAX);
    int i;

    if (msp_shmem_option_is_set(MEMSPAN_SHMEM_LIBOMP_PARTITION)) {
        int id = (int)msp_shmem_option_number(MEMSPAN_SHMEM_LIBOMP_PARTITION);

        return (msp_partition_get(id) != NULL) ? id : MSP_PARTITION_NONE;
    }
    for (i = 0; i < count; i++) {
        const struct msp_partition_record *record = msp_partition_get(ids[i])->memory;

        if (record->memory.placement.kind == SHMEMX_KIND_LIBOMP) {
            return ids[i];
        }
    }
    return MSP_PARTITION_NONE;
}

void msp_partition_openmp_open(void)
{
    int id = find_partition();
    const struct msp_partition_record *record;
    set_device_allocator *set;
    set_shmem_allocator *set_of_paper;

    if (id == MSP_PARTITION_NONE) {
        return;
    }
    record         = msp_partition_get(id)->memory;
    mapped_device  = (record->memory.placement.device < 0) ? 0 : record->memory.placement.device;
    *(void **)&set = dlsym(RTLD_DEFAULT, "__tgt_set_device_allocator");
    *(void **)&set_of_paper = dlsym(RTLD_DEFAULT, "__tgt_set_shmem_allocator");
    if (((set != NULL) && (set(mapped_device, map_alloc, map_free) == 0)) ||
        ((set == NULL) && (set_of_paper != NULL) &&
         (set_of_paper(map_alloc, map_free, (int)mapped_device) == 0))) {
        mapped_partition = id;
        msp_debug_note("OpenMP's mapped variables on device %d come from partition %d",
                       (int)mapped_device, id);
    }
}

void msp_partition_openmp_close(void)
{
    reset_device_allocator *reset;

    *(void **)&reset = dlsym(RTLD_DEFAULT, "__tgt_reset_device_allocator");
    if ((mapped_partition != MSP_PARTITION_NONE) && (reset != NULL)) {
        (void)reset(mapped_device);
    }
    mapped_partition = MSP_PARTITION_NONE;
}
