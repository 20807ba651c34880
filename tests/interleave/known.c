/* SPDX-License-Identifier: BSD-3-Clause */
/* known.c: small programs whose faults are known, and their right forms, so that the explorer is
 * judged too. */

#include "scenario.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint x, y, word, sleepers;
static unsigned seen_by[2];
static int data;
static pthread_mutex_t first  = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;

/* ---- two stores, each followed by a load of the other's ---- */

static void store_x(memory_order order)
{
    atomic_store_explicit(&x, 1, order);
    seen_by[0] = atomic_load_explicit(&y, order);
}

static void store_y(memory_order order)
{
    atomic_store_explicit(&y, 1, order);
    seen_by[1] = atomic_load_explicit(&x, order);
}

static void relaxed_x(void)
{
    store_x(memory_order_relaxed);
}

static void relaxed_y(void)
{
    store_y(memory_order_relaxed);
}

static void consistent_x(void)
{
    store_x(memory_order_seq_cst);
}

static void consistent_y(void)
{
    store_y(memory_order_seq_cst);
}

static void ordered_x(void)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    seen_by[0] = atomic_load_explicit(&y, memory_order_relaxed);
}

static void ordered_y(void)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    seen_by[1] = atomic_load_explicit(&x, memory_order_relaxed);
}

static void one_sees(void)
{
    EXPECT((seen_by[0] == 1) || (seen_by[1] == 1));
}

/* ---- data, and a flag that says that they are there ---- */

static void send(void)
{
    data = 7;
    atomic_store_explicit(&x, 1, memory_order_release);
}

static void send_relaxed(void)
{
    data = 7;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
}

static void receive(void)
{
    if (atomic_load_explicit(&x, memory_order_acquire) == 1) {
        EXPECT(data == 7);
    }
}

static void receive_relaxed(void)
{
    if (atomic_load_explicit(&x, memory_order_relaxed) == 1) {
        EXPECT(data == 7);
    }
}

static void receive_ordered(void)
{
    if (atomic_load_explicit(&x, memory_order_relaxed) == 1) {
        atomic_thread_fence(memory_order_acquire);
        EXPECT(data == 7);
    }
}

/* ---- a counter ---- */

static void count_apart(void)
{
    atomic_store_explicit(&x, atomic_load_explicit(&x, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void count(void)
{
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
}

static void two_counted(void)
{
    EXPECT(x == 2);
}

/* ---- locks ---- */

static void take_up(void)
{
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    data++;
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
}

static void take_down(void)
{
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    data++;
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
}

static void two_in_data(void)
{
    EXPECT(data == 2);
}

/* ---- a sleeper, and who wakes it ---- */

static void sleep_on_word(void)
{
    while (atomic_load(&word) == 0) {
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
    }
}

static void set_and_wake(void)
{
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void set_alone(void)
{
    atomic_store(&word, 1);
}

static void announce_and_sleep(memory_order order)
{
    atomic_store_explicit(&sleepers, 1, order);
    if (atomic_load_explicit(&x, order) == 0) {
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
    }
}

static void set_and_look(memory_order order)
{
    atomic_store_explicit(&x, 1, order);
    if (atomic_load_explicit(&sleepers, order) != 0) {
        atomic_store(&word, 1);
        syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

static void sleeper(void)
{
    announce_and_sleep(memory_order_seq_cst);
}

static void waker(void)
{
    set_and_look(memory_order_seq_cst);
}

static void relaxed_sleeper(void)
{
    announce_and_sleep(memory_order_relaxed);
}

static void relaxed_waker(void)
{
    set_and_look(memory_order_relaxed);
}

/* Only the waker's look is not ordered. */
static void unordered_waker(void)
{
    set_and_look(memory_order_release);
}

static const struct scenario scenarios[] = {
    {"store-buffers", "-", NULL, {relaxed_x, relaxed_y}, one_sees, 0, 0, "not so"},
    {"store-buffers-consistent",
     "one sees",
     NULL,
     {consistent_x, consistent_y},
     one_sees,
     0,
     0,
     NULL},
    {"store-buffers-barriers", "one sees", NULL, {ordered_x, ordered_y}, one_sees, 0, 0, NULL},
    {"store-buffers-one-barrier", "-", NULL, {ordered_x, relaxed_y}, one_sees, 0, 0, "not so"},
    {"message", "data are seen", NULL, {send, receive}, NULL, 0, 0, NULL},
    {"message-relaxed-store", "-", NULL, {send_relaxed, receive}, NULL, 0, 0, "data race"},
    {"message-relaxed-load", "-", NULL, {send, receive_relaxed}, NULL, 0, 0, "data race"},
    {"message-barrier", "data are seen", NULL, {send, receive_ordered}, NULL, 0, 0, NULL},
    {"counter", "two are counted", NULL, {count, count}, two_counted, 0, 0, NULL},
    {"counter-apart", "-", NULL, {count_apart, count_apart}, two_counted, 0, 0, "not so"},
    {"locks", "both count", NULL, {take_up, take_up}, two_in_data, 0, 0, NULL},
    {"locks-crossed", "-", NULL, {take_up, take_down}, NULL, 0, 0, "deadlock"},
    {"wake", "the sleeper ends", NULL, {sleep_on_word, set_and_wake}, NULL, 0, 0, NULL},
    {"wake-forgotten", "-", NULL, {sleep_on_word, set_alone}, NULL, 0, 0, "deadlock"},
    {"announced", "the sleeper ends", NULL, {sleeper, waker}, NULL, 0, 0, NULL},
    {"announced-relaxed", "-", NULL, {relaxed_sleeper, relaxed_waker}, NULL, 0, 0, "deadlock"},
    {"announced-unordered", "-", NULL, {sleeper, unordered_waker}, NULL, 0, 0, "deadlock"},
};
SCENARIO_TABLE(scenarios)
