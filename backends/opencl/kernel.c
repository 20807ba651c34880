/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: starting the built-in kernels. The platform's lock is held from setting the arguments
 * to enqueueing, because a kernel object keeps its arguments. */

#include "backends/opencl/opencl.h"
#include "core/base/capability.h"
#include <stdlib.h>

enum { USES_X = 1, USES_Y = 2, USES_Z = 4 };
/* Work-items in a group: enough for any GPU's vectors; memspan_sum has space for this many. */
enum { GROUP = 64 };

/* The arguments of a kernel. */
static const struct form {
    unsigned uses;
    unsigned counted;   /* of those, count elements long */
    size_t fixed_bytes; /* length of the others */
    bool takes_double;
    bool takes_int;
    bool takes_count; /* there is no work-item for each element: */
    bool one_group;   /* one work-group does it all */
    bool one_item;    /* one work-item does it all */
} forms[] = {
    [MEMSPAN_KERNEL_DAXPY]      = {.uses         = USES_X | USES_Y | USES_Z,
                                   .counted      = USES_X | USES_Y | USES_Z,
                                   .takes_double = true},
    [MEMSPAN_KERNEL_FILL]       = {.uses = USES_Z, .counted = USES_Z, .takes_double = true},
    [MEMSPAN_KERNEL_SUM]        = {.uses        = USES_X | USES_Z,
                                   .counted     = USES_X,
                                   .fixed_bytes = sizeof(double),
                                   .takes_count = true,
                                   .one_group   = true},
    [MEMSPAN_KERNEL_CHASE]      = {.uses        = USES_X | USES_Z,
                                   .fixed_bytes = sizeof(void *),
                                   .takes_count = true,
                                   .one_item    = true},
    [MEMSPAN_KERNEL_ADD_ATOMIC] = {.uses        = USES_Z,
                                   .fixed_bytes = sizeof(int32_t),
                                   .takes_int   = true},
};

static const struct form combining = {.uses    = USES_X | USES_Y | USES_Z,
                                      .counted = USES_X | USES_Y | USES_Z};

static const struct form *form_of(memspan_kernel_t kernel)
{
    return ((int)kernel < GPU_KERNELS) ? &forms[kernel] : &combining;
}

static bool needs_doubles(memspan_kernel_t kernel)
{
    int element = (int)kernel & 0xff;

    return ((int)kernel < GPU_KERNELS)
               ? (kernel != MEMSPAN_KERNEL_CHASE) && (kernel != MEMSPAN_KERNEL_ADD_ATOMIC)
               : (element == MEMSPAN_ELEMENT_F64) || (element == MEMSPAN_ELEMENT_C64);
}

const char *opencl_kernel_missing(const struct opencl_device *device, memspan_kernel_t kernel)
{
    if (!device->has_compiler) {
        return "its driver has no compiler";
    }
    if ((device->svm == 0) && !opencl_may_import(device)) {
        return "there is no memory with real addresses";
    }
    if (!device->has_doubles && needs_doubles(kernel)) {
        return "the device has no doubles";
    }
    if ((kernel == MEMSPAN_KERNEL_ADD_ATOMIC) && ((device->svm & OPENCL_SVM_ATOMICS) == 0)) {
        return "its memory has no atomics between host and device";
    }
    return NULL;
}

/* One address of a call: the block that it lies in. */
struct argument {
    char name;
    const char *address;
    const struct opencl_block *block; /* NULL: plain host memory that the device reaches */
};

static memspan_status_t find_argument(const struct opencl_device *device, size_t size_bytes,
                                      struct argument *argument)
{
    const struct opencl_state *state = device->platform->state;

    if (argument->address == NULL) {
        return opencl_refuse(state, MEMSPAN_ERR_INVALID, NULL, "argument %c of the kernel is NULL",
                             argument->name);
    }
    argument->block = opencl_block_find(device->platform, argument->address);
    if (argument->block == NULL) {
        if ((device->svm & OPENCL_SVM_SYSTEM) != 0) {
            return MEMSPAN_OK;
        }
        return opencl_refuse(state, MEMSPAN_ERR_INVALID,
                             "use memory from a space of this device, or import the pages",
                             "argument %c: %s does not reach %p, which is no memory of its context",
                             argument->name, device->info.name, (const void *)argument->address);
    }
    if (size_bytes >
        (size_t)(argument->block->base + argument->block->size_bytes - argument->address)) {
        return opencl_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                             "argument %c: %zu bytes at %p run past the end of their block",
                             argument->name, size_bytes, (const void *)argument->address);
    }
    return MEMSPAN_OK;
}

static memspan_status_t find_arguments(const struct opencl_device *device,
                                       const memspan_kernel_call_t *call,
                                       struct argument arguments[3], size_t *count_p)
{
    const struct form *form     = form_of(call->kernel);
    const void *const address[] = {call->x, call->y, call->z};
    size_t element_bytes        = msp_element_bytes(call->kernel);
    size_t count                = 0;
    int i;

    element_bytes = (element_bytes > 0) ? element_bytes : sizeof(double);
    if (call->count > SIZE_MAX / element_bytes - GROUP) {
        return opencl_refuse(device->platform->state, MEMSPAN_ERR_INVALID, NULL,
                             "count %zu is too large", call->count);
    }
    for (i = 0; i < 3; i++) {
        size_t bytes =
            ((form->counted & (1u << i)) != 0) ? call->count * element_bytes : form->fixed_bytes;
        memspan_status_t status;
        if ((form->uses & (1u << i)) == 0) {
            continue;
        }
        arguments[count].name    = "xyz"[i];
        arguments[count].address = address[i];
        status                   = find_argument(device, bytes, &arguments[count]);
        if (status != MEMSPAN_OK) {
            return status;
        }
        count++;
    }
    *count_p = count;
    return MEMSPAN_OK;
}

static memspan_status_t set_address(const struct opencl_device *device, cl_kernel kernel,
                                    cl_uint *index, const struct argument *argument)
{
    const struct opencl_calls *cl    = &device->platform->state->cl;
    const struct opencl_block *block = argument->block;
    cl_ulong offset                  = 0;
    const char *call;
    cl_int code;

    if ((block != NULL) && (block->buffer != NULL)) {
        offset = (cl_ulong)(argument->address - block->base);
        call   = "clSetKernelArg";
        code   = cl->clSetKernelArg(kernel, *index, sizeof(block->buffer), &block->buffer);
    } else {
        call = "clSetKernelArgSVMPointer";
        code = cl->clSetKernelArgSVMPointer(kernel, *index, argument->address);
    }
    if (code == OPENCL_SUCCESS) {
        call = "clSetKernelArg";
        code = cl->clSetKernelArg(kernel, *index + 1, sizeof(offset), &offset);
    }
    *index += 2;
    return (code == OPENCL_SUCCESS) ? MEMSPAN_OK
                                    : opencl_error(device->platform->state, call, code,
                                                   "argument %c of the kernel at %p",
                                                   argument->name, (const void *)argument->address);
}

static memspan_status_t set_scalars(const struct opencl_device *device, cl_kernel kernel,
                                    cl_uint index, const memspan_kernel_call_t *call)
{
    const struct opencl_calls *cl = &device->platform->state->cl;
    const struct form *form       = form_of(call->kernel);
    cl_ulong count                = call->count;
    cl_int whole                  = 0;
    cl_int code                   = OPENCL_SUCCESS;

    if (form->takes_double) {
        code = cl->clSetKernelArg(kernel, index++, sizeof(call->a), &call->a);
    } else if (form->takes_int) {
        whole = (cl_int)call->a;
        code  = cl->clSetKernelArg(kernel, index++, sizeof(whole), &whole);
    }
    if ((code == OPENCL_SUCCESS) && form->takes_count) {
        code = cl->clSetKernelArg(kernel, index, sizeof(count), &count);
    }
    return (code == OPENCL_SUCCESS) ? MEMSPAN_OK
                                    : opencl_error(device->platform->state, "clSetKernelArg", code,
                                                   "number %u of the kernel", index);
}

/* Tell the kernel all memory that pointers in its data may lead to. */
static memspan_status_t tell_blocks(struct opencl_device *device, int which, cl_kernel *kernel)
{
    struct opencl_platform *platform = device->platform;
    const struct opencl_state *state = platform->state;
    cl_int code                      = OPENCL_SUCCESS;
    cl_bool yes                      = 1;
    size_t count                     = 0;
    const void **list;
    size_t i;

    if (device->kernels_told[which] == platform->generation) {
        return MEMSPAN_OK;
    }
    list = calloc(platform->block_count + 1, sizeof(list[0]));
    if (list == NULL) {
        return opencl_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a list");
    }
    for (i = 0; i < platform->block_count; i++) {
        if (platform->blocks[i]->svm != NULL) {
            list[count++] = platform->blocks[i]->svm;
        }
    }
    if (count > 0) {
        code = state->cl.clSetKernelExecInfo(*kernel, OPENCL_KERNEL_EXEC_INFO_SVM_PTRS,
                                             count * sizeof(list[0]), list);
    }
    free((void *)list);
    if ((code == OPENCL_SUCCESS) && ((device->svm & OPENCL_SVM_SYSTEM) != 0)) {
        code = state->cl.clSetKernelExecInfo(*kernel, OPENCL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
                                             sizeof(yes), &yes);
    }
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clSetKernelExecInfo", code,
                            "cannot tell the kernel of %zu blocks", count);
    }
    device->kernels_told[which] = platform->generation;
    device->kernels_hold[which] = (count > 0);
    return MEMSPAN_OK;
}

/* OpenCL cannot take an empty list: a kernel that still holds a list of blocks that are all freed
 * is replaced. */
static memspan_status_t get_kernel(struct opencl_device *device, int which, const char *name,
                                   cl_kernel *kernel_p)
{
    struct opencl_platform *platform = device->platform;
    bool any                         = false;
    memspan_status_t status;
    size_t i;

    for (i = 0; !any && (i < platform->block_count); i++) {
        any = (platform->blocks[i]->svm != NULL);
    }
    if ((device->kernels[which] != NULL) && device->kernels_hold[which] && !any) {
        platform->state->cl.clReleaseKernel(device->kernels[which]);
        device->kernels[which] = NULL;
    }
    status = opencl_kernel_get(device, which, name, kernel_p);
    return (status != MEMSPAN_OK) ? status : tell_blocks(device, which, kernel_p);
}

static memspan_status_t enqueue_range(struct opencl_queue *queue, cl_kernel kernel, size_t first,
                                      size_t count, size_t local)
{
    const struct opencl_device *device = queue->device;
    const struct opencl_state *state   = device->platform->state;
    cl_int code;

    if (count == 0) {
        return MEMSPAN_OK;
    }
    code = state->cl.clEnqueueNDRangeKernel(queue->handle, kernel, 1, &first, &count, &local, 0,
                                            NULL, NULL);
    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clEnqueueNDRangeKernel", code,
                            "%s does not start a kernel over %zu elements", device->info.name,
                            count);
    }
    queue->enqueued++;
    return MEMSPAN_OK;
}

static memspan_status_t enqueue(struct opencl_queue *queue, cl_kernel kernel,
                                const memspan_kernel_call_t *call)
{
    const struct opencl_device *device = queue->device;
    const struct opencl_state *state   = device->platform->state;
    const struct form *form            = form_of(call->kernel);
    size_t local = (form->one_item || (device->work_group_size_max < GROUP)) ? 1 : GROUP;
    size_t whole = (form->one_item || form->one_group) ? local : call->count / local * local;
    size_t rest  = (form->one_item || form->one_group) ? 0 : call->count % local;
    memspan_status_t status = enqueue_range(queue, kernel, 0, whole, local);
    cl_int code;

    if (status == MEMSPAN_OK) {
        status = enqueue_range(queue, kernel, whole, rest, 1);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    /* The host may wait for the kernel's writes, without another call: let it begin. */
    code = state->cl.clFlush(queue->handle);
    return (code == OPENCL_SUCCESS)
               ? MEMSPAN_OK
               : opencl_error(state, "clFlush", code, "the kernel was not sent to %s",
                              device->info.name);
}

static memspan_status_t launch_locked(struct opencl_device *device, void *opaque, int which,
                                      const char *name, const memspan_kernel_call_t *call)
{
    struct opencl_platform *platform = device->platform;
    struct argument arguments[3];
    struct opencl_queue *queue;
    cl_kernel kernel;
    cl_uint index           = 0;
    size_t count            = 0;
    memspan_status_t status = find_arguments(device, call, arguments, &count);
    size_t i;

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = opencl_queue_get(device, opaque, &queue);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = get_kernel(device, which, name, &kernel);
    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        status = set_address(device, kernel, &index, &arguments[i]);
    }
    if (status == MEMSPAN_OK) {
        status = set_scalars(device, kernel, index, call);
    }
    if (status == MEMSPAN_OK) {
        status = opencl_hand_over(queue, platform->blocks, platform->block_count);
    }
    return (status != MEMSPAN_OK) ? status : enqueue(queue, kernel, call);
}

memspan_status_t opencl_launch(void *state, int ordinal, void *queue,
                               const memspan_kernel_call_t *call)
{
    struct opencl_device *device;
    const struct form *form;
    const char *missing;
    char name[48];
    int which;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    which = gpu_kernel_find(call->kernel, name);
    if (which < 0) {
        return opencl_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL, "no kernel %#x on %s",
                             (unsigned)call->kernel, device->info.name);
    }
    form = form_of(call->kernel);
    pthread_mutex_lock(&device->platform->lock);
    missing = opencl_kernel_missing(device, call->kernel);
    if (missing != NULL) {
        status = opencl_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL, "%s cannot run %s: %s",
                               device->info.name, name, missing);
    } else if ((call->count != 0) || form->one_group || form->one_item) {
        status = launch_locked(device, queue, which, name, call);
    }
    pthread_mutex_unlock(&device->platform->lock);
    return status;
}
