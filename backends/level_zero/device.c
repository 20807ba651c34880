/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: drivers, the devices they show, and which device reaches which.
 *
 * A card of several tiles is one device, as its driver shows it, or each tile is one of its own
 * (MEMSPAN_LEVEL_ZERO_TILES): then a tile's memory is a place by itself. */

#include "backends/level_zero/level_zero.h"
#include "core/base/option.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

memspan_status_t lz_device_get(void *opaque, int ordinal, struct lz_device **device_p)
{
    struct lz_state *state = opaque;

    if (getpid() != state->pid) {
        return lz_refuse(state, MEMSPAN_ERR_FORKED, "start processes before Level Zero is used",
                         "Level Zero was opened by process %d; its child %d cannot use it",
                         (int)state->pid, (int)getpid());
    }
    if ((ordinal < 0) || (ordinal >= state->device_count)) {
        return lz_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL,
                         "no Level Zero device %d: there are %d", ordinal, state->device_count);
    }
    *device_p = &state->devices[ordinal];
    return MEMSPAN_OK;
}

int lz_device_find(const struct lz_state *state, lz_device_h handle)
{
    int i;

    for (i = 0; (handle != NULL) && (i < state->device_count); i++) {
        if (state->devices[i].handle == handle) {
            return i;
        }
    }
    return MEMSPAN_HOST;
}

/* ---- drivers ---- */

/* Which of the extensions we use it has. */
static memspan_status_t read_extensions(struct lz_state *state, struct lz_driver *driver)
{
    uint32_t count      = 0;
    lz_extension_t *all = NULL;
    bool has_memmap     = false;
    lz_result_t code    = state->ze.zeDriverGetExtensionProperties(driver->handle, &count, NULL);
    uint32_t i;

    if ((code == ZE_RESULT_SUCCESS) && (count > 0)) {
        all = calloc(count, sizeof(*all));
        if (all == NULL) {
            return lz_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for extensions");
        }
        code = state->ze.zeDriverGetExtensionProperties(driver->handle, &count, all);
    }
    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDriverGetExtensionProperties", code, "extensions of a driver");
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

/* With several drivers the loader returns handles of its own. */
static lz_driver_h translate(const struct lz_state *state, lz_driver_h handle)
{
    void *own = NULL;

    if ((state->ze.zelLoaderTranslateHandle == NULL) ||
        (state->ze.zelLoaderTranslateHandle(LZ_HANDLE_DRIVER, handle, &own) != ZE_RESULT_SUCCESS)) {
        return NULL;
    }
    return own;
}

static memspan_status_t open_driver(struct lz_state *state, struct lz_driver *driver)
{
    lz_context_desc_t desc            = {.stype = LZ_STRUCTURE_TYPE_CONTEXT_DESC};
    lz_driver_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    lz_ipc_properties_t ipc           = {.stype = LZ_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES};
    lz_result_t code = state->ze.zeDriverGetApiVersion(driver->handle, &driver->version);

    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDriverGetApiVersion", code, "version of a driver");
    }
    code = state->ze.zeDriverGetProperties(driver->handle, &properties);
    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDriverGetProperties", code, "properties of a driver");
    }
    driver->own_handle = translate(state, driver->handle);
    driver->build      = properties.driverVersion;
    code               = state->ze.zeDriverGetIpcProperties(driver->handle, &ipc);
    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDriverGetIpcProperties", code, "what a driver shares");
        ipc.flags = 0;
    }
    driver->shares =
        ((ipc.flags & LZ_IPC_PROPERTY_FLAG_MEMORY) != 0) && (state->ze.zeMemGetIpcHandle != NULL) &&
        (state->ze.zeMemOpenIpcHandle != NULL) && (state->ze.zeMemCloseIpcHandle != NULL);
    code = state->ze.zeContextCreate(driver->handle, &desc, &driver->context);
    if (code != ZE_RESULT_SUCCESS) {
        driver->context = NULL;
        return lz_error(state, "zeContextCreate", code, "no context with a driver");
    }
    return read_extensions(state, driver);
}

static memspan_status_t find_drivers(struct lz_state *state)
{
    lz_driver_h *handles = NULL;
    uint32_t count       = 0;
    lz_result_t code     = state->ze.zeDriverGet(&count, NULL);
    uint32_t i;

    if ((code != ZE_RESULT_SUCCESS) || (count == 0)) {
        return lz_error(state, "zeDriverGet",
                        (code == ZE_RESULT_SUCCESS) ? (lz_result_t)ZE_RESULT_ERROR_UNINITIALIZED
                                                    : code,
                        "the loader shows no driver");
    }
    handles        = calloc(count, sizeof(lz_driver_h));
    state->drivers = calloc(count, sizeof(*state->drivers));
    if ((handles == NULL) || (state->drivers == NULL)) {
        free(handles);
        return lz_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for drivers");
    }
    code = state->ze.zeDriverGet(&count, handles);
    if (code != ZE_RESULT_SUCCESS) {
        free(handles);
        return lz_error(state, "zeDriverGet", code, "the loader shows no driver");
    }
    for (i = 0; i < count; i++) {
        state->drivers[i].state  = state;
        state->drivers[i].handle = handles[i];
    }
    state->driver_count = count;
    free(handles);
    return MEMSPAN_OK;
}

/* ---- devices ---- */

static memspan_status_t add_device(struct lz_state *state, struct lz_driver *driver,
                                   lz_device_h handle, int parent)
{
    int i                    = state->device_count;
    struct lz_device *device = NULL;

    if (i == state->device_room) {
        int room               = (i == 0) ? 8 : 2 * i;
        struct lz_device *more = realloc(state->devices, (size_t)room * sizeof(*more));
        if (more == NULL) {
            return lz_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for devices");
        }
        state->devices     = more;
        state->device_room = room;
    }
    device = &state->devices[i];
    memset(device, 0, sizeof(*device));
    device->state   = state;
    device->driver  = driver;
    device->handle  = handle;
    device->ordinal = i;
    device->parent  = parent;
    state->device_count++;
    return MEMSPAN_OK;
}

/* The tiles of a device where they are wanted one by one, else the device. */
static memspan_status_t add_tiles(struct lz_state *state, struct lz_driver *driver,
                                  lz_device_h root, int parent)
{
    uint32_t count          = 0;
    bool each               = state->services->option_number("MEMSPAN_LEVEL_ZERO_TILES") == 1;
    memspan_status_t status = MEMSPAN_OK;
    lz_device_h *tiles;
    lz_result_t code =
        each ? state->ze.zeDeviceGetSubDevices(root, &count, NULL) : (lz_result_t)ZE_RESULT_SUCCESS;
    uint32_t i;

    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDeviceGetSubDevices", code, "tiles of a device");
        count = 0;
    }
    if (count == 0) {
        return add_device(state, driver, root, parent);
    }
    tiles = calloc(count, sizeof(lz_device_h));
    if (tiles == NULL) {
        return lz_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for tiles");
    }
    code = state->ze.zeDeviceGetSubDevices(root, &count, tiles);
    if (code != ZE_RESULT_SUCCESS) {
        free(tiles);
        return lz_error(state, "zeDeviceGetSubDevices", code,
                        "the tiles of a device cannot be listed");
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        status = add_device(state, driver, tiles[i], parent);
    }
    free(tiles);
    return status;
}

static memspan_status_t find_devices_of(struct lz_state *state, struct lz_driver *driver)
{
    uint32_t count          = 0;
    lz_device_h *roots      = NULL;
    memspan_status_t status = MEMSPAN_OK;
    lz_result_t code        = state->ze.zeDeviceGet(driver->handle, &count, NULL);
    uint32_t i;

    if ((code == ZE_RESULT_SUCCESS) && (count > 0)) {
        roots = calloc(count, sizeof(lz_device_h));
        if (roots == NULL) {
            return lz_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for devices");
        }
        code = state->ze.zeDeviceGet(driver->handle, &count, roots);
    }
    if (code != ZE_RESULT_SUCCESS) {
        free(roots);
        return lz_error(state, "zeDeviceGet", code, "a driver shows no device");
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        lz_device_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        code                              = state->ze.zeDeviceGetProperties(roots[i], &properties);
        if (code != ZE_RESULT_SUCCESS) {
            status = lz_error(state, "zeDeviceGetProperties", code,
                              "Level Zero device %u does not tell what it is", i);
        } else if (properties.type == LZ_DEVICE_TYPE_GPU) {
            /* Others (neural processors) have no memory that kernels of ours could use. */
            status = add_tiles(state, driver, roots[i], (int)i);
        }
    }
    free(roots);
    return status;
}

/* ---- who reaches whom ---- */

static enum lz_peer ask_peer(const struct lz_device *from, const struct lz_device *home)
{
    const struct lz_state *state = from->state;
    lz_p2p_properties_t p2p      = {.stype = LZ_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES};
    uint8_t can                  = 0;
    lz_result_t code;

    if ((from == home) || (from->driver != home->driver)) {
        return LZ_PEER_NO;
    }
    code = state->ze.zeDeviceCanAccessPeer(from->handle, home->handle, &can);
    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDeviceCanAccessPeer", code, "reach between devices");
        return LZ_PEER_NO;
    }
    if (can == 0) {
        return LZ_PEER_NO;
    }
    code = state->ze.zeDeviceGetP2PProperties(from->handle, home->handle, &p2p);
    if (code != ZE_RESULT_SUCCESS) {
        lz_log_failure(state, "zeDeviceGetP2PProperties", code, "reach between devices");
        return LZ_PEER_YES;
    }
    return ((p2p.flags & LZ_DEVICE_P2P_PROPERTY_FLAG_ATOMICS) != 0) ? LZ_PEER_ATOMIC : LZ_PEER_YES;
}

enum lz_peer lz_peer_get(const struct lz_state *state, int from, int home)
{
    return state->peers[from * state->device_count + home];
}

static memspan_status_t fill_all(struct lz_state *state)
{
    size_t n                = (size_t)state->device_count;
    memspan_status_t status = MEMSPAN_OK;
    int i;
    int j;

    state->peers = calloc(n * n, sizeof(*state->peers));
    if (state->peers == NULL) {
        return lz_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for devices");
    }
    /* From here on devices stay where they are. */
    for (i = 0; i < state->device_count; i++) {
        pthread_mutex_init(&state->devices[i].lock, NULL);
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < state->device_count); i++) {
        status = lz_device_fill(&state->devices[i]);
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < state->device_count); i++) {
        for (j = 0; j < state->device_count; j++) {
            state->peers[i * state->device_count + j] =
                ask_peer(&state->devices[i], &state->devices[j]);
        }
    }
    return status;
}

memspan_status_t lz_devices_find(struct lz_state *state)
{
    memspan_status_t status = find_drivers(state);
    uint32_t i;

    for (i = 0; (status == MEMSPAN_OK) && (i < state->driver_count); i++) {
        status = open_driver(state, &state->drivers[i]);
        if (status == MEMSPAN_OK) {
            status = find_devices_of(state, &state->drivers[i]);
        }
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (state->device_count == 0) {
        return lz_refuse(state, MEMSPAN_ERR_OFF,
                         "ZE_AFFINITY_MASK and the permissions of /dev/dri/renderD* hide devices",
                         "no Level Zero driver shows a GPU");
    }
    return fill_all(state);
}

void lz_devices_drop(struct lz_state *state)
{
    bool ours = (getpid() == state->pid);
    lz_result_t code;
    uint32_t d;
    int i;

    for (i = 0; (state->peers != NULL) && (i < state->device_count); i++) {
        struct lz_device *device = &state->devices[i];
        if (ours) {
            if (lz_queues_wait(device->driver, device) != MEMSPAN_OK) {
                state->services->log(MEMSPAN_LOG_WARN, LZ_NAME, "closing a device: %s",
                                     memspan_error_text());
            }
            if (device->queue != NULL) {
                lz_queue_drop(device->queue);
            }
            lz_kernels_drop(device);
        }
        free(device->memories);
        pthread_mutex_destroy(&device->lock);
    }
    if (ours) {
        lz_kept_drop(state);
    }
    for (d = 0; ours && (d < state->driver_count); d++) {
        if (state->drivers[d].context != NULL) {
            code = state->ze.zeContextDestroy(state->drivers[d].context);
            if (code != ZE_RESULT_SUCCESS) {
                lz_log_failure(state, "zeContextDestroy", code, "closing a driver");
            }
        }
    }
    free(state->peers);
    free(state->devices);
    free(state->drivers);
}
