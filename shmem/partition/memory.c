/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: takes memory as placed.
 *
 * Every step that can fail in one PE alone is followed by a vote, so that all go on, fall back or
 * give up together. */

#include "shmem/partition/memory.h"
#include "shmem/control/agree.h"
#include "shmem/partition/placement.h"
#include "shmem/transport/owner.h"
#include "shmem/transport/segment.h"
#include <errno.h>
#include <linux/mempolicy.h>
#include <memspan/allocator.h>
#include <memspan/import.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- pages of the shared file ---- */

static memspan_status_t bind_pages(const struct msp_partition_placement *placement,
                                   const struct msp_segment *segment, const char *variable)
{
    const unsigned long bits = 8 * sizeof(unsigned long) * MSP_PARTITION_NODE_WORDS;

    if (placement->bind_mode == 0) {
        return MEMSPAN_OK;
    }
    if (syscall(SYS_mbind, segment->base, segment->stride_bytes, placement->bind_mode,
                placement->bind_nodes, bits, 0) != 0) {
        return msp_error_native(MEMSPAN_ERR_DRIVER, "", "mbind", errno, strerror(errno),
                                "the process may not be allowed on those nodes (cpusets)",
                                "%s: pages cannot be put on nodes %s", variable,
                                placement->resource);
    }
    return MEMSPAN_OK;
}

static memspan_status_t lock_pages(const struct msp_segment *segment, const char *variable)
{
    if (mlock(segment->base, segment->stride_bytes) != 0) {
        return msp_error_native(
            MEMSPAN_ERR_LIMIT, "", "mlock", errno, strerror(errno), "raise the limit (ulimit -l)",
            "%s: %zu bytes of pages cannot be locked", variable, segment->stride_bytes);
    }
    return MEMSPAN_OK;
}

static memspan_status_t import_pages(struct msp_partition_memory *memory)
{
    struct msp_segment *segment = &msp_segments[memory->segment];
    memspan_status_t status;

    if (memory->placement.import_count == 0) {
        return MEMSPAN_OK;
    }
    status = memspan_import(segment->base, segment->stride_bytes, memory->placement.imports,
                            (size_t)memory->placement.import_count);
    if (status == MEMSPAN_OK) {
        memory->imported = segment->base;
    }
    return status;
}

static void drop_segment(struct msp_partition_memory *memory)
{
    if (memory->imported != NULL) {
        (void)memspan_import_release(memory->imported);
        memory->imported = NULL;
    }
    if (memory->segment >= 0) {
        msp_segment_destroy(memory->segment);
        memory->segment = -1;
    }
    msp_persistent_close(memory->persistent);
    memory->persistent = NULL;
}

/* The largest alignment of shmem_align(): the boundary that the base lies on, where all PEs have
 * the same.
 */
static size_t alignment_of(const struct msp_segment *segment)
{
    uintptr_t base = (uintptr_t)segment->base;

    return msp_arena.is_common ? (size_t)(base & -base) : msp_page_size();
}

/* All PEs map the file, or none. Small pages where all have not placed the same large ones. */
static memspan_status_t take_pages(struct msp_team *team,
                                   const struct msp_partition_request *request,
                                   struct msp_partition_memory *memory)
{
    struct msp_partition_placement *placement = &memory->placement;
    bool is_huge                              = (placement->page_size_bytes > msp_page_size());
    memspan_status_t status;

    if (!msp_agree_all(team, is_huge)) {
        placement->page_size_bytes = msp_page_size();
    }
    status = msp_segment_create(team, request->variable, (size_t)request->size_bytes,
                                placement->page_size_bytes, &memory->segment);
    if ((status != MEMSPAN_OK) && is_huge && (request->policy != SHMEMX_POLICY_MANDATORY)) {
        placement->page_size_bytes = msp_page_size();
        status = msp_segment_create(team, request->variable, (size_t)request->size_bytes, 0,
                                    &memory->segment);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    memory->align_bytes = alignment_of(&msp_segments[memory->segment]);
    status              = bind_pages(placement, &msp_segments[memory->segment], request->variable);
    if ((status == MEMSPAN_OK) && placement->is_locked) {
        status = lock_pages(&msp_segments[memory->segment], request->variable);
    }
    if (status == MEMSPAN_OK) {
        status = import_pages(memory);
    }
    return status;
}

/* ---- a file that outlives the job ---- */

static memspan_status_t take_file(struct msp_team *team,
                                  const struct msp_partition_request *request,
                                  struct msp_partition_memory *memory)
{
    memspan_status_t status =
        msp_persistent_open(team, request, &memory->segment, &memory->persistent);

    if (status == MEMSPAN_OK) {
        memory->align_bytes = alignment_of(&msp_segments[memory->segment]);
        msp_persistent_words(memory->persistent, &memory->placement);
    }
    return status;
}

/* ---- libmemspan's blocks ---- */

/* Memory of this PE's own. */
static memspan_status_t take_own(const struct msp_partition_request *request,
                                 struct msp_partition_memory *memory)
{
    memspan_pointer_info_t info = {.struct_size = sizeof info};
    memspan_space_h space;
    memspan_status_t status = msp_device_memory_space(
        memory->placement.device, (memspan_kind_t)memory->placement.device_kind, &space);

    if (status != MEMSPAN_OK) {
        return status;
    }
    memory->block = msp_device_memory_alloc(space, (size_t)request->size_bytes, true);
    if (memory->block == NULL) { /* then not all drivers' paths reach it */
        memory->block = msp_device_memory_alloc(space, (size_t)request->size_bytes, false);
    }
    if (memory->block == NULL) {
        return memspan_error_last()->status;
    }
    if (memspan_pointer_describe(memory->block, &info) == MEMSPAN_OK) {
        memory->placement.page_size_bytes = info.page_size_bytes;
    }
    memory->align_bytes = MSP_DEVICE_MEMORY_ALIGN_BYTES;
    return MEMSPAN_OK;
}

static memspan_status_t take_block(struct msp_team *team,
                                   const struct msp_partition_request *request,
                                   struct msp_partition_memory *memory)
{
    bool host_touches       = (memory->placement.device_kind != MEMSPAN_KIND_DEVICE);
    memspan_status_t status = take_own(request, memory);

    if (!msp_agree_all(team, status == MEMSPAN_OK)) {
        return (status != MEMSPAN_OK)
                   ? status
                   : msp_error_elsewhere(MEMSPAN_ERR_NO_MEMORY, "%s: another PE cannot have it",
                                         request->variable);
    }
    status = msp_segment_adopt(team, memory->block, (size_t)request->size_bytes, host_touches,
                               &memory->segment);
    if (status == MEMSPAN_OK) {
        status = msp_owner_serve(memory->segment);
    }
    if ((status == MEMSPAN_OK) && !host_touches) {
        msp_driver_share_offer(memory->segment, memory->placement.device);
    }
    return status;
}

static void drop_block(struct msp_partition_memory *memory)
{
    if (memory->segment >= 0) {
        msp_owner_retire(memory->segment);
        msp_segment_destroy(memory->segment);
        memory->segment = -1;
    }
    if (memory->block != NULL) {
        (void)memspan_free(memory->block);
        memory->block = NULL;
    }
}

/* ---- both ---- */

void msp_partition_memory_give_back(struct msp_partition_memory *memory)
{
    if (memory->placement.is_block) {
        drop_block(memory);
    } else {
        drop_segment(memory);
    }
}

static memspan_status_t take_placed(struct msp_team *team,
                                    const struct msp_partition_request *request,
                                    struct msp_partition_memory *memory)
{
    memspan_status_t status = memory->placement.is_block  ? take_block(team, request, memory)
                              : memory->placement.is_file ? take_file(team, request, memory)
                                                          : take_pages(team, request, memory);

    if (msp_agree_all(team, status == MEMSPAN_OK)) {
        return MEMSPAN_OK;
    }
    msp_partition_memory_give_back(memory);
    return (status != MEMSPAN_OK)
               ? status
               : msp_error_elsewhere(MEMSPAN_ERR_NO_MEMORY, "%s: another PE cannot have it",
                                     request->variable);
}

memspan_status_t msp_partition_memory_take(struct msp_team *team,
                                           const struct msp_partition_request *request,
                                           struct msp_partition_memory *memory_p)
{
    struct msp_partition_memory memory = {.segment = -1};
    int pe_count                       = msp_team_local_count(team);
    char reason[160];
    memspan_status_t status;

    status = msp_partition_place(request, msp_job.local_index, pe_count, &memory.placement);
    if (!msp_agree_all(team, status == MEMSPAN_OK)) {
        status = (status != MEMSPAN_OK)
                     ? status
                     : msp_error_elsewhere(MEMSPAN_ERR_NO_MEMORY, "%s: another PE cannot have it",
                                           request->variable);
    } else if (msp_agree_all(team, !memory.placement.is_block) ||
               msp_agree_all(team, memory.placement.is_block)) {
        status = take_placed(team, request, &memory);
    } else {
        status = memspan_error(MEMSPAN_ERR_CONFLICT, "%s: some PEs share it, others cannot",
                               request->variable);
    }
    if (status != MEMSPAN_OK) {
        snprintf(reason, sizeof reason, "%s", memspan_error_last()->message);
        status = msp_partition_place_fallback(request, reason, &memory.placement);
        if (status == MEMSPAN_OK) {
            memory.fell_back = true;
            status           = take_placed(team, request, &memory);
        }
    }
    if (status == MEMSPAN_OK) {
        *memory_p = memory;
    }
    return status;
}
