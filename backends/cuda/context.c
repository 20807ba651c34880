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

/* ---- the thread's capture mode ----
 *
 * While a stream is captured in the mode global or thread-local, calls that allocate, free or wait
 * fail for this thread, and invalidate the capture. Ours have nothing to do with it. */

static void relax(const struct cuda_state *state, int *before_p)
{
    cuda_capture_mode_t mode = CUDA_STREAM_CAPTURE_MODE_RELAXED;
    cuda_result_t code;

    *before_p = CUDA_STREAM_CAPTURE_MODE_RELAXED;
    if (state->cu.cuThreadExchangeStreamCaptureMode == NULL) {
        return;
    }
    code = state->cu.cuThreadExchangeStreamCaptureMode(&mode);
    if (code == CUDA_SUCCESS) {
        *before_p = (int)mode;
    } else if (code != CUDA_ERROR_DEINITIALIZED) {
        cuda_log_failure(state, "cuThreadExchangeStreamCaptureMode", code, "the capture mode");
    }
}

static void restore(const struct cuda_state *state, int before)
{
    cuda_capture_mode_t mode = before;
    cuda_result_t code;

    if (before == CUDA_STREAM_CAPTURE_MODE_RELAXED) {
        return;
    }
    code = state->cu.cuThreadExchangeStreamCaptureMode(&mode);
    if (code != CUDA_SUCCESS) {
        /* The thread must not keep our mode: what failed once may work now. */
        cuda_log_failure(state, "cuThreadExchangeStreamCaptureMode", code, "the capture mode");
        mode = before;
        (void)state->cu.cuThreadExchangeStreamCaptureMode(&mode);
    }
}

bool cuda_is_captured(cuda_result_t code)
{
    return (code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) &&
           (code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
}

/* ---- contexts ---- */

/* The device's lock held. */
static cuda_result_t retain(struct cuda_device *device)
{
    const struct cuda_calls *cu = &device->state->cu;
    cuda_context_t context      = NULL;
    unsigned long long id       = 0;
    cuda_result_t code          = cu->cuDevicePrimaryCtxRetain(&context, device->id);
    cuda_result_t named;

    if (code != CUDA_SUCCESS) {
        return code;
    }
    if (cu->cuCtxGetId != NULL) {
        named = cu->cuCtxGetId(context, &id);
        if (named != CUDA_SUCCESS) {
            cuda_log_failure(device->state, "cuCtxGetId", named, "the number of a context");
            id = 0;
        }
    }
    atomic_store(&device->context_id, id);
    atomic_store(&device->context, context);
    return CUDA_SUCCESS;
}

static memspan_status_t need_context(struct cuda_device *device)
{
    cuda_result_t code = CUDA_SUCCESS;

    if (atomic_load(&device->context) != NULL) {
        return MEMSPAN_OK;
    }
    pthread_mutex_lock(&device->lock);
    if (atomic_load(&device->context) == NULL) {
        code = retain(device);
    }
    pthread_mutex_unlock(&device->lock);
    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : cuda_error(device->state, "cuDevicePrimaryCtxRetain", code,
                                               "%s cannot be used", device->info.name);
}

/* The handle of a context that was reset is dead, or is that of the context which followed. */
static bool was_reset(const struct cuda_device *device)
{
    const struct cuda_calls *cu = &device->state->cu;
    unsigned long long ours     = atomic_load(&device->context_id);
    unsigned long long id       = 0;
    cuda_result_t code;

    if (ours == 0) {
        return false;
    }
    code = cu->cuCtxGetId(atomic_load(&device->context), &id);
    if ((code == CUDA_ERROR_CONTEXT_IS_DESTROYED) || (code == CUDA_ERROR_INVALID_CONTEXT)) {
        return true;
    }
    if (code != CUDA_SUCCESS) {
        /* What a lost device answers to everything; the calls that follow report it. */
        device->state->services->log(MEMSPAN_LOG_DEBUG, CUDA_NAME, "cuCtxGetId: %d", (int)code);
        return false;
    }
    return id != ours;
}

static void forget_peers(struct cuda_device *device)
{
    struct cuda_state *state = device->state;
    int i;

    for (i = 0; i < state->device_count; i++) {
        enum cuda_peer enabled = CUDA_PEER_ENABLED;
        (void)atomic_compare_exchange_strong(
            &state->peers[i * state->device_count + device->ordinal], &enabled, CUDA_PEER_MAY);
        enabled = CUDA_PEER_ENABLED;
        (void)atomic_compare_exchange_strong(
            &state->peers[device->ordinal * state->device_count + i], &enabled, CUDA_PEER_MAY);
    }
}

/* Begin an epoch, unless another thread has. The old reference is not released: whether a reset
 * leaves it is the driver's secret, and one too many keeps a context that is in use anyway. */
static bool renew(struct cuda_device *device, unsigned epoch)
{
    cuda_result_t code = CUDA_SUCCESS;

    pthread_mutex_lock(&device->lock);
    if (atomic_load(&device->epoch) == epoch) {
        code = retain(device);
        if (code == CUDA_SUCCESS) {
            atomic_fetch_add(&device->epoch, 1);
            if (device->queue != NULL) {
                /* Another thread may hold it, and finds out by its epoch. */
                device->queue->next = device->forgotten;
                device->forgotten   = device->queue;
                device->queue       = NULL;
            }
            cuda_kernels_forget(device);
            forget_peers(device);
            device->state->services->log(MEMSPAN_LOG_WARN, CUDA_NAME,
                                         "%s was reset by the program: memory taken before is gone",
                                         device->info.name);
        }
    }
    pthread_mutex_unlock(&device->lock);
    return code == CUDA_SUCCESS;
}

static cuda_result_t push(struct cuda_device *device)
{
    const struct cuda_calls *cu = &device->state->cu;
    unsigned epoch              = atomic_load(&device->epoch);
    cuda_result_t code          = was_reset(device) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                    : cu->cuCtxPushCurrent_v2(atomic_load(&device->context));

    if (((code == CUDA_ERROR_CONTEXT_IS_DESTROYED) || (code == CUDA_ERROR_INVALID_CONTEXT)) &&
        renew(device, epoch)) {
        code = cu->cuCtxPushCurrent_v2(atomic_load(&device->context));
    }
    if (code == CUDA_ERROR_DEINITIALIZED) {
        atomic_store(&device->state->gone, true);
    }
    return code;
}

static void pop(const struct cuda_device *device)
{
    cuda_context_t ours = NULL;
    cuda_result_t code  = device->state->cu.cuCtxPopCurrent_v2(&ours);

    if (code != CUDA_SUCCESS) {
        /* The thread must not keep our context: what failed once may work now. */
        cuda_log_failure(device->state, "cuCtxPopCurrent", code, "the thread's context");
        (void)device->state->cu.cuCtxPopCurrent_v2(&ours);
    }
}

static memspan_status_t push_error(const struct cuda_device *device, cuda_result_t code)
{
    return cuda_error(device->state, "cuCtxPushCurrent", code, "%s cannot be used",
                      device->info.name);
}

void cuda_leave(struct cuda_device *device, int before)
{
    pop(device);
    restore(device->state, before);
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
    if (need_context(from) != MEMSPAN_OK) {
        cuda_log_last(state, "memory of another device");
        return;
    }
    code = push(from);
    if (code != CUDA_SUCCESS) {
        cuda_log_failure(state, "cuCtxPushCurrent", code, "memory of another device");
        return;
    }
    code = state->cu.cuCtxEnablePeerAccess(atomic_load(&home->context), 0);
    pop(from);
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
 * is first used through us, when memory is taken for a space that names it, or when memory is next
 * taken after somebody else has woken it. */
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

memspan_status_t cuda_connect(void *opaque, int home_ordinal, memspan_kind_t kind, int from_ordinal)
{
    struct cuda_state *state = opaque;
    struct cuda_device *home = NULL;
    struct cuda_device *from = NULL;
    memspan_status_t status  = cuda_device_get(state, home_ordinal, &home);
    int before;

    if (status == MEMSPAN_OK) {
        status = cuda_device_get(state, from_ordinal, &from);
    }
    if ((status != MEMSPAN_OK) || (kind != MEMSPAN_KIND_DEVICE) || (from == home)) {
        return status;
    }
    if (cuda_peer_get(state, from_ordinal, home_ordinal) == CUDA_PEER_MAY) {
        relax(state, &before);
        status = wake(home);
        if (status == MEMSPAN_OK) {
            status = wake(from);
        }
        if (status == MEMSPAN_OK) {
            enable(from, home); /* where both were awake before us */
        }
        restore(state, before);
    }
    if ((status == MEMSPAN_OK) &&
        (cuda_peer_get(state, from_ordinal, home_ordinal) != CUDA_PEER_ENABLED)) {
        status = cuda_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "MEMSPAN_LOG=warn shows the call",
                             "%s (device %d) gets no access to memory of device %d",
                             from->info.name, from_ordinal, home_ordinal);
    }
    return status;
}

memspan_status_t cuda_enter(void *opaque, int ordinal, struct cuda_device **device_p, int *before_p)
{
    struct cuda_state *state   = opaque;
    int before                 = 0;
    struct cuda_device *device = NULL;
    cuda_result_t code;
    memspan_status_t status = cuda_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    relax(state, &before);
    if (atomic_load(&device->context) == NULL) {
        status = wake(device);
    }
    if (status == MEMSPAN_OK) {
        code   = push(device);
        status = (code == CUDA_SUCCESS) ? MEMSPAN_OK : push_error(device, code);
    }
    if (status != MEMSPAN_OK) {
        restore(state, before);
        return status;
    }
    *device_p = device;
    *before_p = before;
    return MEMSPAN_OK;
}

/* There is no later time to give something back, so what failed once is tried again. */
static memspan_status_t enter_again(struct cuda_device *device)
{
    memspan_status_t status = need_context(device);
    cuda_result_t code;

    if (status != MEMSPAN_OK) {
        return status;
    }
    code = push(device);
    if ((code != CUDA_SUCCESS) && (code != CUDA_ERROR_DEINITIALIZED)) {
        cuda_log_failure(device->state, "cuCtxPushCurrent", code, "giving back");
        code = push(device);
    }
    if (code == CUDA_ERROR_DEINITIALIZED) {
        return MEMSPAN_ERR_OFF;
    }
    return (code == CUDA_SUCCESS) ? MEMSPAN_OK : push_error(device, code);
}

memspan_status_t cuda_enter_to_give_back(void *opaque, int ordinal, struct cuda_device **device_p,
                                         int *before_p)
{
    struct cuda_state *state   = opaque;
    int before                 = 0;
    struct cuda_device *device = NULL;
    memspan_status_t status    = cuda_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (atomic_load(&state->gone)) {
        return MEMSPAN_ERR_OFF;
    }
    relax(state, &before);
    status = enter_again(device);
    if (status != MEMSPAN_OK) {
        restore(state, before);
        return status;
    }
    *device_p = device;
    *before_p = before;
    return MEMSPAN_OK;
}

cuda_result_t cuda_wait_for_users(struct cuda_device *device, bool host_pages)
{
    struct cuda_state *state = device->state;
    cuda_result_t first      = CUDA_SUCCESS;
    int i;

    for (i = 0; i < state->device_count; i++) {
        struct cuda_device *user = &state->devices[i];
        cuda_result_t code;
        int before;
        if ((atomic_load(&user->context) == NULL) ||
            (!host_pages && (user != device) &&
             (cuda_peer_get(state, i, device->ordinal) == CUDA_PEER_NO))) {
            continue;
        }
        if (cuda_enter_to_give_back(state, i, &user, &before) != MEMSPAN_OK) {
            cuda_log_last(state, "waiting for who may use memory");
            continue;
        }
        code = state->cu.cuCtxSynchronize();
        cuda_leave(user, before);
        first = (first == CUDA_SUCCESS) ? code : first;
    }
    return first;
}

static void forget(struct cuda_device *device)
{
    if (device->queue != NULL) {
        cuda_queue_forget(device->queue);
        device->queue = NULL;
    }
    while (device->forgotten != NULL) {
        struct cuda_queue *next = device->forgotten->next;
        cuda_queue_forget(device->forgotten);
        device->forgotten = next;
    }
}

static void drop_device(struct cuda_device *device)
{
    struct cuda_state *state = device->state;
    struct cuda_device *entered;
    cuda_result_t code = CUDA_SUCCESS;
    int before;

    if ((atomic_load(&device->context) != NULL) &&
        (cuda_enter_to_give_back(state, device->ordinal, &entered, &before) == MEMSPAN_OK)) {
        if (device->queue != NULL) {
            cuda_queue_drop(device->queue);
            device->queue = NULL;
        }
        cuda_kernels_drop(device);
        cuda_leave(device, before);
    }
    forget(device);
    if ((atomic_load(&device->context) != NULL) && !atomic_load(&state->gone)) {
        code = state->cu.cuDevicePrimaryCtxRelease_v2(device->id);
    }
    if ((code != CUDA_SUCCESS) && (code != CUDA_ERROR_DEINITIALIZED)) {
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
        } else {
            forget(&state->devices[i]);
        }
        pthread_mutex_destroy(&state->devices[i].lock);
    }
    free(state->devices);
    free(state->peers);
}
