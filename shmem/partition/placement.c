/* SPDX-License-Identifier: BSD-3-Clause */
/* placement.c: a machine's memory for each kind of partition.
 *
 * Host kinds are pages of the host's shared file, bound to NUMA nodes. Pinned, managed and coherent
 * ones are such pages too, so that the other PEs map them: locked, and imported into the driver of
 * the device that is to reach them at the same address. Where a driver imports nothing, and for a
 * device's own memory, a block of libmemspan's is taken: that is its PE's alone. */

#include "shmem/partition/placement.h"
#include "core/base/file.h"
#include "core/base/platform.h"
#include "shmem/persistent/persistent.h"
#include <dlfcn.h>
#include <linux/mempolicy.h>
#include <memspan/allocator.h>
#include <memspan/import.h>
#include <memspan/space.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifndef MPOL_PREFERRED_MANY
#define MPOL_PREFERRED_MANY 5
#endif

enum { NODE_BITS = 8 * sizeof(unsigned long) }; /* of a word of bind_nodes */

static const int host = MEMSPAN_HOST;

/* ---- nodes ---- */

static bool add_node(struct msp_partition_placement *placement, int node)
{
    if ((node < 0) || ((unsigned)node >= NODE_BITS * MSP_PARTITION_NODE_WORDS)) {
        return false;
    }
    placement->bind_nodes[(unsigned)node / NODE_BITS] |= 1ul << ((unsigned)node % NODE_BITS);
    return true;
}

static bool node_find(int os_index, memspan_numa_node_info_t *info_p)
{
    int i;

    for (i = 0; i < memspan_numa_node_count(); i++) {
        info_p->struct_size = sizeof *info_p;
        if ((memspan_numa_node_describe(i, info_p) == MEMSPAN_OK) &&
            (info_p->os_index == os_index)) {
            return true;
        }
    }
    return false;
}

/* Kinds that are memory of another tier than the ordinary one. */
struct tier {
    shmemx_kind_t kind;
    memspan_space_h space; /* its first node is the tier's */
    const char *words;
};

static const struct tier *find_tier(shmemx_kind_t kind)
{
    static const struct tier tiers[] = {
        {SHMEMX_KIND_FASTMEM, MEMSPAN_SPACE_HIGH_BW, "faster"},
        {SHMEMX_KIND_LARGEMEM, MEMSPAN_SPACE_LARGE_CAP, "larger"},
    };
    size_t i;

    for (i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        if (tiers[i].kind == kind) {
            return &tiers[i];
        }
    }
    return NULL;
}

static bool first_node(memspan_space_h space, memspan_numa_node_info_t *info_p)
{
    memspan_resource_info_t resource = {.struct_size = sizeof resource};

    return (memspan_space_resource(space, 0, &resource) == MEMSPAN_OK) &&
           node_find(resource.numa_node, info_p);
}

/* True where the machine has memory of the tier that ordinary memory is not. The larger of two
 * ordinary nodes is no tier. */
static bool has_tier(const struct tier *tier)
{
    memspan_space_info_t info = {.struct_size = sizeof info};
    memspan_numa_node_info_t best;
    memspan_numa_node_info_t usual;

    return (memspan_space_describe(tier->space, &info) == MEMSPAN_OK) && !info.alias &&
           first_node(tier->space, &best) && first_node(MEMSPAN_SPACE_DEFAULT, &usual) &&
           ((tier->kind != SHMEMX_KIND_LARGEMEM) || (best.kind != usual.kind));
}

static int policy_mode(shmemx_policy_t policy, int node_count)
{
    switch (policy) {
    case SHMEMX_POLICY_MANDATORY:
        return MPOL_BIND;
    case SHMEMX_POLICY_INTERLEAVED:
        return MPOL_INTERLEAVE;
    case SHMEMX_POLICY_PREFERRED:
        return (node_count > 1) ? MPOL_PREFERRED_MANY : MPOL_PREFERRED;
    default:
        return 0;
    }
}

/* The nodes of @p space into the placement: all of them, or those of the first one's kind. */
static int gather_nodes(struct msp_partition_placement *placement, memspan_space_h space,
                        bool one_kind, uint64_t *capacity_p)
{
    memspan_numa_node_kind_t first = MEMSPAN_NUMA_NODE_OTHER;
    int used                       = 0;
    size_t name_used               = 0;
    size_t i;

    *capacity_p = 0;
    for (i = 0; i < memspan_space_resource_count(space); i++) {
        memspan_resource_info_t resource = {.struct_size = sizeof resource};
        memspan_numa_node_info_t node;

        if ((memspan_space_resource(space, i, &resource) != MEMSPAN_OK) ||
            !node_find(resource.numa_node, &node)) {
            continue;
        }
        first = (used == 0) ? node.kind : first;
        if ((one_kind && (node.kind != first)) || !add_node(placement, resource.numa_node)) {
            continue;
        }
        if (name_used < sizeof placement->resource - 1) {
            name_used += (size_t)snprintf(placement->resource + name_used,
                                          sizeof placement->resource - name_used, "%s%s",
                                          (used > 0) ? "," : "", resource.name);
        }
        *capacity_p += node.capacity_bytes;
        used++;
    }
    return used;
}

static memspan_status_t place_nodes(const struct msp_partition_request *request, int local_count,
                                    struct msp_partition_placement *placement)
{
    const struct tier *tier = find_tier(request->kind);
    bool is_any             = (request->kind != SHMEMX_KIND_NORMALMEM) && (tier == NULL);
    memspan_space_h space   = (tier != NULL) ? tier->space : MEMSPAN_SPACE_DEFAULT;
    char kind[32];
    uint64_t capacity;
    int count;

    if ((tier != NULL) && !has_tier(tier)) {
        memspan_error(MEMSPAN_ERR_NOT_GUARANTEED,
                      "%s: no memory of this machine is known to be %s than its ordinary memory",
                      request->variable, tier->words);
        return msp_error_hint("POLICY=PREFERRED takes ordinary memory then");
    }
    if (is_any && (request->policy != SHMEMX_POLICY_INTERLEAVED)) {
        /* Asking for the nodes would read the machine's topology, which costs more than the rest of
         * a start. */
        snprintf(placement->resource, sizeof placement->resource, "host");
        snprintf(placement->why, sizeof placement->why,
                 "pages go where the process's own policy says");
        return MEMSPAN_OK;
    }
    count = gather_nodes(placement, space, !is_any, &capacity);
    msp_partition_kind_text(request->kind, "", -1, kind, sizeof kind);
    if ((request->policy == SHMEMX_POLICY_MANDATORY) && !is_any &&
        (capacity / (unsigned)local_count < request->size_bytes)) {
        return memspan_error(
            MEMSPAN_ERR_NO_MEMORY, "%s: %d PEs of %llu bytes are more than the %llu bytes of %s",
            request->variable, local_count, (unsigned long long)request->size_bytes,
            (unsigned long long)capacity, kind);
    }
    /* On a machine of one node there is nothing to choose. */
    if ((count == memspan_numa_node_count()) && (count <= 1)) {
        placement->bind_mode = 0;
    } else {
        placement->bind_mode = policy_mode(request->policy, count);
    }
    if (placement->bind_mode == 0) {
        snprintf(placement->why, sizeof placement->why,
                 "pages go where the process's own policy says%s",
                 (count <= 1) ? ": there is one node" : "");
    } else {
        snprintf(placement->why, sizeof placement->why, "%s of %s, %s",
                 (placement->bind_mode == MPOL_INTERLEAVE) ? "page by page over the nodes"
                                                           : "on the nodes",
                 kind, msp_partition_policy_text(request->policy));
    }
    return MEMSPAN_OK;
}

/* ---- pages ---- */

/* A count that the kernel keeps of huge pages of a size, on @p node or, where that is -1, of the
 * machine. UINT64_MAX: there is no such size. */
static uint64_t huge_count(int node, size_t page_bytes, const char *name)
{
    char folder[64] = "/sys/kernel/mm";
    char path[160];
    uint64_t count;

    if (node >= 0) {
        snprintf(folder, sizeof folder, "/sys/devices/system/node/node%d", node);
    }
    snprintf(path, sizeof path, "%s/hugepages/hugepages-%zukB/%s", folder, page_bytes >> 10, name);
    return msp_file_number(path, &count) ? count : UINT64_MAX;
}

static bool has_huge(size_t page_bytes)
{
    return huge_count(-1, page_bytes, "nr_hugepages") != UINT64_MAX;
}

/* Those that the placement may take. The kernel promises pages for the machine alone: one that is
 * bound to nodes without any ends at its first touch, by SIGBUS. */
static uint64_t huge_available(const struct msp_partition_placement *placement)
{
    size_t page    = placement->page_size_bytes;
    uint64_t all   = huge_count(-1, page, "free_hugepages");
    uint64_t taken = huge_count(-1, page, "resv_hugepages");
    uint64_t there = 0;
    unsigned node;

    all = (all > taken) ? all - taken : 0;
    if (placement->bind_mode != MPOL_BIND) {
        return all;
    }
    for (node = 0; node < NODE_BITS * MSP_PARTITION_NODE_WORDS; node++) {
        if (((placement->bind_nodes[node / NODE_BITS] >> (node % NODE_BITS)) & 1) != 0) {
            there += huge_count((int)node, page, "free_hugepages");
        }
    }
    return (there < all) ? there : all;
}

/* The existing page size that is nearest to the requested one, by factors of two. */
static size_t nearest_page(size_t wanted)
{
    size_t small = msp_page_size();
    size_t below = wanted;
    size_t above = wanted;

    while ((below > small) || (above < ((size_t)1 << 40))) {
        below = (below > small) ? (below / 2) : small;
        above = (above < ((size_t)1 << 40)) ? (above * 2) : above;
        if ((below == small) || has_huge(below)) {
            return below;
        }
        if ((above == small) || has_huge(above)) {
            return above;
        }
    }
    return small;
}

/* An error for those who insist, small pages for others. */
static memspan_status_t too_few_pages(const struct msp_partition_request *request, int local_count,
                                      uint64_t available, struct msp_partition_placement *placement)
{
    size_t page = placement->page_size_bytes;
    size_t used = strlen(placement->why);

    if (request->policy == SHMEMX_POLICY_MANDATORY) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY,
                      "%s: %llu huge pages of %zu bytes are free%s%s, which is less than %d PEs of "
                      "%llu bytes",
                      request->variable, (unsigned long long)available, page,
                      (placement->bind_mode == MPOL_BIND) ? " on " : "",
                      (placement->bind_mode == MPOL_BIND) ? placement->resource : "", local_count,
                      (unsigned long long)request->size_bytes);
        return msp_error_hint("reserve them: "
                              "/sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages, for a NUMA "
                              "node below /sys/devices/system/node",
                              page >> 10);
    }
    placement->page_size_bytes = msp_page_size();
    snprintf(placement->why + used, sizeof placement->why - used,
             "; ordinary pages, because only %llu of %zu bytes are free",
             (unsigned long long)available, page);
    return MEMSPAN_OK;
}

static memspan_status_t place_pages(const struct msp_partition_request *request, int local_count,
                                    struct msp_partition_placement *placement)
{
    size_t small  = msp_page_size();
    size_t wanted = (size_t)request->page_size_bytes;
    uint64_t available;

    placement->page_size_bytes = small;
    if ((wanted == 0) || (wanted == small)) {
        return MEMSPAN_OK;
    }
    if (!has_huge(wanted) && (request->policy == SHMEMX_POLICY_MANDATORY)) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s: this system has no pages of %zu bytes",
                      request->variable, wanted);
        return msp_error_hint("/sys/kernel/mm/hugepages says which it has; %zu bytes are always "
                              "there",
                              small);
    }
    placement->page_size_bytes = has_huge(wanted) ? wanted : nearest_page(wanted);
    if (placement->page_size_bytes == small) {
        return MEMSPAN_OK;
    }
    available = huge_available(placement);
    if (available / (unsigned)local_count <
        msp_round_up(request->size_bytes, placement->page_size_bytes) /
            placement->page_size_bytes) {
        return too_few_pages(request, local_count, available, placement);
    }
    return MEMSPAN_OK;
}

/* ---- devices ---- */

/* The result of this process's OpenMP runtime; -1 when there is none. */
static int ask_openmp(const char *name)
{
    int (*call)(void);

    *(void **)&call = dlsym(RTLD_DEFAULT, name);
    return (call != NULL) ? call() : -1;
}

static int device_of_backend(const char *backend, int ordinal, int local_index, int *count_p)
{
    int found = -1;
    int pass;

    /* Counted first: those who name none share them by their place. */
    for (pass = 0; pass < 2; pass++) {
        int seen = 0;
        int i;

        for (i = 0; i < memspan_device_count(); i++) {
            memspan_device_info_t info = {.struct_size = sizeof info};
            int number;

            if ((memspan_device_at(i, &number) != MEMSPAN_OK) ||
                (memspan_device_describe(number, &info) != MEMSPAN_OK) ||
                ((backend[0] != '\0') && (strcmp(info.backend, backend) != 0))) {
                continue;
            }
            if ((pass == 1) && (((ordinal >= 0) && (info.ordinal == ordinal)) ||
                                ((ordinal < 0) && (seen == local_index % *count_p)))) {
                found = number;
            }
            seen++;
        }
        *count_p = seen;
        if (seen == 0) {
            break;
        }
    }
    return found;
}

static memspan_status_t no_device(const struct msp_partition_request *request, int count)
{
    char text[48];

    msp_partition_kind_text(request->kind, request->backend, request->device, text, sizeof text);
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "%s: there is no device for %s (%d of its kind here)",
                  request->variable, text, count);
    if (strcmp(request->backend, "emu") == 0) {
        return msp_error_hint("emulated devices are there when MEMSPAN_DEVICES names them: "
                              "MEMSPAN_DEVICES=emu:1");
    }
    return msp_error_hint("memquery lists the devices, and says why a driver is off");
}

static memspan_status_t find_device(const struct msp_partition_request *request, int local_index,
                                    int *device_p)
{
    memspan_device_info_t info = {.struct_size = sizeof info};
    int first                  = ask_openmp("omp_get_default_device"); /* its own call alone */
    int openmp                 = (first >= 0) ? ask_openmp("omp_get_num_devices") : -1;
    int count                  = 0;
    int device                 = -1;

    if ((request->kind == SHMEMX_KIND_LIBOMP) && (openmp <= 0)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "%s: this program has no OpenMP runtime with devices",
                      request->variable);
        return msp_error_hint("build it with offloading, e.g. clang -fopenmp "
                              "-fopenmp-targets=x86_64-pc-linux-gnu");
    }
    if (request->backend[0] != '\0') {
        device = device_of_backend(request->backend, request->device, local_index, &count);
    } else if (request->has_device) {
        device =
            (memspan_device_describe(request->device, &info) == MEMSPAN_OK) ? request->device : -1;
        count = memspan_device_count();
    } else if (openmp > 0) {
        device = first;
        count  = openmp;
    } else {
        device = device_of_backend("", -1, local_index, &count);
    }
    if ((device < 0) || (device == memspan_host_device())) {
        return no_device(request, count);
    }
    *device_p = device;
    return MEMSPAN_OK;
}

/* The resource of that kind in the device's own space, if it has one. */
static bool has_resource(int device, memspan_kind_t kind, char *name, size_t name_size)
{
    memspan_space_h space;
    size_t i;

    if (memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) {
        return false;
    }
    for (i = 0; i < memspan_space_resource_count(space); i++) {
        memspan_resource_info_t info = {.struct_size = sizeof info};

        if ((memspan_space_resource(space, i, &info) == MEMSPAN_OK) && (info.kind == kind)) {
            snprintf(name, name_size, "%s", info.name);
            return true;
        }
    }
    return false;
}

static memspan_status_t place_block(const struct msp_partition_request *request,
                                    memspan_kind_t kind, struct msp_partition_placement *placement)
{
    memspan_device_info_t info = {.struct_size = sizeof info};

    (void)memspan_device_describe(placement->device, &info);
    if (!has_resource(placement->device, kind, placement->resource, sizeof placement->resource)) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s: device %d (%s) has no %s memory",
                      request->variable, placement->device, info.name, memspan_kind_name(kind));
        return msp_error_hint("%s", (info.kind_note[kind][0] != '\0')
                                        ? info.kind_note[kind]
                                        : "memquery lists what its spaces have");
    }
    placement->is_block    = true;
    placement->device_kind = (unsigned)kind;
    placement->is_shareable =
        (kind == MEMSPAN_KIND_DEVICE) && ((info.capabilities & MEMSPAN_CAN_IPC) != 0);
    snprintf(placement->why, sizeof placement->why,
             "%s memory of device %d, which the other PEs %s", memspan_kind_name(kind),
             placement->device,
             placement->is_shareable ? "open through its driver; its PE does atomics"
                                     : "cannot map: its PE serves it");
    return MEMSPAN_OK;
}

/* ---- memory that host and device share ---- */

/* True when the device reaches pages of the file as they are, or once they are imported. */
static bool reaches_pages(int device, bool *imports_p)
{
    memspan_device_info_t info = {.struct_size = sizeof info};
    memspan_reach_t reach;

    if ((memspan_device_describe(device, &info) != MEMSPAN_OK) ||
        (memspan_device_reach(host, MEMSPAN_KIND_HOST, device, &reach) != MEMSPAN_OK)) {
        return false;
    }
    *imports_p = (reach.access == MEMSPAN_ACCESS_REGISTER);
    return (reach.access > MEMSPAN_ACCESS_REGISTER) ||
           (*imports_p && ((info.capabilities & MEMSPAN_CAN_IMPORT) != 0));
}

static memspan_status_t place_shared(const struct msp_partition_request *request, int local_count,
                                     memspan_kind_t kind, struct msp_partition_placement *placement)
{
    bool imports = false;
    memspan_status_t status;

    if (!reaches_pages(placement->device, &imports)) {
        return place_block(request, kind, placement);
    }
    status = place_nodes(request, local_count, placement);
    if (status == MEMSPAN_OK) {
        snprintf(placement->why, sizeof placement->why, "host pages that device %d reaches %s",
                 placement->device,
                 imports ? "after they have been imported into its driver" : "as they are");
        placement->import_count = imports ? 1 : 0;
        placement->imports[0]   = placement->device;
    }
    return status;
}

/* Host pages where the OpenMP device's own memory is the host's too: peers map them. */
static memspan_status_t place_device(const struct msp_partition_request *request, int local_count,
                                     memspan_kind_t kind, struct msp_partition_placement *placement)
{
    memspan_device_info_t info = {.struct_size = sizeof info};

    if ((request->kind == SHMEMX_KIND_LIBOMP) &&
        (memspan_device_describe(placement->device, &info) == MEMSPAN_OK) &&
        ((info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL) != 0)) {
        return place_shared(request, local_count, kind, placement);
    }
    return place_block(request, kind, placement);
}

/* Into each driver that takes pages, or the one device that is named. */
static memspan_status_t place_pinned(const struct msp_partition_request *request, int local_count,
                                     struct msp_partition_placement *placement)
{
    const int capacity      = (int)(sizeof placement->imports / sizeof placement->imports[0]);
    memspan_status_t status = place_nodes(request, local_count, placement);
    int i;

    placement->is_locked = true;
    for (i = 0; (status == MEMSPAN_OK) && (i < memspan_device_count()); i++) {
        bool imports = false;
        int number;

        if ((memspan_device_at(i, &number) == MEMSPAN_OK) &&
            ((placement->device < 0) || (placement->device == number)) &&
            reaches_pages(number, &imports) && imports && (placement->import_count < capacity)) {
            placement->imports[placement->import_count++] = number;
        }
    }
    snprintf(placement->why, sizeof placement->why,
             "host pages, locked; imported into the drivers of %d %s", placement->import_count,
             (placement->import_count == 1) ? "device" : "devices");
    return status;
}

/* ---- all ---- */

memspan_status_t msp_partition_place(const struct msp_partition_request *request, int local_index,
                                     int local_count, struct msp_partition_placement *placement_p)
{
    struct msp_partition_placement placement = {
        .kind = request->kind, .policy = request->policy, .device = -1};
    const struct msp_partition_kind *kind = msp_partition_kind(request->kind, request->backend);
    memspan_status_t status               = MEMSPAN_OK;

    if ((kind->source == MSP_KIND_SHARED) || (kind->source == MSP_KIND_BLOCK) ||
        ((kind->source == MSP_KIND_LOCKED) && request->has_device)) {
        status = find_device(request, local_index, &placement.device);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    switch (kind->source) {
    case MSP_KIND_BLOCK:
        status = place_device(request, local_count, kind->memory, &placement);
        break;
    case MSP_KIND_SHARED:
        status = place_shared(request, local_count, kind->memory, &placement);
        break;
    case MSP_KIND_LOCKED:
        status = place_pinned(request, local_count, &placement);
        break;
    case MSP_KIND_PAGES:
        status = place_nodes(request, local_count, &placement);
        break;
    case MSP_KIND_FILE:
        status = msp_persistent_place(request, &placement);
        break;
    }
    if ((status == MEMSPAN_OK) && !placement.is_block && !placement.is_file) {
        status = place_pages(request, local_count, &placement);
    }
    if (status == MEMSPAN_OK) {
        status = msp_partition_capacity_check(request, local_count, &placement);
    }
    if (status == MEMSPAN_OK) {
        *placement_p = placement;
    }
    return status;
}

memspan_status_t msp_partition_place_fallback(const struct msp_partition_request *request,
                                              const char *reason,
                                              struct msp_partition_placement *placement_p)
{
    struct msp_partition_placement placement = {.kind            = SHMEMX_KIND_SYSDEFAULT,
                                                .policy          = SHMEMX_POLICY_SYSDEFAULT,
                                                .device          = -1,
                                                .page_size_bytes = msp_page_size(),
                                                .resource        = "host"};

    if (request->policy == SHMEMX_POLICY_MANDATORY) {
        return memspan_error_last()->status;
    }
    snprintf(placement.why, sizeof placement.why, "ordinary memory instead: %s", reason);
    *placement_p = placement;
    return MEMSPAN_OK;
}
