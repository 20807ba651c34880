/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: the devices' properties, read once when the backend is opened; their free memory,
 * read each time; and their access to each other's memory. */

#include "backends/gpu/common.h"
#include "backends/gpu/gpu.h"
#include "core/base/capability.h"
#include "core/base/platform.h"
#include <stdio.h>
#include <stdlib.h>

int gpu_attribute(const struct gpu_device *device, int which, int unknown)
{
    int value           = unknown;
    gpu_result_t answer = device->state->driver->attribute(device, which, &value);
    char what[48];

    if (answer.code == GPU_SUCCESS) {
        return value;
    }
    if ((answer.code == GPU_INVALID_VALUE) || (answer.code == GPU_NOT_SUPPORTED)) {
        gpu_forget_error(device->state);
        return unknown;
    }
    snprintf(what, sizeof(what), "attribute %d of device %d", which, device->ordinal);
    (void)gpu_log_failure(device->state, answer, what);
    return 0;
}

bool gpu_has(const struct gpu_device *device, int which)
{
    return gpu_attribute(device, which, 0) > 0;
}

static void fill_sizes(struct gpu_device *device)
{
    memspan_device_info_t *info = &device->info;
    size_t total                = 0;

    if (!gpu_log_failure(device->state, device->state->driver->total(device, &total),
                         "capacity of a device")) {
        total = 0;
    }
    info->capacity_bytes = (total == 0) ? MEMSPAN_UNKNOWN : total;
    snprintf(info->capacity_source, sizeof(info->capacity_source), "%s",
             (total == 0) ? "" : "driver");
    info->alloc_max_bytes = info->capacity_bytes;
    info->free_bytes      = MEMSPAN_UNKNOWN;
    info->page_size_bytes = msp_page_size();
}

static void fill_peer(struct gpu_state *state, int from, int home)
{
    int can = 0;

    if ((from != home) &&
        gpu_log_failure(state,
                        state->driver->can_reach(state->devices[from], state->devices[home], &can),
                        "reach between devices") &&
        (can != 0)) {
        atomic_init(&state->peers[from * state->device_count + home], GPU_PEER_MAY);
    }
}

static void fill_kinds(struct gpu_device *device)
{
    const struct gpu_driver *driver = device->state->driver;
    memspan_device_info_t *info     = &device->info;
    bool unified                    = device->facts.unified_addressing;
    unsigned bit;
    int kind;

    driver->fill_capabilities(device);
    gpu_offer_kind(info, MEMSPAN_KIND_NONE, false, "%s", "");
    gpu_offer_kind(info, MEMSPAN_KIND_HOST, false, "not offered: the host's own backend has it");
    if (unified) {
        driver->offer(device);
        return;
    }
    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        gpu_offer_kind(info, (memspan_kind_t)kind, false,
                       "not offered: %s 0, an address would mean something else",
                       driver->names[GPU_NAME_UNIFIED]);
    }
    for (bit = 1; bit <= MEMSPAN_CAN_UNIFIED_PHYSICAL; bit <<= 1) {
        msp_capability_set(info, bit, false, "%s 0: an address would mean something else",
                           driver->names[GPU_NAME_UNIFIED]);
    }
}

static memspan_status_t make_devices(struct gpu_state *state, int count)
{
    int i;

    state->devices = calloc((size_t)count, sizeof(struct gpu_device *));
    state->peers   = calloc((size_t)count * (size_t)count, sizeof(*state->peers));
    for (i = 0; (state->devices != NULL) && (state->peers != NULL) && (i < count); i++) {
        struct gpu_device *device = calloc(1, state->driver->device_size);
        if (device == NULL) {
            break;
        }
        device->state            = state;
        device->ordinal          = i;
        device->info.struct_size = sizeof(device->info);
        device->info.ordinal     = i;
        device->facts.node       = -1;
        pthread_mutex_init(&device->lock, NULL);
        state->devices[i]   = device;
        state->device_count = i + 1;
    }
    return (state->device_count == count)
               ? MEMSPAN_OK
               : gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for devices");
}

memspan_status_t gpu_devices_find(struct gpu_state *state)
{
    const struct gpu_driver *driver = state->driver;
    int count                       = 0;
    gpu_result_t answer             = driver->count(state, &count);
    memspan_status_t status;
    char words[96] = "";
    int i;

    if ((answer.code != GPU_SUCCESS) || (count <= 0)) {
        answer.code = (answer.code != GPU_SUCCESS) ? answer.code : GPU_NO_DEVICE;
        return gpu_error(state, answer, "no %s device", driver->title);
    }
    status = make_devices(state, count);
    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        fill_sizes(state->devices[i]);
        status = driver->fill(state->devices[i]);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    for (i = 0; i < count * count; i++) {
        fill_peer(state, i / count, i % count);
    }
    if (driver->probe != NULL) {
        driver->probe(state);
    }
    for (i = 0; i < count; i++) {
        struct gpu_device *device = state->devices[i];
        fill_kinds(device);
        if (driver->words != NULL) {
            driver->words(device, words, sizeof(words));
        }
        state->services->log(MEMSPAN_LOG_INFO, driver->name, "device %d: %s, %s%s%s", i,
                             device->info.name, device->info.driver, (words[0] != '\0') ? ", " : "",
                             words);
    }
    return MEMSPAN_OK;
}

static uint64_t free_bytes(struct gpu_device *device)
{
    const struct gpu_driver *driver = device->state->driver;
    size_t available                = 0;
    struct gpu_visit visit;
    bool fine;

    if (driver->free_bytes != NULL) {
        return driver->free_bytes(device);
    }
    if (device->facts.integrated) {
        return gpu_host_available();
    }
    if (!gpu_is_active(device)) {
        return MEMSPAN_UNKNOWN;
    }
    if (gpu_enter(device->state, device->ordinal, GPU_TO_WORK, &visit) != MEMSPAN_OK) {
        gpu_log_record(device->state, MEMSPAN_LOG_WARN, "free memory of a device");
        return MEMSPAN_UNKNOWN;
    }
    fine = gpu_log_failure(device->state, driver->available(device, &available),
                           "free memory of a device");
    gpu_leave(&visit);
    return fine ? available : MEMSPAN_UNKNOWN;
}

memspan_status_t gpu_device_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    struct gpu_device *device;
    memspan_status_t status = gpu_device_get(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        gpu_describe_device(&device->info, free_bytes(device), info_p);
    }
    return status;
}

/* ---- who reaches it ---- */

static memspan_reach_t reach_of_peer(const struct gpu_device *home, memspan_kind_t kind,
                                     const struct gpu_device *from)
{
    const struct gpu_driver *driver = home->state->driver;
    memspan_reach_t reach           = driver->reach_peer(home, kind, from);
    memspan_reach_t own             = driver->reach_own(home, kind);

    if (reach.access != MEMSPAN_ACCESS_NONE) {
        return reach;
    }
    reach = driver->reach_own(from, kind);
    if (own.coherence < reach.coherence) {
        reach.coherence = own.coherence;
    }
    return reach;
}

memspan_reach_t gpu_reach(void *opaque, int home, memspan_kind_t kind, int from)
{
    const struct gpu_state *state = opaque;

    if ((home < 0) || (home >= state->device_count) || (from >= state->device_count) ||
        (kind <= MEMSPAN_KIND_NONE) || (kind >= MEMSPAN_KIND_COUNT) ||
        ((state->devices[home]->info.kinds & (1u << kind)) == 0) ||
        ((from >= 0) && !state->devices[from]->facts.unified_addressing)) {
        return (memspan_reach_t){MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
    }
    if (from < 0) {
        return state->driver->reach_host(state->devices[home], kind);
    }
    return (from == home) ? state->driver->reach_own(state->devices[home], kind)
                          : reach_of_peer(state->devices[home], kind, state->devices[from]);
}

void gpu_reach_source(void *opaque, int home, memspan_kind_t kind, int from, char *text,
                      size_t size)
{
    const struct gpu_state *state   = opaque;
    const struct gpu_driver *driver = state->driver;
    const char *access              = driver->names[GPU_NAME_ACCESS];

    text[0] = '\0';
    if ((home < 0) || (home >= state->device_count) || (from >= state->device_count)) {
        return;
    }
    if ((kind != MEMSPAN_KIND_DEVICE) || (from == home)) {
        access = (access != NULL) ? access : "the device's attributes";
        snprintf(text, size, "%s", (from == home) ? "its own" : access);
    } else if (from < 0) {
        snprintf(text, size, "%s", driver->names[GPU_NAME_COPY]);
    } else {
        driver->peer_source(state->devices[from], state->devices[home], text, size);
    }
}
