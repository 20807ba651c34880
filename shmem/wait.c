/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c: pause, let others run, sleep. */

#include "shmem/wait.h"
#include "shmem/bootstrap.h"
#include "shmem/option.h"
#include "shmem/transport/segment.h"
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <shmem/types.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS_ALONE    = 4000, /* about 0.1 ms: longer than any message on a node takes */
    SPINS_CROWDED  = 16,
    YIELDS_ALONE   = 50,
    YIELDS_CROWDED = 4,
    DEAD_ENDS      = 8,   /* watches that find nobody who could go on */
    WATCH_MS       = 125, /* of sleep between two looks at whether the others are alive */
    POLLS_A_YIELD  = 64,
};

/* How often a thread looks before it yields, and yields before it sleeps: [1] where threads that
 * wait share processors. */
static unsigned spins[2]  = {SPINS_ALONE, SPINS_CROWDED};
static unsigned yields[2] = {YIELDS_ALONE, YIELDS_CROWDED};
static bool is_crowded;
static unsigned thread_max; /* of this PE's that can wait at once with a processor each */
static atomic_uint waiters; /* threads of this PE that wait, at SHMEM_THREAD_MULTIPLE */

void msp_wait_init(void)
{
    unsigned processors = msp_node_processor_count();
    unsigned pes        = (unsigned)msp_job.local_count;

    is_crowded = (pes > processors);
    thread_max = is_crowded ? 1 : (processors / pes);
    spins[0]   = SPINS_ALONE;
    spins[1]   = SPINS_CROWDED;
    if (msp_shmem_option_is_set(MEMSPAN_SHMEM_SPIN)) {
        spins[0] = (unsigned)msp_shmem_option_number(MEMSPAN_SHMEM_SPIN);
        spins[1] = spins[0];
    }
    atomic_store(&waiters, 0);
}

bool msp_wait_is_crowded(void)
{
    return is_crowded;
}

static struct msp_bell *my_bell(void)
{
    return &msp_node.bells[msp_job.local_index];
}

/* What this PE watches is one range. The first sleeper's must not hide that of the next, who may
 * have come while it was written. No lock: signal handlers of programs wait too. */
static void watch(struct msp_bell *bell, const struct msp_waiter *waiter)
{
    bool is_first = (atomic_fetch_add(&bell->memory_sleepers, 1) == 0);

    if (is_first) {
        uint64_t key = msp_segment_key(waiter->address);

        atomic_store(&bell->watch_first, key);
        atomic_store(&bell->watch_last, key + waiter->size_bytes);
    }
    if (!is_first || (atomic_load(&bell->memory_sleepers) > 1)) {
        /* Two threads of this PE: whatever is stored wakes both. */
        atomic_store(&bell->watch_first, 0);
        atomic_store(&bell->watch_last, UINT64_MAX);
    }
}

static void announce(struct msp_waiter *waiter)
{
    struct msp_bell *bell = my_bell();

    if (waiter->address == NULL) {
        atomic_fetch_add(&bell->sleepers, 1);
    } else {
        watch(bell, waiter);
    }
    waiter->announced = true;
    waiter->rings     = atomic_load(&bell->rings);
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0) {
        waiter->is_unrung = true;
    }
}

/* The PEs of the node all sleep, and one of them is at its end while this one is not: nobody is
 * left to wake anybody. Seen several times in a row, for a moment means nothing. Threads that do
 * not wait may do something, and so may what serves device memory. */
static void look_for_a_deadlock(struct msp_waiter *waiter)
{
    int leaver     = -1;
    bool all_sleep = (msp_job.thread_level < SHMEM_THREAD_MULTIPLE) && !msp_job.has_device_memory &&
                     (atomic_load(&my_bell()->has_left) == 0);
    int i;

    for (i = 0; all_sleep && (i < msp_job.local_count); i++) {
        struct msp_bell *bell = &msp_node.bells[i];

        all_sleep = (atomic_load(&bell->sleepers) + atomic_load(&bell->memory_sleepers) != 0);
        leaver    = (atomic_load(&bell->has_left) != 0) ? i : leaver;
    }
    waiter->dead_ends = (all_sleep && (leaver >= 0)) ? (waiter->dead_ends + 1) : 0;
    if (waiter->dead_ends >= DEAD_ENDS) {
        msp_fatal("PE %d is at its end, in shmem_finalize() or after main(), while this PE and "
                  "all others wait for something else",
                  msp_job.local_pes[leaver]);
    }
}

/* Under launchers that do not end a job when one of its processes dies, the others find out. */
static void look_for_the_dead(void)
{
    int i;

    if (msp_bootstrap_peer_died(msp_node_pids(), msp_job.local_count, &i)) {
        msp_fatal("PE %d (process %d) has died while this PE waited", msp_job.local_pes[i],
                  msp_node_pids()[i]);
    }
}

/* Sleeps grow with the time waited, up to eight a second. A PE that is told of its flag looks by
 * itself all the same: who tells it may lose its processor halfway. Memory of the program may be
 * stored to without a word, through shmem_ptr() or by threads of this PE: it is looked at more. */
static unsigned nap_ms(const struct msp_waiter *waiter)
{
    unsigned ms = waiter->slept_ms / ((waiter->address == NULL) ? 4 : 16);

    if (waiter->is_unrung || !msp_node.is_ordered || (ms < MSP_WAIT_NAP_MS)) {
        return MSP_WAIT_NAP_MS;
    }
    return (ms > WATCH_MS) ? WATCH_MS : ms;
}

static void nap(struct msp_waiter *waiter)
{
    struct msp_bell *bell          = my_bell();
    unsigned ms                    = nap_ms(waiter);
    const struct timespec duration = {0, (long)ms * 1000000};
    bool is_over;

    is_over =
        (syscall(SYS_futex, &bell->rings, FUTEX_WAIT, waiter->rings, &duration, NULL, 0) != 0) &&
        (errno == ETIMEDOUT);
    waiter->rings = atomic_load(&bell->rings);
    waiter->slept_ms += is_over ? ms : MSP_WAIT_NAP_MS;
    if (waiter->slept_ms - waiter->watched_ms >= WATCH_MS) {
        waiter->watched_ms = waiter->slept_ms;
        look_for_the_dead();
        look_for_a_deadlock(waiter);
    }
}

void msp_wait_step(struct msp_waiter *waiter)
{
    unsigned looks = waiter->looks++;
    bool shares;

    if (waiter->announced) {
        nap(waiter);
        return;
    }
    if ((looks == 0) && (msp_job.thread_level >= SHMEM_THREAD_MULTIPLE)) {
        waiter->is_counted = true;
        atomic_fetch_add_explicit(&waiters, 1, memory_order_relaxed);
    }
    shares = is_crowded || (atomic_load_explicit(&waiters, memory_order_relaxed) > thread_max);
    if (looks < spins[shares]) {
        msp_wait_relax();
    } else if (looks < spins[shares] + yields[shares]) {
        sched_yield();
    } else {
        announce(waiter);
    }
}

void msp_wait_end(struct msp_waiter *waiter)
{
    if (waiter->is_counted) {
        atomic_fetch_sub_explicit(&waiters, 1, memory_order_relaxed);
    }
    if (waiter->announced) {
        struct msp_bell *bell = my_bell();

        atomic_fetch_sub((waiter->address == NULL) ? &bell->sleepers : &bell->memory_sleepers, 1);
    }
}

void msp_wait_poll(void)
{
    static _Thread_local unsigned polls;

    if ((is_crowded || (msp_job.thread_level >= SHMEM_THREAD_MULTIPLE)) &&
        (++polls % POLLS_A_YIELD == 0)) {
        sched_yield();
    }
}

void msp_wait_poll_at(const void *address)
{
    static _Thread_local const void *last;

    if (address == last) {
        msp_wait_poll();
    }
    last = address;
}
