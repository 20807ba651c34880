/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c: primary contexts, retained when first needed, current only during a call. */

#include "backends/cuda/cuda.h"
#include <string.h>

bool cuda_is_awake(const struct gpu_device *device)
{
    return atomic_load(&cuda_device(device)->context) != NULL;
}

bool cuda_is_active(const struct gpu_device *device)
{
    unsigned flags = 0;
    int active     = 0;

    return cuda_is_awake(device) ||
           (gpu_log_failure(
                device->state,
                CUDA_ANSWER("cuDevicePrimaryCtxGetState",
                            cuda_calls(device->state)
                                ->cuDevicePrimaryCtxGetState(device->id, &flags, &active)),
                "whether it is in use") &&
            (active != 0));
}

/* The device's lock held. */
static cuda_result_t retain(struct cuda_device *device)
{
    const struct gpu_state *state = device->gpu.state;
    const struct cuda_calls *cu   = cuda_calls(state);
    cuda_context_t context        = NULL;
    unsigned long long id         = 0;
    cuda_result_t code            = cu->cuDevicePrimaryCtxRetain(&context, device->gpu.id);

    if (code != CUDA_SUCCESS) {
        return code;
    }
    if ((cu->cuCtxGetId != NULL) &&
        !gpu_log_failure(state, CUDA_ANSWER("cuCtxGetId", cu->cuCtxGetId(context, &id)),
                         "the number of a context")) {
        id = 0;
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
    pthread_mutex_lock(&device->gpu.lock);
    if (atomic_load(&device->context) == NULL) {
        code = retain(device);
    }
    pthread_mutex_unlock(&device->gpu.lock);
    return (code == CUDA_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(device->gpu.state, CUDA_ANSWER("cuDevicePrimaryCtxRetain", code),
                           "%s cannot be used", device->gpu.info.name);
}

/* ---- resets ---- */

/* The handle of a context that was reset is invalid, or is that of the context which followed. */
static bool was_reset(const struct cuda_device *device)
{
    const struct gpu_state *state = device->gpu.state;
    unsigned long long ours       = atomic_load(&device->context_id);
    unsigned long long id         = 0;
    cuda_result_t code;

    if (ours == 0) {
        return false;
    }
    code = cuda_calls(state)->cuCtxGetId(atomic_load(&device->context), &id);
    if ((code == CUDA_ERROR_CONTEXT_IS_DESTROYED) || (code == CUDA_ERROR_INVALID_CONTEXT)) {
        return true;
    }
    if (code != CUDA_SUCCESS) {
        /* The error of a lost device for all calls; the calls that follow report it. */
        state->services->log(MEMSPAN_LOG_DEBUG, state->driver->name, "cuCtxGetId: %d", (int)code);
        return false;
    }
    return id != ours;
}

static void forget_peer(const struct gpu_state *state, int from, int home)
{
    enum gpu_peer enabled = GPU_PEER_ENABLED;

    (void)atomic_compare_exchange_strong(&state->peers[from * state->device_count + home], &enabled,
                                         GPU_PEER_MAY);
}

/* Begin an epoch, unless another thread has. The old reference is not released: whether a reset
 * leaves it is the driver's secret, and one too many keeps a context that is in use anyway. */
static bool renew(struct cuda_device *device, unsigned epoch)
{
    struct gpu_device *gpu        = &device->gpu;
    const struct gpu_state *state = gpu->state;
    cuda_result_t code            = CUDA_SUCCESS;
    int i;

    pthread_mutex_lock(&gpu->lock);
    if (atomic_load(&gpu->epoch) == epoch) {
        code = retain(device);
        if (code == CUDA_SUCCESS) {
            atomic_fetch_add(&gpu->epoch, 1);
            if (gpu->queue != NULL) {
                /* Another thread may hold it, and finds out by its epoch. */
                gpu->queue->next = gpu->forgotten;
                gpu->forgotten   = gpu->queue;
                gpu->queue       = NULL;
            }
            memset(device->kernels, 0, sizeof(device->kernels));
            for (i = 0; i < state->device_count; i++) {
                forget_peer(state, i, gpu->ordinal);
                forget_peer(state, gpu->ordinal, i);
            }
            state->services->log(MEMSPAN_LOG_WARN, state->driver->name,
                                 "%s was reset by the program: memory taken before is lost",
                                 gpu->info.name);
        }
    }
    pthread_mutex_unlock(&gpu->lock);
    return code == CUDA_SUCCESS;
}

/* ---- current ---- */

enum { PUSHED, WAS_CURRENT };

/* Only of a driver that numbers contexts: on others a push detects a reset. */
static bool is_current(const struct cuda_device *device)
{
    const struct gpu_state *state = device->gpu.state;
    cuda_context_t current        = NULL;
    cuda_result_t code;

    if ((atomic_load(&device->context_id) == 0) || (cuda_calls(state)->cuCtxGetCurrent == NULL)) {
        return false;
    }
    code = cuda_calls(state)->cuCtxGetCurrent(&current);
    if (code != CUDA_SUCCESS) {
        state->services->log(MEMSPAN_LOG_DEBUG, state->driver->name, "cuCtxGetCurrent: %d",
                             (int)code);
    }
    return (code == CUDA_SUCCESS) && (current == atomic_load(&device->context));
}

static cuda_result_t make_current(struct cuda_device *device, int *before_p)
{
    struct gpu_state *state     = device->gpu.state;
    const struct cuda_calls *cu = cuda_calls(state);
    unsigned epoch              = atomic_load(&device->gpu.epoch);
    cuda_result_t code          = CUDA_ERROR_CONTEXT_IS_DESTROYED;

    *before_p = PUSHED;
    if (!was_reset(device)) {
        if (is_current(device)) {
            *before_p = WAS_CURRENT;
            return CUDA_SUCCESS;
        }
        code = cu->cuCtxPushCurrent_v2(atomic_load(&device->context));
    }
    if (((code == CUDA_ERROR_CONTEXT_IS_DESTROYED) || (code == CUDA_ERROR_INVALID_CONTEXT)) &&
        renew(device, epoch)) {
        code = cu->cuCtxPushCurrent_v2(atomic_load(&device->context));
    }
    if (code == CUDA_ERROR_DEINITIALIZED) {
        atomic_store(&state->ended, true);
    }
    return code;
}

/* A device that wakes reaches the memory of those that are awake. */
static memspan_status_t wake(struct gpu_device *device)
{
    struct gpu_state *state = device->state;
    memspan_status_t status = need_context(cuda_device(device));
    int i;

    for (i = 0; (status == MEMSPAN_OK) && (i < state->device_count); i++) {
        if (cuda_is_awake(state->devices[i])) {
            gpu_peer_enable(device, state->devices[i]);
        }
    }
    return status;
}

/* Giving back and waiting are tried again: there is no later time for them. */
memspan_status_t cuda_enter(struct gpu_device *device, enum gpu_purpose purpose, int *before_p)
{
    bool again              = (purpose == GPU_TO_GIVE_BACK) || (purpose == GPU_TO_WAIT);
    memspan_status_t status = again ? need_context(cuda_device(device))
                                    : (cuda_is_awake(device) ? MEMSPAN_OK : wake(device));
    gpu_result_t answer     = {"cuCtxPushCurrent", CUDA_SUCCESS};

    if (status != MEMSPAN_OK) {
        return status;
    }
    answer.code = make_current(cuda_device(device), before_p);
    if (again && (answer.code != CUDA_ERROR_DEINITIALIZED) &&
        !gpu_log_failure(device->state, answer, "giving back")) {
        answer.code = make_current(cuda_device(device), before_p);
    }
    if (again && (answer.code == CUDA_ERROR_DEINITIALIZED)) {
        return MEMSPAN_ERR_OFF;
    }
    return (answer.code == CUDA_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(device->state, answer, "%s cannot be used", device->info.name);
}

void cuda_leave(struct gpu_device *device, int before)
{
    const struct cuda_calls *cu = cuda_calls(device->state);
    cuda_context_t ours         = NULL;

    if ((before == PUSHED) &&
        !gpu_log_failure(device->state,
                         CUDA_ANSWER("cuCtxPopCurrent", cu->cuCtxPopCurrent_v2(&ours)),
                         "the thread's context")) {
        /* The thread must not keep our context: a call that failed once may work now. */
        (void)cu->cuCtxPopCurrent_v2(&ours);
    }
}

void cuda_close(struct gpu_device *device)
{
    gpu_result_t answer = {"cuDevicePrimaryCtxRelease", CUDA_SUCCESS};

    if (cuda_is_awake(device)) {
        answer.code = cuda_calls(device->state)->cuDevicePrimaryCtxRelease_v2(device->id);
    }
    if (answer.code != CUDA_ERROR_DEINITIALIZED) {
        (void)gpu_log_failure(device->state, answer, "closing a device");
    }
}

/* ---- synchronous copies ----
 *
 * CUDA lets a synchronous copy return before its DMA is done, where only the streams of its own
 * context could notice. Ours do not wait for those, other processes and network cards cannot. */

bool cuda_syncs_mapped(const struct gpu_state *state)
{
    return (cuda_calls(state)->cuCtxGetFlags != NULL) && (cuda_calls(state)->cuCtxSetFlags != NULL);
}

static gpu_result_t set_flag(struct gpu_device *device)
{
    const struct cuda_calls *cu = cuda_calls(device->state);
    unsigned wanted             = 1 + atomic_load(&device->epoch);
    unsigned flags              = 0;
    gpu_result_t answer         = {"cuCtxGetFlags", CUDA_SUCCESS};

    if (atomic_load(&cuda_device(device)->synced) == wanted) {
        return answer;
    }
    answer.code = cu->cuCtxGetFlags(&flags);
    if (answer.code == CUDA_SUCCESS) {
        answer = CUDA_ANSWER("cuCtxSetFlags", cu->cuCtxSetFlags(flags | CUDA_CTX_SYNC_MEMOPS));
    }
    if (answer.code == CUDA_SUCCESS) {
        atomic_store(&cuda_device(device)->synced, wanted);
    }
    return answer;
}

void cuda_sync_copies(struct gpu_device *device, const void *address)
{
    static const char what[]    = "the program's copies may be under way when they return";
    const struct cuda_calls *cu = cuda_calls(device->state);
    unsigned on                 = 1;

    if (cuda_syncs_mapped(device->state) &&
        gpu_log_failure(device->state, set_flag(device), what)) {
        return;
    }
    if (cu->cuPointerSetAttribute != NULL) {
        (void)gpu_log_failure(
            device->state,
            CUDA_ANSWER("cuPointerSetAttribute",
                        cu->cuPointerSetAttribute(&on, CUDA_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                                                  cuda_address(address))),
            what);
    }
}

/* ---- peers ----
 *
 * Contexts cost time and memory: a device that is not in use is left asleep. It gets access when it
 * is first used through us, when memory is taken for a space that names it, or when memory is next
 * taken after other code has woken it. */

memspan_status_t cuda_connect(void *opaque, int home_ordinal, memspan_kind_t kind, int from_ordinal)
{
    struct gpu_state *state = opaque;
    struct gpu_device *home = NULL;
    struct gpu_device *from = NULL;
    memspan_status_t status = gpu_device_get(state, home_ordinal, &home);
    int mode;

    if (status == MEMSPAN_OK) {
        status = gpu_device_get(state, from_ordinal, &from);
    }
    if ((status != MEMSPAN_OK) || (kind != MEMSPAN_KIND_DEVICE) || (from == home)) {
        return status;
    }
    if (gpu_peer_get(state, from_ordinal, home_ordinal) == GPU_PEER_MAY) {
        mode   = gpu_relax(state);
        status = wake(home);
        if (status == MEMSPAN_OK) {
            status = wake(from);
        }
        if (status == MEMSPAN_OK) {
            gpu_peer_enable(from, home); /* where both were awake before us */
        }
        gpu_restore(state, mode);
    }
    if ((status == MEMSPAN_OK) &&
        (gpu_peer_get(state, from_ordinal, home_ordinal) != GPU_PEER_ENABLED)) {
        status = gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "MEMSPAN_LOG=warn shows the call",
                            "%s (device %d) gets no access to memory of device %d", from->info.name,
                            from_ordinal, home_ordinal);
    }
    return status;
}
