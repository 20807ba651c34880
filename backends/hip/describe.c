/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: what the devices are, asked once when the backend is opened; how much memory is free,
 * each time. */

#include "backends/hip/hip.h"
#include "core/base/driver.h"
#include "core/base/file.h"
#include "core/base/platform.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Drivers differ in what they answer to an attribute that they do not know: then it is what is true
 * of those that do not. */
static int attribute(const struct hip_device *device, int which, int unknown)
{
    int value         = unknown;
    hip_result_t code = device->state->hip.hipDeviceGetAttribute(&value, which, device->ordinal);

    if (code == HIP_SUCCESS) {
        return value;
    }
    if ((code == HIP_ERROR_INVALID_VALUE) || (code == HIP_ERROR_NOT_SUPPORTED)) {
        hip_forget_error(device->state);
        return unknown;
    }
    char what[48];
    snprintf(what, sizeof(what), "attribute %d of device %d", which, device->ordinal);
    hip_log_failure(device->state, "hipDeviceGetAttribute", code, what);
    return 0;
}

static bool has(const struct hip_device *device, int which)
{
    return attribute(device, which, 0) > 0;
}

static void fill_facts(struct hip_device *device)
{
    const struct hip_calls *hip = &device->state->hip;
    struct hip_facts *f         = &device->facts;

    f->multiprocessors = attribute(device, HIP_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    /* Every HIP for AMD has one address space; ROCm 5 does not know the question. */
    f->unified_addressing = attribute(device, HIP_ATTRIBUTE_UNIFIED_ADDRESSING, 1) > 0;
    f->integrated         = has(device, HIP_ATTRIBUTE_INTEGRATED);
    f->managed    = (hip->hipMallocManaged != NULL) && has(device, HIP_ATTRIBUTE_MANAGED_MEMORY);
    f->concurrent = f->managed && has(device, HIP_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    f->pageable   = has(device, HIP_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
    f->host_page_tables = f->pageable && has(device, HIP_ATTRIBUTE_HOST_PAGE_TABLES);
    f->host_atomics     = has(device, HIP_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
    f->large_bar        = has(device, HIP_ATTRIBUTE_IS_LARGE_BAR);
    f->fine_grain       = f->large_bar && (hip->hipExtMallocWithFlags != NULL) &&
                    (attribute(device, HIP_ATTRIBUTE_FINE_GRAIN_SUPPORT, 1) > 0);
}

/* What a file of a node says; "" where it cannot be read: a container shows the nodes of all GPUs,
 * and opens those of its own. */
static void read_node(const char *folder, int node, const char *file, char *text, size_t size)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%d/%s", folder, node, file);
    if (msp_file_read(path, text, size) < 0) {
        text[0] = '\0';
    }
}

static bool is_processor(const char *folder, int node)
{
    uint64_t cores = 0;
    char text[4096];

    read_node(folder, node, "properties", text, sizeof(text));
    return msp_text_field(text, "cpu_cores_count", &cores) && (cores > 0);
}

/* Whether a link of the node to a processor is xGMI. */
static bool has_xgmi(const char *folder, int node)
{
    enum { XGMI = 11 };
    int link;

    for (link = 0; link < 64; link++) {
        uint64_t type = 0;
        uint64_t to   = 0;
        char file[48];
        char text[4096];

        snprintf(file, sizeof(file), "io_links/%d/properties", link);
        read_node(folder, node, file, text, sizeof(text));
        if (text[0] == '\0') {
            return false;
        }
        if (msp_text_field(text, "type", &type) && (type == XGMI) &&
            msp_text_field(text, "node_to", &to) && is_processor(folder, (int)to)) {
            return true;
        }
    }
    return false;
}

struct hip_node hip_node_find(const char *folder, const char *pci_address)
{
    struct hip_node found = {0};
    unsigned domain       = 0;
    unsigned bus          = 0;
    unsigned slot         = 0;
    int node;

    if (sscanf(pci_address, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        return found;
    }
    for (node = 0; node < 256; node++) {
        uint64_t at      = 0;
        uint64_t space   = 0;
        uint64_t version = 0;
        char path[256];
        char text[4096];
        snprintf(path, sizeof(path), "%s/%d", folder, node);
        if (access(path, F_OK) != 0) {
            return found; /* nodes have no gaps */
        }
        read_node(folder, node, "properties", text, sizeof(text));
        /* No GPU has 0, processors do. */
        if (msp_text_field(text, "gfx_target_version", &version) && (version != 0) &&
            msp_text_field(text, "location_id", &at) && ((at & ~7u) == (bus << 8 | slot << 3)) &&
            msp_text_field(text, "domain", &space) && (space == domain)) {
            found.target    = (unsigned)version;
            found.host_xgmi = has_xgmi(folder, node);
            return found;
        }
    }
    return found;
}

const char *hip_target_name(unsigned target, char *name, size_t size)
{
    name[0] = '\0';
    if (target != 0) {
        snprintf(name, size, "gfx%u%x%x", target / 10000, target / 100 % 100, target % 100);
    }
    return name;
}

static void fill_names(struct hip_device *device)
{
    memspan_device_info_t *info   = &device->info;
    const struct hip_state *state = device->state;
    hip_result_t code =
        state->hip.hipDeviceGetName(info->name, (int)sizeof(info->name), device->id);
    char target[16];

    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipDeviceGetName", code, "name of a device");
        info->name[0] = '\0';
    }
    info->name[sizeof(info->name) - 1] = '\0';
    if (info->name[0] == '\0') {
        snprintf(info->name, sizeof(info->name), "HIP device %d", device->ordinal);
    }
    hip_target_name(device->facts.target, target, sizeof(target));
    snprintf(info->vendor, sizeof(info->vendor), "Advanced Micro Devices, Inc.");
    snprintf(info->driver, sizeof(info->driver), "HIP %d.%d%s%s", state->version / 10000000,
             state->version / 100000 % 100, (target[0] == '\0') ? "" : ", ", target);
}

/* AMD's 16 bytes are the text of a number, as rocminfo shows it; others are bytes. */
static void write_uid(const struct hip_uuid *uuid, char *uid, size_t size)
{
    size_t used = 0;
    size_t i;
    bool text = true;

    for (i = 0; i < sizeof(uuid->bytes); i++) {
        text = text && (isxdigit((unsigned char)uuid->bytes[i]) != 0);
    }
    if (text) {
        snprintf(uid, size, "GPU-%.16s", uuid->bytes);
        return;
    }
    for (i = 0; i < sizeof(uuid->bytes); i++) {
        bool dash = (i == 4) || (i == 6) || (i == 8) || (i == 10);
        used += (size_t)snprintf(uid + used, size - used, "%s%02x", dash ? "-" : "",
                                 (unsigned char)uuid->bytes[i]);
    }
}

static void fill_uid(struct hip_device *device)
{
    static const struct hip_uuid none = {{0}};
    memspan_device_info_t *info       = &device->info;
    hip_result_t code                 = HIP_ERROR_NOT_SUPPORTED;
    struct hip_uuid uuid              = none;

    if (device->state->hip.hipDeviceGetUuid != NULL) {
        code = device->state->hip.hipDeviceGetUuid(&uuid, device->id);
        if (code != HIP_SUCCESS) {
            hip_log_failure(device->state, "hipDeviceGetUuid", code, "identity of a device");
        }
    }
    if ((code == HIP_SUCCESS) && (memcmp(&uuid, &none, sizeof(none)) != 0)) {
        write_uid(&uuid, info->uid, sizeof(info->uid));
    } else if (info->pci_address[0] != '\0') {
        snprintf(info->uid, sizeof(info->uid), "hip:%s", info->pci_address);
    } else {
        snprintf(info->uid, sizeof(info->uid), "hip:%.40s:%d", info->name, device->ordinal);
    }
}

static void fill_bus(struct hip_device *device)
{
    memspan_device_info_t *info = &device->info;
    hip_result_t code           = HIP_SUCCESS;
    char *at;

    info->numa_node = -1;
    if (device->state->hip.hipDeviceGetPCIBusId != NULL) {
        code = device->state->hip.hipDeviceGetPCIBusId(
            info->pci_address, (int)sizeof(info->pci_address), device->ordinal);
    }
    if (code != HIP_SUCCESS) {
        hip_log_failure(device->state, "hipDeviceGetPCIBusId", code, "place of a device");
        info->pci_address[0] = '\0';
    }
    info->pci_address[sizeof(info->pci_address) - 1] = '\0';
    for (at = info->pci_address; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    info->numa_node = msp_driver_node_at(info->pci_address);
}

static void fill_sizes(struct hip_device *device)
{
    memspan_device_info_t *info = &device->info;
    size_t total                = 0;
    hip_result_t code           = device->state->hip.hipDeviceTotalMem(&total, device->id);

    if (code != HIP_SUCCESS) {
        hip_log_failure(device->state, "hipDeviceTotalMem", code, "capacity of a device");
        total = 0;
    }
    info->capacity_bytes = (total == 0) ? MEMSPAN_UNKNOWN : total;
    snprintf(info->capacity_source, sizeof(info->capacity_source), "%s",
             (total == 0) ? "" : "driver");
    info->alloc_max_bytes = info->capacity_bytes;
    info->free_bytes      = MEMSPAN_UNKNOWN;
    info->page_size_bytes = msp_page_size();
}

static void fill_peer(struct hip_state *state, int from, int home)
{
    int at            = from * state->device_count + home;
    int can           = 0;
    int atomics       = 0;
    hip_result_t code = state->hip.hipDeviceCanAccessPeer(&can, from, home);

    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipDeviceCanAccessPeer", code, "reach between devices");
        can = 0;
    }
    if ((can != 0) && (state->hip.hipDeviceGetP2PAttribute != NULL)) {
        code = state->hip.hipDeviceGetP2PAttribute(&atomics, HIP_P2P_NATIVE_ATOMIC_SUPPORTED, from,
                                                   home);
        if (code != HIP_SUCCESS) {
            hip_log_failure(state, "hipDeviceGetP2PAttribute", code, "atomics between devices");
            atomics = 0;
        }
    }
    atomic_init(&state->peers[at], (can != 0) ? HIP_PEER_MAY : HIP_PEER_NO);
    state->peer_atomics[at] = (atomics > 0);
}

static void fill_peers(struct hip_state *state)
{
    int from;
    int home;

    if ((state->hip.hipDeviceCanAccessPeer == NULL) ||
        (state->hip.hipDeviceEnablePeerAccess == NULL)) {
        return;
    }
    for (from = 0; from < state->device_count; from++) {
        for (home = 0; home < state->device_count; home++) {
            if (home != from) {
                fill_peer(state, from, home);
            }
        }
    }
}

static memspan_status_t fill_device(struct hip_device *device)
{
    hip_result_t code = device->state->hip.hipDeviceGet(&device->id, device->ordinal);
    struct hip_node node;

    if (code != HIP_SUCCESS) {
        return hip_error(device->state, "hipDeviceGet", code, "HIP device %d cannot be had",
                         device->ordinal);
    }
    device->info.struct_size = sizeof(device->info);
    device->info.ordinal     = device->ordinal;
    fill_facts(device);
    fill_bus(device);
    node = hip_node_find("/sys/class/kfd/kfd/topology/nodes", device->info.pci_address);
    device->facts.target    = node.target;
    device->facts.host_xgmi = node.host_xgmi;
    fill_names(device);
    fill_uid(device);
    fill_sizes(device);
    return MEMSPAN_OK;
}

static void fill_all_kinds(struct hip_state *state)
{
    char words[96];
    int i;

    for (i = 0; i < state->device_count; i++) {
        struct hip_device *device = &state->devices[i];
        hip_device_fill_kinds(device);
        state->services->log(MEMSPAN_LOG_INFO, HIP_NAME, "device %d: %s, %s, %s", i,
                             device->info.name, device->info.driver,
                             hip_xnack_words(device, words, sizeof(words)));
    }
}

memspan_status_t hip_devices_find(struct hip_state *state)
{
    int count               = 0;
    hip_result_t code       = state->hip.hipGetDeviceCount(&count);
    memspan_status_t status = MEMSPAN_OK;
    int i;

    if ((code != HIP_SUCCESS) || (count <= 0)) {
        return hip_error(state, "hipGetDeviceCount",
                         (code != HIP_SUCCESS) ? code : HIP_ERROR_NO_DEVICE, "no HIP device");
    }
    state->devices      = calloc((size_t)count, sizeof(*state->devices));
    state->peers        = calloc((size_t)count * (size_t)count, sizeof(*state->peers));
    state->peer_atomics = calloc((size_t)count * (size_t)count, sizeof(*state->peer_atomics));
    if ((state->devices == NULL) || (state->peers == NULL) || (state->peer_atomics == NULL)) {
        return hip_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for devices");
    }
    state->device_count = count;
    for (i = 0; i < count; i++) {
        state->devices[i].state   = state;
        state->devices[i].ordinal = i;
        pthread_mutex_init(&state->devices[i].lock, NULL);
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        status = fill_device(&state->devices[i]);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    fill_peers(state);
    hip_try_page(state);
    fill_all_kinds(state);
    return MEMSPAN_OK;
}

static uint64_t free_bytes(const struct hip_device *device)
{
    struct hip_device *entered;
    size_t available = 0;
    size_t total     = 0;
    hip_result_t code;
    int before;

    if (device->facts.integrated) {
        return msp_driver_host_available();
    }
    if (hip_enter(device->state, device->ordinal, &entered, &before) != MEMSPAN_OK) {
        hip_log_record(device->state, MEMSPAN_LOG_WARN, "free memory of a device");
        return MEMSPAN_UNKNOWN;
    }
    code = device->state->hip.hipMemGetInfo(&available, &total);
    if (code != HIP_SUCCESS) {
        hip_log_failure(device->state, "hipMemGetInfo", code, "free memory of a device");
    }
    hip_leave(device, before);
    return (code == HIP_SUCCESS) ? available : MEMSPAN_UNKNOWN;
}

memspan_status_t hip_device_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    struct hip_device *device;
    memspan_status_t status = hip_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_driver_describe(&device->info, free_bytes(device), info_p);
    return MEMSPAN_OK;
}
