/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: the devices' properties, read once when the backend is opened.
 *
 * No attribute reports reliably at which address a device sees host pages: one page of our own is
 * tried, and every import reports its address. */

#include "backends/gpu/common.h"
#include "backends/hip/hip.h"
#include "core/base/file.h"
#include "core/base/platform.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void fill_facts(struct gpu_device *device)
{
    const struct hip_calls *hip = hip_calls(device->state);
    struct gpu_facts *f         = &device->facts;
    struct hip_facts *own       = &hip_device(device)->facts;

    f->multiprocessors = gpu_attribute(device, HIP_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    /* Every HIP for AMD has one address space; ROCm 5 lacks the attribute. */
    f->unified_addressing = gpu_attribute(device, HIP_ATTRIBUTE_UNIFIED_ADDRESSING, 1) > 0;
    f->integrated         = gpu_has(device, HIP_ATTRIBUTE_INTEGRATED);
    f->managed = (hip->hipMallocManaged != NULL) && gpu_has(device, HIP_ATTRIBUTE_MANAGED_MEMORY);
    f->concurrent       = f->managed && gpu_has(device, HIP_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    f->pageable         = gpu_has(device, HIP_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS); /* XNACK is on */
    f->host_page_tables = f->pageable && gpu_has(device, HIP_ATTRIBUTE_HOST_PAGE_TABLES);
    f->host_atomics     = gpu_has(device, HIP_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
    f->registers        = (hip->hipHostRegister != NULL) && (hip->hipHostUnregister != NULL) &&
                   (hip->hipHostGetDevicePointer != NULL);
    f->needs_no_import   = f->pageable;
    f->ipc               = hip_has_ipc(device->state);
    f->dmabuf            = hip_state(device->state)->has_dmabuf;
    own->waits_for_words = gpu_has(device, HIP_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE);
    own->large_bar       = gpu_has(device, HIP_ATTRIBUTE_IS_LARGE_BAR);
    own->fine_grain      = own->large_bar && (hip->hipExtMallocWithFlags != NULL) &&
                      (gpu_attribute(device, HIP_ATTRIBUTE_FINE_GRAIN_SUPPORT, 1) > 0);
}

/* The value in a file of a node; "" where it cannot be read: a container shows the nodes of all
 * GPUs, and opens those of its own. */
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

static void fill_names(struct gpu_device *device)
{
    memspan_device_info_t *info   = &device->info;
    const struct gpu_state *state = device->state;
    hip_result_t code =
        hip_calls(state)->hipDeviceGetName(info->name, (int)sizeof(info->name), device->id);
    char target[16];

    if (!gpu_log_failure(state, HIP_ANSWER("hipDeviceGetName", code), "name of a device")) {
        info->name[0] = '\0';
    }
    info->name[sizeof(info->name) - 1] = '\0';
    if (info->name[0] == '\0') {
        snprintf(info->name, sizeof(info->name), "HIP device %d", device->ordinal);
    }
    hip_target_name(hip_device(device)->facts.target, target, sizeof(target));
    snprintf(info->vendor, sizeof(info->vendor), "Advanced Micro Devices, Inc.");
    snprintf(info->driver, sizeof(info->driver), "HIP %d.%d%s%s", state->version / 10000000,
             state->version / 100000 % 100, (target[0] == '\0') ? "" : ", ", target);
}

/* AMD's 16 bytes are the text of a number, as rocminfo shows it; others are bytes. */
static bool write_uid(const struct hip_uuid *uuid, char *uid, size_t size)
{
    size_t i = 0;

    while ((i < sizeof(uuid->bytes)) && (isxdigit((unsigned char)uuid->bytes[i]) != 0)) {
        i++;
    }
    if (i == sizeof(uuid->bytes)) {
        snprintf(uid, size, "GPU-%.16s", uuid->bytes);
        return true;
    }
    return gpu_write_uid(uuid->bytes, uid, size);
}

static void fill_uid(struct gpu_device *device)
{
    const struct hip_calls *hip = hip_calls(device->state);
    memspan_device_info_t *info = &device->info;
    struct hip_uuid uuid        = {{0}};

    if ((hip->hipDeviceGetUuid != NULL) &&
        gpu_log_lack(device->state,
                     HIP_ANSWER("hipDeviceGetUuid", hip->hipDeviceGetUuid(&uuid, device->id)),
                     "identity of a device") &&
        write_uid(&uuid, info->uid, sizeof(info->uid))) {
        return;
    }
    if (info->pci_address[0] != '\0') {
        snprintf(info->uid, sizeof(info->uid), "hip:%s", info->pci_address);
    } else {
        snprintf(info->uid, sizeof(info->uid), "hip:%.40s:%d", info->name, device->ordinal);
    }
}

static void fill_bus(struct gpu_device *device)
{
    const struct hip_calls *hip = hip_calls(device->state);
    memspan_device_info_t *info = &device->info;
    char *at;

    if ((hip->hipDeviceGetPCIBusId != NULL) &&
        !gpu_log_failure(
            device->state,
            HIP_ANSWER("hipDeviceGetPCIBusId",
                       hip->hipDeviceGetPCIBusId(info->pci_address, (int)sizeof(info->pci_address),
                                                 device->ordinal)),
            "place of a device")) {
        info->pci_address[0] = '\0';
    }
    info->pci_address[sizeof(info->pci_address) - 1] = '\0';
    for (at = info->pci_address; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    gpu_fill_numa_node(info);
}

memspan_status_t hip_fill(struct gpu_device *device)
{
    hip_result_t code = hip_calls(device->state)->hipDeviceGet(&device->id, device->ordinal);
    struct hip_node node;

    if (code != HIP_SUCCESS) {
        return gpu_error(device->state, HIP_ANSWER("hipDeviceGet", code),
                         "HIP device %d is not available", device->ordinal);
    }
    fill_facts(device);
    fill_bus(device);
    node = hip_node_find("/sys/class/kfd/kfd/topology/nodes", device->info.pci_address);
    hip_device(device)->facts.target    = node.target;
    hip_device(device)->facts.host_xgmi = node.host_xgmi;
    fill_names(device);
    fill_uid(device);
    return MEMSPAN_OK;
}

/* ---- measurements with all devices ---- */

static void find_peer_atomics(struct gpu_state *state)
{
    const struct hip_calls *hip = hip_calls(state);
    int count                   = state->device_count;
    bool *atomics               = calloc((size_t)count * (size_t)count, sizeof(*atomics));
    int i;

    hip_state(state)->peer_atomics = atomics;
    for (i = 0; (atomics != NULL) && (hip->hipDeviceGetP2PAttribute != NULL) && (i < count * count);
         i++) {
        int value = 0;
        if (gpu_peer_can(state, i / count, i % count) &&
            gpu_log_failure(
                state,
                HIP_ANSWER("hipDeviceGetP2PAttribute",
                           hip->hipDeviceGetP2PAttribute(&value, HIP_P2P_NATIVE_ATOMIC_SUPPORTED,
                                                         i / count, i % count)),
                "atomics between devices")) {
            atomics[i] = (value > 0);
        }
    }
}

static void try_device(struct gpu_device *device, void *page)
{
    void *seen_at = NULL;
    struct gpu_visit visit;

    if (gpu_enter(device->state, device->ordinal, GPU_TO_WORK, &visit) != MEMSPAN_OK) {
        gpu_log_record(device->state, MEMSPAN_LOG_WARN, "where host pages are seen");
        return;
    }
    device->facts.same_address =
        gpu_log_failure(device->state, device->state->driver->seen_at(device, page, &seen_at),
                        "where host pages are seen") &&
        (seen_at == page);
    gpu_leave(&visit);
}

/* HIP has no attribute for it, and some runtimes have the call without the ability. Any other call
 * that fails, on a device that is full for example, may work later. */
static void try_ipc(struct gpu_device *device)
{
    const struct gpu_driver *driver = device->state->driver;
    hip_ipc_handle_t handle;
    gpu_result_t answer;
    void *memory = NULL;
    struct gpu_visit visit;

    if (!device->facts.ipc) {
        return;
    }
    if (gpu_enter(device->state, device->ordinal, GPU_TO_ALLOCATE, &visit) != MEMSPAN_OK) {
        gpu_log_record(device->state, MEMSPAN_LOG_WARN, "whether memory is shared");
        return;
    }
    if (gpu_log_failure(device->state,
                        driver->take(device, GPU_MADE_DEVICE, msp_page_size(), &memory),
                        "whether memory is shared") &&
        (memory != NULL)) {
        answer            = driver->ipc_get(device->state, memory, &handle);
        device->facts.ipc = (answer.code != GPU_NOT_SUPPORTED);
        (void)gpu_log_lack(device->state, answer, "whether memory is shared");
        (void)gpu_log_failure(device->state, driver->give(device, GPU_MADE_DEVICE, memory),
                              "whether memory is shared");
    }
    gpu_leave(&visit);
}

/* Memory from a runtime that lacks the flag may be cached: one side at a time. */
static void try_host(struct gpu_state *state)
{
    const struct gpu_driver *driver = state->driver;
    struct gpu_device *device       = state->devices[0];
    void *memory                    = NULL;
    gpu_result_t answer;
    struct gpu_visit visit;

    if (gpu_enter(state, device->ordinal, GPU_TO_ALLOCATE, &visit) != MEMSPAN_OK) {
        gpu_log_record(state, MEMSPAN_LOG_WARN, "whether pinned memory is coherent");
        return;
    }
    answer                          = driver->take(device, GPU_MADE_HOST, msp_page_size(), &memory);
    hip_state(state)->host_is_loose = (answer.code == GPU_NOT_SUPPORTED);
    if (gpu_log_lack(state, answer, "whether pinned memory is coherent") && (memory != NULL)) {
        (void)gpu_log_failure(state, driver->give(device, GPU_MADE_HOST, memory),
                              "whether pinned memory is coherent");
    }
    gpu_leave(&visit);
}

static void try_types(struct gpu_state *state, const void *page)
{
    struct hip_pointer_attributes answer = {.type = -1};

    if (gpu_log_failure(state,
                        HIP_ANSWER("hipPointerGetAttributes",
                                   hip_calls(state)->hipPointerGetAttributes(&answer, page)),
                        "the numbers of memory types") &&
        ((answer.type == HIP_TYPE_HOST_5) || (answer.type == HIP_TYPE_HOST_6))) {
        hip_state(state)->type_host = answer.type;
    }
}

void hip_probe(struct gpu_state *state)
{
    size_t size = msp_page_size();
    void *page  = MAP_FAILED;
    int i;

    find_peer_atomics(state);
    try_host(state);
    for (i = 0; i < state->device_count; i++) {
        try_ipc(state->devices[i]);
    }
    hip_state(state)->type_host =
        (state->version >= HIP_VERSION_6) ? HIP_TYPE_HOST_6 : HIP_TYPE_HOST_5;
    if (state->devices[0]->facts.registers) {
        page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (page == MAP_FAILED) {
        return;
    }
    if (gpu_log_failure(state, state->driver->register_pages(state->devices[0], page, size),
                        "no host pages are taken")) {
        try_types(state, page);
        for (i = 0; i < state->device_count; i++) {
            try_device(state->devices[i], page);
        }
        (void)gpu_log_failure(state, state->driver->unregister_pages(state->devices[0], page),
                              "a page is tried");
    }
    munmap(page, size);
}
