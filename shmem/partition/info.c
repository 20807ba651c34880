/* SPDX-License-Identifier: BSD-3-Clause */
/* info.c: descriptions of partitions. */

#include "shmem/network/region.h"
#include "shmem/option.h"
#include "shmem/partition/huge.h"
#include "shmem/partition/memory.h"
#include "shmem/partition/partition.h"
#include "shmem/transport/rma.h"
#include <memspan/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct msp_partition_record *record_of(const struct msp_partition *partition)
{
    return partition->memory;
}

/* Of memory that peers map, or that its PE serves: waits call the service too. */
static long capabilities_for(bool is_mapped, bool host_touches)
{
    long capabilities = SHMEMX_CAP_RMA | SHMEMX_CAP_COLLECTIVES | SHMEMX_CAP_ATOMICS;

    capabilities |= SHMEMX_CAP_WAIT | (host_touches ? SHMEMX_CAP_DIRECT_ACCESS : 0);
    return capabilities | (is_mapped ? SHMEMX_CAP_PEER_ACCESS : 0);
}

static long capabilities_of(const struct msp_partition *partition)
{
    const struct msp_segment *segment = &msp_segments[partition->segment];
    long capabilities                 = capabilities_for(segment->fd >= 0, segment->host_touches);

    if ((segment->fd >= 0) && msp_arena.is_common) {
        capabilities |= SHMEMX_CAP_IDENT_ADDR;
    }
    if (record_of(partition)->memory.placement.is_shareable) {
        capabilities |= SHMEMX_CAP_PEER_COPY;
    }
    if (partition->team == MSP_TEAM_WORLD) {
        capabilities |= SHMEMX_CAP_WORLD_ACCESS;
    }
    return capabilities;
}

static void write_words(const struct msp_partition_request *request,
                        const struct msp_partition_placement *placement,
                        shmemx_partition_info_t *info)
{
    bool is_other = (placement->kind != request->kind);

    msp_partition_kind_text(placement->kind, is_other ? "" : request->backend,
                            (request->backend[0] != '\0') ? request->device : placement->device,
                            info->kind_name, sizeof info->kind_name);
    snprintf(info->resource, sizeof info->resource, "%s", placement->resource);
    snprintf(info->why, sizeof info->why, "%s", placement->why);
}

/* How PEs of other hosts reach this PE's copy. */
static void write_remote(unsigned segment, shmemx_partition_info_t *info)
{
    struct msp_network_region_facts facts;

    if (msp_job.transport == NULL) {
        return;
    }
    msp_network_region_describe(segment, &facts);
    msp_network_region_text(segment, info->remote, sizeof info->remote);
    if (info->remote[0] == '\0') {
        snprintf(info->remote, sizeof info->remote, "by messages over %s, which its PE executes",
                 msp_job.transport->name);
    }
    info->registered_bytes = (size_t)facts.registered_bytes;
    info->registered_count = (int)facts.chunk_count;
    info->refused_count    = (int)facts.refused_count;
}

memspan_status_t msp_partition_describe(int id, shmemx_partition_info_t *info_p)
{
    const struct msp_partition *partition = msp_partition_get(id);
    const struct msp_partition *chosen    = msp_partition_get(MSP_PARTITION_DEFAULT);
    size_t struct_size                    = info_p->struct_size;
    const struct msp_partition_record *record;
    const struct msp_partition_placement *placement;
    struct msp_symmetric_measure measure;

    if (partition == NULL) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no partition %d", id);
    }
    record    = record_of(partition);
    placement = &record->memory.placement;
    msp_symmetric_heap_measure(partition->heap, &measure);
    *info_p =
        (shmemx_partition_info_t){.struct_size     = struct_size,
                                  .id              = partition->id,
                                  .is_default      = (partition == chosen),
                                  .kind_asked      = record->request.kind,
                                  .kind            = placement->kind,
                                  .policy          = record->request.policy,
                                  .device          = placement->device,
                                  .capabilities    = capabilities_of(partition),
                                  .base            = msp_segments[partition->segment].base,
                                  .size_bytes      = measure.size_bytes,
                                  .used_bytes      = measure.size_bytes - measure.free_bytes,
                                  .largest_bytes   = measure.largest_free_bytes,
                                  .page_size_bytes = placement->page_size_bytes,
                                  .team            = msp_team_handle(&msp_teams[partition->team]),
                                  .page_size_asked_bytes = (size_t)record->request.page_size_bytes};
    write_words(&record->request, placement, info_p);
    write_remote((unsigned)partition->segment, info_p);
    if (record->memory.persistent != NULL) {
        msp_persistent_describe(record->memory.persistent, info_p);
    }
    info_p->huge_bytes =
        msp_huge_describe(partition, info_p->huge_pages, sizeof info_p->huge_pages);
    return MEMSPAN_OK;
}

void msp_partition_print(void)
{
    int ids[MSP_PARTITION_MAX];
    int count = msp_partition_ids(ids, MSP_PARTITION_MAX);
    int i;

    for (i = 0; i < count; i++) {
        const struct msp_partition *partition = msp_partition_get(ids[i]);
        shmemx_partition_info_t info          = {.struct_size = sizeof info};
        char asked[48];
        char persistent[320] = "";

        if (msp_partition_describe(ids[i], &info) != MEMSPAN_OK) {
            continue;
        }
        msp_partition_kind_text(info.kind_asked, record_of(partition)->request.backend,
                                record_of(partition)->request.device, asked, sizeof asked);
        if (info.persistence != SHMEMX_PERSISTENCE_NONE) {
            snprintf(persistent, sizeof persistent,
                     "; persistent as %s, generation %zu, named blocks %d: %s",
                     info.persistent_name, info.generation, info.named_count,
                     info.persistence_note);
        }
        printf("partition %d%s%s%s: %zu bytes at %p, asked for %s %s, given %s (%s), pages of %zu, "
               "huge ones: %s; %s; "
               "%s by the other PEs%s, atomics by %s%s%s%s\n",
               ids[i], info.is_default ? " (default: " : "",
               info.is_default ? msp_partition_default_why() : "", info.is_default ? ")" : "",
               info.size_bytes, info.base, asked,
               msp_partition_policy_text(record_of(partition)->request.policy), info.kind_name,
               info.resource, info.page_size_bytes, info.huge_pages, info.why,
               ((info.capabilities & SHMEMX_CAP_PEER_ACCESS) != 0) ? "loaded and stored"
               : ((info.capabilities & SHMEMX_CAP_PEER_COPY) != 0) ? "copied by its driver"
                                                                   : "reached through its PE",
               (info.remote[0] != '\0') ? " of its host" : "",
               ((info.capabilities & SHMEMX_CAP_PEER_ACCESS) != 0) ? "processors" : "its PE",
               (info.remote[0] != '\0') ? "; from other hosts put and got " : "", info.remote,
               persistent);
    }
}

/* ---- without a job ---- */

static void foresee(const struct msp_partition_request *request,
                    const struct msp_partition_placement *placement, shmemx_partition_info_t *info)
{
    bool host_touches = !placement->is_block || (placement->device_kind != MEMSPAN_KIND_DEVICE);
    memspan_device_info_t device = {.struct_size = sizeof device};

    info->kind            = placement->kind;
    info->device          = placement->device;
    info->page_size_bytes = placement->page_size_bytes;
    info->capabilities    = capabilities_for(!placement->is_block, host_touches) |
                         SHMEMX_CAP_WORLD_ACCESS |
                         (placement->is_shareable ? SHMEMX_CAP_PEER_COPY : 0);
    write_words(request, placement, info);
    msp_huge_foresee(request, placement, info->huge_pages, sizeof info->huge_pages);
    snprintf(info->remote, sizeof info->remote, "registered");
    if (placement->is_file) {
        msp_persistent_foresee(request, info);
    }
    if (!host_touches && (memspan_device_describe(placement->device, &device) == MEMSPAN_OK)) {
        snprintf(info->remote, sizeof info->remote,
                 "registered, or messages: dma-buf %s: %.90s; %.110s",
                 ((device.capabilities & MEMSPAN_CAN_DMABUF) != 0) ? "yes" : "no",
                 device.capability_note[__builtin_ctz(MEMSPAN_CAN_DMABUF)],
                 device.capability_note[__builtin_ctz(MEMSPAN_CAN_RDMA)]);
    }
}

static memspan_status_t foresee_request(const struct msp_partition_request *request,
                                        bool is_default, shmemx_partition_info_t *info_p)
{
    shmemx_partition_info_t info = {.struct_size           = info_p->struct_size,
                                    .id                    = request->id,
                                    .is_default            = is_default,
                                    .kind_asked            = request->kind,
                                    .policy                = request->policy,
                                    .device                = -1,
                                    .size_bytes            = (size_t)request->size_bytes,
                                    .page_size_asked_bytes = (size_t)request->page_size_bytes};
    struct msp_partition_placement placement;
    memspan_status_t status = msp_partition_place(request, 0, 1, &placement);
    char reason[160];

    msp_partition_kind_text(request->kind, request->backend, request->device, info.kind_name,
                            sizeof info.kind_name);
    if (status != MEMSPAN_OK) {
        snprintf(reason, sizeof reason, "%s", memspan_error_last()->message);
        snprintf(info.why, sizeof info.why, "%s", memspan_error_text());
        status = msp_partition_place_fallback(request, reason, &placement);
    }
    if (status == MEMSPAN_OK) {
        foresee(request, &placement, &info);
    }
    *info_p = info;
    return status;
}

memspan_status_t msp_partition_foresee(int index, shmemx_partition_info_t *info_p)
{
    struct msp_partition_requests *requests = malloc(sizeof *requests);
    memspan_status_t status                 = msp_job.is_on ? MEMSPAN_OK : msp_shmem_option_read();

    if (requests == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory to read the partitions into");
    }
    if (status == MEMSPAN_OK) {
        status = msp_partition_requests_get(requests);
    }
    if ((status == MEMSPAN_OK) && ((index < 0) || (index >= requests->count))) {
        status =
            memspan_error(MEMSPAN_ERR_NOT_FOUND, "%d partitions are asked for", requests->count);
    } else if (status == MEMSPAN_OK) {
        const struct msp_partition_request *request = &requests->request[index];

        status = foresee_request(request, request->id == requests->default_id, info_p);
    }
    free(requests);
    return status;
}
