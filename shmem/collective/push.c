/* SPDX-License-Identifier: BSD-3-Clause */
/* push.c: collectives by messages.
 *
 * A call counts its messages in one of the team's arrival counters, which calls use in turn. A PE
 * may be ahead of another by several calls, as the root of a broadcast is, but not by all counters:
 * before they are used again there is a barrier. A PE that arrives there has received all its
 * messages, and clears its counters. */

#include "shmem/collective/push.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/message.h"
#include "shmem/collective/peer.h"
#include "shmem/collective/sync.h"
#include "shmem/control/wait.h"
#include "shmem/transport/order.h"
#include <string.h>

static _Atomic uint64_t *next_counter(struct msp_team *team)
{
    _Atomic uint64_t *counters = msp_sync_arrivals(team);
    uint64_t at                = team->message_count % MSP_SYNC_ARRIVALS;

    if ((at == 0) && (team->message_count != 0)) {
        memset(counters, 0, sizeof *counters * MSP_SYNC_ARRIVALS);
        msp_collective_sync(team);
    }
    team->message_count++;
    return &counters[at];
}

static void wait_for(_Atomic uint64_t *counter, int count)
{
    MSP_WAIT(atomic_load_explicit(counter, memory_order_acquire) >= (uint64_t)count);
}

/* Each starts with another PE, so that messages do not all go to the same one. */
static int partner(const struct msp_team *team, int step)
{
    return (team->pe + step) % team->size;
}

static void send(const struct msp_team *team, int pe, void *dest, const void *source,
                 size_t size_bytes, _Atomic uint64_t *counter)
{
    msp_message_send(team, pe, dest, source, size_bytes, counter, 1, true);
}

/* The same bytes to the same place in all other members, and theirs to this PE. */
static void send_to_all(struct msp_team *team, void *dest, const void *source, size_t size_bytes)
{
    _Atomic uint64_t *counter = next_counter(team);
    int step;

    for (step = 1; step < team->size; step++) {
        send(team, partner(team, step), dest, source, size_bytes, counter);
    }
    wait_for(counter, team->size - 1);
}

/* ---- parts of one size ---- */

void *msp_push_gather(struct msp_team *team, const void *source, size_t size_bytes)
{
    char *gathered = msp_sync_room(team);
    char *own      = gathered + ((size_t)team->pe * size_bytes);

    if (size_bytes > MSP_SYNC_WORK_BYTES / (size_t)team->size) {
        return NULL;
    }
    team->work_count++;
    msp_peer_copy(own, source, size_bytes);
    send_to_all(team, own, own, size_bytes);
    return gathered;
}

void msp_push_parts(struct msp_team *team, void *part, size_t size_bytes)
{
    send_to_all(team, part, part, size_bytes);
}

int msp_push_fcollect(struct msp_team *team, void *dest, const void *source, size_t size_bytes)
{
    char *own = (char *)dest + ((size_t)team->pe * size_bytes);

    msp_peer_copy(own, source, size_bytes);
    send_to_all(team, own, source, size_bytes);
    return 0;
}

int msp_push_alltoall(struct msp_team *team, void *dest, const void *source, size_t size_bytes)
{
    _Atomic uint64_t *counter = next_counter(team);
    char *own                 = (char *)dest + ((size_t)team->pe * size_bytes);
    const char *parts         = source;
    int step;

    for (step = 1; step < team->size; step++) {
        int pe = partner(team, step);

        send(team, pe, own, parts + ((size_t)pe * size_bytes), size_bytes, counter);
    }
    msp_peer_copy(own, parts + ((size_t)team->pe * size_bytes), size_bytes);
    wait_for(counter, team->size - 1);
    return 0;
}

/* Counted after all puts are complete: blocks of one PE may take another path than its counter. */
int msp_push_alltoalls(struct msp_team *team, void *dest, const void *source, ptrdiff_t dest_stride,
                       ptrdiff_t source_stride, size_t element_bytes, size_t count)
{
    _Atomic uint64_t *counter = next_counter(team);
    ptrdiff_t to_bytes        = dest_stride * (ptrdiff_t)element_bytes;
    ptrdiff_t from_bytes      = source_stride * (ptrdiff_t)element_bytes;
    char *own                 = (char *)dest + ((ptrdiff_t)((size_t)team->pe * count) * to_bytes);
    int step;

    for (step = 0; (count != 0) && (step < team->size); step++) {
        int pe = partner(team, step);

        msp_put_strided(msp_peer_call(team), msp_context_internal(), own,
                        (const char *)source + ((ptrdiff_t)((size_t)pe * count) * from_bytes),
                        to_bytes, from_bytes, element_bytes, count, msp_team_world_pe(team, pe));
    }
    msp_quiet(msp_context_internal());
    for (step = 1; step < team->size; step++) {
        send(team, partner(team, step), NULL, NULL, 0, counter);
    }
    wait_for(counter, team->size - 1);
    return 0;
}

/* ---- parts of different sizes ---- */

int msp_push_collect(struct msp_team *team, void *dest, const void *source, size_t size_bytes)
{
    const size_t *sizes = msp_push_gather(team, &size_bytes, sizeof size_bytes);
    char *own           = dest;
    int pe;

    for (pe = 0; pe < team->pe; pe++) {
        own += sizes[pe];
    }
    msp_peer_copy(own, source, size_bytes);
    send_to_all(team, own, source, size_bytes);
    return 0;
}

/* ---- broadcast ---- */

/* A binomial tree: a PE that is @p distance from the root receives from the one that lacks the
 * lowest bit of it, and sends to those that have one more below that. */
int msp_push_broadcast(struct msp_team *team, void *dest, const void *source, size_t size_bytes,
                       int root)
{
    _Atomic uint64_t *counter = next_counter(team);
    int distance              = (team->pe - root + team->size) % team->size;
    const void *from          = (distance == 0) ? source : dest;
    int bit                   = 1;

    while ((bit < team->size) && ((distance & bit) == 0)) {
        bit *= 2;
    }
    if (distance != 0) {
        wait_for(counter, 1);
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (distance + bit < team->size) {
            send(team, (team->pe + bit) % team->size, dest, from, size_bytes, counter);
        }
    }
    if ((distance == 0) && !team->is_active_set) {
        msp_peer_copy(dest, source, size_bytes);
    }
    return 0;
}
