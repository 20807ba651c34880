/* SPDX-License-Identifier: BSD-3-Clause */
/* worker.c: messages that may block are executed in order by a thread of their own, which waits for
 * no lock of the queue's. */

#include "shmem/network/message.h"
#include "shmem/network/peer.h"
#include "shmem/transport/call.h"
#include "shmem/transport/own.h"
#include <criterion/criterion.h>
#include <semaphore.h>
#include <stdlib.h>

struct msp_network msp_network;

static struct msp_network_channel channel = {.is_main = true};
static sem_t may_execute; /* one message */
static sem_t has_executed;
static sem_t has_woken;
static unsigned executed;
static unsigned answered;
static uint64_t called;
static bool is_all_sent;

/* ---- what worker.c needs of the rest ---- */

struct msp_network_reply *msp_network_execute(const struct msp_network_header *header,
                                              const char *payload)
{
    sem_wait(&may_execute);
    cr_expect_eq(header->value, executed);
    cr_expect_eq(payload[0], (char)header->value);
    executed++;
    sem_post(&has_executed);
    return NULL;
}

void msp_network_answer(const struct msp_network_header *header, struct msp_network_reply *reply)
{
    cr_expect_null(reply);
    cr_expect_lt(header->value, executed);
    answered++;
}

unsigned msp_network_acknowledge(void)
{
    return 0;
}

unsigned msp_network_reply(void)
{
    return 0;
}

bool msp_network_is_all_answered(void)
{
    return is_all_sent;
}

void msp_network_wake(void)
{
    sem_post(&has_woken);
}

memspan_status_t msp_own_thread_start(pthread_t *thread_p, void *(*run)(void *), const char *what)
{
    (void)what;
    return (pthread_create(thread_p, NULL, run, NULL) == 0) ? MEMSPAN_OK : MEMSPAN_ERR_LIMIT;
}

int msp_call_handler_count(void)
{
    return 1; /* a thread looks for calls */
}

/* Payloads are numbered. */
size_t msp_call_execute(int pe, const char *at, size_t bytes)
{
    uint64_t number;

    cr_assert_eq(bytes % msp_call_record_bytes(sizeof number), 0);
    memcpy(&number, at + sizeof(struct msp_call_record), sizeof number);
    cr_expect_eq(pe, (int)(number / 3));
    cr_expect_eq(number, called);
    cr_expect_eq(answered, 0, "a message is answered before its calls are executed");
    called++;
    return msp_call_record_bytes(sizeof number);
}

void msp_fatal(const char *format, ...)
{
    (void)format;
    abort();
}

void msp_fatal_error(const char *call)
{
    (void)call;
    abort();
}

/* ---- the tests ---- */

static void open_channel(void)
{
    pthread_mutex_init(&channel.lock, NULL);
    sem_init(&may_execute, 0, 0);
    sem_init(&has_executed, 0, 0);
    sem_init(&has_woken, 0, 0);
    executed         = 0;
    answered         = 0;
    called           = 0;
    is_all_sent      = true;
    msp_network.main = &channel;
}

TestSuite(worker, .init = open_channel, .timeout = 60);

static void leave(unsigned value)
{
    const struct msp_network_header header = {.value = value};
    char payload                           = (char)value;

    msp_network_worker_leave(&header, &payload, 1);
}

/* As receive() does, with the lock, while the worker is busy. */
Test(worker, order)
{
    unsigned i;

    pthread_mutex_lock(&channel.lock);
    for (i = 0; i < 20; i++) {
        leave(i);
    }
    pthread_mutex_unlock(&channel.lock);
    for (i = 0; i < 20; i++) {
        sem_post(&may_execute);
        sem_wait(&has_executed);
    }
    msp_network_worker_close();
    cr_assert_eq(executed, 20);
    cr_assert_eq(answered, 20);
}

/* The thread that holds the lock answers, or the transport's thread, which is woken. */
Test(worker, queue_is_locked)
{
    pthread_mutex_lock(&channel.lock);
    leave(0);
    sem_post(&may_execute);
    sem_wait(&has_woken);
    cr_assert_eq(answered, 0);
    msp_network_worker_answer();
    cr_assert_eq(answered, 1);
    pthread_mutex_unlock(&channel.lock);
    msp_network_worker_close();
}

/* What the driver does not take at once is the thread's. */
Test(worker, driver_is_busy)
{
    is_all_sent = false;
    leave(0);
    sem_post(&may_execute);
    sem_wait(&has_woken);
    cr_assert_eq(answered, 1);
    msp_network_worker_close();
}

Test(worker, pending)
{
    cr_assert_not(msp_network_worker_is_pending());
    leave(0);
    leave(1);
    cr_assert(msp_network_worker_is_pending());
    sem_post(&may_execute);
    sem_post(&may_execute);
    sem_wait(&has_executed);
    sem_wait(&has_executed);
    cr_assert_not(msp_network_worker_is_pending());
    msp_network_worker_close();
}

/* Three calls in each message, from a PE each. */
static void leave_calls(int pe)
{
    const struct msp_network_header header = {.kind = MSP_NETWORK_CALL, .pe = pe};
    char records[3 * 16];
    uint64_t number = (uint64_t)pe * 3;
    size_t at;

    for (at = 0; at < sizeof records; at += 16) {
        msp_call_record_write(records + at, 0, &number, sizeof number);
        number++;
    }
    msp_network_call_leave(&header, records, sizeof records);
}

/* In the order of arrival, by the thread that asks for it, and no earlier. */
Test(worker, calls)
{
    executed = 1;
    cr_assert_not(msp_network_execute_calls());
    leave_calls(0);
    leave_calls(1);
    leave_calls(2);
    cr_assert_eq(called, 0);
    cr_assert(msp_network_execute_calls());
    cr_assert_eq(called, 9);
    cr_assert_eq(answered, 3);
    cr_assert_not(msp_network_execute_calls());
    leave_calls(3);
    msp_network_worker_close(); /* dropped */
    cr_assert_eq(called, 9);
}
