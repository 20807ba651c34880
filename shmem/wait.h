/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_WAIT_H
#define MEMSPAN_SHMEM_WAIT_H

/* Waiting for another PE: look, pause, let others run, sleep (node.h says how one is woken).
 *
 *     MSP_WAIT(atomic_load_explicit(flag, memory_order_acquire) == 1);
 *
 * A flag of the library must be changed by somebody who rings this PE's bell afterwards: a sleeper
 * looks by itself ever more seldom, at last eight times a second. MSP_WAIT_UNRUNG is for flags
 * whose waiter nobody knows. Memory of the program that is stored to without a ring is found within
 * MSP_WAIT_NAP_MS, or a sixteenth of the time waited. While a thread waits, it notices when a
 * PE of the node has died: then the job ends. */

#include "core/base/platform.h"

#define MSP_WAIT_NAP_MS 2

struct msp_waiter {
    const void *address; /* what is waited for in the program's memory; NULL: a library's flag */
    size_t size_bytes;
    unsigned looks;
    unsigned rings; /* the bell's, before the last look */
    unsigned slept_ms;
    unsigned watched_ms; /* slept_ms at the last look at whether the others are alive */
    unsigned dead_ends;  /* watches in a row that found nobody who could go on */
    bool announced;
    bool is_unrung;  /* a change may come without a ring */
    bool is_counted; /* among the PE's threads that wait */
};

/* Between two looks. */
void msp_wait_step(struct msp_waiter *waiter);
void msp_wait_end(struct msp_waiter *waiter);

/* After a look that found nothing, in calls that programs make in a loop (test, fetch, g): lets
 * others run now and then where PEs share processors. */
void msp_wait_poll(void);

/* The same after each load of a word that may be somebody else's: the same word again is a loop. */
void msp_wait_poll_at(const void *address);

/* PEs of this node share processors. The same answer in all of them. */
bool msp_wait_is_crowded(void);

/* How long to spin, by how many PEs share the processors they may run on. */
void msp_wait_init(void);

#define MSP_WAIT_LOOP(condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            struct msp_waiter msp_waiter_ = {__VA_ARGS__};                                         \
            do {                                                                                   \
                msp_wait_step(&msp_waiter_);                                                       \
            } while (!(condition));                                                                \
            msp_wait_end(&msp_waiter_);                                                            \
        }                                                                                          \
    } while (0)

/* For a flag of the library (msp_node_ring). */
#define MSP_WAIT(condition) MSP_WAIT_LOOP(condition, .address = NULL)

/* For a flag of the library that is changed by somebody who cannot know who waits for it. */
#define MSP_WAIT_UNRUNG(condition) MSP_WAIT_LOOP(condition, .is_unrung = true)

/* For symmetric memory of the program (msp_node_ring_at). */
#define MSP_WAIT_AT(where, bytes, condition)                                                       \
    MSP_WAIT_LOOP(condition, .address = (where), .size_bytes = (bytes))

static inline void msp_wait_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

#endif /* MEMSPAN_SHMEM_WAIT_H */
