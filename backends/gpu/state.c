/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c: opening and closing, the current device of a thread, and the access that devices have to
 * each other's memory. */

#include "backends/gpu/gpu.h"
#include <stdlib.h>
#include <unistd.h>

enum { CAPTURE_RELAXED = 2 };

memspan_status_t gpu_device_get(void *opaque, int ordinal, struct gpu_device **device_p)
{
    struct gpu_state *state = opaque;
    const char *title       = state->driver->title;
    const char *early       = state->driver->names[GPU_NAME_EARLY];

    if (getpid() != state->pid) {
        return gpu_refuse(state, MEMSPAN_ERR_FORKED,
                          (early != NULL) ? early
                                          : "start processes before the first use of a device",
                          "%s was opened by process %d; its child %d cannot use it", title,
                          (int)state->pid, (int)getpid());
    }
    if ((ordinal < 0) || (ordinal >= state->device_count)) {
        return gpu_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "no %s device %d: there are %d",
                          title, ordinal, state->device_count);
    }
    *device_p = state->devices[ordinal];
    return MEMSPAN_OK;
}

/* ---- the thread's capture mode ----
 *
 * While a stream is captured in the mode global or thread-local, calls that allocate, free or wait
 * fail for this thread, and invalidate the capture. Ours have nothing to do with it. */

int gpu_relax(struct gpu_state *state)
{
    int mode            = CAPTURE_RELAXED;
    gpu_result_t answer = {"", GPU_SUCCESS};

    if (atomic_load(&state->no_captures)) {
        return CAPTURE_RELAXED;
    }
    answer = state->driver->exchange_capture(state, &mode);
    if (answer.code != GPU_SUCCESS) {
        mode = CAPTURE_RELAXED;
        if (answer.code != GPU_DEINITIALIZED) {
            (void)gpu_log_lack(state, answer, "the capture mode");
        }
        if (answer.code == GPU_NOT_SUPPORTED) {
            atomic_store(&state->no_captures, true);
        }
    }
    return mode;
}

void gpu_restore(const struct gpu_state *state, int mode)
{
    int ours = mode;

    if ((mode != CAPTURE_RELAXED) &&
        !gpu_log_failure(state, state->driver->exchange_capture(state, &ours),
                         "the capture mode")) {
        /* The thread must not keep our mode: a call that failed once may work now. */
        (void)state->driver->exchange_capture(state, &mode);
    }
}

/* ---- the current context ---- */

bool gpu_is_awake(const struct gpu_device *device)
{
    return (device->state->driver->is_awake == NULL) || device->state->driver->is_awake(device);
}

bool gpu_is_active(const struct gpu_device *device)
{
    return (device->state->driver->is_active == NULL) || device->state->driver->is_active(device);
}

memspan_status_t gpu_enter(void *opaque, int ordinal, enum gpu_purpose purpose,
                           struct gpu_visit *visit_p)
{
    struct gpu_state *state = opaque;
    struct gpu_visit visit  = {.mode = CAPTURE_RELAXED};
    bool gives_back         = (purpose == GPU_TO_GIVE_BACK);
    memspan_status_t status = gpu_device_get(state, ordinal, &visit.device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (gives_back && atomic_load(&state->ended)) {
        return MEMSPAN_ERR_OFF;
    }
    if ((state->driver->relaxes_always && (purpose != GPU_TO_ORDER)) ||
        (purpose == GPU_TO_ALLOCATE) || gives_back) {
        visit.mode = gpu_relax(state);
    }
    if (state->driver->enter != NULL) {
        status = state->driver->enter(visit.device, purpose, &visit.before);
    }
    if (status != MEMSPAN_OK) {
        gpu_restore(state, visit.mode);
        return status;
    }
    *visit_p = visit;
    return MEMSPAN_OK;
}

void gpu_leave(const struct gpu_visit *visit)
{
    const struct gpu_state *state = visit->device->state;

    if (state->driver->leave != NULL) {
        state->driver->leave(visit->device, visit->before);
    }
    gpu_restore(state, visit->mode);
}

gpu_result_t gpu_wait_for_users(struct gpu_device *device, bool host_pages)
{
    struct gpu_state *state = device->state;
    gpu_result_t first      = {"", GPU_SUCCESS};
    int i;

    for (i = 0; i < state->device_count; i++) {
        struct gpu_device *user = state->devices[i];
        struct gpu_visit visit;
        gpu_result_t answer;
        if (!gpu_is_awake(user) || (!host_pages && (user != device) &&
                                    (gpu_peer_get(state, i, device->ordinal) == GPU_PEER_NO))) {
            continue;
        }
        if (gpu_enter(state, i, GPU_TO_WAIT, &visit) != MEMSPAN_OK) {
            gpu_log_record(state, MEMSPAN_LOG_WARN, "waiting for the users of memory");
            continue;
        }
        answer = state->driver->wait_for_device(user);
        gpu_leave(&visit);
        first = (first.code == GPU_SUCCESS) ? answer : first;
    }
    return first;
}

/* ---- peers ---- */

static _Atomic(enum gpu_peer) *peer_at(const struct gpu_state *state, int from, int home)
{
    return &state->peers[from * state->device_count + home];
}

enum gpu_peer gpu_peer_get(const struct gpu_state *state, int from, int home)
{
    return atomic_load(peer_at(state, from, home));
}

bool gpu_peer_can(const struct gpu_state *state, int from, int home)
{
    enum gpu_peer peer = gpu_peer_get(state, from, home);

    return (peer == GPU_PEER_MAY) || (peer == GPU_PEER_ENABLED);
}

void gpu_peer_enable(struct gpu_device *from, struct gpu_device *home)
{
    struct gpu_state *state      = from->state;
    _Atomic(enum gpu_peer) *peer = peer_at(state, from->ordinal, home->ordinal);
    struct gpu_visit visit;
    gpu_result_t answer;

    if (atomic_load(peer) != GPU_PEER_MAY) {
        return;
    }
    if (gpu_enter(state, from->ordinal, GPU_TO_WORK, &visit) != MEMSPAN_OK) {
        gpu_log_record(state, MEMSPAN_LOG_WARN, "memory of another device");
        return;
    }
    /* Waking the device may have enabled it. */
    if (atomic_load(peer) == GPU_PEER_MAY) {
        answer = state->driver->enable_peer(from, home);
        if (answer.code == GPU_PEER_ALREADY_ENABLED) {
            gpu_forget_error(state);
            answer.code = GPU_SUCCESS;
        }
        atomic_store(peer, (answer.code == GPU_SUCCESS) ? GPU_PEER_ENABLED : GPU_PEER_BROKEN);
        if (!gpu_log_failure(state, answer, "memory of another device")) {
            state->services->log(MEMSPAN_LOG_WARN, state->driver->name,
                                 "device %d does not reach device %d, though the driver said so",
                                 from->ordinal, home->ordinal);
        }
    }
    gpu_leave(&visit);
}

void gpu_peers_enable(struct gpu_device *home)
{
    struct gpu_state *state = home->state;
    int i;

    for (i = 0; i < state->device_count; i++) {
        if ((gpu_peer_get(state, i, home->ordinal) == GPU_PEER_MAY) &&
            gpu_is_active(state->devices[i])) {
            gpu_peer_enable(state->devices[i], home);
        }
    }
}

/* ---- opening and closing ---- */

static void close_device(struct gpu_device *device)
{
    const struct gpu_driver *driver = device->state->driver;
    struct gpu_visit visit;

    if (gpu_is_awake(device) &&
        (gpu_enter(device->state, device->ordinal, GPU_TO_GIVE_BACK, &visit) == MEMSPAN_OK)) {
        if (driver->settle != NULL) {
            (void)gpu_log_failure(device->state, driver->wait_for_device(device),
                                  "closing a device");
        }
        if (device->queue != NULL) {
            gpu_queue_drop(device->queue);
            device->queue = NULL;
        }
        gpu_spares_give(device, true);
        driver->drop_kernels(device);
        gpu_leave(&visit);
    }
    if ((driver->close != NULL) && !atomic_load(&device->state->ended)) {
        driver->close(device);
    }
}

static void free_device(struct gpu_device *device)
{
    while (device->forgotten != NULL) {
        struct gpu_queue *next = device->forgotten->next;
        free(device->forgotten);
        device->forgotten = next;
    }
    while (device->spares != NULL) { /* the driver's memory went with it */
        struct gpu_spare *next = device->spares->next;
        free(device->spares);
        device->spares = next;
    }
    free(device->queue);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

/* The driver's library stays in the process: it leaves threads behind that run its code. In a
 * forked child only our own records go. */
static void drop(struct gpu_state *state)
{
    bool ours = (getpid() == state->pid);
    int i;

    for (i = 0; ours && (i < state->device_count); i++) {
        close_device(state->devices[i]);
    }
    while (state->registrations != NULL) {
        struct gpu_registration *next = state->registrations->next;
        free(state->registrations);
        state->registrations = next;
    }
    if (ours) {
        gpu_kept_drop(state);
    }
    if (state->driver->drop != NULL) {
        state->driver->drop(state);
    }
    for (i = 0; i < state->device_count; i++) {
        free_device(state->devices[i]);
    }
    free(state->devices);
    free(state->peers);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

memspan_status_t gpu_open(const struct gpu_driver *driver, const memspan_services_t *services,
                          void **state_p)
{
    struct gpu_state *state = calloc(1, driver->state_size);
    memspan_status_t status;

    if (state == NULL) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, driver->name, "calloc", 0, "", NULL,
                              "no host memory for the backend");
    }
    state->services = services;
    state->driver   = driver;
    state->pid      = getpid();
    pthread_mutex_init(&state->lock, NULL);
    status = driver->load(state);
    if (status == MEMSPAN_OK) {
        status = gpu_devices_find(state);
    }
    if (status != MEMSPAN_OK) {
        drop(state);
        return status;
    }
    gpu_torch_offer(state);
    *state_p = state;
    return MEMSPAN_OK;
}

void gpu_close(void *state)
{
    gpu_torch_withdraw(state);
    drop(state);
}

int gpu_device_count(void *state)
{
    return ((const struct gpu_state *)state)->device_count;
}
