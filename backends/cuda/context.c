/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c: primary contexts, retained when first needed, current only during a call, and the
 * access that devices have to each other's memory. */

#include "backends/cuda/cuda.h"
#include <stdlib.h>
#include <unistd.h>

memspan_status_t cuda_device_get(void *opaque, int ordinal, struct cuda_device **device_p)
{
    struct cuda_state *state = opaque;

    if (getpid() != state->pid) {
        return cuda_refuse(state, MEMSPAN_ERR_FORKED, "start processes before CUDA is used",
                           "CUDA was opened by process %d; its child %d cannot use it",
                           (int)state->pid, (int)getpid());
    }
    if ((ordinal < 0) || (ordinal >= state->device_count)) {
        return cuda_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "no CUDA device %d: there are %d",
                           ordinal, state->device_count);
    }
    *device_p = &state->devices[ordinal];
    return MEMSPAN_OK;
}

bool cuda_context_is_active(const struct cuda_device *device)
{
    unsigned flags = 0;
    int active     = 0;
    cuda_result_t code;

    if (atomic_load(&device->context) != NULL) {
        return true;
    }
    code = device->state->cu.cuDevicePrimaryCtxGetState(device->id, &flags, &active);
    if (code != CUDA_SUCCESS) {
        cuda_log_failure(device->state, "cuDevicePrimaryCtxGetState", code, "whether it is in use");
        return false;
    }
    return active != 0;
}

static memspan_status_t need_context(struct cuda_device *device)
{
    memspan_status_t status = MEMSPAN_OK;
    cuda_context_t context  = NULL;
    cuda_result_t code;

    if (atomic_load(&device->context) != NULL) {
        return MEMSPAN_OK;
    }
    pthread_mutex_lock(&device->lock);
    if (atomic_load(&device->context) == NULL) {
        code = device->state->cu.cuDevicePrimaryCtxRetain(&context, device->id);
        if (code == CUDA_SUCCESS) {
            atomic_store(&device->context, context);
        } else {
            status = cuda_error(device->state, "cuDevicePrimaryCtxRetain", code,
                                "%s cannot be used", device->info.name);
        }
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

static memspan_status_t push(struct cuda_device *device)
{
    cuda_result_t code = device->state->cu.cuCtxPushCurrent_v2(atomic_load(&device->context));

    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : cuda_error(device->state, "cuCtxPushCurrent", code,
                                               "%s cannot be used", device->info.name);
}

/* To give something back: there is no later time for it, so what failed once is tried again. */
static memspan_status_t push_again(struct cuda_device *device)
{
    cuda_result_t code = device->state->cu.cuCtxPushCurrent_v2(atomic_load(&device->context));

    if (code == CUDA_SUCCESS) {
        return MEMSPAN_OK;
    }
    cuda_log_failure(device->state, "cuCtxPushCurrent", code, "giving back");
    return push(device);
}

void cuda_leave(struct cuda_device *device)
{
    cuda_context_t ours = NULL;
    cuda_result_t code  = device->state->cu.cuCtxPopCurrent_v2(&ours);

    if (code != CUDA_SUCCESS) {
        /* The thread must not keep our context: what failed once may work now. */
        cuda_log_failure(device->state, "cuCtxPopCurrent", code, "the thread's context");
        (void)device->state->cu.cuCtxPopCurrent_v2(&ours);
    }
}

enum cuda_peer cuda_peer_get(const struct cuda_state *state, int from, int home)
{
    return atomic_load(&state->peers[from * state->device_count + home]);
}

static void enable(struct cuda_device *from, struct cuda_device *home)
{
    struct cuda_state *state = from->state;
    _Atomic(enum cuda_peer) *peer =
        &state->peers[from->ordinal * state->device_count + home->ordinal];
    cuda_result_t code;

    if (atomic_load(peer) != CUDA_PEER_MAY) {
        return;
    }
    if ((need_context(from) != MEMSPAN_OK) || (push(from) != MEMSPAN_OK)) {
        cuda_log_last(state, "memory of another device");
        return;
    }
    code = state->cu.cuCtxEnablePeerAccess(atomic_load(&home->context), 0);
    cuda_leave(from);
    if ((code == CUDA_SUCCESS) || (code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)) {
        atomic_store(peer, CUDA_PEER_ENABLED);
        return;
    }
    atomic_store(peer, CUDA_PEER_BROKEN);
    state->services->log(MEMSPAN_LOG_WARN, CUDA_NAME,
                         "device %d does not reach device %d, though the driver said so",
                         from->ordinal, home->ordinal);
    cuda_log_failure(state, "cuCtxEnablePeerAccess", code, "memory of another device");
}

/* Contexts cost time and memory: a device that nobody uses is left asleep. It gets access when it
 * is first used through us, or when memory is next taken after somebody else has woken it. */
void cuda_peers_enable(struct cuda_device *home)
{
    struct cuda_state *state = home->state;
    int i;

    for (i = 0; i < state->device_count; i++) {
        struct cuda_device *from = &state->devices[i];
        if ((cuda_peer_get(state, i, home->ordinal) == CUDA_PEER_MAY) &&
            cuda_context_is_active(from)) {
            enable(from, home);
        }
    }
}

/* A device that wakes reaches the memory of those that are awake. */
static memspan_status_t wake(struct cuda_device *device)
{
    struct cuda_state *state = device->state;
    memspan_status_t status  = need_context(device);
    int i;

    for (i = 0; (status == MEMSPAN_OK) && (i < state->device_count); i++) {
        if ((cuda_peer_get(state, device->ordinal, i) == CUDA_PEER_MAY) &&
            (atomic_load(&state->devices[i].context) != NULL)) {
            enable(device, &state->devices[i]);
        }
    }
    return status;
}

memspan_status_t cuda_enter(void *state, int ordinal, struct cuda_device **device_p)
{
    struct cuda_device *device = NULL;
    memspan_status_t status    = cuda_device_get(state, ordinal, &device);

    if ((status == MEMSPAN_OK) && (atomic_load(&device->context) == NULL)) {
        status = wake(device);
    }
    if (status == MEMSPAN_OK) {
        status = push(device);
    }
    if (status == MEMSPAN_OK) {
        *device_p = device;
    }
    return status;
}

memspan_status_t cuda_enter_to_give_back(void *state, int ordinal, struct cuda_device **device_p)
{
    struct cuda_device *device;
    memspan_status_t status = cuda_device_get(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        status = need_context(device);
    }
    if (status == MEMSPAN_OK) {
        status = push_again(device);
    }
    if (status == MEMSPAN_OK) {
        *device_p = device;
    }
    return status;
}

static void drop_device(struct cuda_device *device)
{
    const struct cuda_state *state = device->state;
    cuda_result_t code;

    if (atomic_load(&device->context) == NULL) {
        return;
    }
    if (push_again(device) == MEMSPAN_OK) {
        if (device->queue != NULL) {
            cuda_queue_drop(device->queue);
        }
        cuda_kernels_drop(device);
        cuda_leave(device);
    }
    code = state->cu.cuDevicePrimaryCtxRelease_v2(device->id);
    if (code != CUDA_SUCCESS) {
        cuda_log_failure(state, "cuDevicePrimaryCtxRelease", code, "closing a device");
    }
}

void cuda_devices_drop(struct cuda_state *state)
{
    bool ours = (getpid() == state->pid);
    int i;

    for (i = 0; i < state->device_count; i++) {
        if (ours) {
            drop_device(&state->devices[i]);
        }
        pthread_mutex_destroy(&state->devices[i].lock);
    }
    free(state->devices);
    free(state->peers);
}
