/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c: poll, pause, yield, sleep.
 *
 * How long a thread polls and yields adapts to its processor's load. Where another PE has waited on
 * its processor, or where those that run while it yields give way soon, it yields after a few
 * polls. Where another process runs for a turn of the scheduler meanwhile, it does not yield: a
 * sleeper keeps its claim to the processor, and runs sooner after its flag than a thread that has
 * yielded. */

#include "shmem/control/wait.h"
#include "shmem/bootstrap.h"
#include "shmem/device/device.h"
#include "shmem/option.h"
#include "shmem/transport/call.h"
#include "shmem/transport/peer.h"
#include "shmem/transport/segment.h"
#include "shmem/transport/transport.h"
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <shmem/types.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS_ALONE      = 4000, /* about 0.1 ms: longer than any message on a host takes */
    SPINS_SHARED     = 16,
    YIELDS_ALONE     = 50,
    YIELDS_SHARED    = 4,
    ARRIVALS_MAX     = 4,   /* counted: a network serves other PEs unseen, for some milliseconds */
    DEADLOCKS_MAX    = 8,   /* in a row, before it is one */
    PES_A_MS         = 4,   /* sleepers of a processor that poll by themselves in each ms */
    WATCH_MS         = 125, /* of sleep between two looks at the other PEs */
    POLLS_A_YIELD    = 64,
    POLLS_A_PROGRESS = 4, /* of memory: advancing a transport takes longer */
    /* Of a network, 15 to 60 us and longer than an answer takes, before a lone PE yields: a PE that
     * is bound to the same processor is unknown to the job where it counts as on another host. */
    POLLS_A_TURN = 128,
    ANSWER_NS    = 3000,      /* of a yield: another thread ran, and gave way soon */
    TURN_NS      = 1000000,   /* of a yield: a turn of the scheduler */
    BUSY_NS      = 100000000, /* for which a lost turn counts */
};

/* How often a thread polls before it yields, and yields before it sleeps: [1] where waiting
 * threads have fewer processors than they are. */
static unsigned spins[2]  = {SPINS_ALONE, SPINS_SHARED};
static unsigned yields[2] = {YIELDS_ALONE, YIELDS_SHARED};
static atomic_bool is_oversubscribed;
static bool is_alone;          /* no other PE on this host: flags change by the network */
static atomic_uint thread_max; /* of this PE's that can wait at once with a processor each */
static atomic_uint least_ms;   /* of a sleep for a flag of the library */
static atomic_uint waiters;    /* threads of this PE that wait, at SHMEM_THREAD_MULTIPLE */

/* Observations of this PE's threads. Hints: a lost update does no harm. */
static atomic_bool is_beside;         /* another PE of this host is on this processor */
static atomic_bool is_answered;       /* by threads that yield too */
static _Atomic int64_t busy_until_ns; /* others take whole turns */

void msp_wait_count_machine(int pes)
{
    unsigned processors = msp_host_processor_count();
    bool are_fewer      = ((unsigned)pes > processors);

    atomic_store(&is_oversubscribed, are_fewer);
    atomic_store(&thread_max, are_fewer ? 1 : (processors / (unsigned)pes));
    /* The sleepers' own polls take a fixed share of the processors, however many there are. */
    atomic_store(&least_ms, (unsigned)pes / (PES_A_MS * ((processors > 0) ? processors : 1)));
}

void msp_wait_init(void)
{
    msp_wait_count_machine(msp_job.machine_count);
    is_alone = (msp_job.local_count == 1) && (msp_job.pe_count > 1);
    spins[0] = SPINS_ALONE;
    spins[1] = SPINS_SHARED;
    if (msp_shmem_option_is_set(MEMSPAN_SHMEM_SPIN)) {
        spins[0] = (unsigned)msp_shmem_option_number(MEMSPAN_SHMEM_SPIN);
        spins[1] = spins[0];
    }
    atomic_store(&waiters, 0);
    atomic_store(&is_beside, false);
    atomic_store(&is_answered, false);
    atomic_store(&busy_until_ns, 0);
}

bool msp_wait_is_oversubscribed(void)
{
    return atomic_load_explicit(&is_oversubscribed, memory_order_relaxed);
}

/* A job in which several threads wait at once is no deadlock that is looked for: one is enough. */
static _Atomic(const char *) current_call;

void msp_wait_begin_call(const char *call)
{
    atomic_store_explicit(&current_call, call, memory_order_relaxed);
}

const char *msp_wait_call_text(char *text, size_t text_bytes)
{
    const char *call = atomic_load_explicit(&current_call, memory_order_relaxed);

    text[0] = '\0';
    if (call != NULL) {
        snprintf(text, text_bytes, ", in %s,", call);
    }
    return text;
}

static struct msp_doorbell *my_doorbell(void)
{
    return &msp_doorbells.by_index[msp_job.local_index];
}

/* This PE watches one range. The first sleeper's must not hide that of the next, which may have
 * come while it was written. No lock: signal handlers of programs wait too. */
static void watch(struct msp_doorbell *doorbell, const struct msp_waiter *waiter)
{
    bool is_first = (atomic_fetch_add(&doorbell->memory_sleepers, 1) == 0);

    if (is_first) {
        uint64_t key = msp_segment_key(waiter->address);

        atomic_store(&doorbell->watch_first, key);
        atomic_store(&doorbell->watch_last, key + waiter->size_bytes);
    }
    if (!is_first || (atomic_load(&doorbell->memory_sleepers) > 1)) {
        /* Two threads of this PE: any store wakes both. */
        atomic_store(&doorbell->watch_first, 0);
        atomic_store(&doorbell->watch_last, UINT64_MAX);
    }
}

/* Another thread of this PE may advance the transport for the sleeper, and not know that it has: a
 * peer's put. The library's flags come in messages, which it counts. */
static bool is_silent(const struct msp_waiter *waiter)
{
    return (msp_job.transport != NULL) &&
           (msp_job.transport->is_silent ||
            ((waiter->address != NULL) && msp_job.transport->is_uncounted &&
             msp_job_has_threads()));
}

static void announce(struct msp_waiter *waiter)
{
    struct msp_doorbell *doorbell = my_doorbell();

    atomic_fetch_add_explicit(&doorbell->sleeps, 1, memory_order_relaxed);
    if (waiter->address == NULL) {
        atomic_fetch_add(&doorbell->sleepers, 1);
    } else {
        watch(doorbell, waiter);
    }
    waiter->announced     = true;
    waiter->notifications = atomic_load(&doorbell->notifications);
    if ((syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0) ||
        is_silent(waiter) || ((waiter->address != NULL) && msp_device_is_silent())) {
        waiter->is_unnotified = true;
    }
    if (msp_job.transport != NULL) {
        msp_job.transport->sleeping();
    }
}

/* Their words are a page each: to be asked last, and seldom. */
static bool is_any_device_open(void)
{
    int i;

    for (i = 0; i < msp_job.local_count; i++) {
        if (msp_device_is_open(i)) {
            return true;
        }
    }
    return false;
}

/* All PEs of the job sleep, and one of them is finalizing while this one is not: no PE is left to
 * wake another. It counts when seen several times in a row. Other threads of a PE, and the service
 * of device memory, may still change something. */
static void look_for_a_deadlock(struct msp_waiter *waiter)
{
    int ending     = -1;
    bool all_sleep = !msp_job_has_threads() && !msp_job_has_device_memory() &&
                     (msp_job.local_count == msp_job.pe_count) &&
                     (atomic_load(&my_doorbell()->is_finalizing) == 0);
    int i;

    for (i = 0; all_sleep && (i < msp_job.local_count); i++) {
        struct msp_doorbell *doorbell = &msp_doorbells.by_index[i];

        all_sleep =
            (atomic_load(&doorbell->sleepers) + atomic_load(&doorbell->memory_sleepers) != 0);
        ending = (atomic_load(&doorbell->is_finalizing) != 0) ? i : ending;
    }
    all_sleep         = all_sleep && (ending >= 0) && !is_any_device_open();
    waiter->deadlocks = all_sleep ? (waiter->deadlocks + 1) : 0;
    if (waiter->deadlocks >= DEADLOCKS_MAX) {
        char call[64];

        msp_fatal("PE %d is at its end, in shmem_finalize() or after main(), while this PE%s and "
                  "all others wait for something else",
                  msp_job.local_pes[ending], msp_wait_call_text(call, sizeof call));
    }
}

/* For launchers that do not end a job when one of its processes dies. */
static void look_for_failed_peers(void)
{
    int i;

    if (msp_bootstrap_peer_died(msp_host_pids(), msp_job.local_count, &i) &&
        ((msp_job.bootstrap->is_ending == NULL) || !msp_job.bootstrap->is_ending())) {
        msp_fatal("PE %d (process %d) has died while this PE waited", msp_job.local_pes[i],
                  msp_host_pids()[i]);
    }
}

/* Sleeps grow with the time waited, up to eight a second. A PE that is notified of its flag polls
 * by itself all the same: the notifying thread may lose its processor halfway. Memory of the
 * program may be stored to without a word, through shmem_ptr() or by threads of this PE: it is
 * looked at more. */
static unsigned back_off_ms(const struct msp_waiter *waiter)
{
    unsigned ms    = waiter->slept_ms / ((waiter->address == NULL) ? 4 : 16);
    unsigned least = atomic_load_explicit(&least_ms, memory_order_relaxed);

    if (waiter->is_unnotified || !msp_doorbells.is_ordered) {
        return MSP_WAIT_BACK_OFF_MS;
    }
    ms = ((waiter->address == NULL) && (ms < least)) ? least : ms;
    ms = (ms < MSP_WAIT_BACK_OFF_MS) ? MSP_WAIT_BACK_OFF_MS : ms;
    return (ms > WATCH_MS) ? WATCH_MS : ms;
}

/* The opposite of announce(). */
static void withdraw(struct msp_waiter *waiter)
{
    struct msp_doorbell *doorbell = my_doorbell();

    atomic_fetch_sub((waiter->address == NULL) ? &doorbell->sleepers : &doorbell->memory_sleepers,
                     1);
    waiter->announced = false;
}

static void back_off(struct msp_waiter *waiter)
{
    struct msp_doorbell *doorbell  = my_doorbell();
    unsigned ms                    = back_off_ms(waiter);
    const struct timespec duration = {0, (long)ms * 1000000};
    bool is_over;

    is_over = (syscall(SYS_futex, &doorbell->notifications, FUTEX_WAIT, waiter->notifications,
                       &duration, NULL, 0) != 0) &&
              (errno == ETIMEDOUT);
    waiter->notifications = atomic_load(&doorbell->notifications);
    waiter->slept_ms += is_over ? ms : MSP_WAIT_BACK_OFF_MS;
    if (waiter->slept_ms - waiter->watched_ms >= WATCH_MS) {
        waiter->watched_ms = waiter->slept_ms;
        look_for_failed_peers();
        look_for_a_deadlock(waiter);
        if (msp_job.transport != NULL) {
            msp_job.transport->watch();
        }
    }
}

void msp_wait_renew(struct msp_waiter *waiter)
{
    waiter->polls = (waiter->polls > POLLS_A_PROGRESS) ? POLLS_A_PROGRESS : waiter->polls;
    if (waiter->announced && !msp_wait_is_oversubscribed()) {
        waiter->arrivals += (waiter->arrivals < ARRIVALS_MAX) ? 1 : 0;
        withdraw(waiter);
    }
}

static void advance_transport(struct msp_waiter *waiter)
{
    if (msp_job.transport != NULL) {
        waiter->has_advanced = true;
        if (msp_job.transport->progress(true)) {
            msp_wait_renew(waiter);
        }
    }
}

uint64_t msp_wait_state(int local_index)
{
    struct msp_doorbell *doorbell = &msp_doorbells.by_index[local_index];
    bool sleeps_now =
        (atomic_load(&doorbell->sleepers) + atomic_load(&doorbell->memory_sleepers) != 0);

    if (!sleeps_now || msp_job_has_threads() || msp_job_has_device_memory() ||
        msp_device_is_open(local_index)) {
        return 0;
    }
    return (((uint64_t)atomic_load(&doorbell->sleeps) + 1) << 1) |
           (uint64_t)(atomic_load(&doorbell->is_finalizing) != 0);
}

static int64_t now_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return ((int64_t)time.tv_sec * 1000000000) + time.tv_nsec;
}

/* After the first polls: whether another PE of this host has waited on this processor. */
static void look_beside(struct msp_waiter *waiter)
{
    int mine     = sched_getcpu() + 1;
    bool is_here = false;
    int i;

    waiter->has_looked = true;
    if (atomic_load_explicit(&my_doorbell()->processor, memory_order_relaxed) != mine) {
        atomic_store_explicit(&my_doorbell()->processor, mine, memory_order_relaxed);
    }
    for (i = 0; !is_here && (i < msp_job.local_count); i++) {
        is_here = (i != msp_job.local_index) &&
                  (atomic_load_explicit(&msp_doorbells.by_index[i].processor,
                                        memory_order_relaxed) == mine);
    }
    atomic_store_explicit(&is_beside, is_here, memory_order_relaxed);
}

/* False: others would keep the processor for a turn. */
static bool yield(void)
{
    int64_t before = now_ns();
    int64_t away;

    if (before < atomic_load_explicit(&busy_until_ns, memory_order_relaxed)) {
        return false;
    }
    sched_yield();
    away = now_ns() - before;
    atomic_store_explicit(&is_answered, (away >= ANSWER_NS) && (away < TURN_NS),
                          memory_order_relaxed);
    if (away >= TURN_NS) {
        atomic_store_explicit(&busy_until_ns, before + away + BUSY_NS, memory_order_relaxed);
    }
    return true;
}

/* Other waiting threads need its processor. */
static bool shares_processor(void)
{
    return msp_wait_is_oversubscribed() ||
           (atomic_load_explicit(&waiters, memory_order_relaxed) >
            atomic_load_explicit(&thread_max, memory_order_relaxed)) ||
           atomic_load_explicit(&is_beside, memory_order_relaxed) ||
           atomic_load_explicit(&is_answered, memory_order_relaxed);
}

/* Each poll of a lone PE advances the transport, and counts as those of memory between two. */
void msp_wait_step(struct msp_waiter *waiter)
{
    const bool is_network = is_alone && !waiter->polls_elsewhere;
    const unsigned polls  = waiter->polls;
    unsigned spin_max;
    bool shares;

    if ((polls == 0) && msp_job_has_threads()) {
        waiter->is_counted = true;
        atomic_fetch_add_explicit(&waiters, 1, memory_order_relaxed);
    }
    if (waiter->announced && (waiter->sleeps_next || waiter->polls_elsewhere)) {
        waiter->sleeps_next = false;
        back_off(waiter);
        return;
    }
    if (!waiter->polls_elsewhere && !waiter->is_operation &&
        ((polls % POLLS_A_PROGRESS == 0) || waiter->announced) && msp_call_progress()) {
        msp_wait_renew(waiter);
    }
    shares   = shares_processor();
    spin_max = spins[shares] << waiter->arrivals;
    waiter->polls += (is_network && (polls < spin_max)) ? POLLS_A_PROGRESS : 1;
    if (is_network ||
        (!waiter->polls_elsewhere && ((polls % POLLS_A_PROGRESS == 0) || waiter->announced))) {
        advance_transport(waiter);
    }
    if (waiter->announced) {
        /* The transport may have stored what it waits for, and not counted it. */
        waiter->sleeps_next = true;
        return;
    }
    if (polls < spin_max) {
        msp_wait_relax();
        if (is_alone && (polls % POLLS_A_TURN == POLLS_A_TURN - POLLS_A_PROGRESS) && !yield()) {
            announce(waiter);
        }
    } else if (!waiter->has_looked) {
        look_beside(waiter);
    } else if ((polls >= spin_max + yields[shares]) || !yield()) {
        announce(waiter);
    }
}

void msp_wait_end(struct msp_waiter *waiter)
{
    if (waiter->has_advanced) {
        msp_job.transport->left();
    }
    if (waiter->is_counted) {
        atomic_fetch_sub_explicit(&waiters, 1, memory_order_relaxed);
    }
    if (waiter->announced) {
        withdraw(waiter);
    }
}

void msp_wait_poll(void)
{
    static _Thread_local unsigned polls;

    msp_transport_progress();
    (void)msp_call_progress();
    if ((msp_wait_is_oversubscribed() || msp_job_has_threads()) && (++polls % POLLS_A_YIELD == 0)) {
        sched_yield();
    }
}

void msp_wait_poll_at(const void *address, int pe)
{
    static _Thread_local const void *last;
    unsigned index;

    if ((address == last) && (msp_peer_resolve(address, 1, pe, &index) != NULL)) {
        msp_wait_poll();
    }
    last = address;
}
