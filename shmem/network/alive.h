/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_ALIVE_H
#define MEMSPAN_SHMEM_NETWORK_ALIVE_H

/* Liveness: a PE that waits asks the PEs that it has contacted whether they are there.
 *
 * A network may say nothing when a link is cut or a host stops. So a thread that waits for long
 * sends a message to each contact, about once in a tenth of the limit (SHMEMX_PEER_TIMEOUT). The
 * peer's progress thread answers, also while its program computes. A peer that has not answered
 * within the limit ends the job. A PE asks the next PE of another host, too: so a host
 * that no PE has contacted is watched by one. */

#include "shmem/network/message.h"

/* For waits, about eight times a second, without locks; fatal when a peer does not answer. */
void msp_network_alive_look(void);

/* For loops that do not wait as others do: the same, once in many calls. */
void msp_network_alive_look_seldom(void);

/* PONG has arrived; with the main channel locked. */
void msp_network_alive_heard(const struct msp_network_header *header);

/* At the start and the end of a job. */
void msp_network_alive_reset(void);

#endif /* MEMSPAN_SHMEM_NETWORK_ALIVE_H */
