/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: starting the built-in kernels, each compiled by the driver when first used. */

#include "backends/level_zero/level_zero.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sum goes in three steps, each by fewer work-items, and every step's sums are kept apart. */
enum { SUM_FIRST = 16384, SUM_SECOND = 128, GROUPS_MAX = 4096 };

/* Arguments: how many, a number, three addresses. */
enum { FIRST_ADDRESS = 2 };

/* Where a device does not tell its limits. */
enum { THREADS_UNTOLD = 32, GROUPS_UNTOLD = 64 };

/* What the compiler said, its first line. */
static void read_log(const struct gpu_state *state, lz_build_log_h log, char *said, size_t size)
{
    size_t length = 0;
    char *text;

    if ((log == NULL) ||
        (lz_calls(state)->zeModuleBuildLogGetString(log, &length, NULL) != ZE_RESULT_SUCCESS) ||
        (length == 0)) {
        return;
    }
    text = calloc(1, length + 1);
    if ((text != NULL) &&
        (lz_calls(state)->zeModuleBuildLogGetString(log, &length, text) == ZE_RESULT_SUCCESS)) {
        snprintf(said, size, ": %.*s", (int)strcspn(text, "\n"), text);
    }
    free(text);
}

static void drop_log(const struct gpu_state *state, lz_build_log_h log)
{
    lz_result_t code = (log == NULL) ? (lz_result_t)ZE_RESULT_SUCCESS
                                     : lz_calls(state)->zeModuleBuildLogDestroy(log);

    (void)gpu_log_failure(state, LZ_ANSWER("zeModuleBuildLogDestroy", code),
                          "giving back what a compiler said");
}

/* The device's lock held, as for all that follows. */
static memspan_status_t compile(struct lz_device *device, const struct lz_spirv *spirv,
                                lz_module_h *module_p)
{
    const struct gpu_state *state = device->gpu.state;
    lz_module_desc_t desc         = {.stype        = LZ_STRUCTURE_TYPE_MODULE_DESC,
                                     .format       = LZ_MODULE_FORMAT_IL_SPIRV,
                                     .inputSize    = spirv->count * sizeof(spirv->words[0]),
                                     .pInputModule = (const uint8_t *)spirv->words,
                                     .pBuildFlags  = "-ze-opt-greater-than-4GB-buffer-required"};
    lz_build_log_h log            = NULL;
    lz_module_h module            = NULL;
    char said[160]                = "";
    lz_result_t code = lz_calls(state)->zeModuleCreate(device->driver->context, device->handle,
                                                       &desc, &module, &log);

    /* A loader that returns handles of its own does not do so where a call failed, and the log
     * would be no handle to it. */
    if ((code != ZE_RESULT_SUCCESS) && (device->driver->own_handle != device->driver->handle)) {
        log = NULL;
    }
    if (code != ZE_RESULT_SUCCESS) {
        read_log(state, log, said, sizeof(said));
    }
    drop_log(state, log);
    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(state, LZ_ANSWER("zeModuleCreate", code),
                         "the kernel %s does not compile for %s%s", spirv->name,
                         device->gpu.info.name, said);
    }
    *module_p = module;
    return MEMSPAN_OK;
}

static memspan_status_t make_kernel(struct lz_device *device, const struct lz_spirv *spirv,
                                    struct lz_kernel *kernel)
{
    const struct gpu_state *state = device->gpu.state;
    lz_kernel_desc_t desc = {.stype = LZ_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = spirv->name};
    struct lz_kernel made = {NULL, NULL};
    const char *call      = "zeKernelCreate";
    lz_result_t code;
    memspan_status_t status = compile(device, spirv, &made.module);

    if (status != MEMSPAN_OK) {
        return status;
    }
    code = lz_calls(state)->zeKernelCreate(made.module, &desc, &made.kernel);
    if (code == ZE_RESULT_SUCCESS) {
        /* Whatever an address leads to must be there as well. */
        call = "zeKernelSetIndirectAccess";
        code = lz_calls(state)->zeKernelSetIndirectAccess(
            made.kernel, LZ_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                             LZ_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                             LZ_KERNEL_INDIRECT_ACCESS_FLAG_SHARED);
        if (code != ZE_RESULT_SUCCESS) {
            (void)lz_calls(state)->zeKernelDestroy(made.kernel);
        }
    }
    if (code != ZE_RESULT_SUCCESS) {
        (void)lz_calls(state)->zeModuleDestroy(made.module);
        return gpu_error(state, LZ_ANSWER(call, code), "the compiled kernel %s is missing",
                         spirv->name);
    }
    *kernel = made;
    return MEMSPAN_OK;
}

memspan_status_t lz_get_kernel(struct gpu_device *gpu, int place, const char *name,
                               void **function_p)
{
    struct lz_device *device = lz_device(gpu);
    struct lz_kernel *kernel = &device->kernels[place];
    memspan_status_t status  = MEMSPAN_OK;
    struct lz_spirv spirv;

    snprintf(spirv.name, sizeof(spirv.name), "%s", name);
    if (!lz_spirv_write(place, &spirv)) {
        return gpu_refuse(gpu->state, MEMSPAN_ERR_UNSUPPORTED, NULL, "no kernel %s on %s", name,
                          gpu->info.name);
    }
    if (spirv.fp64 && !device->facts.fp64) {
        return gpu_refuse(gpu->state, MEMSPAN_ERR_UNSUPPORTED,
                          "Intel's driver emulates it where NEOReadDebugKeys=1 "
                          "OverrideDefaultFP64Settings=1 IGC_EnableDPEmulation=1 are set",
                          "%s has no double precision, which the kernel %s needs", gpu->info.name,
                          name);
    }
    if (kernel->kernel == NULL) {
        status = make_kernel(device, &spirv, kernel);
    }
    *function_p = kernel;
    return status;
}

/* What each kernel has its arguments for: addresses that it does not name are not looked at. */
static void fill_arguments(const memspan_kernel_call_t *call, uint64_t arguments[5])
{
    bool atomic = (call->kernel == MEMSPAN_KERNEL_ADD_ATOMIC);
    bool has_x  = !atomic && (call->kernel != MEMSPAN_KERNEL_FILL);
    bool has_y =
        (call->kernel == MEMSPAN_KERNEL_DAXPY) || (call->kernel >= MEMSPAN_KERNEL_COMBINE_FIRST);

    arguments[0] = call->count;
    if (atomic) {
        arguments[1] = (uint32_t)(int64_t)call->a;
    } else {
        memcpy(&arguments[1], &call->a, sizeof(call->a));
    }
    arguments[2] = has_x ? (uint64_t)(uintptr_t)call->x : 0;
    arguments[3] = has_y ? (uint64_t)(uintptr_t)call->y : 0;
    arguments[4] = (uint64_t)(uintptr_t)call->z;
}

static lz_result_t set_arguments(const struct gpu_state *state, lz_kernel_h kernel,
                                 const memspan_kernel_call_t *call)
{
    lz_result_t code = ZE_RESULT_SUCCESS;
    uint64_t arguments[5];
    uint32_t i;

    fill_arguments(call, arguments);
    for (i = 0; (code == ZE_RESULT_SUCCESS) && (i < 5); i++) {
        /* No address is a NULL argument: drivers before September 2023 refuse a pointer to zero. */
        bool none = (i >= FIRST_ADDRESS) && (arguments[i] == 0);
        code      = lz_calls(state)->zeKernelSetArgumentValue(kernel, i, sizeof(arguments[i]),
                                                         none ? NULL : &arguments[i]);
    }
    return code;
}

static memspan_status_t start(const struct gpu_queue *queue, const struct lz_kernel *kernel,
                              uint32_t groups, uint32_t threads, const memspan_kernel_call_t *call)
{
    const struct gpu_state *state = queue->device->state;
    const struct lz_calls *ze     = lz_calls(state);
    lz_group_count_t grid         = {groups, 1, 1};
    gpu_result_t answer =
        LZ_ANSWER("zeKernelSetGroupSize", ze->zeKernelSetGroupSize(kernel->kernel, threads, 1, 1));
    lz_list_h list;

    if (answer.code == GPU_SUCCESS) {
        answer = LZ_ANSWER("zeKernelSetArgumentValue", set_arguments(state, kernel->kernel, call));
    }
    if (answer.code == GPU_SUCCESS) {
        answer = lz_stream_begin(queue, &list);
    }
    if (answer.code == GPU_SUCCESS) {
        answer = lz_stream_end(queue, LZ_ANSWER("zeCommandListAppendLaunchKernel",
                                                ze->zeCommandListAppendLaunchKernel(
                                                    list, kernel->kernel, &grid, NULL, 0, NULL)));
    }
    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "a kernel over %zu elements does not start on %s",
                           call->count, queue->device->info.name);
}

/* Work-items in a group, a power of two, and groups: enough to fill a device, and no more than
 * there is work. */
static uint32_t threads_of(const struct lz_device *device)
{
    uint32_t told    = device->facts.group_size_max;
    uint32_t most    = (told == 0) ? (uint32_t)THREADS_UNTOLD : told;
    uint32_t threads = LZ_GROUP_THREADS;

    while (threads > most) {
        threads /= 2;
    }
    return threads;
}

static uint32_t groups_for(const struct lz_device *device, size_t count, uint32_t threads)
{
    size_t most   = device->facts.group_count_max;
    size_t groups = count / threads + ((count % threads != 0) ? 1 : 0);

    most   = (most == 0) ? GROUPS_UNTOLD : ((most > GROUPS_MAX) ? GROUPS_MAX : most);
    groups = (groups > most) ? most : groups;
    return (groups == 0) ? 1 : (uint32_t)groups;
}

/* Sums of @p step: that many work-items, or one where there is little work. */
static memspan_status_t start_sum(struct gpu_queue *queue, const struct lz_kernel *kernel,
                                  const memspan_kernel_call_t *call)
{
    static const uint32_t steps[]  = {SUM_FIRST, SUM_SECOND};
    const struct lz_device *device = lz_device(queue->device);
    memspan_kernel_call_t part     = *call;
    uint32_t threads               = threads_of(device);
    memspan_status_t status        = MEMSPAN_OK;
    double *scratch;
    size_t i;

    if (call->count > SUM_SECOND) {
        status = gpu_queue_need_scratch(queue, (SUM_FIRST + SUM_SECOND) * sizeof(double));
    }
    scratch = queue->scratch;
    for (i = 0; (status == MEMSPAN_OK) && (i < 2); i++) {
        uint32_t size   = (threads < steps[i]) ? threads : steps[i];
        uint32_t groups = groups_for(device, steps[i], size);
        if (part.count > steps[i]) {
            part.z     = scratch + ((i == 0) ? 0 : SUM_FIRST);
            status     = start(queue, kernel, groups, size, &part);
            part.x     = part.z;
            part.count = (size_t)groups * size;
        }
    }
    part.z = call->z;
    status = (status == MEMSPAN_OK) ? start(queue, kernel, 1, 1, &part) : status;
    return (status == MEMSPAN_OK) ? lz_note_scratch(queue) : status;
}

memspan_status_t lz_start_call(struct gpu_queue *queue, void *function,
                               const memspan_kernel_call_t *call)
{
    const struct lz_device *device = lz_device(queue->device);
    uint32_t threads               = threads_of(device);

    if (call->kernel == MEMSPAN_KERNEL_SUM) {
        return start_sum(queue, function, call);
    }
    if ((call->kernel == MEMSPAN_KERNEL_CHASE) || (call->kernel == MEMSPAN_KERNEL_ADD_ATOMIC)) {
        return start(queue, function, 1, 1, call);
    }
    return start(queue, function, groups_for(device, call->count, threads), threads, call);
}

static void drop_kernel(const struct lz_device *device, struct lz_kernel *kernel)
{
    lz_result_t code;

    if (kernel->module == NULL) {
        return;
    }
    code = LZ(device)->zeKernelDestroy(kernel->kernel);
    (void)gpu_log_failure(device->gpu.state, LZ_ANSWER("zeKernelDestroy", code),
                          "closing a device");
    code = LZ(device)->zeModuleDestroy(kernel->module);
    (void)gpu_log_failure(device->gpu.state, LZ_ANSWER("zeModuleDestroy", code),
                          "closing a device");
    *kernel = (struct lz_kernel){NULL, NULL};
}

void lz_drop_kernels(struct gpu_device *gpu)
{
    struct lz_device *device = lz_device(gpu);
    int i;

    for (i = 0; i < GPU_KERNEL_COUNT; i++) {
        drop_kernel(device, &device->kernels[i]);
    }
}
