/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.c: barriers, and what is handed over in them. */

#include "shmem/collective/sync.h"
#include "shmem/collective/collective.h"
#include "shmem/context.h"
#include "shmem/control/wait.h"
#include "shmem/transport/order.h"
#include "shmem/transport/peer.h"
#include <string.h>

enum {
    ROUNDS_MAX              = 10, /* of dissemination: 1,024 PEs on one node */
    FLAT_MAX                = 8,  /* members that look at each other's lines */
    FLAT_OVERSUBSCRIBED_MAX = 2,
};

struct line {
    _Alignas(MSP_CACHE_LINE_BYTES) unsigned char data[MSP_SYNC_INLINE_BYTES];
    _Atomic uint64_t number;
};

/* A team's flags in a PE's slot. */
struct flags {
    struct line own[2];            /* written by the slot's PE, read by all */
    struct line round[ROUNDS_MAX]; /* written by one other PE each, read by the slot's */
    struct line arrived;           /* of the team's PE 0: a counter */
    struct line released;          /* of the team's PE 0: read by all */
};

_Static_assert(sizeof(struct flags) <= MSP_TEAM_SYNC_BYTES, "flags fit");

static struct flags *flags_of(const struct msp_team *team, int pe)
{
    char *area = MSP_CONTROL_AREA(msp_team_local_index(team, pe), SYNC);

    return (struct flags *)(void *)(area + ((size_t)team->index * MSP_TEAM_SYNC_BYTES));
}

static uint64_t load(const struct line *line)
{
    return atomic_load_explicit(&line->number, memory_order_acquire);
}

static void store(struct line *line, uint64_t number)
{
    atomic_store_explicit(&line->number, number, memory_order_release);
}

static void ring_all(const struct msp_team *team)
{
    int pe;

    for (pe = 0; pe < team->size; pe++) {
        msp_doorbell_notify(msp_team_local_index(team, pe));
    }
}

/* ---- three ways ---- */

/* The one after @p step others, from this PE on. */
static int partner(const struct msp_team *team, int step)
{
    int pe = team->pe + step;

    return (pe < team->size) ? pe : (pe - team->size);
}

static void meet_flat(struct msp_team *team, const void *data, size_t size_bytes)
{
    uint64_t number  = ++team->sync_count;
    struct line *own = &flags_of(team, team->pe)->own[number & 1];
    int step;

    if (size_bytes == sizeof(uint32_t)) {
        memcpy(own->data, data, sizeof(uint32_t));
    } else if (size_bytes != 0) {
        memcpy(own->data, data, size_bytes);
    }
    store(own, number);
    for (step = 1; step < team->size; step++) {
        msp_doorbell_notify(msp_team_local_index(team, partner(team, step)));
    }
    for (step = 1; step < team->size; step++) {
        const struct line *theirs = &flags_of(team, partner(team, step))->own[number & 1];

        MSP_WAIT(load(theirs) >= number);
    }
}

static void meet_in_rounds(struct msp_team *team)
{
    uint64_t number    = ++team->sync_count;
    struct flags *mine = flags_of(team, team->pe);
    int round          = 0;
    int distance;

    for (distance = 1; distance < team->size; distance *= 2, round++) {
        int pe = (team->pe + distance) % team->size;

        store(&flags_of(team, pe)->round[round], number);
        msp_doorbell_notify(msp_team_local_index(team, pe));
        MSP_WAIT(load(&mine->round[round]) >= number);
    }
}

static void meet_at_counter(struct msp_team *team)
{
    uint64_t number     = ++team->sync_count;
    struct flags *first = flags_of(team, 0);
    uint64_t before;

    before = atomic_fetch_add_explicit(&first->arrived.number, 1, memory_order_acq_rel);
    if (before + 1 == (uint64_t)team->size) {
        atomic_store_explicit(&first->arrived.number, 0, memory_order_relaxed);
        store(&first->released, number);
        ring_all(team);
    } else {
        MSP_WAIT(load(&first->released) >= number);
    }
}

/* An active set meets in the program's pSync, and leaves it as it was: a counter in that of its
 * first PE, and a word in each one's own that the last to come sets and its owner clears. */
static void meet_in_active_set(const struct msp_team *team)
{
    long *sync = team->active_set_sync;
    unsigned index;
    long *counter = msp_peer_resolve(sync, 2 * sizeof *sync, team->start, &index);
    int pe;

    if (counter == NULL) {
        msp_fatal("%s: pSync at %p is not symmetric memory that the PEs of the active set share",
                  team->call, (void *)sync);
    }
    if (__atomic_add_fetch(&counter[0], 1, __ATOMIC_ACQ_REL) == (long)team->size) {
        __atomic_store_n(&counter[0], 0, __ATOMIC_RELAXED);
        for (pe = 0; pe < team->size; pe++) {
            long *theirs =
                msp_peer_resolve(sync, 2 * sizeof *sync, msp_team_world_pe(team, pe), &index);

            __atomic_store_n(&theirs[1], 1, __ATOMIC_RELEASE);
            msp_doorbell_notify((int)index);
        }
    }
    MSP_WAIT(__atomic_load_n(&sync[1], __ATOMIC_ACQUIRE) != 0);
    __atomic_store_n(&sync[1], 0, __ATOMIC_RELAXED);
}

void msp_collective_sync(struct msp_team *team)
{
    switch (team->way) {
    case MSP_TEAM_FLAT:
        meet_flat(team, NULL, 0);
        break;
    case MSP_TEAM_ROUNDS:
        meet_in_rounds(team);
        break;
    case MSP_TEAM_COUNTER:
        meet_at_counter(team);
        break;
    case MSP_TEAM_ACTIVE_SET:
        meet_in_active_set(team);
        break;
    }
}

/* What was stored to mapped memory before is seen by whoever sees the flags: no barrier of the
 * processor's is needed for it. */
void msp_collective_barrier(struct msp_team *team)
{
    if (MSP_UNLIKELY(atomic_load_explicit(&msp_order_pending, memory_order_relaxed))) {
        msp_quiet(msp_context_default());
    }
    msp_collective_sync(team);
}

void msp_sync_begin(struct msp_team *team, uint64_t number)
{
    bool is_oversubscribed = msp_wait_is_oversubscribed();

    team->way        = (team->size <= (is_oversubscribed ? FLAT_OVERSUBSCRIBED_MAX : FLAT_MAX))
                           ? MSP_TEAM_FLAT
                       : (is_oversubscribed || (team->size > (1 << ROUNDS_MAX))) ? MSP_TEAM_COUNTER
                                                                                 : MSP_TEAM_ROUNDS;
    team->sync_count = number;
}

/* ---- data on the way ---- */

static unsigned char *work_of(const struct msp_team *team, int pe, uint64_t half)
{
    unsigned char *area = MSP_CONTROL_AREA(msp_team_local_index(team, pe), WORK);

    return area + ((size_t)team->index * MSP_TEAM_WORK_BYTES) + ((half & 1) * MSP_SYNC_WORK_BYTES);
}

void *msp_sync_room(struct msp_team *team)
{
    return work_of(team, team->pe, team->work_count + 1);
}

void msp_sync_publish(struct msp_team *team, const void *data, size_t size_bytes)
{
    team->work_count++;
    if ((data != NULL) && (size_bytes != 0)) {
        memcpy(work_of(team, team->pe, team->work_count), data, size_bytes);
    }
    msp_collective_sync(team);
}

const void *msp_sync_published(const struct msp_team *team, int pe)
{
    return work_of(team, pe, team->work_count);
}

bool msp_sync_exchange(struct msp_team *team, const void *data, size_t size_bytes)
{
    if (team->way != MSP_TEAM_FLAT) {
        return false;
    }
    meet_flat(team, data, size_bytes);
    return true;
}

const void *msp_sync_exchanged(const struct msp_team *team, int pe)
{
    return flags_of(team, pe)->own[team->sync_count & 1].data;
}
