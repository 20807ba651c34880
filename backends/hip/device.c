/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: which device is current on the thread, and the access that devices have to each other's
 * memory. */

#include "backends/hip/hip.h"
#include <stdlib.h>
#include <unistd.h>

memspan_status_t hip_device_get(void *opaque, int ordinal, struct hip_device **device_p)
{
    struct hip_state *state = opaque;

    if (getpid() != state->pid) {
        return hip_refuse(state, MEMSPAN_ERR_FORKED, "start processes before HIP is used",
                          "HIP was opened by process %d; its child %d cannot use it",
                          (int)state->pid, (int)getpid());
    }
    if (hip_gone()) {
        return hip_refuse(state, MEMSPAN_ERR_OFF, NULL, "the process is ending");
    }
    if ((ordinal < 0) || (ordinal >= state->device_count)) {
        return hip_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "no HIP device %d: there are %d",
                          ordinal, state->device_count);
    }
    *device_p = &state->devices[ordinal];
    return MEMSPAN_OK;
}

memspan_status_t hip_enter(void *opaque, int ordinal, struct hip_device **device_p, int *before_p)
{
    struct hip_state *state   = opaque;
    int before                = ordinal;
    struct hip_device *device = NULL;
    hip_result_t code;
    memspan_status_t status = hip_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    code = state->hip.hipGetDevice(&before);
    if (code != HIP_SUCCESS) {
        return hip_error(state, "hipGetDevice", code, "%s cannot be used", device->info.name);
    }
    code = (before == ordinal) ? HIP_SUCCESS : state->hip.hipSetDevice(ordinal);
    if (code != HIP_SUCCESS) {
        return hip_error(state, "hipSetDevice", code, "%s cannot be used", device->info.name);
    }
    *device_p = device;
    *before_p = before;
    return MEMSPAN_OK;
}

void hip_leave(const struct hip_device *device, int before)
{
    const struct hip_state *state = device->state;
    hip_result_t code             = HIP_SUCCESS;

    if (before == device->ordinal) {
        return;
    }
    code = state->hip.hipSetDevice(before);
    if (code != HIP_SUCCESS) {
        /* The thread must not keep our device: what failed once may work now. */
        hip_log_failure(state, "hipSetDevice", code, "the thread's device");
        (void)state->hip.hipSetDevice(before);
    }
}

int hip_relax(const struct hip_state *state)
{
    hip_capture_mode_t mode = HIP_CAPTURE_RELAXED;
    hip_result_t code       = HIP_SUCCESS;

    if (state->hip.hipThreadExchangeStreamCaptureMode != NULL) {
        code = state->hip.hipThreadExchangeStreamCaptureMode(&mode);
    }
    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipThreadExchangeStreamCaptureMode", code, "the capture mode");
        mode = HIP_CAPTURE_RELAXED;
    }
    return (int)mode;
}

void hip_restore(const struct hip_state *state, int before)
{
    hip_capture_mode_t mode = before;
    hip_result_t code;

    if (before == HIP_CAPTURE_RELAXED) {
        return;
    }
    code = state->hip.hipThreadExchangeStreamCaptureMode(&mode);
    if (code != HIP_SUCCESS) {
        /* The thread must not keep our mode: what failed once may work now. */
        hip_log_failure(state, "hipThreadExchangeStreamCaptureMode", code, "the capture mode");
        mode = before;
        (void)state->hip.hipThreadExchangeStreamCaptureMode(&mode);
    }
}

bool hip_is_captured(hip_result_t code)
{
    return (code >= HIP_ERROR_CAPTURE_UNSUPPORTED) && (code <= HIP_ERROR_CAPTURE_WRONG_THREAD);
}

hip_result_t hip_wait_for_all(struct hip_state *state)
{
    hip_result_t first = HIP_SUCCESS;
    int i;

    for (i = 0; i < state->device_count; i++) {
        struct hip_device *device;
        hip_result_t code;
        int before;
        if (hip_enter(state, i, &device, &before) != MEMSPAN_OK) {
            hip_log_record(state, MEMSPAN_LOG_WARN, "waiting for who may use memory");
            continue;
        }
        code = state->hip.hipDeviceSynchronize();
        hip_leave(device, before);
        first = (first == HIP_SUCCESS) ? code : first;
    }
    return first;
}

enum hip_peer hip_peer_get(const struct hip_state *state, int from, int home)
{
    return atomic_load(&state->peers[from * state->device_count + home]);
}

/* The state's lock held. */
static void enable(struct hip_device *from, const struct hip_device *home)
{
    struct hip_state *state = from->state;
    _Atomic(enum hip_peer) *peer =
        &state->peers[from->ordinal * state->device_count + home->ordinal];
    struct hip_device *entered;
    hip_result_t code;
    int before;

    if (atomic_load(peer) != HIP_PEER_MAY) {
        return;
    }
    if (hip_enter(state, from->ordinal, &entered, &before) != MEMSPAN_OK) {
        hip_log_record(state, MEMSPAN_LOG_WARN, "memory of another device");
        return;
    }
    code = state->hip.hipDeviceEnablePeerAccess(home->ordinal, 0);
    if (code == HIP_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
        hip_forget_error(state);
        code = HIP_SUCCESS;
    }
    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipDeviceEnablePeerAccess", code, "memory of another device");
        state->services->log(MEMSPAN_LOG_WARN, HIP_NAME,
                             "device %d does not reach device %d, though the driver said so",
                             from->ordinal, home->ordinal);
    }
    atomic_store(peer, (code == HIP_SUCCESS) ? HIP_PEER_ENABLED : HIP_PEER_BROKEN);
    hip_leave(from, before);
}

void hip_peers_enable(struct hip_device *home)
{
    struct hip_state *state = home->state;
    int i;

    for (i = 0; i < state->device_count; i++) {
        if (hip_peer_get(state, i, home->ordinal) != HIP_PEER_MAY) {
            continue;
        }
        pthread_mutex_lock(&state->lock);
        enable(&state->devices[i], home);
        pthread_mutex_unlock(&state->lock);
    }
}

static void drop_device(struct hip_device *device)
{
    int before = 0;
    bool entered;

    if ((device->queue == NULL) && (device->modules[HIP_PART_BASIC] == NULL) &&
        (device->modules[HIP_PART_COMBINE] == NULL)) {
        return;
    }
    entered = hip_enter(device->state, device->ordinal, &device, &before) == MEMSPAN_OK;
    if (!entered) {
        hip_log_record(device->state, MEMSPAN_LOG_WARN, "closing a device");
    }
    /* Both are found by their handles, whatever is current. */
    if (device->queue != NULL) {
        hip_queue_drop(device->queue);
    }
    hip_kernels_drop(device);
    if (entered) {
        hip_leave(device, before);
    }
}

void hip_devices_drop(struct hip_state *state)
{
    bool ours = (getpid() == state->pid) && !hip_gone();
    int i;

    for (i = 0; i < state->device_count; i++) {
        if (ours) {
            drop_device(&state->devices[i]);
        }
        pthread_mutex_destroy(&state->devices[i].lock);
    }
    free(state->devices);
    free(state->peers);
    free(state->peer_atomics);
}
