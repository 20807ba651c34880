/* SPDX-License-Identifier: BSD-3-Clause */
/* partition_info.c: what is said of partitions. */

#include "shmem/partition.h"
#include "shmem/partition_memory.h"
#include "shmem/rma.h"
#include <memspan/device.h>
#include <stdio.h>
#include <string.h>

static const struct memspan_partition_record *record_of(const struct memspan_partition *partition)
{
    return partition->memory;
}

static long capabilities_of(const struct memspan_partition *partition)
{
    const struct memspan_segment *segment = &memspan_segments[partition->segment];
    long capabilities = SHMEMX_CAP_RMA | SHMEMX_CAP_COLLECTIVES | SHMEMX_CAP_ATOMICS;

    if (segment->host_touches) {
        capabilities |= SHMEMX_CAP_DIRECT_ACCESS | SHMEMX_CAP_WAIT;
    }
    if (segment->fd >= 0) {
        capabilities |= SHMEMX_CAP_PEER_ACCESS;
        capabilities |= memspan_arena.is_common ? SHMEMX_CAP_IDENT_ADDR : 0;
    }
    if (partition->team == MEMSPAN_TEAM_WORLD) {
        capabilities |= SHMEMX_CAP_WORLD_ACCESS;
    }
    return capabilities;
}

memspan_status_t memspan_partition_describe(int id, shmemx_partition_info_t *info_p)
{
    const struct memspan_partition *partition = memspan_partition_get(id);
    const struct memspan_partition *chosen    = memspan_partition_get(MEMSPAN_PARTITION_DEFAULT);
    size_t struct_size                        = info_p->struct_size;
    const struct memspan_partition_record *record;
    const struct memspan_partition_plan *plan;
    struct memspan_symmetric_measure measure;

    if (partition == NULL) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no partition %d", id);
    }
    record = record_of(partition);
    plan   = &record->memory.plan;
    memspan_symmetric_heap_measure(partition->heap, &measure);
    *info_p =
        (shmemx_partition_info_t){.struct_size     = struct_size,
                                  .id              = partition->id,
                                  .is_default      = (partition == chosen),
                                  .kind_asked      = record->wish.kind,
                                  .kind            = plan->kind,
                                  .policy          = plan->policy,
                                  .device          = plan->device,
                                  .capabilities    = capabilities_of(partition),
                                  .base            = memspan_segments[partition->segment].base,
                                  .size_bytes      = measure.size_bytes,
                                  .used_bytes      = measure.size_bytes - measure.free_bytes,
                                  .largest_bytes   = measure.largest_free_bytes,
                                  .page_size_bytes = plan->page_size_bytes,
                                  .team = memspan_team_handle(&memspan_teams[partition->team]),
                                  .page_size_asked_bytes = (size_t)record->wish.page_size_bytes};
    memspan_partition_kind_text(
        plan->kind, (plan->kind == record->wish.kind) ? record->wish.backend : "",
        (record->wish.backend[0] != '\0') ? record->wish.device : plan->device, info_p->kind_name,
        sizeof info_p->kind_name);
    snprintf(info_p->resource, sizeof info_p->resource, "%s", plan->resource);
    snprintf(info_p->why, sizeof info_p->why, "%s", plan->why);
    return MEMSPAN_OK;
}

void memspan_partition_print(void)
{
    int ids[MEMSPAN_PARTITION_MAX];
    int count = memspan_partition_ids(ids, MEMSPAN_PARTITION_MAX);
    int i;

    for (i = 0; i < count; i++) {
        const struct memspan_partition *partition = memspan_partition_get(ids[i]);
        shmemx_partition_info_t info              = {.struct_size = sizeof info};
        char asked[48];

        if (memspan_partition_describe(ids[i], &info) != MEMSPAN_OK) {
            continue;
        }
        memspan_partition_kind_text(info.kind_asked, record_of(partition)->wish.backend,
                                    record_of(partition)->wish.device, asked, sizeof asked);
        printf("partition %d%s: %zu bytes at %p, asked for %s %s, given %s (%s), pages of %zu; %s; "
               "%s by the other PEs, atomics by %s\n",
               ids[i], info.is_default ? " (default)" : "", info.size_bytes, info.base, asked,
               memspan_partition_policy_text(record_of(partition)->wish.policy), info.kind_name,
               info.resource, info.page_size_bytes, info.why,
               ((info.capabilities & SHMEMX_CAP_PEER_ACCESS) != 0) ? "loaded and stored"
                                                                   : "reached through its PE",
               ((info.capabilities & SHMEMX_CAP_PEER_ACCESS) != 0) ? "processors" : "its PE");
    }
}
