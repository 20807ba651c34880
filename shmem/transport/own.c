/* SPDX-License-Identifier: BSD-3-Clause */
/* own.c: atomics on memory of this PE, by the processor or under a lock; threads that execute for
 * others. */

#include "shmem/transport/own.h"
#include "shmem/control/memory.h"
#include "shmem/last_thread.h"
#include "shmem/transport/atomic.h"
#include <signal.h>
#include <string.h>

static pthread_mutex_t word_lock = PTHREAD_MUTEX_INITIALIZER; /* words the host cannot touch */

uint64_t msp_own_atomic(const char *call, void *word, const struct msp_atomic_request *request)
{
    uint64_t here = 0;
    uint64_t old;

    if (msp_rma_host_touches(word) || msp_segment_of(word)->host_updates) {
        msp_own_order();
        old = msp_atomic_apply(request->operation, word, request->size_bytes, request->value,
                               request->condition);
        msp_own_order();
        return old;
    }
    pthread_mutex_lock(&word_lock);
    if (request->operation != MSP_ATOMIC_SET) {
        msp_rma_move(call, &here, word, request->size_bytes);
    }
    old = msp_bits_of(&here, request->size_bytes);
    if (request->operation != MSP_ATOMIC_FETCH) {
        (void)msp_atomic_apply(request->operation, &here, request->size_bytes, request->value,
                               request->condition);
        msp_rma_move(call, word, &here, request->size_bytes);
    }
    pthread_mutex_unlock(&word_lock);
    return old;
}

bool msp_own_load(const void *address, size_t size_bytes, uint64_t *value_p)
{
    uint64_t here = 0;

    if (msp_rma_host_touches(address)) {
        return false;
    }
    pthread_mutex_lock(&word_lock);
    msp_rma_move("a wait or a test", &here, address, size_bytes);
    pthread_mutex_unlock(&word_lock);
    *value_p = msp_bits_of(&here, size_bytes);
    return true;
}

#if defined(__SANITIZE_THREAD__)
void msp_own_order(void)
{
    static atomic_uint order;

    atomic_fetch_add_explicit(&order, 1, memory_order_acq_rel);
}
#endif

static bool is_word(const void *address, size_t size_bytes)
{
    return ((size_bytes == 8) || (size_bytes == 4)) && ((uintptr_t)address % size_bytes == 0) &&
           msp_rma_host_touches(address);
}

void msp_own_put(const char *call, void *own, const void *data, size_t size_bytes)
{
    uint16_t half_word;

    msp_own_order();
    if ((size_bytes == sizeof half_word) && ((uintptr_t)own % sizeof half_word == 0) &&
        msp_rma_host_touches(own)) {
        memcpy(&half_word, data, sizeof half_word);
        __atomic_store_n((uint16_t *)own, half_word, __ATOMIC_RELEASE);
    } else if (is_word(own, size_bytes)) {
        (void)msp_atomic_apply(MSP_ATOMIC_SET, own, size_bytes, msp_bits_of(data, size_bytes), 0);
    } else {
        atomic_thread_fence(memory_order_release); /* earlier puts are seen before */
        msp_rma_move(call, own, data, size_bytes);
    }
    msp_own_order();
}

void msp_own_get(const char *call, void *data, void *own, size_t size_bytes)
{
    msp_own_order();
    if (is_word(own, size_bytes)) {
        msp_bits_to(data, msp_atomic_apply(MSP_ATOMIC_FETCH, own, size_bytes, 0, 0), size_bytes);
    } else {
        msp_rma_move(call, data, own, size_bytes);
        msp_rma_got();
    }
    msp_own_order();
}

void msp_own_notify(unsigned segment, const void *address, size_t size_bytes)
{
    if (segment == MSP_SEGMENT_CONTROL) {
        msp_doorbell_notify(msp_job.local_index);
    } else {
        msp_doorbell_notify_at(msp_job.local_index, address, size_bytes);
    }
}

void msp_own_fetched(const struct msp_atomic_request *request, uint64_t old)
{
    if (request->fetch != NULL) {
        msp_bits_to(request->fetch, old, request->size_bytes);
    }
}

/* It may come up long after the job has. */
static void *run_helper(void *run)
{
    msp_last_thread_add_helper();
    return ((void *(*)(void *))(uintptr_t)run)(NULL);
}

memspan_status_t msp_own_thread_start(pthread_t *thread_p, void *(*run)(void *), const char *what)
{
    sigset_t all;
    sigset_t before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread_p, NULL, run_helper, (void *)(uintptr_t)run);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return (error == 0) ? MEMSPAN_OK
                        : msp_error_native(MEMSPAN_ERR_LIMIT, "", "pthread_create", error,
                                           strerror(error), NULL, "no thread for %s", what);
}
