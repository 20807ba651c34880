/* SPDX-License-Identifier: BSD-3-Clause */
/* space_info.c: the public view of memory spaces and their resources. */

#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/device/space.h"
#include <string.h>

size_t memspan_space_resource_count(memspan_space_h handle)
{
    const struct msp_space *space = msp_space_resolve(handle);

    return (space == NULL) ? 0 : space->resource_count;
}

static memspan_status_t find_resource(memspan_space_h handle, size_t index,
                                      const struct msp_resource **resource_p)
{
    const struct msp_space *space = msp_space_resolve(handle);

    if (space == NULL) {
        return memspan_error_last()->status;
    }
    if (index >= space->resource_count) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "resource %zu: space %s has %zu", index,
                             space->name, space->resource_count);
    }
    *resource_p = &space->resources[index];
    return MEMSPAN_OK;
}

static uint64_t capacity_of_node(int os_index)
{
    int i;

    for (i = 0; i < msp_numa_node_count(); i++) {
        if (msp_numa_node(i)->os_index == os_index) {
            return msp_numa_node(i)->capacity_bytes;
        }
    }
    return MEMSPAN_UNKNOWN;
}

/* Kinds that live in the host's memory have the host's capacity, whichever driver allocates them.
 */
static uint64_t capacity_of(const struct msp_resource *resource)
{
    if (resource->node >= 0) {
        return capacity_of_node(resource->node);
    }
    return resource->home->info.capacity_bytes;
}

memspan_status_t memspan_space_resource(memspan_space_h handle, size_t index,
                                        memspan_resource_info_t *info_p)
{
    const struct msp_resource *resource = NULL;
    memspan_resource_info_t info        = {.struct_size = sizeof(info)};
    memspan_status_t status             = find_resource(handle, index, &resource);

    if ((status == MEMSPAN_OK) && (info_p == NULL)) {
        status = memspan_error(MEMSPAN_ERR_INVALID, "info_p is NULL");
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    info.kind            = resource->kind;
    info.home            = resource->home->number;
    info.numa_node       = resource->node;
    info.capacity_bytes  = capacity_of(resource);
    info.page_size_bytes = resource->home->info.page_size_bytes;
    msp_resource_label(resource, info.name, sizeof(info.name));
    return msp_struct_write(info_p, &info, sizeof(info));
}

memspan_status_t memspan_space_reach(memspan_space_h handle, size_t index, int number,
                                     memspan_reach_t *reach_p)
{
    const struct msp_resource *resource = NULL;
    const struct msp_device *from;
    memspan_status_t status = find_resource(handle, index, &resource);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (reach_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "reach_p is NULL");
    }
    from = msp_device_find(number);
    if (from == NULL) {
        return memspan_error_last()->status;
    }
    *reach_p = msp_resource_reach(resource, from);
    return MEMSPAN_OK;
}

size_t memspan_space_page_size(memspan_space_h handle)
{
    const struct msp_space *space = msp_space_find(handle);

    if (space == NULL) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "0x%llx names no memory space",
                      (unsigned long long)(uintptr_t)handle);
        return 0;
    }
    if (!space->target) {
        return msp_page_size();
    }
    return (size_t)space->resources[0].home->info.page_size_bytes;
}

memspan_status_t memspan_space_describe(memspan_space_h handle, memspan_space_info_t *info_p)
{
    const struct msp_space *space = msp_space_resolve(handle);
    memspan_space_info_t info     = {.struct_size = sizeof(info)};
    size_t i;

    if (space == NULL) {
        return memspan_error_last()->status;
    }
    if (info_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "info_p is NULL");
    }
    info.base         = msp_space_of_hint(space->hint);
    info.target       = space->target;
    info.host         = space->host;
    info.alias        = space->alias;
    info.device_count = space->device_count;
    for (i = 0; (i < space->device_count) && (i < sizeof(info.devices) / sizeof(int)); i++) {
        info.devices[i] = space->devices[i];
    }
    memcpy(info.name, space->name, sizeof(info.name));
    memcpy(info.note, space->note, sizeof(info.note));
    return msp_struct_write(info_p, &info, sizeof(info));
}
