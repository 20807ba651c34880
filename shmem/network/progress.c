/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c: a thread that sleeps on the driver's descriptor, and callers that poll while they
 * wait.
 *
 * A caller that polls sees arrivals sooner than a thread that must be woken. So a thread that finds
 * that callers poll steps aside, and looks again after a while: when they have stopped, it serves
 * the queue. A caller that goes to sleep calls it back. */

#include "shmem/control/memory.h"
#include "shmem/control/shared_file.h"
#include "shmem/network/message.h"
#include "shmem/network/peer.h"
#include "shmem/transport/own.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    /* Of the thread, before it looks whether callers still poll: the time that a peer may have to
     * wait when they have stopped. A look costs the caller its processor for some microseconds, so
     * that an eighth of the time for which they have polled passes between two. */
    ASIDE_MIN_US = 200,
    ASIDE_MAX_US = 1000,
    /* Between polls where the driver has no descriptor: an eighth of the time without arrivals. */
    WITHOUT_EVENTS_MIN_US = 50,
    WITHOUT_EVENTS_MAX_US = 40000,
    /* Until messages that a busy driver has refused are given to it again: it promises no event. */
    BUSY_MS = 1,
};

static pthread_t thread;
static bool runs;
static int wake_fd = -1; /* an eventfd */
static atomic_bool ends;

static atomic_uint polls; /* of callers: the thread compares it with its earlier value */
static atomic_bool is_aside;
/* The thread has seen messages, and no waiter has polled. Pings do not count: a wait that they
 * renew is another one each time, and no deadlock is found. */
static atomic_bool has_arrived;

/* ---- polling ---- */

static unsigned progress_queue(struct msp_network_channel *channel)
{
    unsigned count;

    msp_own_order();
    count = msp_network.driver->queue_progress(channel->queue);
    msp_own_order();
    return count;
}

/* With the lock. */
static unsigned advance(struct msp_network_channel *channel)
{
    unsigned count;

    msp_network_send_waiting(channel);
    count = progress_queue(channel);
    if (channel->is_main) {
        msp_network_worker_answer();
        count += msp_network_reply();
        count += msp_network_is_ack_pending() ? msp_network_acknowledge() : 0;
    }
    return count;
}

/* The same for a caller that looks for arrivals: acknowledging takes as long as a message, and is
 * put off until it has looked. */
static unsigned advance_first(struct msp_network_channel *channel)
{
    unsigned count;

    msp_network_send_waiting(channel);
    if (msp_network_is_ack_pending()) {
        (void)msp_network_acknowledge();
    }
    count = progress_queue(channel);
    msp_network_worker_answer();
    return count + msp_network_reply();
}

/* A thread of this PE sleeps until the doorbell is notified. */
static bool is_caller_asleep(void)
{
    struct msp_doorbell *doorbell = &msp_doorbells.by_index[msp_job.local_index];

    return (atomic_load(&doorbell->sleepers) != 0) ||
           (atomic_load(&doorbell->memory_sleepers) != 0);
}

/* By a sleeper that waits for the program's memory; flags of the library come in messages. */
static bool is_memory_watched(void)
{
    return atomic_load(&msp_doorbells.by_index[msp_job.local_index].memory_sleepers) != 0;
}

static void notify(void)
{
    if (MSP_UNLIKELY(is_caller_asleep())) {
        msp_doorbell_notify_slow(msp_job.local_index);
    }
}

/* No other thread sends the data that the driver has kept for this one's contexts. */
static unsigned advance_own(void)
{
    struct msp_network_channel *channel;
    unsigned count = 0;

    for (channel = msp_network_channel_first(); channel != NULL; channel = channel->next) {
        if ((atomic_load_explicit(&channel->user, memory_order_relaxed) == &msp_network_self) &&
            msp_network_try_lock(channel)) {
            count += advance(channel);
            msp_network_unlock(channel);
        }
    }
    return count;
}

static bool progress_main(bool is_wait)
{
    struct msp_network_channel *channel = msp_network.main;
    bool has_unconnected;
    unsigned before;
    unsigned count;
    bool is_alive;

    if ((channel == NULL) || !msp_network_try_lock(channel)) {
        return false; /* another thread polls */
    }
    before          = msp_network_alive_messages;
    count           = is_wait ? advance_first(channel) : advance(channel);
    is_alive        = (msp_network_alive_messages != before);
    has_unconnected = msp_network_has_unconnected();
    pthread_mutex_unlock(&channel->lock);
    atomic_fetch_add_explicit(&polls, 1, memory_order_relaxed);
    if (count != 0) {
        notify();
    }
    if (MSP_UNLIKELY(has_unconnected)) {
        msp_network_connect_waiting();
    }
    if (MSP_UNLIKELY(msp_network_worker_is_pending())) {
        sched_yield();
    }
    if (atomic_load_explicit(&has_arrived, memory_order_relaxed)) {
        atomic_store_explicit(&has_arrived, false, memory_order_relaxed);
        return true;
    }
    return (count != 0) && !is_alive;
}

bool msp_network_progress(bool is_wait)
{
    const unsigned count = advance_own();

    return progress_main(is_wait) || (count != 0);
}

/* Work that a wait has put off is the thread's to do, soon. */
void msp_network_left(void)
{
    if (msp_network_is_ack_pending() && !atomic_load(&is_aside)) {
        msp_network_wake();
    }
}

bool msp_network_poll(struct msp_network_channel *channel)
{
    msp_network_use(channel, true);
    return msp_network_progress(false);
}

void msp_network_relieve(struct msp_network_channel *channel)
{
    (void)advance(channel);
    msp_network_unlock(channel);
    msp_network_alive_look_seldom();
    (void)msp_network_poll(channel);
    msp_network_lock(channel);
}

/* ---- the thread ---- */

void msp_network_wake(void)
{
    const uint64_t one = 1;

    while ((write(wake_fd, &one, sizeof one) < 0) && (errno == EINTR)) {
    }
}

void msp_network_sleeping(void)
{
    if (atomic_load(&is_aside)) {
        msp_network_wake();
    }
}

/* Until a wake-up, or, with a descriptor, an event; @p wait_us -1: for ever. True: a wake-up. */
static bool sleep_on(int fd, int64_t wait_us)
{
    const struct timespec duration = {wait_us / 1000000, (long)(wait_us % 1000000) * 1000};
    struct pollfd fds[2] = {{.fd = wake_fd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    uint64_t unused;

    (void)ppoll(fds, 2, (wait_us >= 0) ? &duration : NULL, NULL);
    if ((fds[0].revents & POLLIN) == 0) {
        return false;
    }
    (void)!read(wake_fd, &unused, sizeof unused);
    return true;
}

/* While callers poll, there is nothing to do here but the work that they have put off. */
static void step_aside(void)
{
    struct msp_network_channel *channel = msp_network.main;
    int64_t aside_us                    = ASIDE_MIN_US;
    unsigned polls_before;
    bool is_polled;

    atomic_store(&is_aside, true);
    do {
        polls_before = atomic_load(&polls);
        if (is_caller_asleep() || sleep_on(-1, aside_us)) {
            break;
        }
        aside_us  = (aside_us < ASIDE_MAX_US) ? aside_us + (aside_us / 8) : ASIDE_MAX_US;
        is_polled = (pthread_mutex_trylock(&channel->lock) != 0);
        if (!is_polled) {
            msp_network_send_waiting(channel);
            (void)msp_network_acknowledge();
            pthread_mutex_unlock(&channel->lock);
        }
    } while (is_polled || (atomic_load(&polls) != polls_before));
    atomic_store(&is_aside, false);
}

/* True: there was something, or may be. @p had_event: the driver may put a peer's data into the
 * program's memory without a completion. */
static bool serve(bool has_events, bool had_event, int *timeout_ms_p)
{
    struct msp_network_channel *channel = msp_network.main;
    bool is_armed                       = false;
    bool has_unconnected;
    unsigned before;
    unsigned count;
    bool is_alive;

    pthread_mutex_lock(&channel->lock);
    before   = msp_network_alive_messages;
    count    = advance(channel);
    is_alive = (msp_network_alive_messages != before);
    if (count == 0) {
        *timeout_ms_p =
            ((channel->waiting != NULL) || msp_network_has_unsent_replies()) ? BUSY_MS : -1;
        is_armed = !has_events || msp_network.driver->queue_arm(channel->queue, timeout_ms_p);
    }
    has_unconnected = msp_network_has_unconnected();
    pthread_mutex_unlock(&channel->lock);
    if ((count != 0) && !is_alive) {
        atomic_store_explicit(&has_arrived, true, memory_order_relaxed);
    }
    if (count != 0) {
        notify();
    } else if (had_event && is_memory_watched()) {
        msp_doorbell_notify_slow(msp_job.local_index);
    }
    if (has_unconnected) {
        msp_network_connect_waiting();
    }
    return !is_armed;
}

/* How long the thread sleeps: until an event, or the driver's limit. */
static int64_t wait_us_of(int fd, int timeout_ms, int64_t *interval_us_p)
{
    if (fd >= 0) {
        return (timeout_ms < 0) ? -1 : (int64_t)timeout_ms * 1000;
    }
    *interval_us_p += (*interval_us_p / 8) + 1;
    if (*interval_us_p > WITHOUT_EVENTS_MAX_US) {
        *interval_us_p = WITHOUT_EVENTS_MAX_US;
    }
    return *interval_us_p;
}

static void *run(void *unused)
{
    int fd              = msp_network.driver->queue_descriptor(msp_network.main->queue);
    int64_t interval_us = WITHOUT_EVENTS_MIN_US;
    bool had_event      = true;

    (void)unused;
    while (!atomic_load(&ends)) {
        unsigned polls_before = atomic_load(&polls);
        int timeout_ms;

        had_event = serve(fd >= 0, had_event, &timeout_ms);
        if (had_event) {
            interval_us = WITHOUT_EVENTS_MIN_US;
            continue;
        }
        (void)sleep_on(fd, wait_us_of(fd, timeout_ms, &interval_us));
        had_event = true;
        if ((atomic_load(&polls) != polls_before) && !is_caller_asleep()) {
            step_aside();
        }
    }
    return NULL;
}

memspan_status_t msp_network_progress_open(void)
{
    memspan_status_t status;

    wake_fd = msp_fd_above_streams(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (wake_fd < 0) {
        return msp_error_native(MEMSPAN_ERR_LIMIT, "", "eventfd", errno, strerror(errno),
                                "the limit on open files (ulimit -n) may be in the way",
                                "no descriptor for the network's thread");
    }
    atomic_store(&ends, false);
    status = msp_own_thread_start(&thread, run, "the network transport");
    runs   = (status == MEMSPAN_OK);
    return status;
}

void msp_network_progress_close(void)
{
    if (runs) {
        atomic_store(&ends, true);
        msp_network_wake();
        pthread_join(thread, NULL);
        runs = false;
    }
    if (wake_fd >= 0) {
        close(wake_fd);
        wake_fd = -1;
    }
}
