/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: shmem_malloc() and its family, over the partitions' heaps. */

#include "shmem/memory.h"
#include "shmem/collective/collective.h"
#include "shmem/control/wait.h"
#include "shmem/partition/huge.h"
#include "shmem/partition/partition.h"
#include "shmem/persistent/persistent.h"
#include "shmem/transport/rma.h"
#include <memspan/transfer.h>
#include <stdio.h>
#include <string.h>

static struct msp_team *team_of(const struct msp_partition *partition)
{
    return &msp_teams[partition->team];
}

/* Of the checked mode: every PE has made the same calls with the same sizes, with the same answers.
 */
static void compare_calls(const char *call, const struct msp_partition *partition)
{
    struct msp_symmetric_measure measure;

    msp_symmetric_heap_measure(partition->heap, &measure);
    if (!msp_collective_agrees(team_of(partition), measure.call_digest)) {
        msp_fatal("%s: PEs have not made the same calls on partition %d: sizes, order or "
                  "alignments differ from here or before",
                  call, partition->id);
    }
}

/* Of the checked mode, before the heap changes: every PE gives the same value in the same call. */
static void compare_value(const char *call, const struct msp_partition *partition,
                          const char *argument, size_t value)
{
    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_wait_begin_call(call);
        msp_collective_check(call, team_of(partition), argument, value);
        msp_wait_begin_call(NULL);
    }
}

static void synchronise(const char *call, const struct msp_partition *partition, unsigned flags)
{
    if ((flags & MSP_MEMORY_NO_BARRIER) == 0) {
        msp_wait_begin_call(call);
        msp_collective_barrier(team_of(partition));
        msp_wait_begin_call(NULL);
    }
    if (MSP_UNLIKELY(msp_job.checks)) {
        compare_calls(call, partition);
    }
}

/* No space: one PE prints it once for each partition, for programs that do not check the result.
 */
static void *report_shortage(const char *call, const struct msp_partition *partition,
                             size_t size_bytes)
{
    static int keys[MSP_PARTITION_MAX];
    struct msp_symmetric_measure measure;
    char variable[64] = "SHMEM_SYMMETRIC_SIZE";

    msp_symmetric_heap_measure(partition->heap, &measure);
    if (!msp_partition_is_default_sized(partition)) {
        snprintf(variable, sizeof variable, "SHMEM_SYMMETRIC_PARTITION%d", partition->id);
    }
    memspan_error(MEMSPAN_ERR_NO_MEMORY,
                  "%s: asked for %zu bytes of partition %d; of its %zu bytes %zu are free, the "
                  "largest block %zu",
                  call, size_bytes, partition->id, measure.size_bytes, measure.free_bytes,
                  measure.largest_free_bytes);
    msp_error_hint("raise %s", variable);
    if (team_of(partition)->pe == 0) {
        msp_warn_once(&keys[(unsigned)partition->id % MSP_PARTITION_MAX], "%s",
                      memspan_error_text());
    }
    return NULL;
}

static char *address_of(const struct msp_partition *partition, size_t offset_bytes)
{
    return msp_segments[partition->segment].base + offset_bytes;
}

static size_t offset_of(const struct msp_partition *partition, const void *pointer)
{
    return (size_t)((const char *)pointer - msp_segments[partition->segment].base);
}

/* Heaps use offsets. */
static void refuse_pointer(const char *call, const struct msp_partition *partition,
                           const void *pointer)
{
    msp_fatal("%s: %p of partition %d, which begins at %p: %s", call, pointer, partition->id,
              (void *)msp_segments[partition->segment].base, memspan_error_text());
}

static void clear(const char *call, const struct msp_partition *partition, void *pointer,
                  size_t size_bytes)
{
    if (msp_segments[partition->segment].host_touches) {
        memset(pointer, 0, size_bytes);
    } else if (memspan_fill(pointer, 0, size_bytes) != MEMSPAN_OK) {
        msp_fatal_error(call);
    }
}

void *msp_memory_alloc(const char *call, int partition_id, size_t align_bytes, size_t size_bytes,
                       unsigned flags)
{
    struct msp_partition *partition;
    void *pointer = NULL;
    size_t offset;

    msp_job_require(call);
    if (size_bytes == 0) {
        return NULL;
    }
    partition = msp_partition_get(partition_id);
    if (partition == NULL) {
        msp_refuse(MEMSPAN_ERR_NOT_FOUND, "%s: there is no partition %d", call, partition_id);
        return NULL;
    }
    if ((align_bytes != 0) && !msp_is_power_of_two(align_bytes)) {
        msp_refuse(MEMSPAN_ERR_INVALID, "%s: alignment %zu is no power of two", call, align_bytes);
        return NULL;
    }
    compare_value(call, partition, "size", size_bytes);
    if (msp_symmetric_heap_alloc(partition->heap, size_bytes, (align_bytes != 0) ? align_bytes : 16,
                                 &offset) != MEMSPAN_OK) {
        report_shortage(call, partition, size_bytes);
    } else {
        pointer = address_of(partition, offset);
        msp_huge_enter(partition, pointer, size_bytes, (flags & MSP_MEMORY_ZEROED) != 0);
        if ((flags & MSP_MEMORY_ZEROED) != 0) {
            clear(call, partition, pointer, size_bytes);
        }
    }
    synchronise(call, partition, flags);
    return pointer;
}

/* The next job must not find what this one has freed. */
static void forget_symbol(const char *call, const struct msp_partition *partition,
                          const void *pointer)
{
    struct msp_persistent *persistent = msp_partition_persistent(partition);
    char symbol[48];

    if ((persistent != NULL) &&
        msp_persistent_symbol(persistent, offset_of(partition, pointer), symbol) &&
        (msp_persistent_unname(persistent, team_of(partition), symbol) != MEMSPAN_OK)) {
        msp_fatal_error(call);
    }
}

/* A named block stays where it is, with its size, until its symbol is taken away. */
static bool has_symbol(const char *call, const struct msp_partition *partition, const void *pointer)
{
    struct msp_persistent *persistent = msp_partition_persistent(partition);
    char symbol[48];

    if ((persistent == NULL) ||
        !msp_persistent_symbol(persistent, offset_of(partition, pointer), symbol)) {
        return false;
    }
    msp_refuse(MEMSPAN_ERR_CONFLICT, "%s: the block has the symbol %s in a persistent partition",
               call, symbol);
    msp_error_hint("take the symbol away first (shmemx_persistent_unname)");
    return true;
}

void msp_memory_free(const char *call, void *pointer, unsigned flags)
{
    struct msp_partition *partition;

    msp_job_require(call);
    if (pointer == NULL) {
        return;
    }
    partition = msp_partition_of(pointer);
    if (partition == NULL) {
        msp_fatal("%s: %p was not allocated from symmetric memory", call, pointer);
    }
    compare_value(call, partition, "ptr", offset_of(partition, pointer));
    synchronise(call, partition, flags);
    forget_symbol(call, partition, pointer);
    msp_huge_leave(pointer);
    if (msp_symmetric_heap_free(partition->heap, offset_of(partition, pointer)) != MEMSPAN_OK) {
        refuse_pointer(call, partition, pointer);
    }
}

void *msp_memory_realloc(const char *call, int partition_id, void *pointer, size_t size_bytes,
                         unsigned flags)
{
    struct msp_partition *partition;
    void *moved = NULL;
    size_t old_offset;
    size_t old_bytes;
    size_t offset;

    msp_job_require(call);
    if (pointer == NULL) {
        return msp_memory_alloc(call, partition_id, 0, size_bytes, flags);
    }
    if (size_bytes == 0) {
        msp_memory_free(call, pointer, flags);
        return NULL;
    }
    partition = msp_partition_of(pointer);
    if (partition == NULL) {
        msp_fatal("%s: %p was not allocated from symmetric memory", call, pointer);
    }
    compare_value(call, partition, "ptr", offset_of(partition, pointer));
    compare_value(call, partition, "size", size_bytes);
    if (has_symbol(call, partition, pointer)) {
        return NULL;
    }
    synchronise(call, partition, flags);
    old_offset = offset_of(partition, pointer);
    if (msp_symmetric_heap_size(partition->heap, old_offset, &old_bytes) != MEMSPAN_OK) {
        refuse_pointer(call, partition, pointer);
    }
    if (msp_symmetric_heap_resize(partition->heap, old_offset, size_bytes, 16, &offset) !=
        MEMSPAN_OK) {
        report_shortage(call, partition, size_bytes);
    } else {
        moved = address_of(partition, offset);
        msp_huge_leave(pointer);
        msp_huge_enter(partition, moved, size_bytes, false);
        if (offset != old_offset) {
            msp_rma_move(call, moved, pointer, (old_bytes < size_bytes) ? old_bytes : size_bytes);
            (void)msp_symmetric_heap_free(partition->heap, old_offset);
        }
    }
    synchronise(call, partition, flags);
    return moved;
}
