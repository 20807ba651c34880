/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: host pages in the driver's tables.
 *
 * The specification has a method since 2025 (a host allocation over pages that are there already,
 * ZE_extension_external_memmap_sysmem), and Intel's drivers have had calls of their own long
 * before. Either way the driver must confirm the address. Pages can be in a driver's tables once,
 * for all of its devices: they are a group. A device that reaches all host memory needs no import.
 */

#include "backends/level_zero/level_zero.h"
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

const char *lz_import_source(const struct gpu_device *device)
{
    enum lz_import_method method = lz_device(device)->driver->import_method;

    if (method == LZ_IMPORT_MEMMAP) {
        return "ZE_extension_external_memmap_sysmem";
    }
    if (method == LZ_IMPORT_INTEL) {
        return "zexDriverImportExternalPointer";
    }
    return device->facts.needs_no_import
               ? "sharedSystemAllocCapabilities: needs no import"
               : "neither external_memmap_sysmem nor Intel's calls are there";
}

/* ---- one call each way; gpu_state::lock held ---- */

static memspan_status_t import_intel(const struct lz_device *device, void *address,
                                     size_t size_bytes, void **seen_at_p)
{
    const struct lz_import_calls *calls = &device->driver->import;
    lz_result_t code                    = calls->import(calls->handle, address, size_bytes);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(device->gpu.state, LZ_ANSWER("zexDriverImportExternalPointer", code),
                         "%zu bytes of host pages at %p cannot be imported", size_bytes, address);
    }
    code = calls->base(calls->handle, address, seen_at_p);
    if (code != ZE_RESULT_SUCCESS) {
        (void)calls->release(calls->handle, address);
        return gpu_error(device->gpu.state, LZ_ANSWER("zexDriverGetHostPointerBaseAddress", code),
                         "%s does not confirm host pages at %p", device->gpu.info.name, address);
    }
    return MEMSPAN_OK;
}

static memspan_status_t import_memmap(const struct lz_device *device, void *address,
                                      size_t size_bytes, void **seen_at_p)
{
    struct lz_memmap_desc memmap = {.stype = LZ_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                    .pSystemMemory = address,
                                    .size          = size_bytes};
    lz_host_alloc_desc_t desc = {.stype = LZ_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, .pNext = &memmap};
    lz_result_t code =
        LZ(device)->zeMemAllocHost(device->driver->context, &desc, size_bytes, 0, seen_at_p);

    return (code == ZE_RESULT_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(device->gpu.state, LZ_ANSWER("zeMemAllocHost", code),
                           "%zu bytes of host pages at %p cannot be imported", size_bytes, address);
}

gpu_result_t lz_unregister_pages(const struct gpu_device *home, void *address)
{
    const struct lz_driver *driver = lz_device(home)->driver;
    bool intel                     = driver->import_method == LZ_IMPORT_INTEL;
    lz_result_t code               = intel ? driver->import.release(driver->import.handle, address)
                                           : lz_calls(home->state)->zeMemFree(driver->context, address);

    return (code == ZE_RESULT_SUCCESS)
               ? LZ_RECORDED(MEMSPAN_OK)
               : LZ_RECORDED(gpu_error(
                     home->state,
                     LZ_ANSWER(intel ? "zexDriverReleaseImportedPointer" : "zeMemFree", code),
                     "host pages at %p cannot be given back", address));
}

gpu_result_t lz_register_pages(struct gpu_device *device, void *address, size_t size_bytes)
{
    const struct lz_device *own = lz_device(device);
    bool intel                  = (own->driver->import_method == LZ_IMPORT_INTEL);
    void *seen_at               = NULL;
    memspan_status_t status     = intel ? import_intel(own, address, size_bytes, &seen_at)
                                        : import_memmap(own, address, size_bytes, &seen_at);

    if ((status == MEMSPAN_OK) && (seen_at != address)) {
        (void)lz_unregister_pages(device, intel ? address : seen_at);
        status =
            gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                       "%s sees host pages at %p, not at %p", device->info.name, seen_at, address);
    }
    return LZ_RECORDED(status);
}

memspan_status_t lz_check_reuse(const struct gpu_registration *r, const void *address,
                                size_t size_bytes)
{
    return ((r->address == (const char *)address) && (r->size_bytes == size_bytes))
               ? MEMSPAN_OK
               : gpu_refuse(r->home->state, MEMSPAN_ERR_CONFLICT, NULL,
                            "%zu bytes at %p are imported already, of %zu at %p", r->size_bytes,
                            (void *)r->address, size_bytes, address);
}
