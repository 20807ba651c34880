/* SPDX-License-Identifier: BSD-3-Clause */
/* move.c: broadcast, collect, alltoall on one host; hosts_move.c has those of several.
 *
 * A few bytes travel in the lines of the barrier, and small data in the team's work area: one
 * barrier, after which the source may be written again. Large data is read by zero-copy between two
 * barriers. */

#include "shmem/collective/collective.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/collective/sync.h"

/* Below it a second copy, to the work area, costs less than a second barrier. */
enum { SMALL_BYTES = 8 << 10 };

/* Each starts with another PE, so that not all read the same one's memory at once. */
static int partner(const struct msp_team *team, int step)
{
    int pe = team->pe + step;

    return (pe < team->size) ? pe : (pe - team->size);
}

/* ---- distributing ---- */

enum path { IN_LINES, IN_WORK, IN_PLACE };

/* A barrier; then take() finds this PE's @p size_bytes at @p source. @p given_bytes: of those that
 * this PE has. */
static enum path distribute(struct msp_team *team, const void *source, size_t size_bytes,
                            size_t given_bytes)
{
    if ((size_bytes <= MSP_SYNC_INLINE_BYTES) && msp_rma_host_touches(source) &&
        msp_sync_exchange(team, source, given_bytes)) {
        return IN_LINES;
    }
    if ((size_bytes <= SMALL_BYTES) && (team->active_set_sync == NULL)) {
        msp_peer_copy(msp_sync_work(team), source, given_bytes);
        msp_sync_distribute(team, NULL, 0);
        return IN_WORK;
    }
    msp_collective_sync(team);
    return IN_PLACE;
}

/* To @p to: @p size_bytes at @p offset of the data that PE @p pe distributes. */
static void take_part(struct msp_team *team, enum path path, int pe, const void *source,
                      size_t offset, void *to, size_t size_bytes)
{
    if (path == IN_LINES) {
        msp_peer_copy(to, (const char *)msp_sync_exchanged(team, pe) + offset, size_bytes);
    } else if (path == IN_WORK) {
        msp_peer_copy(to, (const char *)msp_sync_distributed(team, pe) + offset, size_bytes);
    } else if (pe == team->pe) {
        msp_peer_copy(to, (const char *)source + offset, size_bytes);
    } else {
        msp_peer_read(team, pe, (const char *)source + offset, to, size_bytes);
    }
}

/* A source that is read in place may be written again when all have read it. */
static void release(struct msp_team *team, enum path path)
{
    if (path == IN_PLACE) {
        msp_collective_sync(team);
    }
}

/* ---- the calls ---- */

int msp_collective_broadcast(struct msp_team *team, void *dest, const void *source,
                             size_t size_bytes, int root)
{
    bool is_root = (team->pe == root);
    enum path path;

    if (MSP_UNLIKELY(team->barrier == MSP_BARRIER_MESSAGES)) {
        return msp_hosts_broadcast(team, dest, source, size_bytes, root);
    }
    path = distribute(team, source, size_bytes, is_root ? size_bytes : 0);
    if (!is_root) {
        take_part(team, path, root, source, 0, dest, size_bytes);
    } else if (!team->is_active_set) {
        msp_peer_copy(dest, source, size_bytes);
    }
    release(team, path);
    return 0;
}

int msp_collective_fcollect(struct msp_team *team, void *dest, const void *source,
                            size_t size_bytes)
{
    enum path path;
    int step;

    if (MSP_UNLIKELY(team->barrier == MSP_BARRIER_MESSAGES)) {
        return msp_hosts_fcollect(team, dest, source, size_bytes);
    }
    path = distribute(team, source, size_bytes, size_bytes);
    for (step = 0; step < team->size; step++) {
        int pe = partner(team, step);

        take_part(team, path, pe, source, 0, (char *)dest + ((size_t)pe * size_bytes), size_bytes);
    }
    release(team, path);
    return 0;
}

int msp_collective_alltoall(struct msp_team *team, void *dest, const void *source,
                            size_t size_bytes)
{
    size_t all_bytes = (size_t)team->size * size_bytes;
    enum path path;
    int step;

    if (MSP_UNLIKELY(team->barrier == MSP_BARRIER_MESSAGES)) {
        return msp_hosts_alltoall(team, dest, source, size_bytes);
    }
    path = distribute(team, source, all_bytes, all_bytes);
    for (step = 0; step < team->size; step++) {
        int pe = partner(team, step);

        take_part(team, path, pe, source, (size_t)team->pe * size_bytes,
                  (char *)dest + ((size_t)pe * size_bytes), size_bytes);
    }
    release(team, path);
    return 0;
}

/* ---- parts of different sizes ---- */

/* Each PE's record: its size, and its part if that is small. */
struct part {
    _Alignas(16) size_t size_bytes;
    _Alignas(16) unsigned char data[];
};

/* An active set's sizes stand in its pSync, in a word that barriers do not use. */
enum { SYNC_WORD = 2 };

static void distribute_part(struct msp_team *team, const void *source, size_t size_bytes)
{
    if (team->active_set_sync != NULL) {
        __atomic_store_n(&team->active_set_sync[SYNC_WORD], (long)size_bytes, __ATOMIC_RELEASE);
        msp_collective_sync(team);
    } else {
        struct part *mine = msp_sync_work(team);

        mine->size_bytes = size_bytes;
        msp_peer_copy(mine->data, source, (size_bytes <= SMALL_BYTES) ? size_bytes : 0);
        msp_sync_distribute(team, NULL, 0);
    }
}

/* The size of PE @p pe's part; *data_p is where it was distributed, NULL: it is in place. */
static size_t part_of(struct msp_team *team, int pe, const void **data_p)
{
    const struct part *theirs;
    long size_bytes;

    *data_p = NULL;
    if (team->active_set_sync != NULL) {
        msp_peer_read(team, pe, &team->active_set_sync[SYNC_WORD], &size_bytes, sizeof size_bytes);
        return (size_t)size_bytes;
    }
    theirs  = msp_sync_distributed(team, pe);
    *data_p = (theirs->size_bytes <= SMALL_BYTES) ? theirs->data : NULL;
    return theirs->size_bytes;
}

int msp_collective_collect(struct msp_team *team, void *dest, const void *source, size_t size_bytes)
{
    bool in_place = (team->active_set_sync != NULL);
    char *to      = dest;
    int pe;

    if (MSP_UNLIKELY(team->barrier == MSP_BARRIER_MESSAGES)) {
        return msp_hosts_collect(team, dest, source, size_bytes);
    }
    distribute_part(team, source, size_bytes);
    for (pe = 0; pe < team->size; pe++) {
        const void *data;
        size_t bytes = part_of(team, pe, &data);

        if (pe == team->pe) {
            msp_peer_copy(to, source, bytes);
        } else if (data != NULL) {
            msp_peer_copy(to, data, bytes);
        } else {
            msp_peer_read(team, pe, source, to, bytes);
        }
        in_place = in_place || (data == NULL);
        to += bytes;
    }
    if (in_place) {
        msp_collective_sync(team);
    }
    if (team->active_set_sync != NULL) {
        __atomic_store_n(&team->active_set_sync[SYNC_WORD], 0, __ATOMIC_RELEASE);
    }
    return 0;
}

/* ---- strided ---- */

int msp_collective_alltoalls(struct msp_team *team, void *dest, const void *source,
                             ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t element_bytes,
                             size_t count)
{
    ptrdiff_t to_bytes   = dest_stride * (ptrdiff_t)element_bytes;
    ptrdiff_t from_bytes = source_stride * (ptrdiff_t)element_bytes;
    int step;

    if (MSP_UNLIKELY(team->barrier == MSP_BARRIER_MESSAGES)) {
        return msp_hosts_alltoalls(team, dest, source, dest_stride, source_stride, element_bytes,
                                   count);
    }
    msp_collective_sync(team);
    for (step = 0; step < team->size; step++) {
        int pe = partner(team, step);

        msp_get_strided(msp_peer_call(team), msp_context_default(),
                        (char *)dest + ((ptrdiff_t)((size_t)pe * count) * to_bytes),
                        (const char *)source + ((ptrdiff_t)((size_t)team->pe * count) * from_bytes),
                        to_bytes, from_bytes, element_bytes, count, msp_team_world_pe(team, pe));
    }
    msp_collective_sync(team);
    return 0;
}
