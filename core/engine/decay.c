/* SPDX-License-Identifier: BSD-3-Clause */
/* decay.c: when a round is due, and its work. */

#include "core/engine/decay.h"
#include "core/base/fork.h"
#include "core/base/option.h"
#include "core/engine/heap.h"
#include "core/engine/pressure.h"
#include <time.h>

enum { PERIOD_LEAST_MS = 10, SLICES_A_ROUND = 16 };

_Atomic uint32_t msp_decay_rounds;

static _Atomic uint64_t due_ms; /* the next round */
static atomic_bool running;     /* one thread is in a round, and has the next */
static struct msp_sweep place;  /* where the last round stopped */

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint64_t period_ms(void)
{
    uint64_t half = msp_option_number(MSP_OPTION_DECAY_MS) / 2;

    return (half < PERIOD_LEAST_MS) ? PERIOD_LEAST_MS : half;
}

bool msp_decay_is_at_once(void)
{
    return msp_option_number(MSP_OPTION_DECAY_MS) == 0;
}

static void settle_pools(const struct msp_pool *of)
{
    const struct msp_provider *own = msp_pool_provider(of);
    struct msp_provider *p;

    for (p = msp_provider_first(); p != NULL; p = p->next) {
        if ((p == own) || msp_provider_is_host_only(p)) {
            msp_pool_settle(p->pool);
            msp_pool_purge(p->pool, msp_decay_round() - 2);
        }
    }
}

/* False while another thread has it. Pairs with the release in leave(). */
static bool enter(void)
{
    return !atomic_load_explicit(&running, memory_order_relaxed) &&
           !atomic_exchange_explicit(&running, true, memory_order_acquire);
}

static void leave(void)
{
    atomic_store_explicit(&running, false, memory_order_release);
}

/* A sweep of many slabs goes on in the next round, which comes soon then. */
static void run(const struct msp_pool *pool, uint64_t now)
{
    unsigned slices;
    bool done;

    if (place.done) {
        place = (struct msp_sweep){
            .round = atomic_fetch_add_explicit(&msp_decay_rounds, 1, memory_order_relaxed) + 1};
    }
    for (slices = 0, done = false; !done && (slices < SLICES_A_ROUND); slices++) {
        done = msp_heap_sweep(&place);
    }
    settle_pools(pool);
    atomic_store_explicit(&due_ms, now + (done ? period_ms() : PERIOD_LEAST_MS),
                          memory_order_relaxed);
}

/* Near the memory limit all unused host memory goes back, at any age. */
static void relieve(uint64_t now)
{
    struct msp_sweep sweep = {.round = msp_decay_round() + 2, .force = MSP_SWEEP_ALL};
    struct msp_provider *p;

    if (!enter()) {
        return;
    }
    while (!msp_heap_sweep(&sweep)) {
    }
    leave();
    for (p = msp_provider_first(); p != NULL; p = p->next) {
        if (msp_provider_is_host_only(p)) {
            sweep.purged_bytes += msp_pool_trim(p->pool);
            sweep.purged_bytes += msp_pool_purge(p->pool, msp_decay_round());
        }
    }
    msp_pressure_relieved(now, sweep.purged_bytes);
}

void msp_decay_look(const struct msp_pool *pool)
{
    uint64_t now = now_ms();
    uint64_t due = atomic_load_explicit(&due_ms, memory_order_relaxed);

    if (MSP_UNLIKELY(msp_pressure_look(now))) {
        relieve(now);
    }
    if (MSP_LIKELY(now < due) || !enter()) {
        return;
    }
    if (due == 0) { /* the first: time begins */
        place.done = true;
        atomic_store_explicit(&due_ms, now + period_ms(), memory_order_relaxed);
    } else if (now >= atomic_load_explicit(&due_ms, memory_order_relaxed)) {
        run(pool, now);
    }
    leave();
}

void msp_decay_press(struct msp_pool *pool)
{
    struct msp_sweep sweep = {.round = msp_decay_round(), .force = MSP_SWEEP_SLABS};

    if (!msp_pool_has_grown(pool) || !enter()) {
        return;
    }
    while (!msp_heap_sweep(&sweep)) {
    }
    leave();
}

size_t msp_decay_purge_all(void)
{
    struct msp_sweep sweep = {.round = msp_decay_round(), .force = MSP_SWEEP_ALL};
    struct msp_provider *p;

    while (!msp_heap_sweep(&sweep)) {
    }
    for (p = msp_provider_first(); p != NULL; p = p->next) {
        sweep.purged_bytes += msp_pool_purge(p->pool, msp_decay_round());
    }
    return sweep.purged_bytes;
}

/* The thread that was in a round is not in the child. */
MSP_FORK_ITEM(decay) = {.rank = MSP_RANK_HOOKS, .after_child = leave};
