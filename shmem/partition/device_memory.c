/* SPDX-License-Identifier: BSD-3-Clause */
/* device_memory.c: blocks of one resource of a device. */

#include "shmem/error.h"
#include "shmem/partition/placement.h"
#include <memspan/allocator.h>

memspan_status_t msp_device_memory_space(int device, memspan_kind_t kind, memspan_space_h *space_p)
{
    memspan_space_h space;
    memspan_status_t status = memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space);
    int i;

    if (status != MEMSPAN_OK) {
        return status;
    }
    for (i = 0; i < (int)memspan_space_resource_count(space); i++) {
        memspan_resource_info_t info = {.struct_size = sizeof info};

        if ((memspan_space_resource(space, (size_t)i, &info) == MEMSPAN_OK) &&
            (info.kind == kind)) {
            return memspan_space_get_sub(space, &i, 1, space_p);
        }
    }
    return memspan_error(MEMSPAN_ERR_NOT_FOUND, "device %d has no %s memory", device,
                         memspan_kind_name(kind));
}

void *msp_device_memory_alloc(memspan_space_h space, size_t size_bytes, bool is_shared)
{
    static const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                             {MEMSPAN_TRAIT_SHAREABLE, MEMSPAN_VALUE_TRUE}};
    memspan_allocator_h allocator;
    void *block = NULL;

    if (memspan_allocator_create(space, traits, is_shared ? 2 : 1, &allocator) == MEMSPAN_OK) {
        block = memspan_aligned_alloc(allocator, MSP_DEVICE_MEMORY_ALIGN_BYTES, size_bytes);
        (void)memspan_allocator_destroy(allocator); /* its memory stays */
    }
    return block;
}

int msp_device_memory_home(const void *address)
{
    memspan_pointer_info_t info = {.struct_size = sizeof info};

    return (memspan_pointer_describe(address, &info) == MEMSPAN_OK) ? info.home : -1;
}
