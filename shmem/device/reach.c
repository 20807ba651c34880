/* SPDX-License-Identifier: BSD-3-Clause */
/* reach.c: which memory of the host the kernels of a device load and store. Views, plans and
 * SHMEM_INFO have it from here.
 *
 * The host and the devices that share its pages reach all of it. Others reach what is imported into
 * their drivers: the view, the words of barriers and the doorbells, without which there is no view,
 * and the partitions, which travel by requests where a driver takes too few pages. An import serves
 * all devices that need one, and all views; it ends with the last view. Devices without imports
 * need memory that they and the host load and store at once, for the view; they reach memory of
 * their own drivers alone.
 *
 * Threads: the lock of view.c. */

#include "shmem/device/device.h"
#include "shmem/error.h"
#include "shmem/job.h"
#include "shmem/option.h"
#include "shmem/partition/memory.h"
#include "shmem/partition/partition.h"
#include "shmem/transport/owner.h"
#include "shmem/transport/peer.h"
#include <memspan/allocator.h>
#include <memspan/import.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { IMPORTS_MAX = 2 * MSP_SEGMENT_MAX + MSP_DEVICE_MAX + 2, DEVICES_MAX = 16 };

static struct {
    void *address;
    bool is_made; /* the driver's answer is remembered */
} imports[IMPORTS_MAX];
static int import_count;
static int importers[DEVICES_MAX]; /* devices */
static size_t importer_count;

/* ---- devices ---- */

static const char *note(const memspan_device_info_t *info, unsigned capability)
{
    return info->capability_note[__builtin_ctz(capability)];
}

static bool has_all(const memspan_device_info_t *info, unsigned needs)
{
    return (info->capabilities & needs) == needs;
}

/* For every kernel, while the host loads and stores them. OpenCL imports into buffers, which
 * promise nothing while a kernel runs. */
static bool imports_pages(const memspan_device_info_t *info)
{
    memspan_reach_t reach;

    return (strcmp(info->backend, "opencl") != 0) &&
           has_all(info, MEMSPAN_CAN_IMPORT | MEMSPAN_CAN_SHARE_ADDRESSES) &&
           (memspan_device_reach(MEMSPAN_HOST, MEMSPAN_KIND_HOST, info->number, &reach) ==
            MEMSPAN_OK) &&
           (reach.access == MEMSPAN_ACCESS_REGISTER);
}

/* Memory for the view: what device and host load and store at once, with atomics. */
static bool find_shared_kind(int number, memspan_kind_t *kind_p)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_COHERENT, MEMSPAN_KIND_HOST_PINNED};
    unsigned i;

    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        memspan_reach_t reach;
        memspan_space_h space;

        if ((memspan_device_reach(number, kinds[i], number, &reach) == MEMSPAN_OK) &&
            (reach.access >= MEMSPAN_ACCESS_REMOTE) &&
            (reach.coherence == MEMSPAN_COHERENCE_ATOMIC) &&
            (msp_device_memory_space(number, kinds[i], &space) == MEMSPAN_OK)) {
            *kind_p = kinds[i];
            return true;
        }
    }
    return false;
}

static memspan_status_t find_apart(const memspan_device_info_t *info,
                                   struct msp_device_reach *reach)
{
    const unsigned needs = MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_HOST_ATOMICS;
    unsigned lacks       = needs & ~info->capabilities;

    reach->way = MSP_DEVICE_APART;
    if (lacks != 0) {
        lacks &= ~(lacks - 1);
        snprintf(reach->why, sizeof reach->why, "%s: %s",
                 (lacks == MEMSPAN_CAN_SHARE_ADDRESSES) ? "its addresses are not the host's"
                                                        : "it has no atomics with the host",
                 note(info, lacks));
    } else if (!find_shared_kind(reach->number, &reach->kind)) {
        snprintf(reach->why, sizeof reach->why,
                 "it has no memory that device and host load and store at once, with atomics");
    } else {
        snprintf(reach->why, sizeof reach->why,
                 "partitions of its memory are loaded and stored, the host executes the rest: %s",
                 note(info, MEMSPAN_CAN_ACCESS_PAGEABLE));
        return MEMSPAN_OK;
    }
    return memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                         "kernels of device %d (%s) cannot call OpenSHMEM: %s", reach->number,
                         info->name, reach->why);
}

static memspan_status_t find_way(const memspan_device_info_t *info, struct msp_device_reach *reach)
{
    const unsigned as_is =
        MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_ACCESS_PAGEABLE | MEMSPAN_CAN_HOST_ATOMICS;

    reach->has_atomics = (info->capabilities & MEMSPAN_CAN_HOST_ATOMICS) != 0;
    reach->is_host = (reach->number == MEMSPAN_HOST) || (reach->number == memspan_host_device());
    if (reach->is_host) {
        reach->has_atomics = true;
        snprintf(reach->why, sizeof reach->why, "it is the host");
    } else if (has_all(info, as_is)) {
        snprintf(reach->why, sizeof reach->why, "it loads and stores memory of the host: %s",
                 note(info, MEMSPAN_CAN_ACCESS_PAGEABLE));
    } else if (imports_pages(info)) {
        reach->way = MSP_DEVICE_BY_IMPORT;
        snprintf(reach->why, sizeof reach->why, "its driver imports pages of the host%s: %s",
                 reach->has_atomics ? "" : ", without atomics", note(info, MEMSPAN_CAN_IMPORT));
    } else {
        return find_apart(info, reach);
    }
    return MEMSPAN_OK;
}

/* GPUs load pages of the host as they are, too; only an offload device on the host's processors is
 * one of OpenMP's runtime with the host's memory. */
static bool runs_here(const memspan_device_info_t *info, const struct msp_device_reach *reach)
{
    return reach->is_host ||
           ((reach->way == MSP_DEVICE_AS_IS) && (strcmp(info->backend, "openmp") == 0) &&
            has_all(info, MEMSPAN_CAN_UNIFIED_PHYSICAL));
}

memspan_status_t msp_device_reach_find(int number, struct msp_device_reach *reach_p)
{
    memspan_device_info_t info = {.struct_size = sizeof info};
    memspan_status_t status    = memspan_device_describe(number, &info);

    *reach_p = (struct msp_device_reach){.number = number};
    if (status != MEMSPAN_OK) {
        return status;
    }
    snprintf(reach_p->name, sizeof reach_p->name, "%s", info.name);
    status             = find_way(&info, reach_p);
    reach_p->runs_here = runs_here(&info, reach_p);
    return status;
}

/* ---- host pages ---- */

/* All devices that need imports. */
static void find_importers(void)
{
    int count = memspan_device_count();
    int i;

    for (i = 0; (i < count) && (importer_count < DEVICES_MAX); i++) {
        memspan_device_info_t info = {.struct_size = sizeof info};
        int number;

        if ((memspan_device_at(i, &number) == MEMSPAN_OK) &&
            (memspan_device_describe(number, &info) == MEMSPAN_OK) && imports_pages(&info)) {
            importers[importer_count++] = number;
        }
    }
}

memspan_status_t msp_device_reach_pages(const struct msp_device_reach *reach, void *address,
                                        size_t size_bytes)
{
    uintptr_t page  = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)address / page * page;
    uintptr_t end   = ((uintptr_t)address + size_bytes + page - 1) / page * page;
    memspan_status_t status;
    int i;

    if (reach->way != MSP_DEVICE_BY_IMPORT) {
        return (reach->way == MSP_DEVICE_AS_IS) ? MEMSPAN_OK : MEMSPAN_ERR_UNSUPPORTED;
    }
    for (i = 0; i < import_count; i++) {
        if (imports[i].address == (void *)first) {
            return imports[i].is_made ? MEMSPAN_OK : MEMSPAN_ERR_DRIVER;
        }
    }
    if (import_count == IMPORTS_MAX) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "%d ranges of memory are imported", IMPORTS_MAX);
    }
    if (importer_count == 0) {
        find_importers();
    }
    status = memspan_import((void *)first, end - first, importers, importer_count);
    imports[import_count].address = (void *)first;
    imports[import_count].is_made = (status == MEMSPAN_OK);
    import_count++;
    return status;
}

void msp_device_reach_release(void *address)
{
    int i;

    for (i = import_count - 1; i >= 0; i--) {
        if ((address == NULL) || (imports[i].address == address)) {
            if (imports[i].is_made && (memspan_import_release(imports[i].address) != MEMSPAN_OK)) {
                msp_debug_note("an import stays: %s", memspan_error_text());
            }
            imports[i] = imports[--import_count];
        }
    }
}

/* ---- segments ---- */

/* A partition of pinned memory is imported already. */
static bool is_imported(const struct msp_segment *segment, int number)
{
    const struct msp_partition *partition =
        (segment->partition >= 0) ? msp_partition_get(segment->partition) : NULL;
    const struct msp_partition_record *record = (partition != NULL) ? partition->memory : NULL;
    int i;

    for (i = 0; (record != NULL) && (i < record->memory.placement.import_count); i++) {
        if (record->memory.placement.imports[i] == number) {
            return true;
        }
    }
    return false;
}

/* A file's memory; or a block of libmemspan's, or of the program's. */
static bool reaches_own(const struct msp_device_reach *reach, const struct msp_segment *segment,
                        bool *has_atomics_p)
{
    memspan_reach_t block;

    *has_atomics_p = reach->has_atomics;
    if (reach->is_host || ((segment->fd >= 0) && is_imported(segment, reach->number))) {
        return segment->host_touches;
    }
    if ((segment->fd < 0) &&
        (memspan_pointer_reach(segment->base, reach->number, &block) == MEMSPAN_OK)) {
        *has_atomics_p = (block.coherence == MEMSPAN_COHERENCE_ATOMIC);
        return (block.access >= MEMSPAN_ACCESS_FAULT) &&
               (!segment->host_touches || (block.coherence >= MEMSPAN_COHERENCE_CONCURRENT));
    }
    return segment->host_touches &&
           (msp_device_reach_pages(reach, segment->base, segment->stride_bytes) == MEMSPAN_OK);
}

static bool reaches_others(const struct msp_device_reach *reach, const struct msp_segment *segment)
{
    return segment->host_touches && (segment->fd >= 0) && (segment->team_size == 0) &&
           (msp_device_reach_pages(reach, segment->base + segment->to_window,
                                   segment->stride_bytes * (size_t)msp_job.local_count) ==
            MEMSPAN_OK);
}

void msp_device_reach_segment(const struct msp_device_reach *reach, unsigned number,
                              shmemx_device_segment_t *entry)
{
    const struct msp_segment *segment = &msp_segments[number];
    bool has_atomics;

    *entry = (shmemx_device_segment_t){
        .base         = (uintptr_t)segment->base,
        .size_bytes   = segment->size_bytes,
        .to_window    = (uint64_t)segment->to_window,
        .stride_bytes = segment->stride_bytes,
        .number       = number,
    };
    entry->reach_own    = reaches_own(reach, segment, &has_atomics);
    entry->reach_others = reaches_others(reach, segment);
    if (!segment->host_touches && !segment->host_updates) {
        entry->direct = MSP_DEVICE_DIRECT_COPIES;
    } else {
        entry->direct = has_atomics ? MSP_DEVICE_DIRECT_ALL : MSP_DEVICE_DIRECT_STORES;
    }
}

/* By the driver's own sharing, on the device where the memory is. */
bool msp_device_reach_addresses(const struct msp_device_reach *reach, unsigned number,
                                uint64_t *addresses)
{
    const struct msp_segment *segment = &msp_segments[number];
    bool any                          = false;
    int i;

    if (reach->is_host || segment->host_touches || (segment->team_size != 0)) {
        return false;
    }
    for (i = 0; i < msp_job.local_count; i++) {
        struct msp_target target = {.segment = segment, .pe = msp_job.local_pes[i]};
        memspan_reach_t block;
        const char *address =
            (i != msp_job.local_index) ? msp_driver_share_address(&target) : segment->base;

        addresses[i] = 0;
        if ((address != NULL) &&
            (memspan_pointer_reach(address, reach->number, &block) == MEMSPAN_OK) &&
            (block.access >= MEMSPAN_ACCESS_FAULT)) {
            addresses[i] = (uintptr_t)address;
            any          = true;
        }
    }
    return any;
}

/* ---- SHMEM_INFO ---- */

static const char *path_word(bool is_direct)
{
    return is_direct ? "load/store" : "request";
}

/* Of a request to a PE of this host. */
static const char *why_request(const struct msp_segment *segment)
{
    return !segment->host_touches      ? ": it is memory of a device"
           : (segment->team_size != 0) ? ": it is a team's"
           : (segment->fd < 0)         ? ": it has no file that PEs share"
                                       : ": the device does not reach it";
}

static void print_entry(const struct msp_device *device, const shmemx_device_segment_t *entry)
{
    const struct msp_segment *segment = &msp_segments[entry->number];
    bool others                       = (entry->reach_others != 0) || (entry->addresses_at != 0);
    char name[32];

    if (segment == &msp_segments[MSP_SEGMENT_DATA]) {
        snprintf(name, sizeof name, "static data");
    } else {
        snprintf(name, sizeof name, "partition %d", segment->partition);
    }
    printf("device %d, in kernels: %s of this PE by %s, of PEs of this host by %s%s%s\n",
           device->reach.number, name, path_word(entry->reach_own != 0), path_word(others),
           others ? "" : why_request(segment),
           (entry->direct == MSP_DEVICE_DIRECT_ALL) ? "" : "; atomic updates by request");
}

void msp_device_reach_print(const struct msp_device *device)
{
    const shmemx_device_view_t *view     = device->view;
    const shmemx_device_segment_t *entry = (const void *)((const char *)view + view->segments_at);
    uint32_t i;

    if ((msp_job.pe != 0) || !msp_shmem_option_is_on(MEMSPAN_SHMEM_INFO)) {
        return;
    }
    printf("device %d (%s), in kernels: %s; PEs of other hosts, %d, by %d queues of %d requests; "
           "the view in memory of %s\n",
           device->reach.number, device->reach.name, device->reach.why,
           msp_job.pe_count - msp_job.local_count, MSP_DEVICE_QUEUES, MSP_DEVICE_CELLS,
           (device->copy != NULL) ? "the device" : "the host");
    for (i = 0; i + 1 < view->segment_count; i++) { /* the last one is the library's */
        print_entry(device, &entry[i]);
    }
    fflush(stdout);
}
