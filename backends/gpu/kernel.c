/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: starting the built-in kernels. */

#include "backends/gpu/gpu.h"

enum { SUM_BLOCKS_MAX = 1024 };

static memspan_status_t get_kernel(struct gpu_device *device, memspan_kernel_t which,
                                   void **function_p)
{
    char name[48];
    int place = gpu_kernel_find(which, name);

    return (place >= 0) ? device->state->driver->get_kernel(device, place, name, function_p)
                        : gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                                     "no kernel %#x on %s", (unsigned)which, device->info.name);
}

static memspan_status_t start(const struct gpu_queue *queue, void *function, unsigned blocks,
                              unsigned threads, memspan_kernel_call_t call)
{
    const struct gpu_state *state = queue->device->state;
    uint64_t count                = call.count;
    uint64_t whole                = (uint32_t)(int64_t)call.a;
    void *a = (call.kernel == MEMSPAN_KERNEL_ADD_ATOMIC) ? (void *)&whole : (void *)&call.a;
    void *arguments[]   = {&count, a, &call.x, &call.y, &call.z};
    gpu_result_t answer = state->driver->start(queue, function, blocks, threads, arguments);

    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "a kernel over %zu elements does not start on %s",
                           call.count, queue->device->info.name);
}

/* Enough blocks to fill the device, and no more than there is work for. */
static unsigned blocks_for(const struct gpu_device *device, size_t count)
{
    int processors = device->facts.multiprocessors;
    size_t most    = 16 * (size_t)((processors > 0) ? processors : 1);
    size_t blocks  = count / GPU_BLOCK_THREADS + ((count % GPU_BLOCK_THREADS != 0) ? 1 : 0);

    blocks = (blocks > most) ? most : blocks;
    return (blocks == 0) ? 1 : (unsigned)blocks;
}

static memspan_status_t start_sum(struct gpu_queue *queue, void *function,
                                  const memspan_kernel_call_t *call)
{
    unsigned blocks             = blocks_for(queue->device, call->count);
    memspan_kernel_call_t first = *call;
    memspan_kernel_call_t last  = *call;
    memspan_status_t status;

    if (blocks == 1) {
        return start(queue, function, 1, GPU_BLOCK_THREADS, *call);
    }
    blocks = (blocks > SUM_BLOCKS_MAX) ? SUM_BLOCKS_MAX : blocks;
    status = gpu_queue_need_scratch(queue, SUM_BLOCKS_MAX * sizeof(double));
    if (status != MEMSPAN_OK) {
        return status;
    }
    first.z    = queue->scratch;
    last.x     = first.z;
    last.count = blocks;
    status     = start(queue, function, blocks, GPU_BLOCK_THREADS, first);
    return (status == MEMSPAN_OK) ? start(queue, function, 1, GPU_BLOCK_THREADS, last) : status;
}

static memspan_status_t start_any(struct gpu_queue *queue, const memspan_kernel_call_t *call)
{
    struct gpu_device *device = queue->device;
    void *function            = NULL;
    memspan_status_t status   = get_kernel(device, call->kernel, &function);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (device->state->driver->start_call != NULL) {
        return device->state->driver->start_call(queue, function, call);
    }
    if (call->kernel == MEMSPAN_KERNEL_SUM) {
        return start_sum(queue, function, call);
    }
    if (call->kernel == MEMSPAN_KERNEL_CHASE) {
        return start(queue, function, 1, 1, *call);
    }
    return start(queue, function, blocks_for(device, call->count), GPU_BLOCK_THREADS, *call);
}

memspan_status_t gpu_launch(void *opaque_state, int ordinal, void *opaque,
                            const memspan_kernel_call_t *call)
{
    const struct gpu_state *state = opaque_state;
    struct gpu_device *device;
    struct gpu_queue *queue = NULL;
    struct gpu_visit visit;
    memspan_status_t status = gpu_device_get(opaque_state, ordinal, &device);

    if ((status == MEMSPAN_OK) && (call == NULL)) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL, "no kernel call");
    }
    if ((status == MEMSPAN_OK) && (state->driver->check_kernels != NULL)) {
        status = state->driver->check_kernels(device);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((call->z == NULL) && ((call->count > 0) || (call->kernel == MEMSPAN_KERNEL_SUM) ||
                              (call->kernel == MEMSPAN_KERNEL_CHASE))) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL, "a kernel was given a null address");
    }
    status = gpu_enter(opaque_state, ordinal, GPU_TO_ALLOCATE, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = gpu_queue_get(device, opaque, &queue);
    if (status == MEMSPAN_OK) {
        /* The two launches of a sum share a queue's scratch: no other may come between. */
        pthread_mutex_lock(&device->lock);
        status = start_any(queue, call);
        pthread_mutex_unlock(&device->lock);
    }
    gpu_leave(&visit);
    return status;
}
