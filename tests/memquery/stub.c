/* SPDX-License-Identifier: BSD-3-Clause */
/* stub.c: a library that describes one machine, always the same, for memquery's tests.
 *
 * Two GPUs (the first seen by two backends), two DRAM nodes, one HBM node, one node that is a
 * GPU's memory, a backend that is off, a driver whose names are no text. MEMQUERY_STUB makes
 * backends misbehave, each as if its driver did: "cuda:crash", "hip:hang", "opencl:exit",
 * "cuda:noise", "cuda:helper", "plugins:crash" (loading what is on MEMSPAN_BACKEND_PATH),
 * "both:crash" (only where cuda and opencl are both in use), "half:crash" (after much was asked).
 * The library's environment variables are read here as it reads them: at first use. */

#include "stub.h"
#include <memspan/memspan.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIB (UINT64_C(1) << 30)

static memspan_error_t last = {MEMSPAN_OK, "", "", "", "", 0, ""};

static memspan_status_t fail(memspan_status_t status, const char *message, const char *hint)
{
    last = (memspan_error_t){status, message, hint, "", "", 0, ""};
    return status;
}

memspan_status_t stub_fail_native(memspan_status_t status, const char *message, const char *hint,
                                  const char *call, long code, const char *text)
{
    last = (memspan_error_t){status, message, hint, "cuda", call, code, text};
    return status;
}

/* ---- texts ---- */

#define NAMES(function, type, ...)                                                                 \
    const char *function(type value)                                                               \
    {                                                                                              \
        static const char *const names[] = {__VA_ARGS__};                                          \
        return names[value];                                                                       \
    }

NAMES(memspan_kind_name, memspan_kind_t, "none", "host", "host-pinned", "managed", "coherent",
      "device")
NAMES(memspan_access_name, memspan_access_t, "none", "copy", "register", "fault", "remote", "local")
NAMES(memspan_coherence_name, memspan_coherence_t, "none", "sync", "concurrent", "atomic")
NAMES(memspan_numa_node_kind_name, memspan_numa_node_kind_t, "dram", "hbm", "pmem", "cxl", "gpu",
      "other")

const memspan_error_t *memspan_error_last(void)
{
    return &last;
}

const char *memspan_error_text(void)
{
    return last.message;
}

void memspan_error_clear(void)
{
    fail(MEMSPAN_OK, "", "");
}

const char *memspan_status_name(memspan_status_t status)
{
    switch (status) {
#define STATUS_NAME(name, value, text)                                                             \
    case name:                                                                                     \
        return #name;
        MEMSPAN_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
    }
    return "?";
}

const char *memspan_status_text(memspan_status_t status)
{
    return memspan_status_name(status);
}

const char *memspan_version(void)
{
    return "stub";
}

/* ---- backends ---- */

static const memspan_backend_info_t backends[] = {
    {sizeof(backends[0]), "host", "the host", "built in", 1, 1, MEMSPAN_OK, "1 device", ""},
    {sizeof(backends[0]), "cuda", "CUDA driver", "built in", 1, 2, MEMSPAN_OK, "2 devices", ""},
    {sizeof(backends[0]), "opencl", "OpenCL", "built in", 1, 1, MEMSPAN_OK, "1 device", ""},
    {sizeof(backends[0]), "hip", "HIP", "/opt/plugin/hip.so", 0, 0, MEMSPAN_ERR_OFF,
     "library not found: libamdhip64.so.6", "install ROCm"},
};
enum { BACKEND_COUNT = sizeof(backends) / sizeof(backends[0]) };

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    const char *at;

    for (at = list; (at = strstr(at, name)) != NULL; at += length) {
        if (((at == list) || (at[-1] == ',') || (at[-1] == '^')) &&
            ((at[length] == ',') || (at[length] == '\0') || (at[length] == ':'))) {
            return true;
        }
    }
    return false;
}

static bool is_admitted(const char *name)
{
    const char *setting = getenv("MEMSPAN_BACKENDS");

    if ((setting == NULL) || (setting[0] == '\0') || (strcmp(name, "host") == 0)) {
        return true;
    }
    return is_listed(setting, name) == (setting[0] != '^');
}

__attribute__((noreturn)) static void hang(void)
{
    for (;;) {
        pause();
    }
}

static void misbehave(const char *name)
{
    const char *stub = getenv("MEMQUERY_STUB");
    char want[64];

    if (stub == NULL) {
        return;
    }
#define WANTED(what) (snprintf(want, sizeof(want), "%s:" what, name), strstr(stub, want) != NULL)
    if (WANTED("crash")) {
        fprintf(stderr, "some log line\ndriver says: about to fall\n");
        signal(SIGSEGV, SIG_DFL); /* the sanitizers' handler would make it an exit */
        raise(SIGSEGV);
    }
    if (WANTED("hang")) {
        hang();
    }
    if (WANTED("exit")) {
        exit(0);
    }
    if (WANTED("noise")) {
        printf("driver noise on standard output\n");
        fflush(stdout);
    }
    if (WANTED("helper") && (fork() == 0)) {
        hang(); /* holds every pipe open, for ever */
    }
#undef WANTED
}

int memspan_backend_count(void)
{
    if (getenv("MEMSPAN_BACKEND_PATH") != NULL) {
        misbehave("plugins");
    }
    return BACKEND_COUNT;
}

const char *memspan_backend_name(int index)
{
    return ((index >= 0) && (index < memspan_backend_count())) ? backends[index].name : NULL;
}

memspan_status_t memspan_backend_describe(int index, memspan_backend_info_t *info_p)
{
    *info_p = backends[index];
    if (!is_admitted(info_p->name)) {
        info_p->on           = 0;
        info_p->device_count = 0;
        snprintf(info_p->reason, sizeof(info_p->reason), "MEMSPAN_BACKENDS leaves it out");
        return MEMSPAN_OK;
    }
    misbehave(info_p->name);
    if (!info_p->on) {
        last = (memspan_error_t){
            MEMSPAN_ERR_OFF, "no HIP", "", "hip", "dlopen", 2, "cannot open shared object file"};
    }
    if ((strcmp(info_p->name, "opencl") == 0) && is_admitted("cuda")) {
        misbehave("both");
    }
    return MEMSPAN_OK;
}

/* ---- devices ---- */

#define ALL_KINDS 0x3eu

static const memspan_device_info_t host = {
    .struct_size     = sizeof(host),
    .number          = MEMSPAN_HOST,
    .backend         = "host",
    .name            = "Some CPU",
    .vendor          = "Vendor",
    .driver          = "Linux",
    .uid             = "HOST",
    .numa_node       = -1,
    .capacity_bytes  = 1007 * GIB,
    .capacity_source = "cgroup limit",
    .free_bytes      = 500 * GIB,
    .alloc_max_bytes = 1007 * GIB,
    .page_size_bytes = 4096,
    .kinds           = 0x6,
};

static const memspan_device_info_t devices[] = {
    {.struct_size     = sizeof(host),
     .backend         = "cuda",
     .name            = "H200 \xff\x1b[31m",
     .uid             = "GPU-aaaa",
     .pci_address     = "0000:41:00.0",
     .numa_node       = 0,
     .capacity_bytes  = 140 * GIB,
     .capacity_source = "driver",
     .free_bytes      = 139 * GIB,
     .alloc_max_bytes = 140 * GIB,
     .page_size_bytes = 2 << 20,
     .kinds           = ALL_KINDS & ~(1u << MEMSPAN_KIND_COHERENT),
     .capabilities =
         MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_KERNELS | MEMSPAN_CAN_IPC | MEMSPAN_CAN_DMABUF,
     .kind_note       = {[MEMSPAN_KIND_COHERENT] = "no concurrent access to managed memory",
                         [MEMSPAN_KIND_MANAGED]  = "cuMemAllocManaged"},
     .capability_note = {[0] = "UNIFIED_ADDRESSING 1", [2] = "PAGEABLE_MEMORY_ACCESS \x1b 0"},
     .modes           = {{.name   = "pageable memory access",
                          .source = "PAGEABLE_MEMORY_ACCESS 0",
                          .remedy = "Linux with HMM"},
                         {.name = "some mode", .on = -1}}},
    {.struct_size     = sizeof(host),
     .backend         = "cuda",
     .ordinal         = 1,
     .name            = "H200",
     .uid             = "GPU-bbbb",
     .pci_address     = "0000:c1:00.0",
     .numa_node       = 1,
     .capacity_bytes  = 140 * GIB,
     .capacity_source = "driver",
     .free_bytes      = MEMSPAN_UNKNOWN,
     .alloc_max_bytes = MEMSPAN_UNKNOWN,
     .page_size_bytes = 2 << 20,
     .kinds           = ALL_KINDS,
     .capabilities    = MEMSPAN_CAN_SHARE_ADDRESSES},
    {.struct_size     = sizeof(host),
     .backend         = "opencl",
     .name            = "H200 by OpenCL",
     .pci_address     = "0000:41:00.0",
     .numa_node       = -1,
     .capacity_bytes  = MEMSPAN_UNKNOWN,
     .free_bytes      = MEMSPAN_UNKNOWN,
     .alloc_max_bytes = MEMSPAN_UNKNOWN,
     .page_size_bytes = MEMSPAN_UNKNOWN,
     .kinds           = 1u << MEMSPAN_KIND_DEVICE},
};

/* Devices in use, in order. */
static int list_devices(int *indices)
{
    int count = 0;

    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        if (is_admitted(devices[i].backend)) {
            indices[count++] = (int)i;
        }
    }
    return count;
}

int memspan_device_count(void)
{
    int indices[8];

    return list_devices(indices);
}

memspan_status_t memspan_device_at(int index, int *device_p)
{
    *device_p = index;
    return MEMSPAN_OK;
}

int memspan_host_device(void)
{
    return memspan_device_count();
}

memspan_status_t memspan_device_describe(int device, memspan_device_info_t *info_p)
{
    int indices[8];
    int count = list_devices(indices);

    if ((device == MEMSPAN_HOST) || (device == count)) {
        *info_p = host;
        if (getenv("MEMQUERY_STUB_LIMIT_GIB") != NULL) {
            info_p->capacity_bytes = strtoull(getenv("MEMQUERY_STUB_LIMIT_GIB"), NULL, 10) * GIB;
        }
        if (getenv("MEMQUERY_STUB_CPU") != NULL) {
            snprintf(info_p->name, sizeof(info_p->name), "%s", getenv("MEMQUERY_STUB_CPU"));
            snprintf(info_p->vendor, sizeof(info_p->vendor), "%s", getenv("MEMQUERY_STUB_CPU"));
            snprintf(info_p->uid, sizeof(info_p->uid), "%s", getenv("MEMQUERY_STUB_CPU"));
        }
        return MEMSPAN_OK;
    }
    if ((device < 0) || (device > count)) {
        return fail(MEMSPAN_ERR_NOT_FOUND, "no such device", "");
    }
    *info_p        = devices[indices[device]];
    info_p->number = device;
    if (getenv("MEMQUERY_STUB_PARTS") != NULL) { /* one card, whose second part OpenCL has */
        snprintf(info_p->pci_address, sizeof(info_p->pci_address), "0000:41:00.0");
        snprintf(info_p->uid, sizeof(info_p->uid), (device == 0) ? "GPU-aaaa" : "GPU-bbbb");
    }
    return MEMSPAN_OK;
}

memspan_status_t memspan_device_reach_source(int home, memspan_kind_t kind, int device, char *text,
                                             size_t size_bytes)
{
    device = (device == memspan_host_device()) ? MEMSPAN_HOST : device;
    if ((home == 0) && (device == 2)) {
        snprintf(text, size_bytes, "two\tbackends");
    } else {
        snprintf(text, size_bytes, "%s", (home == device) ? "its own" : "the stub");
    }
    (void)kind;
    return MEMSPAN_OK;
}

memspan_status_t memspan_device_reach(int home, memspan_kind_t kind, int device,
                                      memspan_reach_t *reach_p)
{
    memspan_reach_t local  = {MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};
    memspan_reach_t remote = {MEMSPAN_ACCESS_REMOTE, MEMSPAN_COHERENCE_CONCURRENT};
    memspan_reach_t fault  = {MEMSPAN_ACCESS_FAULT, MEMSPAN_COHERENCE_SYNC};
    memspan_reach_t copy   = {MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};

    device = (device == memspan_host_device()) ? MEMSPAN_HOST : device;
    if (kind == MEMSPAN_KIND_MANAGED) {
        *reach_p = fault;
    } else if ((kind == MEMSPAN_KIND_HOST_PINNED) && (getenv("MEMQUERY_STUB_PINNED") != NULL)) {
        *reach_p = (device == MEMSPAN_HOST) ? local : remote; /* the host's own, from a device */
    } else if (device == home) {
        *reach_p = local;
    } else {
        *reach_p =
            ((kind == MEMSPAN_KIND_HOST_PINNED) || (kind == MEMSPAN_KIND_COHERENT)) ? remote : copy;
    }
    return MEMSPAN_OK;
}

/* ---- nodes ---- */

static const memspan_numa_node_info_t nodes[] = {
    {sizeof(nodes[0]), 0, 0, MEMSPAN_NUMA_NODE_DRAM, 503 * GIB, 250 * GIB, 204800, 90, "HMAT", 64,
     "0-63", 1, 0, 0, "", "", 0},
    {sizeof(nodes[0]), 1, 1, MEMSPAN_NUMA_NODE_DRAM, 504 * GIB, 250 * GIB, MEMSPAN_UNKNOWN,
     MEMSPAN_UNKNOWN, "", 64, "64-127", 1, 0, 0, "", "", 64 * GIB},
    {sizeof(nodes[0]), 2, 2, MEMSPAN_NUMA_NODE_HBM, 64 * GIB, 64 * GIB, 819200, 110, "HMAT", 0, "",
     0, 1, 2, "", "", 0},
    {sizeof(nodes[0]), 8, 3, MEMSPAN_NUMA_NODE_GPU, 140 * GIB, 139 * GIB, MEMSPAN_UNKNOWN,
     MEMSPAN_UNKNOWN, "", 0, "", 3, 3, 3, "0000:41:00.0", "", 0},
};

static const memspan_memory_device_info_t memory_devices[] = {
    {.kind           = MEMSPAN_MEMORY_DEVICE_DAX,
     .name           = "dax0.0",
     .path           = "/dev/dax0.0",
     .mode           = "devdax",
     .capacity_bytes = UINT64_C(128) << 30,
     .align_bytes    = 2 << 20,
     .numa_node      = 1,
     .target_node    = 9,
     .persistent     = 1,
     .usable         = 1,
     .why            = "programs map it\033"},
    {.kind           = MEMSPAN_MEMORY_DEVICE_CXL_REGION,
     .name           = "region0",
     .capacity_bytes = MEMSPAN_UNKNOWN,
     .numa_node      = -1,
     .target_node    = -1,
     .persistent     = -1,
     .why            = "not committed"},
};

int memspan_memory_device_count(void)
{
    return sizeof(memory_devices) / sizeof(memory_devices[0]);
}

memspan_status_t memspan_memory_device_describe(int index, memspan_memory_device_info_t *info_p)
{
    *info_p = memory_devices[index];
    return MEMSPAN_OK;
}

const char *memspan_memory_device_kind_name(memspan_memory_device_kind_t kind)
{
    return (kind == MEMSPAN_MEMORY_DEVICE_DAX) ? "dax" : "cxl-region";
}

int memspan_numa_node_count(void)
{
    return sizeof(nodes) / sizeof(nodes[0]);
}

memspan_status_t memspan_numa_node_describe(int index, memspan_numa_node_info_t *info_p)
{
    *info_p = nodes[index];
    return MEMSPAN_OK;
}

/* ---- spaces: a handle is 1000 + a mask of the devices, bit 0 the host; sub-spaces add 100000 for
 * each resource before theirs, and 50000 to be told apart ---- */

static const int resource_kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_COHERENT,
                                     MEMSPAN_KIND_MANAGED, MEMSPAN_KIND_HOST_PINNED};

static memspan_space_h handle_of(uintptr_t number)
{
    return (memspan_space_h)number;
}

static uintptr_t number_of(memspan_space_h space)
{
    return (uintptr_t)space;
}

static unsigned mask_of(memspan_space_h space)
{
    return (number_of(space) < 1000) ? 1u : (unsigned)((number_of(space) % 50000) - 1000);
}

memspan_status_t memspan_space_get(const int *list, size_t count, memspan_space_h base,
                                   memspan_space_h *space_p)
{
    memspan_device_info_t info;
    unsigned mask = 0;

    for (size_t i = 0; i < count; i++) {
        if ((list[i] < MEMSPAN_HOST) || (list[i] > memspan_host_device())) {
            return fail(MEMSPAN_ERR_NOT_FOUND, "no such device", "there are 3");
        }
        memspan_device_describe(list[i], &info);
        misbehave(info.backend); /* the driver of a device that is named is opened */
        mask |= ((list[i] == MEMSPAN_HOST) || (list[i] == memspan_host_device())) ? 1u
                                                                                  : (2u << list[i]);
    }
    if ((mask & 2u) && (mask & 4u) && (mask & 8u)) {
        return fail(MEMSPAN_ERR_UNREACHABLE, "device 2 reaches nothing of device 0",
                    "leave one out");
    }
    *space_p = (mask == 1) ? ((base == NULL) ? MEMSPAN_SPACE_DEFAULT : base)
                           : handle_of(1000 + (uintptr_t)mask);
    return MEMSPAN_OK;
}

memspan_status_t memspan_space_get_sub(memspan_space_h space, const int *resources, size_t count,
                                       memspan_space_h *space_p)
{
    (void)count;
    *space_p = (number_of(space) < 1000)
                   ? space
                   : handle_of(number_of(space) + 50000 + (100000 * (uintptr_t)resources[0]));
    return MEMSPAN_OK;
}

static memspan_status_t find_resource(memspan_space_h space, size_t wanted,
                                      memspan_resource_info_t *info_p)
{
    unsigned mask = mask_of(space);
    size_t found  = 0;

    for (int device = 0; device < memspan_device_count(); device++) {
        memspan_device_info_t info;

        memspan_device_describe(device, &info);
        for (size_t i = 0; ((mask & (2u << device)) != 0) && (i < 4); i++) {
            bool alone = (mask == (2u << device));

            if (((info.kinds & (1u << resource_kinds[i])) == 0) || (!alone && (i == 0)) ||
                (found++ != wanted)) {
                continue;
            }
            *info_p = (memspan_resource_info_t){.struct_size    = sizeof(*info_p),
                                                .kind           = (memspan_kind_t)resource_kinds[i],
                                                .home           = device,
                                                .numa_node      = -1,
                                                .capacity_bytes = info.capacity_bytes,
                                                .page_size_bytes = 2 << 20};
            snprintf(info_p->name, sizeof(info_p->name), "%s%d.%s", info.backend, info.ordinal,
                     memspan_kind_name(info_p->kind));
            return MEMSPAN_OK;
        }
    }
    return fail(MEMSPAN_ERR_NOT_FOUND, "no such resource", "");
}

memspan_status_t memspan_space_resource(memspan_space_h space, size_t index,
                                        memspan_resource_info_t *info_p)
{
    size_t node = (space == MEMSPAN_SPACE_HIGH_BW) ? 2 : index;

    if (mask_of(space) != 1) {
        return find_resource(space, index + (number_of(space) / 100000), info_p);
    }
    *info_p = (memspan_resource_info_t){.struct_size     = sizeof(*info_p),
                                        .kind            = MEMSPAN_KIND_HOST,
                                        .home            = MEMSPAN_HOST,
                                        .numa_node       = nodes[node].os_index,
                                        .capacity_bytes  = nodes[node].capacity_bytes,
                                        .page_size_bytes = 4096};
    snprintf(info_p->name, sizeof(info_p->name), "node%d", nodes[node].os_index);
    return MEMSPAN_OK;
}

size_t memspan_space_resource_count(memspan_space_h space)
{
    memspan_resource_info_t info;
    size_t count = 0;

    if (mask_of(space) == 1) {
        return (space == MEMSPAN_SPACE_HIGH_BW) ? 1 : 2;
    }
    while (find_resource(space, count, &info) == MEMSPAN_OK) {
        count++;
    }
    return count;
}

memspan_status_t memspan_space_reach(memspan_space_h space, size_t index, int device,
                                     memspan_reach_t *reach_p)
{
    memspan_resource_info_t info;

    memspan_space_resource(space, index, &info);
    return memspan_device_reach(info.home, info.kind, device, reach_p);
}

memspan_status_t memspan_space_describe(memspan_space_h space, memspan_space_info_t *info_p)
{
    static const char *const hints[] = {"", "large_cap", "const", "high_bw", "low_lat"};
    unsigned mask                    = mask_of(space);

    *info_p = (memspan_space_info_t){.struct_size = sizeof(*info_p), .host = (int)(mask & 1u)};
    if (mask == 1) {
        snprintf(info_p->name, sizeof(info_p->name), "%s",
                 (number_of(space) == 99) ? "default" : hints[number_of(space)]);
        if ((number_of(space) != 99) && (space != MEMSPAN_SPACE_HIGH_BW)) {
            snprintf(info_p->note, sizeof(info_p->note), "alias of default: one tier");
            info_p->alias = 1;
        }
        return MEMSPAN_OK;
    }
    info_p->target = 1;
    for (unsigned i = 0; i < 8; i++) {
        if ((mask & (2u << i)) != 0) {
            info_p->devices[info_p->device_count++] = (int)i;
            snprintf(info_p->name + strlen(info_p->name),
                     sizeof(info_p->name) - strlen(info_p->name), "%s%u",
                     (info_p->name[0] == '\0') ? ((mask & 1u) ? "{host," : "{") : ",", i);
        }
    }
    strcat(info_p->name, "}");
    return MEMSPAN_OK;
}

/* ---- traits and allocators: the three that the tests use ---- */

memspan_status_t memspan_trait_parse(const char *text, memspan_trait_t *traits, size_t capacity,
                                     size_t *count_p)
{
    size_t count = 0;

    if (strstr(text, "pinned=true,guarantee=required") != NULL) {
        return fail(MEMSPAN_ERR_CONFLICT, "traits contradict each other", "leave one out");
    }
    if (strstr(text, "pinnd") != NULL) {
        return fail(MEMSPAN_ERR_INVALID, "there is no trait called \"pinnd\"; perhaps pinned?", "");
    }
    if ((count < capacity) && (strstr(text, "memory_access=managed") != NULL)) {
        traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED};
    }
    if ((count < capacity) && (strstr(text, "pinned=true") != NULL)) {
        traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
    }
    if ((count < capacity) && (strstr(text, "guarantee=required") != NULL)) {
        traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_GUARANTEE, MEMSPAN_VALUE_REQUIRED};
    }
    *count_p = count;
    return MEMSPAN_OK;
}

static bool has_trait(const memspan_trait_t *traits, size_t count, memspan_trait_key_t key)
{
    size_t i;

    for (i = 0; (i < count) && (traits[i].key != key); i++) {
    }
    return i < count;
}

memspan_status_t memspan_allocator_plan(memspan_space_h space, const memspan_trait_t *traits,
                                        size_t count, memspan_allocator_info_t *info_p)
{
    bool managed = has_trait(traits, count, MEMSPAN_TRAIT_MEMORY_ACCESS);
    bool pinned  = has_trait(traits, count, MEMSPAN_TRAIT_PINNED);
    memspan_resource_info_t info;

    memspan_kind_t wanted =
        (getenv("MEMQUERY_STUB_STRONGER") != NULL) ? MEMSPAN_KIND_COHERENT : MEMSPAN_KIND_MANAGED;

    misbehave("half");
    memspan_space_resource(space, 0, &info);
    for (size_t i = 0; managed && (i < memspan_space_resource_count(space)); i++) {
        memspan_space_resource(space, i, &info);
        if (info.kind == wanted) {
            break;
        }
    }
    *info_p = (memspan_allocator_info_t){
        .struct_size = sizeof(*info_p),
        .space       = space,
        .kind_asked  = managed ? MEMSPAN_KIND_MANAGED : info.kind,
        .kind_given =
            (pinned && (info.kind == MEMSPAN_KIND_HOST)) ? MEMSPAN_KIND_HOST_PINNED : info.kind,
        .home            = info.home,
        .resident_device = info.home,
        .numa_node       = info.numa_node,
        .pool_size_bytes = SIZE_MAX,
        .pinned          = pinned,
        .migratable      = info.kind == MEMSPAN_KIND_MANAGED,
    };
    info_p->serves = (info.kind != MEMSPAN_KIND_DEVICE) || !managed;
    info_p->exact  = !managed || (info.kind == MEMSPAN_KIND_MANAGED);
    snprintf(info_p->why, sizeof(info_p->why), "%s", info_p->exact ? "as asked" : "a step up");
    if (!info_p->exact && has_trait(traits, count, MEMSPAN_TRAIT_GUARANTEE)) {
        return fail(MEMSPAN_ERR_NOT_GUARANTEED, "managed memory is not to be had",
                    "leave guarantee out");
    }
    return MEMSPAN_OK;
}

memspan_status_t memspan_allocator_describe(memspan_allocator_h allocator,
                                            memspan_allocator_info_t *info_p)
{
    memspan_status_t status = memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, NULL, 0, info_p);

    if (stub_measure_is(allocator)) {
        info_p->kind_given = stub_measure_kind(allocator);
    }
    return status;
}

/* ---- options ---- */

int memspan_option_count(void)
{
    return 1;
}

memspan_status_t memspan_option_describe(int index, memspan_option_info_t *info_p)
{
    const char *value = getenv("MEMSPAN_BACKENDS");

    (void)index;
    *info_p = (memspan_option_info_t){sizeof(*info_p),
                                      "MEMSPAN_BACKENDS",
                                      "NAME[,...]",
                                      "",
                                      "backends to use",
                                      (value == NULL) ? "" : value,
                                      (value == NULL) ? "default" : "environment",
                                      ""};
    return MEMSPAN_OK;
}

const char *memspan_option_problem(int index)
{
    return ((index == 0) && (getenv("MEMSPAN_LOGG") != NULL))
               ? "MEMSPAN_LOGG is no variable of Memspan; perhaps MEMSPAN_LOG?"
               : NULL;
}

int memspan_option_problem_count(void)
{
    return (memspan_option_problem(0) != NULL) ? 1 : 0;
}
