/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: the built-in kernels, compiled by hiprtc when first used, and started. */

#include "backends/hip/hip.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUM_BLOCKS_MAX = 1024 };

bool hip_has_kernels(const struct hip_state *state)
{
    const struct hip_calls *hip = &state->hip;

    return state->has_compiler && (hip->hipModuleLoadData != NULL) &&
           (hip->hipModuleUnload != NULL) && (hip->hipModuleGetFunction != NULL) &&
           (hip->hipModuleLaunchKernel != NULL);
}

/* The compiler has answers and words of its own. */
static memspan_status_t compiler_error(const struct hip_device *device, const char *call,
                                       hip_result_t code, const char *said)
{
    const struct hip_state *state = device->state;
    const char *words             = state->rtc.hiprtcGetErrorString(code);

    return state->services->fail(MEMSPAN_ERR_DRIVER, HIP_NAME, call, code,
                                 (words == NULL) ? "unknown answer" : words, NULL,
                                 "the built-in kernels do not compile for %s%s%s",
                                 device->info.name, (said[0] == '\0') ? "" : ": ", said);
}

/* The first line of what the compiler said; "" where it said nothing. */
static void read_log(const struct hip_state *state, hip_program_t program, char *said, size_t size)
{
    size_t length = 0;
    char *text;

    said[0] = '\0';
    if ((state->rtc.hiprtcGetProgramLogSize(program, &length) != HIP_SUCCESS) || (length == 0)) {
        return;
    }
    text = calloc(1, length + 1);
    if ((text != NULL) && (state->rtc.hiprtcGetProgramLog(program, text) == HIP_SUCCESS)) {
        size_t line = strcspn(text, "\n");
        line        = (line >= size) ? size - 1 : line;
        memcpy(said, text, line);
        said[line] = '\0';
    }
    free(text);
}

static memspan_status_t get_code(const struct hip_device *device, hip_program_t program,
                                 char **code_p)
{
    const struct hip_compiler_calls *rtc = &device->state->rtc;
    size_t size                          = 0;
    hip_result_t code                    = rtc->hiprtcGetCodeSize(program, &size);
    char *bytes;

    if (code != HIP_SUCCESS) {
        return compiler_error(device, "hiprtcGetCodeSize", code, "");
    }
    bytes = malloc(size + 1);
    if (bytes == NULL) {
        return hip_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for kernels");
    }
    code = rtc->hiprtcGetCode(program, bytes);
    if (code != HIP_SUCCESS) {
        free(bytes);
        return compiler_error(device, "hiprtcGetCode", code, "");
    }
    *code_p = bytes;
    return MEMSPAN_OK;
}

/* The code for the device. Without a target the compiler asks for the device that is current, by a
 * library that only ROCm's development package has. */
static memspan_status_t compile(const struct hip_device *device, enum hip_part part, char **code_p)
{
    const struct hip_compiler_calls *rtc = &device->state->rtc;
    const char *options[3]               = {"-O3"};
    int option_count                     = 1;
    char arch[40];
    hip_program_t program = NULL;
    char said[160];
    hip_result_t code;
    memspan_status_t status;

    if (device->facts.target != 0) {
        char target[16];
        hip_target_name(device->facts.target, target, sizeof(target));
        snprintf(arch, sizeof(arch), "--offload-arch=%s", target);
        options[option_count++] = arch;
    }
    if (part == HIP_PART_COMBINE) {
        options[option_count++] = "-DMEMSPAN_COMBINE";
    }
    code = rtc->hiprtcCreateProgram(&program, hip_kernel_source, "memspan.hip", 0, NULL, NULL);
    if (code != HIP_SUCCESS) {
        return compiler_error(device, "hiprtcCreateProgram", code, "");
    }
    code = rtc->hiprtcCompileProgram(program, option_count, options);
    if (code == HIP_SUCCESS) {
        status = get_code(device, program, code_p);
    } else {
        read_log(device->state, program, said, sizeof(said));
        status = compiler_error(device, "hiprtcCompileProgram", code, said);
    }
    code = rtc->hiprtcDestroyProgram(&program);
    if (code != HIP_SUCCESS) {
        device->state->services->log(MEMSPAN_LOG_WARN, HIP_NAME, "hiprtcDestroyProgram: %d",
                                     (int)code);
    }
    return status;
}

/* The device's lock held, as for all that follows. */
static memspan_status_t need_module(struct hip_device *device, enum hip_part part)
{
    hip_module_t module = NULL;
    char *bytes         = NULL;
    hip_result_t code;
    memspan_status_t status;

    if (device->modules[part] != NULL) {
        return MEMSPAN_OK;
    }
    status = compile(device, part, &bytes);
    if (status != MEMSPAN_OK) {
        return status;
    }
    code = device->state->hip.hipModuleLoadData(&module, bytes);
    free(bytes);
    if (code != HIP_SUCCESS) {
        return hip_error(device->state, "hipModuleLoadData", code,
                         "the built-in kernels cannot be loaded on %s", device->info.name);
    }
    device->modules[part] = module;
    return MEMSPAN_OK;
}

static memspan_status_t get_kernel(struct hip_device *device, memspan_kernel_t which,
                                   hip_function_t *function_p)
{
    enum hip_part part = HIP_PART_BASIC;
    char name[48];
    hip_result_t code;
    memspan_status_t status;

    if (!hip_kernel_name(which, name, &part)) {
        return hip_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL, "no kernel %#x on %s",
                          (unsigned)which, device->info.name);
    }
    status = need_module(device, part);
    if (status != MEMSPAN_OK) {
        return status;
    }
    code = device->state->hip.hipModuleGetFunction(function_p, device->modules[part], name);
    return (code == HIP_SUCCESS) ? MEMSPAN_OK
                                 : hip_error(device->state, "hipModuleGetFunction", code,
                                             "the compiled kernel %s cannot be had", name);
}

static memspan_status_t start(const struct hip_queue *queue, hip_function_t function,
                              unsigned blocks, memspan_kernel_call_t call)
{
    const struct hip_device *device = queue->device;
    uint64_t count                  = call.count;
    uint64_t whole                  = (uint32_t)(int64_t)call.a;
    void *a = (call.kernel == MEMSPAN_KERNEL_ADD_ATOMIC) ? (void *)&whole : (void *)&call.a;
    void *arguments[] = {&count, a, &call.x, &call.y, &call.z};
    hip_result_t code = device->state->hip.hipModuleLaunchKernel(
        function, blocks, 1, 1, HIP_BLOCK_THREADS, 1, 1, 0, queue->stream, arguments, NULL);

    return (code == HIP_SUCCESS) ? MEMSPAN_OK
                                 : hip_error(device->state, "hipModuleLaunchKernel", code,
                                             "a kernel over %zu elements does not start on %s",
                                             call.count, device->info.name);
}

/* Enough blocks to fill the device, and no more than there is work for. */
static unsigned blocks_for(const struct hip_device *device, size_t count)
{
    size_t most = (size_t)((device->facts.multiprocessors > 0) ? device->facts.multiprocessors : 1);
    size_t blocks = count / HIP_BLOCK_THREADS + ((count % HIP_BLOCK_THREADS != 0) ? 1 : 0);

    most *= 16;
    blocks = (blocks > most) ? most : blocks;
    return (blocks == 0) ? 1 : (unsigned)blocks;
}

static memspan_status_t need_scratch(struct hip_queue *queue, size_t size_bytes)
{
    const struct hip_state *state = queue->device->state;
    void *scratch                 = NULL;
    hip_result_t code;

    if (queue->scratch != NULL) {
        return MEMSPAN_OK;
    }
    code = state->hip.hipMalloc(&scratch, size_bytes);
    if (code != HIP_SUCCESS) {
        return hip_error(state, "hipMalloc", code, "no %zu bytes on %s for partial sums",
                         size_bytes, queue->device->info.name);
    }
    queue->scratch = scratch;
    return MEMSPAN_OK;
}

static memspan_status_t start_sum(struct hip_queue *queue, hip_function_t function,
                                  const memspan_kernel_call_t *call)
{
    unsigned blocks             = blocks_for(queue->device, call->count);
    memspan_kernel_call_t first = *call;
    memspan_kernel_call_t last  = *call;
    memspan_status_t status;

    if (blocks == 1) {
        return start(queue, function, 1, *call);
    }
    blocks = (blocks > SUM_BLOCKS_MAX) ? SUM_BLOCKS_MAX : blocks;
    status = need_scratch(queue, SUM_BLOCKS_MAX * sizeof(double));
    if (status != MEMSPAN_OK) {
        return status;
    }
    first.z    = queue->scratch;
    last.x     = first.z;
    last.count = blocks;
    status     = start(queue, function, blocks, first);
    return (status == MEMSPAN_OK) ? start(queue, function, 1, last) : status;
}

static memspan_status_t start_any(struct hip_queue *queue, const memspan_kernel_call_t *call)
{
    hip_function_t function = NULL;
    memspan_status_t status = get_kernel(queue->device, call->kernel, &function);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (call->kernel == MEMSPAN_KERNEL_SUM) {
        return start_sum(queue, function, call);
    }
    return start(
        queue, function,
        (call->kernel == MEMSPAN_KERNEL_CHASE) ? 1 : blocks_for(queue->device, call->count), *call);
}

static memspan_status_t check_call(const struct hip_device *device,
                                   const memspan_kernel_call_t *call)
{
    if (call == NULL) {
        return hip_refuse(device->state, MEMSPAN_ERR_INVALID, NULL, "no kernel call");
    }
    if (!hip_has_kernels(device->state)) {
        return hip_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED,
                          "install hiprtc of the same ROCm as the runtime",
                          "no built-in kernels on %s: there is no libhiprtc", device->info.name);
    }
    if ((call->z == NULL) && ((call->count > 0) || (call->kernel == MEMSPAN_KERNEL_SUM) ||
                              (call->kernel == MEMSPAN_KERNEL_CHASE))) {
        return hip_refuse(device->state, MEMSPAN_ERR_INVALID, NULL,
                          "a kernel was given a null address");
    }
    return MEMSPAN_OK;
}

memspan_status_t hip_launch(void *state, int ordinal, void *opaque,
                            const memspan_kernel_call_t *call)
{
    struct hip_device *device;
    struct hip_queue *queue;
    memspan_status_t status = hip_device_get(state, ordinal, &device);
    int before              = 0;
    int mode;

    if (status == MEMSPAN_OK) {
        status = check_call(device, call);
    }
    if (status == MEMSPAN_OK) {
        status = hip_enter(state, ordinal, &device, &before);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    mode   = hip_relax(device->state);
    status = hip_queue_get(device, opaque, &queue);
    if (status == MEMSPAN_OK) {
        /* The two launches of a sum share a queue's scratch: nobody may come between. */
        pthread_mutex_lock(&device->lock);
        status = start_any(queue, call);
        pthread_mutex_unlock(&device->lock);
    }
    hip_restore(device->state, mode);
    hip_leave(device, before);
    return status;
}

void hip_kernels_drop(struct hip_device *device)
{
    int i;

    for (i = 0; i < HIP_PARTS; i++) {
        hip_result_t code = HIP_SUCCESS;
        if (device->modules[i] != NULL) {
            code = device->state->hip.hipModuleUnload(device->modules[i]);
        }
        if (code != HIP_SUCCESS) {
            hip_log_failure(device->state, "hipModuleUnload", code, "closing a device");
        }
        device->modules[i] = NULL;
    }
}
