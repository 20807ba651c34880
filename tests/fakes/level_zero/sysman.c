/* SPDX-License-Identifier: BSD-3-Clause */
/* sysman.c: free memory of cards and of their tiles. No loader of Debian 12 has these calls, so
 * they are the test's own, put where the loader's would be: one card with two tiles. */

#include "backends/level_zero/level_zero.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 2, FREE_OF_TILE = 1000 };

static lz_result_t init(uint32_t flags)
{
    (void)flags;
    return ZE_RESULT_SUCCESS;
}

/* Handles are numbers: 1 the driver, 2 the card, 16 and 17 its memories. */
static lz_result_t drivers(uint32_t *count, lz_sysman_driver_h *all)
{
    *count = 1;
    if (all != NULL) {
        all[0] = (lz_sysman_driver_h)1;
    }
    return ZE_RESULT_SUCCESS;
}

static lz_result_t devices(lz_sysman_driver_h driver, uint32_t *count, lz_sysman_device_h *all)
{
    (void)driver;
    *count = 1;
    if (all != NULL) {
        all[0] = (lz_sysman_device_h)2;
    }
    return ZE_RESULT_SUCCESS;
}

static lz_result_t properties(lz_sysman_device_h device, lz_sysman_properties_t *p)
{
    (void)device;
    memset(p->core.uuid, 7, sizeof(p->core.uuid));
    p->core.uuid[15] = 0;
    return ZE_RESULT_SUCCESS;
}

static lz_result_t memories(lz_sysman_device_h device, uint32_t *count, lz_sysman_memory_h *all)
{
    (void)device;
    for (uint32_t i = 0; (all != NULL) && (i < TILES); i++) {
        all[i] = (lz_sysman_memory_h)(uintptr_t)(16 + i);
    }
    *count = TILES;
    return ZE_RESULT_SUCCESS;
}

static lz_result_t memory_properties(lz_sysman_memory_h memory, lz_sysman_memory_properties_t *p)
{
    cr_assert_eq(p->stype, (uint32_t)LZ_SYSMAN_STRUCTURE_TYPE_MEM_PROPERTIES);
    p->onSubdevice = 1;
    p->subdeviceId = (uint32_t)(uintptr_t)memory - 16;
    return ZE_RESULT_SUCCESS;
}

static lz_result_t memory_state(lz_sysman_memory_h memory, lz_sysman_memory_t *state)
{
    state->free = FREE_OF_TILE << ((uintptr_t)memory - 16);
    return ZE_RESULT_SUCCESS;
}

static void say(enum memspan_log_level level, const char *who, const char *format, ...)
{
    (void)level;
    (void)who;
    (void)format;
}

/* What is free of a device whose uuid ends so. */
static uint64_t free_of(uint8_t last_byte, uint8_t others)
{
    static const memspan_services_t services = {.log = say};
    struct lz_device device                  = {.gpu.ordinal = 0};
    struct gpu_device *all                   = &device.gpu;
    struct lz_state state = {.gpu = {.services = &services, .devices = &all, .device_count = 1}};
    uint64_t free_bytes;

    state.ze.zesInit                    = init;
    state.ze.zesDriverGet               = drivers;
    state.ze.zesDeviceGet               = devices;
    state.ze.zesDeviceGetProperties     = properties;
    state.ze.zesDeviceEnumMemoryModules = memories;
    state.ze.zesMemoryGetProperties     = memory_properties;
    state.ze.zesMemoryGetState          = memory_state;
    device.gpu.state                    = &state.gpu;
    memset(device.uuid, others, sizeof(device.uuid));
    device.uuid[15] = last_byte;
    lz_sysman_find(&state.gpu);
    free_bytes = lz_sysman_free(&device.gpu);
    free(device.memories);
    return free_bytes;
}

Test(level_zero_sysman, a_card_has_what_its_tiles_have)
{
    cr_assert_eq(free_of(0, 7), 3 * FREE_OF_TILE);
}

Test(level_zero_sysman, a_tile_has_its_own)
{
    cr_assert_eq(free_of(1, 7), FREE_OF_TILE);
    cr_assert_eq(free_of(2, 7), 2 * FREE_OF_TILE);
}

Test(level_zero_sysman, another_card_is_not_asked)
{
    cr_assert_eq(free_of(0, 8), MEMSPAN_UNKNOWN);
    cr_assert_eq(free_of(3, 7), MEMSPAN_UNKNOWN, "there is no such tile");
}
