/* SPDX-License-Identifier: BSD-3-Clause */
/* sysman.c: how much of a device's memory is free. Only the system's side of Level Zero tells, and
 * only newer loaders have it without an environment variable that would have to be set before. */

#include "backends/level_zero/level_zero.h"
#include <stdlib.h>
#include <string.h>

static bool is_there(const struct lz_calls *ze)
{
    return (ze->zesInit != NULL) && (ze->zesDriverGet != NULL) && (ze->zesDeviceGet != NULL) &&
           (ze->zesDeviceGetProperties != NULL) && (ze->zesDeviceEnumMemoryModules != NULL) &&
           (ze->zesMemoryGetProperties != NULL) && (ze->zesMemoryGetState != NULL);
}

/* Byte 15 of a device's uuid is 0 for a card, and a tile's number and 1 for a tile. Where tiles are
 * devices of the driver's own (ZE_FLAT_DEVICE_HIERARCHY=FLAT) the system's side still has cards. */
enum { UUID_TILE = 15 };

static bool is_of_tile(const struct lz_device *device, lz_sysman_memory_h memory)
{
    const struct lz_calls *ze              = LZ(device);
    lz_sysman_memory_properties_t of_which = {.stype = LZ_SYSMAN_STRUCTURE_TYPE_MEM_PROPERTIES};

    return (ze->zesMemoryGetProperties(memory, &of_which) == ZE_RESULT_SUCCESS) &&
           (of_which.onSubdevice != 0) && (of_which.subdeviceId + 1 == device->uuid[UUID_TILE]);
}

/* A tile's memories are among its card's. Returns how many are left. */
static uint32_t keep_tile(const struct lz_device *device, lz_sysman_memory_h *memories,
                          uint32_t count)
{
    uint32_t kept = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        if (is_of_tile(device, memories[i])) {
            memories[kept++] = memories[i];
        }
    }
    return kept;
}

/* The memory of the device, which is this one or a tile of it. */
static void take_memories(struct lz_device *device, lz_sysman_device_h handle)
{
    const struct lz_calls *ze = LZ(device);
    uint32_t count            = 0;
    lz_sysman_memory_h *memories;

    if ((ze->zesDeviceEnumMemoryModules(handle, &count, NULL) != ZE_RESULT_SUCCESS) ||
        (count == 0)) {
        return;
    }
    memories = calloc(count, sizeof(lz_sysman_memory_h));
    if (memories == NULL) {
        return;
    }
    if (ze->zesDeviceEnumMemoryModules(handle, &count, memories) != ZE_RESULT_SUCCESS) {
        count = 0;
    } else if (device->uuid[UUID_TILE] != 0) {
        count = keep_tile(device, memories, count);
    }
    if (count == 0) {
        free(memories);
        return;
    }
    device->memories     = memories;
    device->memory_count = count;
}

static void match_device(struct gpu_state *state, lz_sysman_device_h handle)
{
    lz_sysman_properties_t properties = {.stype = LZ_SYSMAN_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    int i;

    if (lz_calls(state)->zesDeviceGetProperties(handle, &properties) != ZE_RESULT_SUCCESS) {
        return;
    }
    for (i = 0; i < state->device_count; i++) {
        struct lz_device *device = lz_device(state->devices[i]);
        if ((device->memories == NULL) &&
            (memcmp(device->uuid, properties.core.uuid, UUID_TILE) == 0)) {
            take_memories(device, handle);
        }
    }
}

static void match_driver(struct gpu_state *state, lz_sysman_driver_h driver)
{
    uint32_t count = 0;
    lz_sysman_device_h *devices;
    uint32_t i;

    if ((lz_calls(state)->zesDeviceGet(driver, &count, NULL) != ZE_RESULT_SUCCESS) ||
        (count == 0)) {
        return;
    }
    devices = calloc(count, sizeof(lz_sysman_device_h));
    if (devices == NULL) {
        return;
    }
    if (lz_calls(state)->zesDeviceGet(driver, &count, devices) == ZE_RESULT_SUCCESS) {
        for (i = 0; i < count; i++) {
            match_device(state, devices[i]);
        }
    }
    free(devices);
}

void lz_sysman_find(struct gpu_state *state)
{
    uint32_t count = 0;
    lz_sysman_driver_h *drivers;
    lz_result_t code;
    uint32_t i;

    if (!is_there(lz_calls(state))) {
        return;
    }
    code = lz_calls(state)->zesInit(0);
    if (code == ZE_RESULT_SUCCESS) {
        code = lz_calls(state)->zesDriverGet(&count, NULL);
    }
    if ((code != ZE_RESULT_SUCCESS) || (count == 0)) {
        state->services->log(MEMSPAN_LOG_INFO, "level_zero", "free memory is unknown: no sysman");
        return;
    }
    drivers = calloc(count, sizeof(lz_sysman_driver_h));
    if (drivers == NULL) {
        return;
    }
    if (lz_calls(state)->zesDriverGet(&count, drivers) == ZE_RESULT_SUCCESS) {
        for (i = 0; i < count; i++) {
            match_driver(state, drivers[i]);
        }
    }
    free(drivers);
}

uint64_t lz_sysman_free(const struct gpu_device *device)
{
    const struct lz_device *own = lz_device(device);
    uint64_t free_bytes         = 0;
    uint32_t i;

    if (own->memories == NULL) {
        return MEMSPAN_UNKNOWN;
    }
    for (i = 0; i < own->memory_count; i++) {
        lz_sysman_memory_t memory = {.stype = LZ_SYSMAN_STRUCTURE_TYPE_MEM_STATE};
        lz_result_t code          = LZ(own)->zesMemoryGetState(own->memories[i], &memory);
        if (!gpu_log_failure(device->state, LZ_ANSWER("zesMemoryGetState", code),
                             "free memory of a device")) {
            return MEMSPAN_UNKNOWN;
        }
        free_bytes += memory.free;
    }
    return free_bytes;
}
