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

/* ---- strided ---- */

/* Elements of a PE's part, and where they are: in this PE's memory, a stride apart. */
struct part {
    char *first;
    ptrdiff_t stride_bytes;
    size_t element_bytes;
    size_t count;
};

/* The part of PE @p pe, from element @p at on, of a vector that has one of each PE. */
static struct part part_of(const struct part *vector, int pe, size_t at, size_t count)
{
    struct part part = *vector;

    part.first += (ptrdiff_t)(((size_t)pe * vector->count) + at) * vector->stride_bytes;
    part.count = count;
    return part;
}

static void pack(const struct msp_team *team, char *to, struct part from)
{
    msp_get_strided(msp_peer_call(team), msp_context_internal(), to, from.first,
                    (ptrdiff_t)from.element_bytes, from.stride_bytes, from.element_bytes,
                    from.count, msp_job.pe);
}

static void unpack(const struct msp_team *team, struct part to, const char *from)
{
    msp_put_strided(msp_peer_call(team), msp_context_internal(), to.first, from, to.stride_bytes,
                    (ptrdiff_t)to.element_bytes, to.element_bytes, to.count, msp_job.pe);
}

/* Parts travel packed, through the work area: an element is no message. */
int msp_push_alltoalls(struct msp_team *team, void *dest, const void *source, ptrdiff_t dest_stride,
                       ptrdiff_t source_stride, size_t element_bytes, size_t count)
{
    ptrdiff_t unit          = (ptrdiff_t)element_bytes;
    const struct part to    = {dest, dest_stride * unit, element_bytes, count};
    const struct part from  = {(char *)(uintptr_t)source, source_stride * unit, element_bytes,
                               count};
    const size_t room_bytes = MSP_SYNC_WORK_BYTES / (size_t)team->size;
    const size_t most       = room_bytes / element_bytes;
    size_t at;

    for (at = 0; at < count; at += most) {
        size_t now                = (count - at < most) ? (count - at) : most;
        char *room                = msp_sync_room(team);
        char *own                 = room + ((size_t)team->pe * room_bytes);
        _Atomic uint64_t *counter = next_counter(team);
        int step;

        team->work_count++;
        for (step = 1; step <= team->size; step++) {
            int pe = partner(team, step); /* this one last: its part stays where it was packed */

            pack(team, own, part_of(&from, pe, at, now));
            if (pe != team->pe) {
                send(team, pe, own, own, now * element_bytes, counter);
            }
        }
        wait_for(counter, team->size - 1);
        for (step = 0; step < team->size; step++) {
            unpack(team, part_of(&to, step, at, now), room + ((size_t)step * room_bytes));
        }
    }
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
