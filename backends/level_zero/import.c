/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: host pages in the driver's tables.
 *
 * The specification has a way since 2025 (a host allocation over pages that are there already,
 * ZE_extension_external_memmap_sysmem), and Intel's drivers have had calls of their own long
 * before. Either way the driver must confirm the address. Pages can be in a driver's tables once,
 * for all of its devices, so imports are counted here. A device that reaches all host memory needs
 * none. */

#include "backends/level_zero/level_zero.h"
#include <stdlib.h>
#include <string.h>

static bool find_call(const struct lz_driver *driver, const struct gpu_state *state,
                      const char *name, void *call_p)
{
    void *address = NULL;
    lz_result_t code =
        lz_calls(state)->zeDriverGetExtensionFunctionAddress(driver->handle, name, &address);

    if ((code != ZE_RESULT_SUCCESS) || (address == NULL)) {
        state->services->log(MEMSPAN_LOG_INFO, "level_zero",
                             "a driver takes no host pages: "
                             "zeDriverGetExtensionFunctionAddress(%s): %#lx",
                             name, (unsigned long)code);
        return false;
    }
    memcpy(call_p, &address, sizeof(address));
    return true;
}

void lz_import_find(struct lz_driver *driver, const struct gpu_state *state, bool has_memmap)
{
    struct lz_import_calls *calls = &driver->import;

    if (has_memmap) {
        driver->import_method = LZ_IMPORT_MEMMAP;
        return;
    }
    /* They know the driver's own handle only. */
    calls->handle = driver->own_handle;
    if ((calls->handle != NULL) && (lz_calls(state)->zeDriverGetExtensionFunctionAddress != NULL) &&
        find_call(driver, state, "zexDriverImportExternalPointer", &calls->import) &&
        find_call(driver, state, "zexDriverReleaseImportedPointer", &calls->release) &&
        find_call(driver, state, "zexDriverGetHostPointerBaseAddress", &calls->base)) {
        driver->import_method = LZ_IMPORT_INTEL;
    }
}

static bool reaches_all(const struct lz_device *device)
{
    return (device->facts.system_access & LZ_MEMORY_ACCESS_CAP_FLAG_RW) != 0;
}

bool lz_import_can(const struct lz_device *device)
{
    return (device->driver->import_method != LZ_IMPORT_NO) || reaches_all(device);
}

const char *lz_import_source(const struct lz_device *device)
{
    if (device->driver->import_method == LZ_IMPORT_MEMMAP) {
        return "ZE_extension_external_memmap_sysmem";
    }
    if (device->driver->import_method == LZ_IMPORT_INTEL) {
        return "zexDriverImportExternalPointer";
    }
    return reaches_all(device) ? "sharedSystemAllocCapabilities: needs no import"
                               : "neither external_memmap_sysmem nor Intel's calls are there";
}

/* ---- one call each way; lz_state::import_lock held ---- */

static memspan_status_t import_intel(const struct lz_device *device, void *address,
                                     size_t size_bytes, void **seen_at_p)
{
    const struct lz_import_calls *calls = &device->driver->import;
    void *base                          = NULL;
    lz_result_t code                    = calls->import(calls->handle, address, size_bytes);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(device->gpu.state, LZ_ANSWER("zexDriverImportExternalPointer", code),
                         "%zu bytes of host pages at %p cannot be imported", size_bytes, address);
    }
    code = calls->base(calls->handle, address, &base);
    if (code != ZE_RESULT_SUCCESS) {
        (void)calls->release(calls->handle, address);
        return gpu_error(device->gpu.state, LZ_ANSWER("zexDriverGetHostPointerBaseAddress", code),
                         "%s does not confirm host pages at %p", device->gpu.info.name, address);
    }
    *seen_at_p = base;
    return MEMSPAN_OK;
}

static memspan_status_t import_memmap(const struct lz_device *device, void *address,
                                      size_t size_bytes, void **seen_at_p)
{
    const struct lz_calls *ze    = LZ(device);
    struct lz_memmap_desc memmap = {.stype = LZ_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                    .pSystemMemory = address,
                                    .size          = size_bytes};
    lz_host_alloc_desc_t desc = {.stype = LZ_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, .pNext = &memmap};
    void *seen_at             = NULL;
    lz_result_t code = ze->zeMemAllocHost(device->driver->context, &desc, size_bytes, 0, &seen_at);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(device->gpu.state, LZ_ANSWER("zeMemAllocHost", code),
                         "%zu bytes of host pages at %p cannot be imported", size_bytes, address);
    }
    *seen_at_p = seen_at;
    return MEMSPAN_OK;
}

static memspan_status_t give_back(const struct lz_device *device, void *address)
{
    const struct lz_driver *driver = device->driver;
    bool intel                     = driver->import_method == LZ_IMPORT_INTEL;
    lz_result_t code               = intel ? driver->import.release(driver->import.handle, address)
                                           : LZ(device)->zeMemFree(driver->context, address);

    return (code == ZE_RESULT_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(device->gpu.state,
                           LZ_ANSWER(intel ? "zexDriverReleaseImportedPointer" : "zeMemFree", code),
                           "host pages at %p cannot be given back", address);
}

static memspan_status_t add(const struct lz_device *device, void *address, size_t size_bytes,
                            struct lz_import **made_p)
{
    struct lz_import *made = calloc(1, sizeof(*made));
    void *seen_at          = NULL;
    memspan_status_t status;

    if (made == NULL) {
        return gpu_refuse(device->gpu.state, MEMSPAN_ERR_NO_MEMORY, NULL,
                          "no host memory for a record");
    }
    status = (device->driver->import_method == LZ_IMPORT_INTEL)
                 ? import_intel(device, address, size_bytes, &seen_at)
                 : import_memmap(device, address, size_bytes, &seen_at);
    if ((status == MEMSPAN_OK) && (seen_at != address)) {
        (void)give_back(device,
                        (device->driver->import_method == LZ_IMPORT_INTEL) ? address : seen_at);
        status = gpu_refuse(device->gpu.state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                            "%s sees host pages at %p, not at %p", device->gpu.info.name, seen_at,
                            address);
    }
    if (status != MEMSPAN_OK) {
        free(made);
        return status;
    }
    made->driver     = device->driver;
    made->address    = address;
    made->size_bytes = size_bytes;
    *made_p          = made;
    return MEMSPAN_OK;
}

/* ---- counted ---- */

/* The import of that driver that has any of these pages. */
static struct lz_import **find(struct gpu_state *state, const struct lz_driver *driver,
                               const char *address, size_t size_bytes)
{
    struct lz_import **link = &lz_state(state)->imports;

    while ((*link != NULL) &&
           (((*link)->driver != driver) || ((*link)->address >= address + size_bytes) ||
            (address >= (*link)->address + (*link)->size_bytes))) {
        link = &(*link)->next;
    }
    return link;
}

memspan_status_t lz_import(void *opaque, int ordinal, void *address, size_t size_bytes,
                           void **address_p, void **cookie_p)
{
    struct gpu_state *state = opaque;
    struct lz_import **link;
    struct lz_device *device;
    memspan_status_t status = lz_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (reaches_all(device)) {
        *address_p = address;
        *cookie_p  = NULL;
        return MEMSPAN_OK;
    }
    if (!lz_import_can(device)) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "%s does not take host pages: its driver has no call for it",
                          device->gpu.info.name);
    }
    pthread_mutex_lock(&lz_state(state)->import_lock);
    link = find(state, device->driver, address, size_bytes);
    if (*link == NULL) {
        status = add(device, address, size_bytes, link);
    } else if (((*link)->address != address) || ((*link)->size_bytes != size_bytes)) {
        status = gpu_refuse(state, MEMSPAN_ERR_CONFLICT, NULL,
                            "%zu bytes at %p are imported already, of %zu at %p",
                            (*link)->size_bytes, (void *)(*link)->address, size_bytes, address);
    }
    if (status == MEMSPAN_OK) {
        (*link)->references++;
        *address_p = address;
        *cookie_p  = *link;
    }
    pthread_mutex_unlock(&lz_state(state)->import_lock);
    return status;
}

memspan_status_t lz_release(void *opaque, int ordinal, void *address, size_t size_bytes,
                            void *cookie)
{
    struct gpu_state *state = opaque;
    struct lz_import *found = NULL;
    struct lz_import **link;
    bool idle;
    struct lz_device *device;
    memspan_status_t status;

    if (cookie == NULL) {
        return MEMSPAN_OK;
    }
    status = lz_device_get(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = lz_settle(&device->gpu, &idle);
    pthread_mutex_lock(&lz_state(state)->import_lock);
    link = find(state, device->driver, address, size_bytes);
    if (*link == NULL) {
        status = gpu_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "host pages at %p are not imported",
                            address);
    } else if (--(*link)->references == 0) {
        memspan_status_t released = give_back(device, (*link)->address);
        found                     = *link;
        *link                     = found->next;
        status                    = (released != MEMSPAN_OK) ? released : status;
    }
    pthread_mutex_unlock(&lz_state(state)->import_lock);
    free(found);
    return status;
}
