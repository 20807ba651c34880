/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c: reductions and scans.
 *
 * A few bytes travel in the lines of the barrier. Of small vectors, in the work area, and of those
 * that are not so small, by zero-copy, every PE combines all; so do two PEs always, which would
 * have as much to read from each other anyway. Large vectors are divided: each PE combines one
 * chunk, then all read each other's. All combine in the order of PEs, so that all have the same
 * bits. Dest may be source. Teams on several hosts: hosts_reduce.c. Memory of devices:
 * device_reduce.c. */

#include "shmem/collective/collective.h"
#include "shmem/collective/combine.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/collective/sync.h"
#include <stdlib.h>

/* Of all PEs together: the bytes that pass through work areas, and those that every PE combines by
 * itself. */
enum { WORK_BYTES = 1 << 10, GATHERED_BYTES = 64 << 10 };

/* ---- a few bytes ---- */

static void combine_exchanged(struct msp_team *team, msp_combine_t combine, void *dest,
                              size_t size_bytes, size_t count)
{
    const void *first = msp_sync_exchanged(team, 0);
    int pe;

    if (team->size == 1) {
        memcpy(dest, first, size_bytes);
        return;
    }
    combine(dest, first, msp_sync_exchanged(team, 1), count);
    for (pe = 2; pe < team->size; pe++) {
        combine(dest, dest, msp_sync_exchanged(team, pe), count);
    }
}

/* ---- vectors that fit the work area ---- */

static void combine_in_work(struct msp_team *team, msp_combine_t combine, void *to,
                            size_t size_bytes, size_t count)
{
    int pe;

    if (team->size == 1) {
        memcpy(to, msp_sync_distributed(team, 0), size_bytes);
        return;
    }
    combine(to, msp_sync_distributed(team, 0), msp_sync_distributed(team, 1), count);
    for (pe = 2; pe < team->size; pe++) {
        combine(to, to, msp_sync_distributed(team, pe), count);
    }
}

/* Also memory that the host cannot touch, a piece at a time. */
static void reduce_in_work(struct msp_team *team, msp_combine_t combine, char *dest,
                           const char *source, size_t element_bytes, size_t count)
{
    size_t most = MSP_SYNC_WORK_BYTES / element_bytes;
    bool direct = msp_rma_host_touches(dest);
    void *sum   = direct ? NULL : malloc(MSP_SYNC_WORK_BYTES);
    size_t at;

    if (!direct && (sum == NULL)) {
        msp_fatal("a reduction: no memory for %d bytes", MSP_SYNC_WORK_BYTES);
    }
    for (at = 0; at < count; at += most) {
        size_t part  = (count - at < most) ? (count - at) : most;
        size_t bytes = part * element_bytes;
        char *to     = dest + (at * element_bytes);

        msp_peer_copy(msp_sync_work(team), source + (at * element_bytes), bytes);
        msp_sync_distribute(team, NULL, 0);
        combine_in_work(team, combine, direct ? to : sum, bytes, part);
        if (!direct) {
            msp_peer_copy(to, sum, bytes);
        }
    }
    free(sum);
}

/* ---- zero-copy ---- */

static void reduce_chunks(struct msp_team *team, msp_combine_t combine, char *dest,
                          const char *source, size_t element_bytes, size_t count)
{
    size_t first;
    size_t end;

    msp_collective_sync(team);
    msp_chunk_of(team->pe, team->size, element_bytes, count, &first, &end);
    msp_chunk_combine(team, combine, dest, source, element_bytes, first, end);
    msp_collective_sync(team);
    msp_chunk_read_others(team, dest, element_bytes, count);
    msp_collective_sync(team);
}

/* Every PE reads the operands of all, a piece at a time; where dest is source, a piece is written
 * when all have read it. */
static void reduce_gathered(struct msp_team *team, msp_combine_t combine, char *dest,
                            const char *source, size_t element_bytes, size_t count)
{
    _Alignas(64) char beside[MSP_CHUNK_PIECE_BYTES];
    bool in_place = (dest == source);
    bool direct   = !in_place && msp_rma_host_touches(dest);
    size_t most   = MSP_CHUNK_PIECE_BYTES / element_bytes;
    size_t at;

    msp_collective_sync(team);
    for (at = 0; at < count; at += most) {
        size_t part  = (count - at < most) ? (count - at) : most;
        size_t bytes = part * element_bytes;
        char *to     = dest + (at * element_bytes);

        msp_chunk_combine_all(team, combine, direct ? to : beside, source + (at * element_bytes),
                              bytes, part);
        if (in_place) {
            msp_collective_sync(team);
        }
        if (!direct) {
            msp_peer_copy(to, beside, bytes);
        }
    }
    if (!in_place) {
        msp_collective_sync(team);
    }
}

/* ---- the call ---- */

/* Two barriers cost less than a second copy of a vector that is not small, but where processors are
 * oversubscribed. */
static bool is_in_work(const struct msp_team *team, size_t bytes)
{
    return (team->active_set_sync == NULL) &&
           (bytes * (size_t)team->size <=
            ((team->barrier == MSP_BARRIER_COUNTER) ? (size_t)GATHERED_BYTES : WORK_BYTES));
}

static void reduce_large(struct msp_team *team, msp_combine_t combine, void *dest,
                         const void *source, size_t element_bytes, size_t count)
{
    size_t bytes = count * element_bytes;
    bool is_mapped =
        msp_chunk_is_mapped(team, source, bytes) && msp_chunk_is_mapped(team, dest, bytes);
    bool is_gathered =
        (bytes * (size_t)team->size <= GATHERED_BYTES) || ((team->size == 2) && (dest != source));

    if (is_mapped && !is_gathered) {
        reduce_chunks(team, combine, dest, source, element_bytes, count);
    } else if (is_mapped || (team->active_set_sync != NULL)) {
        reduce_gathered(team, combine, dest, source, element_bytes, count);
    } else {
        reduce_in_work(team, combine, dest, source, element_bytes, count);
    }
}

int msp_collective_reduce(struct msp_team *team, enum msp_reduction operation, enum msp_number type,
                          void *dest, const void *source, size_t count)
{
    msp_combine_t combine = msp_combine_of(operation, type);
    size_t element_bytes  = msp_number_bytes(type);
    size_t bytes          = count * element_bytes;

    if (count == 0) { /* dest and source may be anything then */
        msp_collective_sync(team);
    } else if ((bytes <= MSP_SYNC_INLINE_BYTES) && msp_rma_host_touches(source) &&
               msp_rma_host_touches(dest) && msp_sync_exchange(team, source, bytes)) {
        combine_exchanged(team, combine, dest, bytes, count);
    } else if (msp_device_reduce_takes(dest, source, bytes)) {
        msp_device_reduce(team, operation, type, dest, source, count);
    } else if (team->barrier == MSP_BARRIER_MESSAGES) {
        return msp_hosts_reduce(team, combine, dest, source, element_bytes, count);
    } else if (is_in_work(team, bytes)) {
        reduce_in_work(team, combine, dest, source, element_bytes, count);
    } else {
        reduce_large(team, combine, dest, source, element_bytes, count);
    }
    return 0;
}

/* ---- scans ---- */

/* The sum of the data that PEs 0 to @p last distribute, to this PE's @p to. */
static void scan_in_work(struct msp_team *team, msp_combine_t combine, int last, void *to,
                         size_t bytes, size_t count)
{
    int pe;

    if (last < 0) {
        memset(to, 0, bytes);
        return;
    }
    memcpy(to, msp_sync_distributed(team, 0), bytes);
    for (pe = 1; pe <= last; pe++) {
        combine(to, to, msp_sync_distributed(team, pe), count);
    }
}

int msp_collective_scan(struct msp_team *team, enum msp_number type, bool inclusive, void *dest,
                        const void *source, size_t count)
{
    msp_combine_t combine = msp_combine_of(MSP_REDUCE_SUM, type);
    size_t element_bytes  = msp_number_bytes(type);
    size_t most           = MSP_CHUNK_PIECE_BYTES / element_bytes;
    bool direct           = msp_rma_host_touches(dest);
    int last              = inclusive ? team->pe : (team->pe - 1);
    _Alignas(64) char beside[MSP_CHUNK_PIECE_BYTES];
    size_t at;

    if (count == 0) {
        msp_collective_sync(team);
    } else if (team->barrier == MSP_BARRIER_MESSAGES) {
        return msp_hosts_scan(team, combine, inclusive, dest, source, element_bytes, count);
    }
    for (at = 0; at < count; at += most) {
        size_t part  = (count - at < most) ? (count - at) : most;
        size_t bytes = part * element_bytes;
        char *to     = (char *)dest + (at * element_bytes);

        msp_peer_copy(msp_sync_work(team), (const char *)source + (at * element_bytes), bytes);
        msp_sync_distribute(team, NULL, 0);
        scan_in_work(team, combine, last, direct ? to : beside, bytes, part);
        if (!direct) {
            msp_peer_copy(to, beside, bytes);
        }
    }
    return 0;
}
