/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_PROGRESS_H
#define MEMSPAN_SHMEM_NETWORK_PROGRESS_H

/* Progress: a thread that sleeps on the driver's descriptor, and callers that poll while they wait.
 *
 * A caller that polls sees what arrives sooner than a thread that must be woken. So a thread that
 * finds that callers poll steps aside, and looks again after a while: when they have stopped, it
 * serves the queue. A caller that goes to sleep calls it back. */

#include "shmem/control/wait.h"
#include "shmem/network/peer.h"

memspan_status_t msp_network_progress_open(void);
void msp_network_progress_close(void);

/* struct msp_transport: progress, sleeping. */
bool msp_network_progress(bool is_wait);
void msp_network_left(void);
void msp_network_sleeping(void);

/* The thread has something to send or to connect. */
void msp_network_wake(void);

/* Without the lock: advance the channel, and the main one. True when anything has happened. */
bool msp_network_poll(struct msp_network_channel *channel);

/* With the lock, when the driver is busy: unlocks, polls, locks again. */
void msp_network_relieve(struct msp_network_channel *channel);

/* Until @p condition holds, which completions of the channel or replies bring about. */
#define MSP_NETWORK_WAIT(channel, condition)                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            struct msp_waiter msp_waiter_ = {.polls_elsewhere = true,                              \
                                             .is_unnotified   = !(channel)->is_main};                \
            for (;;) {                                                                             \
                if (msp_network_poll(channel)) {                                                   \
                    msp_wait_renew(&msp_waiter_);                                                  \
                }                                                                                  \
                if (condition) {                                                                   \
                    break;                                                                         \
                }                                                                                  \
                msp_wait_step(&msp_waiter_);                                                       \
            }                                                                                      \
            msp_wait_end(&msp_waiter_);                                                            \
        }                                                                                          \
    } while (0)

#endif /* MEMSPAN_SHMEM_NETWORK_PROGRESS_H */
