/* SPDX-License-Identifier: BSD-3-Clause */
/* doorbell.c [PARTITION]: a PE that sleeps is notified of what it waits for, wherever in a put it
 * lies and however it came: sleeps here have no end but that. With an argument the words are in
 * memory of that partition. */

#include "tests/shmem/check.h"
#include "tests/shmem/core/sleeps.h"
#include <pthread.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 4096, ROUNDS = 7, STRIDE = 16, APART = 2048 };

enum how { BY_PUT, BY_IPUT, BY_P, BY_ATOMIC, BY_SIGNAL, HOWS };

static long variables[WORDS];
static long *words = variables;
static long zeros[WORDS];
static long answer;
static uint64_t signals[2];
static long lock;

static void send(enum how how, size_t count, long round)
{
    long source[WORDS];
    size_t i;

    for (i = 0; i < count; i++) {
        source[i] = round;
    }
    usleep(1500 + (useconds_t)(round * 331 % 2000)); /* the other sleeps by then, as a rule */
    switch (how) {
    case BY_PUT:
        shmem_long_put(words, source, count, 1);
        break;
    case BY_IPUT:
        shmem_long_iput(words, source, STRIDE, 1, count / STRIDE, 1);
        break;
    case BY_P:
        shmem_long_p(&words[count - 1], round, 1);
        break;
    case BY_ATOMIC:
        shmem_long_atomic_inc(&words[count - 1], 1);
        break;
    default:
        shmem_long_put_signal(words, source, count, &signals[0], (uint64_t)round, SHMEM_SIGNAL_SET,
                              1);
        break;
    }
    shmem_long_wait_until(&answer, SHMEM_CMP_EQ, round);
}

static void last_of(enum how how, size_t count)
{
    size_t last = (how == BY_IPUT) ? (count / STRIDE - 1) * STRIDE : count - 1;
    long round;

    shmem_long_put(words, zeros, WORDS, shmem_my_pe());
    answer     = 0;
    signals[0] = 0;
    shmem_barrier_all();
    for (round = 1; round <= ROUNDS; round++) {
        if (shmem_my_pe() == 0) {
            send(how, count, round);
        } else {
            if (how == BY_SIGNAL) {
                (void)shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, (uint64_t)round);
            } else {
                shmem_long_wait_until(&words[last], SHMEM_CMP_EQ, round);
            }
            shmem_long_p(&answer, round, 0);
        }
    }
    shmem_barrier_all();
}

/* ---- two threads of a PE, which wait for words that are far apart ---- */

static void *wait_for_the_other(void *argument)
{
    long round;

    (void)argument;
    for (round = 1; round <= ROUNDS; round++) {
        shmem_long_wait_until(&words[APART], SHMEM_CMP_EQ, round);
        shmem_long_atomic_inc(&answer, 0);
    }
    return NULL;
}

static void two_waiters(void)
{
    pthread_t thread;
    long round;

    shmem_long_put(words, zeros, WORDS, shmem_my_pe());
    answer = 0;
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        CHECK(pthread_create(&thread, NULL, wait_for_the_other, NULL) == 0, "no thread");
    }
    for (round = 1; round <= ROUNDS; round++) {
        if (shmem_my_pe() == 1) {
            shmem_long_wait_until(&words[0], SHMEM_CMP_EQ, round);
            shmem_long_atomic_inc(&answer, 0);
        } else {
            /* The first sleeper is notified first, then last. */
            usleep(3000);
            shmem_long_p(&words[(round % 2 != 0) ? 0 : APART], round, 1);
            shmem_long_wait_until(&answer, SHMEM_CMP_GE, (2 * round) - 1);
            usleep(3000);
            shmem_long_p(&words[(round % 2 != 0) ? APART : 0], round, 1);
            shmem_long_wait_until(&answer, SHMEM_CMP_GE, 2 * round);
        }
    }
    if (shmem_my_pe() == 1) {
        pthread_join(thread, NULL);
    }
    shmem_barrier_all();
}

/* ---- what is no wait of the program's ---- */

static void barriers_and_locks(void)
{
    long seen;
    int round;

    for (round = 0; round < ROUNDS; round++) {
        if (shmem_my_pe() == round % 2) {
            usleep((round < 2) ? 100000 : 3000); /* the other one sleeps, whatever else runs */
        }
        shmem_barrier_all();
        shmem_set_lock(&lock);
        usleep(1000);
        shmem_clear_lock(&lock);
        seen = round;
        shmem_long_broadcast(SHMEM_TEAM_WORLD, words, &seen, 1, round % 2);
    }
}

int main(int argc, char **argv)
{
    int provided;

    alarm(40);
    (void)shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (argc > 1) {
        words = shmemx_partition_malloc(sizeof variables, atoi(argv[1]));
        CHECK(words != NULL, "no memory in partition %s", argv[1]);
    }
    atomic_store(&sleeps_are_endless, true);
    for (int how = BY_PUT; how < HOWS; how++) {
        last_of((enum how)how, 64);
    }
    last_of(BY_PUT, 1);
    last_of(BY_PUT, WORDS);
    two_waiters();
    barriers_and_locks();
    CHECK(atomic_load(&sleeps_begun) > 0, "no PE has slept");
    atomic_store(&sleeps_are_endless, false);
    shmem_finalize();
    return 0;
}
