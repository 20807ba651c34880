/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_CONTROL_WAIT_H
#define MEMSPAN_SHMEM_CONTROL_WAIT_H

/* Waiting for another PE: poll, pause, yield, sleep (doorbell.h has the waking of sleepers).
 *
 *     MSP_WAIT(atomic_load_explicit(flag, memory_order_acquire) == 1);
 *
 * A PE that changes a flag of the library notifies the doorbell afterwards: a sleeper polls by
 * itself ever more seldom, at last eight times a second. MSP_WAIT_UNNOTIFIED is for flags whose
 * waiters are unknown to those who change them. Memory of the program that is stored to without a
 * notification is found within MSP_WAIT_BACK_OFF_MS, or a sixteenth of the time waited. A thread
 * that waits notices when a PE of the host has died: then the job ends. */

#include "core/base/platform.h"
#include <stdint.h>

#define MSP_WAIT_BACK_OFF_MS 2

struct msp_waiter {
    const void *address; /* the range waited for in the program's memory; NULL: a library's flag */
    size_t size_bytes;
    unsigned polls;
    unsigned notifications; /* the doorbell's, before the last poll */
    unsigned slept_ms;
    unsigned watched_ms; /* slept_ms when the other PEs were last looked at */
    unsigned deadlocks;  /* seen at so many looks in a row */
    unsigned arrivals;   /* that have ended its sleep: it polls twice as long after each */
    bool has_looked;     /* for PEs on its processor */
    bool announced;
    bool is_unnotified;   /* a change may come without a notification */
    bool is_counted;      /* among the PE's threads that wait */
    bool polls_elsewhere; /* its loop advances the transport */
    bool is_operation;    /* of one put, get or atomic operation: handlers do not run inside it */
    bool has_advanced;    /* it has called the transport */
    bool sleeps_next;     /* it has polled since the transport's last step */
};

/* Between two polls. */
void msp_wait_step(struct msp_waiter *waiter);
void msp_wait_end(struct msp_waiter *waiter);
/* Messages arrive, and that of this waiter may be the next: it polls again. */
void msp_wait_renew(struct msp_waiter *waiter);

/* The collective call that this PE's next waits are of, for the message of a deadlock; NULL: of no
 * certain one. */
void msp_wait_begin_call(const char *call);
/* ", in CALL,", or "". */
const char *msp_wait_call_text(char *text, size_t text_bytes);

/* After a poll that found nothing, in calls that programs make in a loop (test, fetch, g): yields
 * now and then where processors are oversubscribed. */
void msp_wait_poll(void);

/* The same after each load of a word that another PE may change: the same word again is a loop.
 * Where the word is not mapped, the load itself waits. */
void msp_wait_poll_at(const void *address, int pe);

/* This host has fewer processors than PEs. The same answer in all of them. */
bool msp_wait_is_oversubscribed(void);

/* The wait of the PE of this host: 0 where it runs, or a thread of it may; otherwise a number of
 * that wait, odd in shmem_finalize(). */
uint64_t msp_wait_state(int local_index);

/* How long to spin, by how many PEs share the processors they may run on: those of this node; then
 * those of all hosts that are on this machine. */
void msp_wait_init(void);
void msp_wait_count_machine(int pes);

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

/* For a flag of the library (msp_doorbell_notify). */
#define MSP_WAIT(condition) MSP_WAIT_LOOP(condition, .address = NULL)

/* For a flag of the library that is changed without a notification. */
#define MSP_WAIT_UNNOTIFIED(condition) MSP_WAIT_LOOP(condition, .is_unnotified = true)

/* For symmetric memory of the program (msp_doorbell_notify_at). */
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

#endif /* MEMSPAN_SHMEM_CONTROL_WAIT_H */
