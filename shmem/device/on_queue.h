/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_DEVICE_ON_QUEUE_H
#define MEMSPAN_SHMEM_DEVICE_ON_QUEUE_H

/* Operations in the order of a queue (memspan/queue.h), by the thread of the queue, which makes the
 * host's calls. A copy that the queue's driver can make alone is work of the queue. */

#include "shmem/error.h"
#include <memspan/queue.h>
#include <stdbool.h>
#include <stdint.h>

struct msp_team;

/* One operation and its arguments. */
struct msp_on_queue {
    /* 0, or nonzero with an error record. */
    int (*run)(const struct msp_on_queue *operation);
    const char *call;
    void *team; /* handle */
    void *dest;
    const void *source;
    size_t count;
    uint64_t *signal;
    uint64_t value;
    int how; /* a signal operator, a comparison, a root, or a reduction */
    int type;
    int pe;
};

/* Runs a copy of @p operation in the order of @p queue. */
memspan_status_t msp_on_queue_submit(memspan_queue_h queue, const struct msp_on_queue *operation);

/* The buffers that operations on memory of a device need are there, before a queue is held. */
void msp_on_queue_prepare(const char *call, const void *local);

/* The driver of the queue copies between these places of this process without the host: both are
 * memory of its devices. */
bool msp_on_queue_copies(memspan_queue_h queue, const void *to, const void *from);

/* Waits until all operations are complete. */
void msp_on_queue_finish(void);

#endif /* MEMSPAN_SHMEM_DEVICE_ON_QUEUE_H */
