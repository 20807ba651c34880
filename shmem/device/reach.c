/* SPDX-License-Identifier: BSD-3-Clause */
/* reach.c: which memory of the host the kernels of a device load and store.
 *
 * The host and the devices that share its pages reach all of it. Others reach what is imported into
 * their drivers: the view, the words of barriers and the doorbells, without which there is no view,
 * and the partitions, which travel by requests where a driver takes too few pages. An import serves
 * all devices that need one, and all views; it ends with the last view.
 *
 * Threads: the lock of view.c. */

#include "shmem/device/device.h"
#include "shmem/error.h"
#include "shmem/job.h"
#include "shmem/partition/memory.h"
#include "shmem/partition/partition.h"
#include "shmem/transport/owner.h"
#include "shmem/transport/peer.h"
#include <memspan/allocator.h>
#include <memspan/import.h>
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

static bool imports_pages(int number, struct msp_device_reach *reach_p)
{
    memspan_device_info_t info = {.struct_size = sizeof info};
    memspan_reach_t reach;

    if ((memspan_device_describe(number, &info) != MEMSPAN_OK) ||
        (memspan_device_reach(MEMSPAN_HOST, MEMSPAN_KIND_HOST, number, &reach) != MEMSPAN_OK)) {
        return false;
    }
    reach_p->number      = number;
    reach_p->by_import   = (reach.access == MEMSPAN_ACCESS_REGISTER);
    reach_p->has_atomics = (info.capabilities & MEMSPAN_CAN_HOST_ATOMICS) != 0;
    return reach_p->by_import && ((info.capabilities & MEMSPAN_CAN_IMPORT) != 0) &&
           ((info.capabilities & MEMSPAN_CAN_SHARE_ADDRESSES) != 0);
}

memspan_status_t msp_device_reach_find(int number, struct msp_device_reach *reach_p)
{
    const unsigned needs =
        MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_ACCESS_PAGEABLE | MEMSPAN_CAN_HOST_ATOMICS;
    memspan_device_info_t info = {.struct_size = sizeof info};
    memspan_status_t status;

    *reach_p = (struct msp_device_reach){.number = number, .has_atomics = true};
    if ((number == MEMSPAN_HOST) || (number == memspan_host_device())) {
        reach_p->is_host = true;
        return MEMSPAN_OK;
    }
    status = memspan_device_describe(number, &info);
    if ((status != MEMSPAN_OK) || ((info.capabilities & needs) == needs) ||
        imports_pages(number, reach_p)) {
        return status;
    }
    return memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                         "device %d (%s) reaches the host's memory neither as it is nor after an "
                         "import, which kernels that call OpenSHMEM need",
                         number, info.name);
}

/* ---- host pages ---- */

/* All devices that need imports. */
static void find_importers(void)
{
    int count = memspan_device_count();
    int i;

    for (i = 0; (i < count) && (importer_count < DEVICES_MAX); i++) {
        struct msp_device_reach reach;
        int number;

        if ((memspan_device_at(i, &number) == MEMSPAN_OK) && imports_pages(number, &reach)) {
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

    if (!reach->by_import) {
        return MEMSPAN_OK;
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
                        uint32_t *has_atomics_p)
{
    memspan_pointer_info_t info = {.struct_size = sizeof info};
    memspan_reach_t block;

    *has_atomics_p = reach->has_atomics;
    if (reach->is_host || ((segment->fd >= 0) && is_imported(segment, reach->number))) {
        return segment->host_touches;
    }
    if ((segment->fd < 0) &&
        (memspan_pointer_reach(segment->base, reach->number, &block) == MEMSPAN_OK) &&
        (memspan_pointer_describe(segment->base, &info) == MEMSPAN_OK)) {
        *has_atomics_p = (block.coherence == MEMSPAN_COHERENCE_ATOMIC) ||
                         ((info.kind_given == MEMSPAN_KIND_DEVICE) && (info.home == reach->number));
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

    *entry = (shmemx_device_segment_t){
        .base         = (uintptr_t)segment->base,
        .size_bytes   = segment->size_bytes,
        .to_window    = (uint64_t)segment->to_window,
        .stride_bytes = segment->stride_bytes,
        .number       = number,
    };
    entry->reach_own    = reaches_own(reach, segment, &entry->has_atomics);
    entry->reach_others = reaches_others(reach, segment);
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
