/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.c: barriers, and the data that they carry. */

#include "shmem/collective/sync.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/exchange.h"
#include "shmem/collective/peer.h"
#include "shmem/context.h"
#include "shmem/control/wait.h"
#include "shmem/partition/huge.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/order.h"
#include "shmem/transport/own.h"
#include <string.h>

enum {
    ROUNDS_MAX              = 10, /* of dissemination on one host */
    FLAT_MAX                = 8,  /* members that poll each other's lines */
    FLAT_OVERSUBSCRIBED_MAX = 2,
};

struct line {
    _Alignas(MSP_CACHE_LINE_BYTES) unsigned char data[MSP_SYNC_INLINE_BYTES];
    _Atomic uint64_t number;
};

/* A team's flags in a PE's slot. Those of PEs of other hosts are exchange.c's. */
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

static void notify_all(const struct msp_team *team)
{
    int pe;

    for (pe = 0; pe < team->size; pe++) {
        msp_doorbell_notify(msp_team_local_index(team, pe));
    }
}

/* ---- one host ---- */

/* The one after @p step others, from this PE on. */
static int partner(const struct msp_team *team, int step)
{
    int pe = team->pe + step;

    return (pe < team->size) ? pe : (pe - team->size);
}

static void sync_flat(struct msp_team *team, const void *data, size_t size_bytes)
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

/* Of a vote, which not all barriers carry: the largest value so far. */
static void raise_to(uint64_t *most, uint64_t value)
{
    *most = (value > *most) ? value : *most;
}

/* A PE that is one barrier ahead may have written its next value: there are two. */
static unsigned char *value_of(struct line *line, uint64_t number)
{
    return line->data + ((number & 1) * sizeof(uint64_t));
}

/* @p most NULL: no vote. */
static void sync_in_rounds(struct msp_team *team, uint64_t *most)
{
    uint64_t number    = ++team->sync_count;
    struct flags *mine = flags_of(team, team->pe);
    int round          = 0;
    int distance;

    for (distance = 1; distance < team->size; distance *= 2, round++) {
        int pe            = (team->pe + distance) % team->size;
        struct line *next = &flags_of(team, pe)->round[round];

        if (most != NULL) {
            memcpy(value_of(next, number), most, sizeof *most);
        }
        store(next, number);
        msp_doorbell_notify(msp_team_local_index(team, pe));
        MSP_WAIT(load(&mine->round[round]) >= number);
        if (most != NULL) {
            uint64_t value;

            memcpy(&value, value_of(&mine->round[round], number), sizeof value);
            raise_to(most, value);
        }
    }
}

/* One word beside the counter holds the largest vote of a barrier; between two it is 0. */
static uint64_t *votes_of(struct flags *first)
{
    return (uint64_t *)(void *)first->arrived.data;
}

static void vote_at(uint64_t *votes, uint64_t mine)
{
    uint64_t most = __atomic_load_n(votes, __ATOMIC_RELAXED);

    while ((mine > most) && !__atomic_compare_exchange_n(votes, &most, mine, true, __ATOMIC_RELAXED,
                                                         __ATOMIC_RELAXED)) {
    }
}

static void sync_at_counter(struct msp_team *team, uint64_t *most)
{
    uint64_t number     = ++team->sync_count;
    struct flags *first = flags_of(team, 0);
    uint64_t before;

    if (most != NULL) {
        vote_at(votes_of(first), *most);
    }
    before = atomic_fetch_add_explicit(&first->arrived.number, 1, memory_order_acq_rel);
    if (before + 1 == (uint64_t)team->size) {
        atomic_store_explicit(&first->arrived.number, 0, memory_order_relaxed);
        if (most != NULL) {
            raise_to(most, __atomic_exchange_n(votes_of(first), 0, __ATOMIC_RELAXED));
            memcpy(first->released.data, most, sizeof *most);
        }
        store(&first->released, number);
        notify_all(team);
    } else {
        MSP_WAIT(load(&first->released) >= number);
        if (most != NULL) {
            memcpy(most, first->released.data, sizeof *most);
        }
    }
}

/* ---- one host, in two halves ---- */

static void gather_lines(const struct msp_team *team, uint64_t number)
{
    int pe;

    for (pe = 1; pe < team->size; pe++) {
        const struct line *theirs = &flags_of(team, pe)->own[number & 1];

        MSP_WAIT(load(theirs) >= number);
    }
}

static void gather_counts(const struct msp_team *team)
{
    struct line *arrived = &flags_of(team, 0)->arrived;

    MSP_WAIT(load(arrived) + 1 == (uint64_t)team->size);
    store(arrived, 0);
}

void msp_sync_gather(struct msp_team *team)
{
    uint64_t number = ++team->sync_count;
    bool is_flat    = (team->barrier == MSP_BARRIER_FLAT);

    msp_own_order();
    if (team->pe == 0) {
        if (is_flat) {
            gather_lines(team, number);
        } else {
            gather_counts(team);
        }
        msp_own_order();
        return;
    }
    if (is_flat) {
        store(&flags_of(team, team->pe)->own[number & 1], number);
        msp_doorbell_notify(msp_team_local_index(team, 0));
    } else if (atomic_fetch_add_explicit(&flags_of(team, 0)->arrived.number, 1,
                                         memory_order_acq_rel) +
                   2 ==
               (uint64_t)team->size) {
        msp_doorbell_notify(msp_team_local_index(team, 0));
    }
}

void msp_sync_release(struct msp_team *team)
{
    uint64_t number     = team->sync_count;
    struct flags *first = flags_of(team, 0);
    struct line *release =
        (team->barrier == MSP_BARRIER_FLAT) ? &first->own[number & 1] : &first->released;
    int pe;

    if (team->pe != 0) {
        MSP_WAIT(load(release) >= number);
        msp_own_order();
        return;
    }
    store(release, number);
    for (pe = 1; pe < team->size; pe++) {
        msp_doorbell_notify(msp_team_local_index(team, pe));
    }
}

/* ---- active sets ---- */

/* The barrier leaves the program's pSync as it was: a counter in that of the first PE, and a word
 * in each one's own that the last to arrive sets and its owner clears. */
static void sync_active_set(const struct msp_team *team)
{
    const struct msp_context *context = msp_context_internal();
    long *sync                        = team->active_set_sync;
    uint64_t before = msp_atomic(team->call, context, MSP_ATOMIC_ADD, &sync[0], sizeof sync[0], 1,
                                 0, team->start);
    int pe;

    if (before + 1 == (uint64_t)team->size) {
        (void)msp_atomic(team->call, context, MSP_ATOMIC_SWAP, &sync[0], sizeof sync[0], 0, 0,
                         team->start);
        for (pe = 0; pe < team->size; pe++) {
            msp_signal(team->call, context, (uint64_t *)&sync[1], 1, false,
                       msp_team_world_pe(team, pe));
        }
    }
    MSP_WAIT_AT(&sync[1], sizeof sync[1], __atomic_load_n(&sync[1], __ATOMIC_ACQUIRE) != 0);
    __atomic_store_n(&sync[1], 0, __ATOMIC_RELAXED);
}

/* ---- all ---- */

void msp_collective_sync(struct msp_team *team)
{
    switch (team->barrier) {
    case MSP_BARRIER_FLAT:
        sync_flat(team, NULL, 0);
        break;
    case MSP_BARRIER_ROUNDS:
        sync_in_rounds(team, NULL);
        break;
    case MSP_BARRIER_COUNTER:
        sync_at_counter(team, NULL);
        break;
    case MSP_BARRIER_MESSAGES:
        msp_exchange_barrier(team, NULL);
        break;
    case MSP_BARRIER_ACTIVE_SET:
        sync_active_set(team);
        break;
    }
}

/* A PE that sees the flags sees all earlier stores to mapped memory: no barrier of the processor is
 * needed for it. */
void msp_collective_barrier(struct msp_team *team)
{
    msp_huge_at_barrier();
    if (MSP_UNLIKELY(atomic_load_explicit(&msp_order_pending, memory_order_relaxed))) {
        msp_quiet(msp_context_default());
    }
    msp_collective_sync(team);
}

static enum msp_barrier barrier_of(const struct msp_team *team)
{
    bool is_oversubscribed = msp_wait_is_oversubscribed();
    int flat_max           = is_oversubscribed ? FLAT_OVERSUBSCRIBED_MAX : FLAT_MAX;

    if (team->size <= flat_max) {
        return MSP_BARRIER_FLAT;
    }
    return (is_oversubscribed || (team->size > (1 << ROUNDS_MAX))) ? MSP_BARRIER_COUNTER
                                                                   : MSP_BARRIER_ROUNDS;
}

void msp_sync_begin(struct msp_team *team, uint64_t number)
{
    msp_groups_make(team);
    if (team->groups != NULL) {
        team->barrier                  = MSP_BARRIER_MESSAGES;
        team->groups->local.barrier    = barrier_of(&team->groups->local);
        team->groups->local.sync_count = number;
    } else {
        team->barrier = barrier_of(team);
    }
    team->sync_count = number;
}

void msp_sync_end(struct msp_team *team)
{
    if ((team->groups != NULL) && (team->groups->local.sync_count > team->sync_count)) {
        team->sync_count = team->groups->local.sync_count;
    }
    msp_groups_free(team);
}

/* ---- data ---- */

static unsigned char *work_at(const struct msp_team *team, int local_index, uint64_t half)
{
    unsigned char *area = MSP_CONTROL_AREA(local_index, WORK);

    return area + ((size_t)team->index * MSP_TEAM_WORK_BYTES) + ((half & 1) * MSP_SYNC_WORK_BYTES);
}

void *msp_sync_work(struct msp_team *team)
{
    return work_at(team, msp_job.local_index, team->work_count + 1);
}

void msp_sync_distribute(struct msp_team *team, const void *data, size_t size_bytes)
{
    team->work_count++;
    if ((data != NULL) && (size_bytes != 0)) {
        memcpy(work_at(team, msp_job.local_index, team->work_count), data, size_bytes);
    }
    msp_collective_sync(team);
}

const void *msp_sync_distributed(const struct msp_team *team, int pe)
{
    return work_at(team, msp_team_local_index(team, pe), team->work_count);
}

const void *msp_sync_read(const struct msp_team *team, int pe, void *buffer, size_t size_bytes)
{
    if (team->barrier != MSP_BARRIER_MESSAGES) {
        return msp_sync_distributed(team, pe);
    }
    msp_message_read(team, pe, work_at(team, msp_job.local_index, team->work_count), buffer,
                     size_bytes);
    return buffer;
}

/* Many members do not read each other's values: the first touch of each one's memory is a page
 * fault, as many as the square of their number. */
uint64_t msp_sync_max(struct msp_team *team, uint64_t mine)
{
    uint64_t most = mine;
    int pe;

    switch (team->barrier) {
    case MSP_BARRIER_MESSAGES:
        msp_exchange_barrier(team, &most);
        return most;
    case MSP_BARRIER_ROUNDS:
        sync_in_rounds(team, &most);
        return most;
    case MSP_BARRIER_COUNTER:
        sync_at_counter(team, &most);
        return most;
    default:
        break;
    }
    msp_sync_distribute(team, &mine, sizeof mine);
    for (pe = 0; pe < team->size; pe++) {
        uint64_t theirs;

        memcpy(&theirs, msp_sync_distributed(team, pe), sizeof theirs);
        raise_to(&most, theirs);
    }
    return most;
}

bool msp_sync_exchange(struct msp_team *team, const void *data, size_t size_bytes)
{
    if (team->barrier != MSP_BARRIER_FLAT) {
        return false;
    }
    sync_flat(team, data, size_bytes);
    return true;
}

const void *msp_sync_exchanged(const struct msp_team *team, int pe)
{
    return flags_of(team, pe)->own[team->sync_count & 1].data;
}
