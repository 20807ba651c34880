/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_DEADLOCK_H
#define MEMSPAN_SHMEM_NETWORK_DEADLOCK_H

/* A program that waits for ever: one PE is in shmem_finalize(), or has left main(), and all others
 * wait for something else. No PE is left that could end a wait.
 *
 * Liveness messages carry what a PE waits for (msp_wait_state(), control/wait.h). A PE in
 * shmem_finalize() tells PE 0, which then asks all PEs. Each must be in the same wait in several
 * answers, while no message has ended it. Larger jobs are not asked, as PE 0 would connect to all
 * of them. */

#include "shmem/network/peer.h"

/* The functions are called with the main channel locked.
 *
 * What a peer waits for, from its question or answer. */
void msp_network_deadlock_heard(struct msp_network_contact *contact, uint64_t state);

/* Before the contacts are asked, from a thread that waits; may unlock meanwhile. True: the job
 * waits for ever, PE *ending_p at its end and *waiting_p in another wait. */
bool msp_network_deadlock_look(int *ending_p, int *waiting_p);

#endif /* MEMSPAN_SHMEM_NETWORK_DEADLOCK_H */
