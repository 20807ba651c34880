/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_HUGE_H
#define MEMSPAN_SHMEM_PARTITION_HUGE_H

/* Huge pages for large symmetric blocks, without a setting of the system.
 *
 * Shared files have base pages unless an administrator allows others (shmem_enabled), but
 * MADV_COLLAPSE (Linux 6.1) makes a huge page of 2 MiB of such a file at any time. An untouched
 * range of 2 MiB takes a third of the time of its first touches; a full one costs as much again,
 * and one that is touched here and there makes memory of its holes. So:
 *
 * - Blocks that will be full become huge when they are allocated: those that shmem_calloc() fills,
 *   all where the user says so, and as many bytes as were seen touched in full before.
 * - Barriers look at what the program has filled. Full ranges become huge, for 3 % of the time
 * since the first block.
 * - A range that is touched here and there stays as it is.
 *
 * The other PEs of the host see the same pages by their windows. */

#include "shmem/partition/partition.h"

/* A block of the program's, whose memory may become huge. @p filled: the caller fills it at once.
 * Any thread. Small blocks, and partitions of other memory, are left alone. */
void msp_huge_enter(const struct msp_partition *partition, char *block, size_t size_bytes,
                    bool filled);

/* It is not in use any more: its memory is not touched from now on. */
void msp_huge_leave(const char *block);

/* At a barrier, before it waits: nothing while there is no large block. Any thread. */
extern atomic_bool msp_huge_is_on MSP_HIDDEN;
void msp_huge_look(void);
static inline void msp_huge_at_barrier(void)
{
    if (MSP_UNLIKELY(atomic_load_explicit(&msp_huge_is_on, memory_order_relaxed))) {
        msp_huge_look();
    }
}

/* The memory of a segment goes; all of it does. */
void msp_huge_leave_segment(int segment);
void msp_huge_close(void);

/* Bytes of this PE's copy that have been made huge, and one sentence on what came of it. */
size_t msp_huge_describe(const struct msp_partition *partition, char *text, size_t text_size);

/* The same before there is a job. */
struct msp_partition_request;
struct msp_partition_placement;
void msp_huge_foresee(const struct msp_partition_request *request,
                      const struct msp_partition_placement *placement, char *text,
                      size_t text_size);

#endif /* MEMSPAN_SHMEM_PARTITION_HUGE_H */
