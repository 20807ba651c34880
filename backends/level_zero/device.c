/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: drivers, the devices they show, and which device reaches which.
 *
 * A card of several tiles is one device, as its driver shows it, or each tile is one of its own
 * (MEMSPAN_LEVEL_ZERO_TILES): then a tile's memory is a place by itself. */

#include "backends/level_zero/level_zero.h"
#include "core/base/error.h"
#include "core/base/option.h"
#include "core/base/variable.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int lz_device_find(const struct gpu_state *state, lz_device_h handle)
{
    int i;

    for (i = 0; (handle != NULL) && (i < state->device_count); i++) {
        if (lz_device(state->devices[i])->handle == handle) {
            return i;
        }
    }
    return MEMSPAN_HOST;
}

/* ---- drivers ---- */

/* Which of the extensions we use it has. */
static memspan_status_t read_extensions(struct gpu_state *state, struct lz_driver *driver)
{
    uint32_t count      = 0;
    lz_extension_t *all = NULL;
    bool has_memmap     = false;
    lz_result_t code =
        lz_calls(state)->zeDriverGetExtensionProperties(driver->handle, &count, NULL);
    uint32_t i;

    if ((code == ZE_RESULT_SUCCESS) && (count > 0)) {
        all = calloc(count, sizeof(*all));
        if (all == NULL) {
            return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for extensions");
        }
        code = lz_calls(state)->zeDriverGetExtensionProperties(driver->handle, &count, all);
    }
    if (!gpu_log_failure(state, LZ_ANSWER("zeDriverGetExtensionProperties", code),
                         "extensions of a driver")) {
        count = 0;
    }
    for (i = 0; i < count; i++) {
        all[i].name[sizeof(all[i].name) - 1] = '\0';
        driver->relaxed                      = driver->relaxed ||
                          (strcmp(all[i].name, "ZE_experimental_relaxed_allocation_limits") == 0);
        driver->tells_bus =
            driver->tells_bus || (strcmp(all[i].name, "ZE_extension_pci_properties") == 0);
        has_memmap =
            has_memmap || (strcmp(all[i].name, "ZE_extension_external_memmap_sysmem") == 0);
    }
    free(all);
    lz_import_find(driver, state, has_memmap);
    return MEMSPAN_OK;
}

static const char no_device_hint[] =
    "the driver is there and shows no GPU: ZE_AFFINITY_MASK and the permissions of "
    "/dev/dri/renderD* (the group render has them) hide devices";

/* Whether there is a driver of GPUs for the loader. The variable, which takes their place, may name
 * several. */
static bool is_installed(void)
{
    static const char *const known[] = {"libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1"};
    const char *named                = msp_variable_text("ZE_ENABLE_ALT_DRIVERS");
    void *library                    = NULL;
    char path[256];
    size_t i;

    if (named != NULL) { /* not opened: any user sets it */
        snprintf(path, sizeof(path), "%.*s", (int)strcspn(named, ","), named);
        return access(path, R_OK) == 0;
    }
    for (i = 0; (library == NULL) && (i < sizeof(known) / sizeof(known[0])); i++) {
        library = dlopen(known[i], RTLD_LAZY | RTLD_LOCAL);
    }
    return (library != NULL) && (dlclose(library) == 0);
}

memspan_status_t lz_no_driver(const struct gpu_state *state, gpu_result_t answer, const char *what)
{
    memspan_status_t status = gpu_error(state, answer, "%s", what);

    return ((answer.code == (int)ZE_RESULT_ERROR_UNINITIALIZED) && is_installed())
               ? msp_error_hint("%s", no_device_hint)
               : status;
}

/* With several drivers the loader returns handles of its own. */
static lz_driver_h translate(const struct gpu_state *state, lz_driver_h handle)
{
    void *own = NULL;

    if ((lz_calls(state)->zelLoaderTranslateHandle == NULL) ||
        (lz_calls(state)->zelLoaderTranslateHandle(LZ_HANDLE_DRIVER, handle, &own) !=
         ZE_RESULT_SUCCESS)) {
        return NULL;
    }
    return own;
}

static memspan_status_t open_driver(struct gpu_state *state, struct lz_driver *driver)
{
    lz_context_desc_t desc            = {.stype = LZ_STRUCTURE_TYPE_CONTEXT_DESC};
    lz_driver_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    lz_ipc_properties_t ipc           = {.stype = LZ_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
    lz_result_t code = lz_calls(state)->zeDriverGetApiVersion(driver->handle, &driver->version);

    (void)gpu_log_failure(state, LZ_ANSWER("zeDriverGetApiVersion", code), "version of a driver");
    code = lz_calls(state)->zeDriverGetProperties(driver->handle, &properties);
    (void)gpu_log_failure(state, LZ_ANSWER("zeDriverGetProperties", code),
                          "properties of a driver");
    driver->own_handle = translate(state, driver->handle);
    driver->build      = properties.driverVersion;
    code               = lz_calls(state)->zeDriverGetIpcProperties(driver->handle, &ipc);
    if (!gpu_log_failure(state, LZ_ANSWER("zeDriverGetIpcProperties", code),
                         "what a driver shares")) {
        ipc.flags = 0;
    }
    driver->shares = ((ipc.flags & LZ_IPC_PROPERTY_FLAG_MEMORY) != 0) &&
                     (lz_calls(state)->zeMemGetIpcHandle != NULL) &&
                     (lz_calls(state)->zeMemOpenIpcHandle != NULL) &&
                     (lz_calls(state)->zeMemCloseIpcHandle != NULL);
    code = lz_calls(state)->zeContextCreate(driver->handle, &desc, &driver->context);
    if (code != ZE_RESULT_SUCCESS) {
        driver->context = NULL;
        return gpu_error(state, LZ_ANSWER("zeContextCreate", code), "no context with a driver");
    }
    return read_extensions(state, driver);
}

static memspan_status_t find_drivers(struct gpu_state *state)
{
    struct lz_driver *drivers;
    lz_driver_h *handles = NULL;
    uint32_t count       = 0;
    lz_result_t code     = lz_calls(state)->zeDriverGet(&count, NULL);
    uint32_t i;

    if ((code != ZE_RESULT_SUCCESS) || (count == 0)) {
        return lz_no_driver(
            state,
            LZ_ANSWER("zeDriverGet", (code == ZE_RESULT_SUCCESS)
                                         ? (lz_result_t)ZE_RESULT_ERROR_UNINITIALIZED
                                         : code),
            "the loader shows no driver");
    }
    handles                  = calloc(count, sizeof(lz_driver_h));
    drivers                  = calloc(count, sizeof(*drivers));
    lz_state(state)->drivers = drivers;
    if ((handles == NULL) || (drivers == NULL)) {
        free(handles);
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for drivers");
    }
    code = lz_calls(state)->zeDriverGet(&count, handles);
    if (code != ZE_RESULT_SUCCESS) {
        free(handles);
        return lz_no_driver(state, LZ_ANSWER("zeDriverGet", code), "the loader shows no driver");
    }
    for (i = 0; i < count; i++) {
        drivers[i].state  = state;
        drivers[i].handle = handles[i];
        pthread_mutex_init(&drivers[i].lock, NULL);
    }
    lz_state(state)->driver_count = count;
    free(handles);
    return MEMSPAN_OK;
}

/* ---- devices ---- */

static memspan_status_t add_device(struct gpu_state *state, struct lz_driver *driver,
                                   lz_device_h handle)
{
    struct lz_state *own   = lz_state(state);
    struct lz_found *found = realloc(own->found, (size_t)(own->found_count + 1) * sizeof(*found));

    if (found == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for devices");
    }
    found[own->found_count++] = (struct lz_found){driver, handle};
    own->found                = found;
    return MEMSPAN_OK;
}

/* The tiles of a device where they are wanted one by one, else the device. */
static memspan_status_t add_tiles(struct gpu_state *state, struct lz_driver *driver,
                                  lz_device_h root)
{
    uint32_t count          = 0;
    bool each               = state->services->option_number("MEMSPAN_LEVEL_ZERO_TILES") == 1;
    memspan_status_t status = MEMSPAN_OK;
    lz_device_h *tiles;
    lz_result_t code = each ? lz_calls(state)->zeDeviceGetSubDevices(root, &count, NULL)
                            : (lz_result_t)ZE_RESULT_SUCCESS;
    uint32_t i;

    if (!gpu_log_failure(state, LZ_ANSWER("zeDeviceGetSubDevices", code), "tiles of a device")) {
        count = 0;
    }
    if (count == 0) {
        return add_device(state, driver, root);
    }
    tiles = calloc(count, sizeof(lz_device_h));
    if (tiles == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for tiles");
    }
    code = lz_calls(state)->zeDeviceGetSubDevices(root, &count, tiles);
    if (code != ZE_RESULT_SUCCESS) {
        free(tiles);
        return gpu_error(state, LZ_ANSWER("zeDeviceGetSubDevices", code),
                         "the tiles of a device cannot be listed");
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        status = add_device(state, driver, tiles[i]);
    }
    free(tiles);
    return status;
}

static memspan_status_t find_devices_of(struct gpu_state *state, struct lz_driver *driver)
{
    uint32_t count          = 0;
    lz_device_h *roots      = NULL;
    memspan_status_t status = MEMSPAN_OK;
    lz_result_t code        = lz_calls(state)->zeDeviceGet(driver->handle, &count, NULL);
    uint32_t i;

    if ((code == ZE_RESULT_SUCCESS) && (count > 0)) {
        roots = calloc(count, sizeof(lz_device_h));
        if (roots == NULL) {
            return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for devices");
        }
        code = lz_calls(state)->zeDeviceGet(driver->handle, &count, roots);
    }
    if (code != ZE_RESULT_SUCCESS) {
        free(roots);
        return gpu_error(state, LZ_ANSWER("zeDeviceGet", code), "a driver shows no device");
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        lz_device_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        code = lz_calls(state)->zeDeviceGetProperties(roots[i], &properties);
        if (code != ZE_RESULT_SUCCESS) {
            status = gpu_error(state, LZ_ANSWER("zeDeviceGetProperties", code),
                               "Level Zero device %u does not tell what it is", i);
        } else if (properties.type == LZ_DEVICE_TYPE_GPU) {
            /* Others (neural processors) have no memory that kernels of ours could use. */
            status = add_tiles(state, driver, roots[i]);
        }
    }
    free(roots);
    return status;
}

/* ---- who reaches whom ---- */

gpu_result_t lz_can_reach(const struct gpu_device *from, const struct gpu_device *home, int *can_p)
{
    uint8_t can      = 0;
    lz_result_t code = ZE_RESULT_SUCCESS;

    if (lz_device(from)->driver == lz_device(home)->driver) {
        code = lz_calls(from->state)
                   ->zeDeviceCanAccessPeer(lz_device(from)->handle, lz_device(home)->handle, &can);
    }
    *can_p = can;
    return LZ_ANSWER("zeDeviceCanAccessPeer", code);
}

static bool ask_atomics(const struct gpu_device *from, const struct gpu_device *home)
{
    lz_p2p_properties_t p2p = {.stype = LZ_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES};
    lz_result_t code =
        lz_calls(from->state)
            ->zeDeviceGetP2PProperties(lz_device(from)->handle, lz_device(home)->handle, &p2p);

    return gpu_log_failure(from->state, LZ_ANSWER("zeDeviceGetP2PProperties", code),
                           "reach between devices") &&
           ((p2p.flags & LZ_DEVICE_P2P_PROPERTY_FLAG_ATOMICS) != 0);
}

void lz_probe(struct gpu_state *state)
{
    int count     = state->device_count;
    bool *atomics = calloc((size_t)count * (size_t)count, sizeof(*atomics));
    int i;

    lz_state(state)->peer_atomics = atomics;
    for (i = 0; (atomics != NULL) && (i < count * count); i++) {
        atomics[i] = gpu_peer_can(state, i / count, i % count) &&
                     ask_atomics(state->devices[i / count], state->devices[i % count]);
    }
    lz_sysman_find(state);
}

bool lz_peer_atomics(const struct gpu_device *from, const struct gpu_device *home)
{
    const struct lz_state *state = lz_state(from->state);

    return (state->peer_atomics != NULL) &&
           state->peer_atomics[from->ordinal * state->gpu.device_count + home->ordinal];
}

/* ---- all of them ---- */

memspan_status_t lz_devices_find(struct gpu_state *state)
{
    struct lz_state *own    = lz_state(state);
    memspan_status_t status = find_drivers(state);
    uint32_t i;

    for (i = 0; (status == MEMSPAN_OK) && (i < own->driver_count); i++) {
        status = open_driver(state, &own->drivers[i]);
        if (status == MEMSPAN_OK) {
            status = find_devices_of(state, &own->drivers[i]);
        }
    }
    if ((status == MEMSPAN_OK) && (own->found_count == 0)) {
        return gpu_refuse(state, MEMSPAN_ERR_OFF, no_device_hint,
                          "no Level Zero driver shows a GPU");
    }
    return status;
}

gpu_result_t lz_devices_count(const struct gpu_state *state, int *count_p)
{
    *count_p = lz_state(state)->found_count;
    return LZ_ANSWER("zeDeviceGet", ZE_RESULT_SUCCESS);
}

/* In a forked child only our own records go. */
void lz_drop(struct gpu_state *state)
{
    struct lz_state *own = lz_state(state);
    bool ours            = (getpid() == state->pid);
    uint32_t d;
    int i;

    for (i = 0; i < state->device_count; i++) {
        free(lz_device(state->devices[i])->memories);
    }
    for (d = 0; d < own->driver_count; d++) {
        lz_drop_events(&own->drivers[d], ours);
        if (ours && (own->drivers[d].context != NULL)) {
            lz_result_t code = own->ze.zeContextDestroy(own->drivers[d].context);
            (void)gpu_log_failure(state, LZ_ANSWER("zeContextDestroy", code), "closing a driver");
        }
    }
    pthread_mutex_destroy(&own->lock);
    free(own->peer_atomics);
    free(own->found);
    free(own->drivers);
}
