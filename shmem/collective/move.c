/* SPDX-License-Identifier: BSD-3-Clause */
/* move.c: broadcast, collect, alltoall.
 *
 * What is small is handed out through the team's work area: one meeting, and the source may be
 * written again at once. What is large is read where it is, between two meetings. */

#include "shmem/collective/collective.h"
#include "shmem/collective/peer.h"
#include "shmem/collective/sync.h"
#include <stdlib.h>

/* Handed out through the work area: below it a second copy costs less than a second meeting. */
enum { SMALL_BYTES = 8 << 10 };

static bool is_small(const struct memspan_team *team, size_t size_bytes)
{
    return (size_bytes <= SMALL_BYTES) && (team->active_set_sync == NULL);
}

/* Each starts with another PE, so that not all read the same one's memory at once. */
static int partner(const struct memspan_team *team, int step)
{
    int pe = team->pe + step;

    return (pe < team->size) ? pe : (pe - team->size);
}

/* ---- broadcast ---- */

int memspan_collective_broadcast(struct memspan_team *team, void *dest, const void *source,
                                 size_t size_bytes, int root)
{
    bool is_root = (team->pe == root);

    if (is_small(team, size_bytes)) {
        if (is_root) {
            memspan_peer_copy(memspan_sync_room(team), source, size_bytes);
        }
        memspan_sync_publish(team, NULL, 0);
        if (!is_root || (dest != source)) {
            memspan_peer_copy(dest, memspan_sync_published(team, root), size_bytes);
        }
        return 0;
    }
    memspan_collective_sync(team);
    if (!is_root) {
        memspan_peer_read(team, root, source, dest, size_bytes);
    } else if (team->active_set_sync == NULL) {
        memspan_peer_copy(dest, source, size_bytes);
    }
    memspan_collective_sync(team);
    return 0;
}

/* ---- collect ---- */

int memspan_collective_fcollect(struct memspan_team *team, void *dest, const void *source,
                                size_t size_bytes)
{
    char *to   = dest;
    bool small = is_small(team, size_bytes);
    int step;

    if (small) {
        memspan_peer_copy(memspan_sync_room(team), source, size_bytes);
        memspan_sync_publish(team, NULL, 0);
    } else {
        memspan_collective_sync(team);
    }
    for (step = 0; step < team->size; step++) {
        int pe     = partner(team, step);
        char *part = to + ((size_t)pe * size_bytes);

        if (small) {
            memspan_peer_copy(part, memspan_sync_published(team, pe), size_bytes);
        } else if (pe == team->pe) {
            memspan_peer_copy(part, source, size_bytes);
        } else {
            memspan_peer_read(team, pe, source, part, size_bytes);
        }
    }
    if (!small) {
        memspan_collective_sync(team);
    }
    return 0;
}

/* Everybody's size, by PE: the caller's to free. Of an active set through its first words of pSync
 * there is no room for that: the sizes are exchanged in the words behind. */
static size_t *gather_sizes(struct memspan_team *team, size_t size_bytes)
{
    size_t *sizes = malloc((size_t)team->size * sizeof *sizes);
    int pe;

    if (sizes == NULL) {
        memspan_fatal("shmem_collect: no memory for the sizes of %d PEs", team->size);
    }
    if (team->active_set_sync != NULL) {
        long *word = &team->active_set_sync[2];

        __atomic_store_n(word, (long)size_bytes, __ATOMIC_RELEASE);
        memspan_collective_sync(team);
        for (pe = 0; pe < team->size; pe++) {
            long theirs;

            memspan_peer_read(team, pe, word, &theirs, sizeof theirs);
            sizes[pe] = (size_t)theirs;
        }
    } else {
        memspan_sync_publish(team, &size_bytes, sizeof size_bytes);
        for (pe = 0; pe < team->size; pe++) {
            sizes[pe] = *(const size_t *)memspan_sync_published(team, pe);
        }
    }
    return sizes;
}

int memspan_collective_collect(struct memspan_team *team, void *dest, const void *source,
                               size_t size_bytes)
{
    size_t *sizes = gather_sizes(team, size_bytes);
    char *to      = dest;
    int pe;

    for (pe = 0; pe < team->size; pe++) {
        if (pe == team->pe) {
            memspan_peer_copy(to, source, size_bytes);
        } else {
            memspan_peer_read(team, pe, source, to, sizes[pe]);
        }
        to += sizes[pe];
    }
    free(sizes);
    memspan_collective_sync(team);
    if (team->active_set_sync != NULL) {
        team->active_set_sync[2] = 0;
    }
    return 0;
}

/* ---- alltoall ---- */

int memspan_collective_alltoall(struct memspan_team *team, void *dest, const void *source,
                                size_t size_bytes)
{
    size_t all_bytes = (size_t)team->size * size_bytes;
    size_t mine      = (size_t)team->pe * size_bytes;
    bool small       = is_small(team, all_bytes);
    const char *from = source;
    char *to         = dest;
    int step;

    if (small) {
        memspan_peer_copy(memspan_sync_room(team), source, all_bytes);
        memspan_sync_publish(team, NULL, 0);
    } else {
        memspan_collective_sync(team);
    }
    for (step = 0; step < team->size; step++) {
        int pe     = partner(team, step);
        char *part = to + ((size_t)pe * size_bytes);

        if (small) {
            memspan_peer_copy(part, (const char *)memspan_sync_published(team, pe) + mine,
                              size_bytes);
        } else if (pe == team->pe) {
            memspan_peer_copy(part, from + mine, size_bytes);
        } else {
            memspan_peer_read(team, pe, from + mine, part, size_bytes);
        }
    }
    if (!small) {
        memspan_collective_sync(team);
    }
    return 0;
}

int memspan_collective_alltoalls(struct memspan_team *team, void *dest, const void *source,
                                 ptrdiff_t dest_stride, ptrdiff_t source_stride,
                                 size_t element_bytes, size_t count)
{
    ptrdiff_t to_bytes   = dest_stride * (ptrdiff_t)element_bytes;
    ptrdiff_t from_bytes = source_stride * (ptrdiff_t)element_bytes;
    int step;

    memspan_collective_sync(team);
    for (step = 0; step < team->size; step++) {
        int pe = partner(team, step);

        memspan_get_strided(
            memspan_context_default(), (char *)dest + ((ptrdiff_t)((size_t)pe * count) * to_bytes),
            (const char *)source + ((ptrdiff_t)((size_t)team->pe * count) * from_bytes), to_bytes,
            from_bytes, element_bytes, count, memspan_team_world_pe(team, pe));
    }
    memspan_collective_sync(team);
    return 0;
}
