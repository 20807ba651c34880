/* SPDX-License-Identifier: BSD-3-Clause */
/* hold.c: streams that the host holds.
 *
 * A word of host memory counts the releases of a stream. A hold is a command of the stream: wait
 * until the word is at least the number of its holds. */

#include "backends/gpu/gpu.h"

/* Pinned memory, which the driver's streams can wait for. */
static memspan_status_t need_word(struct gpu_queue *queue)
{
    struct gpu_device *device = queue->device;
    void *word                = NULL;
    gpu_result_t answer;

    if (queue->word == NULL) {
        pthread_mutex_lock(&device->lock);
        queue->word = gpu_spare_take(device, GPU_MADE_HOST);
        pthread_mutex_unlock(&device->lock);
        queue->held = (queue->word != NULL) ? __atomic_load_n(queue->word, __ATOMIC_ACQUIRE) : 0;
    }
    if (queue->word != NULL) {
        return MEMSPAN_OK;
    }
    answer = device->state->driver->take(device, GPU_MADE_HOST, sizeof(*queue->word), &word);
    if (answer.code != GPU_SUCCESS) {
        return gpu_error(device->state, answer, "no word of host memory to hold a stream of %s by",
                         device->info.name);
    }
    queue->word = word;
    __atomic_store_n(queue->word, 0, __ATOMIC_RELEASE);
    return MEMSPAN_OK;
}

/* The driver refuses what it does not have, or its device. */
static bool is_unsupported(int code)
{
    return (code == GPU_NOT_SUPPORTED) || (code == GPU_INVALID_VALUE);
}

static memspan_status_t hold(struct gpu_queue *queue)
{
    const struct gpu_state *state = queue->device->state;
    memspan_status_t status       = need_word(queue);
    gpu_result_t answer;

    if (status != MEMSPAN_OK) {
        return status;
    }
    answer = state->driver->wait_word(queue, queue->word, queue->held + 1);
    if (answer.code == GPU_SUCCESS) {
        queue->held++;
        return MEMSPAN_OK;
    }
    if (is_unsupported(answer.code)) {
        gpu_forget_error(state);
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    return gpu_error(state, answer, "%s cannot wait for the host", queue->device->info.name);
}

memspan_status_t gpu_queue_hold(void *opaque_state, int ordinal, void *opaque)
{
    const struct gpu_state *state = opaque_state;
    struct gpu_queue *queue       = NULL;
    struct gpu_visit visit;
    memspan_status_t status;

    if ((state->driver->waits_for_words == NULL) ||
        !state->driver->waits_for_words(state->devices[ordinal])) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    status = gpu_enter(opaque_state, ordinal, GPU_TO_WORK, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = gpu_queue_get(visit.device, opaque, &queue);
    status = (status == MEMSPAN_OK) ? hold(queue) : status;
    gpu_leave(&visit);
    return status;
}

/* The word goes when the program resets the device. */
memspan_status_t gpu_queue_release(void *state, int ordinal, void *opaque)
{
    struct gpu_queue *queue = opaque;
    struct gpu_visit visit;
    memspan_status_t status = gpu_enter(state, ordinal, GPU_TO_GIVE_BACK, &visit);

    if (status != MEMSPAN_OK) {
        return (status == MEMSPAN_ERR_OFF) ? MEMSPAN_OK : status;
    }
    if (queue->epoch == atomic_load(&visit.device->epoch)) {
        (void)__atomic_fetch_add(queue->word, 1, __ATOMIC_RELEASE);
    }
    gpu_leave(&visit);
    return MEMSPAN_OK;
}
