/* SPDX-License-Identifier: BSD-3-Clause */
/* on_queue.c: from an operation to the thread of its queue, and waiting for all of them. */

#include "shmem/device/on_queue.h"
#include "shmem/control/wait.h"
#include "shmem/job.h"
#include "shmem/last_thread.h"
#include "shmem/network/stage.h"
#include "shmem/transport/call.h"
#include <memspan/device.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 64, STAGES = MSP_NETWORK_STAGE_SLOTS };

static atomic_uint pending;
static atomic_int failure; /* of the first operation that failed */

/* Threads of queues are no helpers of the job when they start. */
static void introduce_thread(void)
{
    static _Thread_local bool is_known;

    if (!is_known) {
        is_known = true;
        msp_last_thread_add_helper();
        msp_call_never();
    }
}

struct taken {
    struct msp_on_queue operation;
    pthread_t submitter;
};

static void run(void *argument)
{
    struct taken *taken = argument;
    int none            = 0;

    if (!pthread_equal(taken->submitter, pthread_self())) {
        introduce_thread();
    }
    if (taken->operation.run(&taken->operation) != 0) {
        (void)atomic_compare_exchange_strong(&failure, &none, (int)memspan_error_last()->status);
    }
    free(taken);
    atomic_fetch_sub(&pending, 1);
}

memspan_status_t msp_on_queue_submit(memspan_queue_h queue, const struct msp_on_queue *operation)
{
    memspan_status_t status;
    struct taken *taken;

    if (atomic_load(&failure) != 0) {
        return memspan_error((memspan_status_t)atomic_load(&failure),
                             "%s: an earlier operation on a queue has failed", operation->call);
    }
    taken = malloc(sizeof *taken);
    if (taken == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "%s: no memory for an operation on a queue",
                             operation->call);
    }
    *taken = (struct taken){.operation = *operation, .submitter = pthread_self()};
    __atomic_store_n(&msp_job.has_threads, true, __ATOMIC_RELAXED);
    atomic_fetch_add(&pending, 1);
    status = memspan_call_on(queue, run, taken);
    if (status != MEMSPAN_OK) {
        free(taken);
        atomic_fetch_sub(&pending, 1);
    }
    return status;
}

/* ---- buffers ---- */

/* A driver that allocates, or gives back, may wait for its streams: for the one that is held. */
void msp_on_queue_prepare(const char *call, const void *local)
{
    static atomic_bool is_prepared[DEVICES_MAX];
    struct msp_network_stage *stages[STAGES];
    memspan_pointer_info_t info = {.struct_size = sizeof info};
    int i;

    if ((msp_job.transport == NULL) || (memspan_pointer_describe(local, &info) != MEMSPAN_OK) ||
        ((unsigned)info.home >= DEVICES_MAX) || atomic_exchange(&is_prepared[info.home], true)) {
        return;
    }
    for (i = 0; i < STAGES; i++) {
        stages[i] = msp_network_stage_take(call, local);
    }
    for (i = 0; i < STAGES; i++) {
        msp_network_stage_give(stages[i]);
    }
}

/* ---- copies by the driver ---- */

/* Memory of a device of that backend. */
static bool is_of_backend(const void *address, const char *backend)
{
    memspan_pointer_info_t memory = {.struct_size = sizeof memory};
    memspan_device_info_t home    = {.struct_size = sizeof home};

    return (memspan_pointer_describe(address, &memory) == MEMSPAN_OK) &&
           (memory.kind_given == MEMSPAN_KIND_DEVICE) && (memory.home != MEMSPAN_HOST) &&
           (memspan_device_describe(memory.home, &home) == MEMSPAN_OK) &&
           (strcmp(home.backend, backend) == 0);
}

bool msp_on_queue_copies(memspan_queue_h queue, const void *to, const void *from)
{
    memspan_queue_info_t info    = {.struct_size = sizeof info};
    memspan_device_info_t device = {.struct_size = sizeof device};

    return (memspan_queue_describe(queue, &info) == MEMSPAN_OK) &&
           (memspan_device_describe(info.device, &device) == MEMSPAN_OK) &&
           is_of_backend(to, device.backend) && is_of_backend(from, device.backend);
}

/* ---- the end ---- */

void msp_on_queue_finish(void)
{
    MSP_WAIT_UNNOTIFIED(atomic_load(&pending) == 0);
    atomic_store(&failure, 0);
}
