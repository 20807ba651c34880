/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_WORKER_H
#define MEMSPAN_SHMEM_NETWORK_WORKER_H

/* The worker: a thread that executes messages which may block (copies by drivers of devices,
 * registrations), in the order of arrival. So the queue is progressed meanwhile: a device is copied
 * while the network moves the piece before. It starts with the first such message. */

#include "shmem/network/message.h"

/* Copies both. Any thread. Fatal without memory or thread. */
void msp_network_worker_leave(const struct msp_network_header *header, const void *payload,
                              size_t payload_bytes);

/* There are messages that it has not begun: who polls yields the processor to it. */
bool msp_network_worker_is_pending(void);

/* With the main channel locked: what has been executed is to be replied to. */
void msp_network_worker_answer(void);

/* Ends it; what it has not begun is dropped. */
void msp_network_worker_close(void);

#endif /* MEMSPAN_SHMEM_NETWORK_WORKER_H */
