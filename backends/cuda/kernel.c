/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: starting the built-in kernels, each compiled by the driver when first used. */

#include "backends/cuda/cuda.h"
#include "core/base/platform.h"
#include <stdio.h>
#include <string.h>

enum { SUM_BLOCKS_MAX = 1024, LEAST_CAPABILITY = 50 };

bool cuda_has_kernels(const struct cuda_device *device)
{
    const struct cuda_calls *cu = &device->state->cu;

    return (cu->cuModuleLoadDataEx != NULL) && (cu->cuModuleUnload != NULL) &&
           (cu->cuModuleGetFunction != NULL) && (cu->cuLaunchKernel != NULL) &&
           (device->facts.capability >= LEAST_CAPABILITY);
}

/* The device's lock held, as for all that follows. */
static memspan_status_t compile(struct cuda_device *device, const char *text, const char *name,
                                struct cuda_kernel *kernel)
{
    const struct cuda_calls *cu  = &device->state->cu;
    char said[160]               = "";
    cuda_jit_option_t options[2] = {CUDA_JIT_ERROR_LOG_BUFFER,
                                    CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[2]              = {said, (void *)(uintptr_t)(sizeof(said) - 1)};
    struct cuda_kernel made      = {NULL, NULL};
    cuda_result_t code           = cu->cuModuleLoadDataEx(&made.module, text, 2, options, values);

    if (code != CUDA_SUCCESS) {
        said[strcspn(said, "\n")] = '\0';
        return cuda_error(device->state, "cuModuleLoadDataEx", code,
                          "the kernel %s does not compile for %s%s%s", name, device->info.name,
                          (said[0] == '\0') ? "" : ": ", said);
    }
    code = cu->cuModuleGetFunction(&made.function, made.module, name);
    if (code != CUDA_SUCCESS) {
        (void)cu->cuModuleUnload(made.module);
        return cuda_error(device->state, "cuModuleGetFunction", code,
                          "the compiled kernel %s cannot be had", name);
    }
    *kernel = made;
    return MEMSPAN_OK;
}

static bool is_combining(memspan_kernel_t kernel)
{
    return (kernel >= MEMSPAN_KERNEL_COMBINE_FIRST) && (kernel <= MEMSPAN_KERNEL_COMBINE_LAST);
}

static memspan_status_t get_kernel(struct cuda_device *device, memspan_kernel_t which,
                                   struct cuda_kernel **kernel_p)
{
    int operation = ((int)which - MEMSPAN_KERNEL_COMBINE_FIRST) >> 8;
    int element   = ((int)which - MEMSPAN_KERNEL_COMBINE_FIRST) & 0xff;
    char text[CUDA_PTX_BYTES];
    char name[48];
    struct cuda_kernel *kernel;
    memspan_status_t status = MEMSPAN_OK;
    bool there = is_combining(which) ? cuda_ptx_write_combine(operation, element, text, name)
                                     : cuda_ptx_write(which, device->facts.capability, text, name);

    if (!there) {
        return cuda_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL, "no kernel %#x on %s",
                           (unsigned)which, device->info.name);
    }
    kernel = is_combining(which) ? &device->combine[operation][element] : &device->kernels[which];
    if (kernel->function == NULL) {
        status = compile(device, text, name, kernel);
    }
    *kernel_p = kernel;
    return status;
}

static memspan_status_t start(struct cuda_queue *queue, const struct cuda_kernel *kernel,
                              unsigned blocks, unsigned threads, memspan_kernel_call_t call)
{
    const struct cuda_device *device = queue->device;
    uint64_t count                   = call.count;
    uint64_t whole                   = (uint32_t)(int64_t)call.a;
    void *a = (call.kernel == MEMSPAN_KERNEL_ADD_ATOMIC) ? (void *)&whole : (void *)&call.a;
    void *arguments[]  = {&count, a, &call.x, &call.y, &call.z};
    cuda_result_t code = device->state->cu.cuLaunchKernel(kernel->function, blocks, 1, 1, threads,
                                                          1, 1, 0, queue->stream, arguments, NULL);

    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : cuda_error(device->state, "cuLaunchKernel", code,
                                               "a kernel over %zu elements does not start on %s",
                                               call.count, device->info.name);
}

/* Enough blocks to fill the device, and no more than there is work for. */
static unsigned blocks_for(const struct cuda_device *device, size_t count)
{
    size_t most = (size_t)((device->facts.multiprocessors > 0) ? device->facts.multiprocessors : 1);
    size_t blocks = count / CUDA_BLOCK_THREADS + ((count % CUDA_BLOCK_THREADS != 0) ? 1 : 0);

    most *= 16;
    blocks = (blocks > most) ? most : blocks;
    return (blocks == 0) ? 1 : (unsigned)blocks;
}

static memspan_status_t start_sum(struct cuda_queue *queue, const struct cuda_kernel *kernel,
                                  const memspan_kernel_call_t *call)
{
    unsigned blocks             = blocks_for(queue->device, call->count);
    memspan_kernel_call_t first = *call;
    memspan_kernel_call_t last  = *call;
    memspan_status_t status;

    if (blocks == 1) {
        return start(queue, kernel, 1, CUDA_BLOCK_THREADS, *call);
    }
    blocks = (blocks > SUM_BLOCKS_MAX) ? SUM_BLOCKS_MAX : blocks;
    status = cuda_queue_need_scratch(queue, SUM_BLOCKS_MAX * sizeof(double));
    if (status != MEMSPAN_OK) {
        return status;
    }
    first.z    = (void *)(uintptr_t)queue->scratch;
    last.x     = first.z;
    last.count = blocks;
    status     = start(queue, kernel, blocks, CUDA_BLOCK_THREADS, first);
    return (status == MEMSPAN_OK) ? start(queue, kernel, 1, CUDA_BLOCK_THREADS, last) : status;
}

static memspan_status_t start_any(struct cuda_queue *queue, const memspan_kernel_call_t *call)
{
    struct cuda_device *device = queue->device;
    struct cuda_kernel *kernel;
    memspan_status_t status = get_kernel(device, call->kernel, &kernel);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (call->kernel == MEMSPAN_KERNEL_SUM) {
        return start_sum(queue, kernel, call);
    }
    if (call->kernel == MEMSPAN_KERNEL_CHASE) {
        return start(queue, kernel, 1, 1, *call);
    }
    return start(queue, kernel, blocks_for(device, call->count), CUDA_BLOCK_THREADS, *call);
}

static memspan_status_t check_call(const struct cuda_device *device,
                                   const memspan_kernel_call_t *call)
{
    if (call == NULL) {
        return cuda_refuse(device->state, MEMSPAN_ERR_INVALID, NULL, "no kernel call");
    }
    if (!cuda_has_kernels(device)) {
        return cuda_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                           "%s of compute capability %d.%d is too old for the built-in kernels",
                           device->info.name, device->facts.capability / 10,
                           device->facts.capability % 10);
    }
    if ((call->z == NULL) && ((call->count > 0) || (call->kernel == MEMSPAN_KERNEL_SUM) ||
                              (call->kernel == MEMSPAN_KERNEL_CHASE))) {
        return cuda_refuse(device->state, MEMSPAN_ERR_INVALID, NULL,
                           "a kernel was given a null address");
    }
    return MEMSPAN_OK;
}

memspan_status_t cuda_launch(void *state, int ordinal, void *opaque,
                             const memspan_kernel_call_t *call)
{
    struct cuda_device *device;
    struct cuda_queue *queue;
    memspan_status_t status = cuda_device_get(state, ordinal, &device);
    int before              = 0;

    if (status == MEMSPAN_OK) {
        status = check_call(device, call);
    }
    if (status == MEMSPAN_OK) {
        status = cuda_enter(state, ordinal, &device, &before);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = cuda_queue_get(device, opaque, &queue);
    if (status == MEMSPAN_OK) {
        /* The two launches of a sum share a queue's scratch: nobody may come between. */
        pthread_mutex_lock(&device->lock);
        status = start_any(queue, call);
        pthread_mutex_unlock(&device->lock);
    }
    cuda_leave(device, before);
    return status;
}

static void drop_kernel(const struct cuda_device *device, struct cuda_kernel *kernel)
{
    cuda_result_t code;

    if (kernel->module == NULL) {
        return;
    }
    code = device->state->cu.cuModuleUnload(kernel->module);
    if (code != CUDA_SUCCESS) {
        cuda_log_failure(device->state, "cuModuleUnload", code, "closing a device");
    }
    kernel->module = NULL;
}

void cuda_kernels_forget(struct cuda_device *device)
{
    memset(device->kernels, 0, sizeof(device->kernels));
    memset(device->combine, 0, sizeof(device->combine));
}

void cuda_kernels_drop(struct cuda_device *device)
{
    int i;
    int j;

    for (i = 0; i < CUDA_KERNELS; i++) {
        drop_kernel(device, &device->kernels[i]);
    }
    for (i = 0; i < CUDA_OPERATIONS; i++) {
        for (j = 0; j < CUDA_ELEMENTS; j++) {
            drop_kernel(device, &device->combine[i][j]);
        }
    }
}
