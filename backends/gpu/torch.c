/* SPDX-License-Identifier: BSD-3-Clause */
/* torch.c: the functions of PyTorch's pluggable allocator (<memspan/torch.h>).
 *
 * PyTorch numbers devices as its driver does, CUDA's or HIP's, so an allocator is found by the
 * backend and the ordinal, and made at the first request. The functions are here because they wait
 * for the work of the program's own streams, which no call of the core does.
 *
 * A stream is a queue (memspan_queue_get()). Work that is captured does not run in the order of its
 * stream but whenever the graph is launched, so the memory of captures is no queue's: torch_pool.c.
 *
 * Invariant: an entry of allocators[] is set once, after the device's number. torch_state is the
 * open driver, CUDA's before HIP's, and is cleared before it is closed. */

#include "backends/gpu/gpu.h"
#include "core/base/calls.h"
#include <memspan/memspan.h>
#include <string.h>

enum { DEVICES_MAX = 64, ALIGN_BYTES = 256 };

static _Atomic(struct gpu_state *) torch_state;
static _Atomic(memspan_allocator_h) allocators[DEVICES_MAX];
static atomic_int numbers[DEVICES_MAX]; /* of Memspan's devices */
static atomic_bool is_hooked;
/* The waits, of which none begins once exit() has: PyTorch frees tensors there, too. */
static struct msp_calls waits;

void gpu_torch_offer(struct gpu_state *state)
{
    struct gpu_state *none = NULL;

    if (strcmp(state->driver->name, "cuda") == 0) {
        atomic_store(&torch_state, state);
    } else if (strcmp(state->driver->name, "hip") == 0) {
        (void)atomic_compare_exchange_strong(&torch_state, &none, state);
    }
}

void gpu_torch_withdraw(struct gpu_state *state)
{
    struct gpu_state *expected = state;

    (void)atomic_compare_exchange_strong(&torch_state, &expected, NULL);
}

/* The number of the driver's device. Opens the drivers. */
static memspan_status_t find_number(int ordinal, int *number_p)
{
    int count                     = memspan_device_count();
    const struct gpu_state *state = atomic_load(&torch_state);
    memspan_device_info_t info    = {.struct_size = sizeof(info)};

    for (int i = 0; (state != NULL) && (ordinal < DEVICES_MAX) && (i < count); i++) {
        if ((memspan_device_at(i, number_p) == MEMSPAN_OK) &&
            (memspan_device_describe(*number_p, &info) == MEMSPAN_OK) &&
            (info.ordinal == ordinal) && (strcmp(info.backend, state->driver->name) == 0)) {
            return MEMSPAN_OK;
        }
    }
    return memspan_services_get()->fail(MEMSPAN_ERR_NOT_FOUND, "", "", 0, "",
                                        "memquery lists the devices",
                                        "PyTorch's device %d is none of Memspan's", ordinal);
}

/* *is_new_p: no memory has come from it. */
static memspan_allocator_h get_allocator(int ordinal, bool *is_new_p)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_h made      = MEMSPAN_ALLOCATOR_NULL;
    memspan_space_h space;
    int number;

    if ((ordinal >= 0) && (ordinal < DEVICES_MAX)) {
        allocator = atomic_load(&allocators[ordinal]);
    }
    if ((allocator != MEMSPAN_ALLOCATOR_NULL) || (find_number(ordinal, &number) != MEMSPAN_OK) ||
        (memspan_space_get(&number, 1, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) ||
        (memspan_allocator_create(space, NULL, 0, &made) != MEMSPAN_OK)) {
        return allocator;
    }
    atomic_store(&numbers[ordinal], number);
    if (atomic_compare_exchange_strong(&allocators[ordinal], &allocator, made)) {
        *is_new_p = true;
        return made;
    }
    (void)memspan_allocator_destroy(made);
    return allocator;
}

/* ---- in the order of streams ---- */

void memspan_torch_hooks(void)
{
    atomic_store(&is_hooked, true);
}

/* False: the device has served no memory, or the stream is no queue. */
static bool find_queue(const struct gpu_state *state, int ordinal, void *stream,
                       memspan_queue_h *queue_p)
{
    return (state != NULL) && (ordinal >= 0) && (ordinal < DEVICES_MAX) &&
           (atomic_load(&allocators[ordinal]) != MEMSPAN_ALLOCATOR_NULL) &&
           (memspan_queue_get(atomic_load_explicit(&numbers[ordinal], memory_order_relaxed),
                              state->driver->queue_type, stream, MEMSPAN_QUEUE_LASTING,
                              queue_p) == MEMSPAN_OK);
}

/* NULL: no memory. */
static void *allocate(memspan_allocator_h allocator, size_t size_bytes, int ordinal, void *stream)
{
    memspan_queue_h queue;
    void *memory;

    if (!atomic_load(&is_hooked)) {
        return memspan_aligned_alloc(allocator, ALIGN_BYTES, size_bytes);
    }
    if (gpu_torch_is_captured(ordinal)) { /* no work uses what is free in a pool */
        memory = memspan_aligned_alloc(allocator, ALIGN_BYTES, size_bytes);
        if ((memory != NULL) && !gpu_torch_note(memory, ordinal, false)) {
            (void)memspan_free(memory);
            memory = NULL;
        }
        return memory;
    }
    return find_queue(atomic_load(&torch_state), ordinal, stream, &queue)
               ? memspan_alloc_on(allocator, size_bytes, queue)
               : memspan_aligned_alloc(allocator, ALIGN_BYTES, size_bytes);
}

void *memspan_torch_alloc(ptrdiff_t size_bytes, int device, void *stream)
{
    bool is_new                   = false;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    void *memory;

    if (size_bytes > 0) {
        allocator = get_allocator(device, &is_new);
    }
    if (allocator == MEMSPAN_ALLOCATOR_NULL) {
        return NULL;
    }
    memory = allocate(allocator, (size_t)size_bytes, device, stream);
    if (is_new) {
        msp_calls_watch_exit(&waits); /* the driver has registered its handlers of exit */
    }
    return memory;
}

/* The stream may be of another device than the memory. */
void memspan_torch_record_stream(void *pointer, void *stream)
{
    const struct gpu_state *state = atomic_load(&torch_state);
    memspan_queue_h queue;
    int i;

    for (i = 0; (pointer != NULL) && (i < DEVICES_MAX); i++) {
        if (find_queue(state, i, stream, &queue)) {
            (void)memspan_used_on(pointer, queue);
            return;
        }
    }
    if (pointer != NULL) {
        (void)gpu_torch_note(pointer, GPU_TORCH_WAITS, false);
    }
}

/* True: nothing on the device runs that was started before. */
static bool wait_for(struct gpu_state *state, int ordinal, const void *pointer)
{
    struct gpu_visit visit;
    gpu_result_t answer;

    if (gpu_enter(state, ordinal, GPU_TO_WAIT, &visit) != MEMSPAN_OK) {
        return false;
    }
    answer = state->driver->wait_for_device(visit.device);
    if (answer.code != GPU_SUCCESS) {
        (void)gpu_error(state, answer, "the memory at %p stays allocated: the wait failed",
                        pointer);
    }
    gpu_leave(&visit);
    return answer.code == GPU_SUCCESS;
}

static void free_in_order(struct gpu_state *state, void *pointer, int ordinal, void *stream)
{
    enum gpu_torch_fate fate =
        atomic_load(&is_hooked) ? gpu_torch_free_noted(pointer) : GPU_TORCH_WAIT;
    memspan_queue_h queue;

    if ((fate == GPU_TORCH_FREE) && (!find_queue(state, ordinal, stream, &queue) ||
                                     (memspan_free_on(pointer, queue) != MEMSPAN_OK))) {
        fate = GPU_TORCH_WAIT;
    }
    if ((fate == GPU_TORCH_WAIT) && wait_for(state, ordinal, pointer)) {
        (void)memspan_free(pointer);
    }
}

void memspan_torch_free(void *pointer, ptrdiff_t size_bytes, int device, void *stream)
{
    struct gpu_state *state = atomic_load(&torch_state);

    (void)size_bytes;
    if ((pointer == NULL) || (state == NULL) || !msp_calls_begin(&waits)) {
        return;
    }
    if (atomic_load(&is_hooked) && gpu_torch_is_captured(device)) {
        (void)gpu_torch_note(pointer, device, true);
    } else {
        free_in_order(state, pointer, device, stream);
    }
    msp_calls_end(&waits);
}

void memspan_torch_reset(void)
{
    (void)memspan_trim();
}

void memspan_torch_pool_release(int device, memspan_torch_pool_t pool)
{
    struct gpu_state *state = atomic_load(&torch_state);

    if ((state == NULL) || !msp_calls_begin(&waits)) {
        return;
    }
    if (gpu_torch_leave_pool(device, &pool) && wait_for(state, device, NULL)) {
        gpu_torch_release(device, &pool);
    }
    msp_calls_end(&waits);
}
