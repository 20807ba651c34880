/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: the built-in kernels, compiled by hiprtc when first used. */

#include "backends/hip/hip.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hip_has_kernels(const struct gpu_state *state)
{
    const struct hip_calls *hip = hip_calls(state);

    return hip_state(state)->has_compiler && (hip->hipModuleLoadData != NULL) &&
           (hip->hipModuleUnload != NULL) && (hip->hipModuleGetFunction != NULL) &&
           (hip->hipModuleLaunchKernel != NULL);
}

memspan_status_t hip_check_kernels(const struct gpu_device *device)
{
    return hip_has_kernels(device->state)
               ? MEMSPAN_OK
               : gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED,
                            "install hiprtc of the same ROCm as the runtime",
                            "no built-in kernels on %s: there is no libhiprtc", device->info.name);
}

/* The compiler has answers and words of its own. */
static memspan_status_t compiler_error(const struct gpu_device *device, const char *call,
                                       hip_result_t code, const char *said)
{
    const struct gpu_state *state = device->state;
    const char *words             = hip_state(state)->rtc.hiprtcGetErrorString(code);

    return state->services->fail(MEMSPAN_ERR_DRIVER, state->driver->name, call, code,
                                 (words == NULL) ? "unknown answer" : words, NULL,
                                 "the built-in kernels do not compile for %s%s%s",
                                 device->info.name, (said[0] == '\0') ? "" : ": ", said);
}

/* The first line of the compiler's output; "" where there was none. */
static void read_log(const struct hip_compiler_calls *rtc, hip_program_t program, char *said,
                     size_t size)
{
    size_t length = 0;
    char *text;

    said[0] = '\0';
    if ((rtc->hiprtcGetProgramLogSize(program, &length) != HIP_SUCCESS) || (length == 0)) {
        return;
    }
    text = calloc(1, length + 1);
    if ((text != NULL) && (rtc->hiprtcGetProgramLog(program, text) == HIP_SUCCESS)) {
        size_t line = strcspn(text, "\n");
        line        = (line >= size) ? size - 1 : line;
        memcpy(said, text, line);
        said[line] = '\0';
    }
    free(text);
}

static memspan_status_t get_code(const struct gpu_device *device, hip_program_t program,
                                 char **code_p)
{
    const struct hip_compiler_calls *rtc = &hip_state(device->state)->rtc;
    size_t size                          = 0;
    hip_result_t code                    = rtc->hiprtcGetCodeSize(program, &size);
    char *bytes;

    if (code != HIP_SUCCESS) {
        return compiler_error(device, "hiprtcGetCodeSize", code, "");
    }
    bytes = malloc(size + 1);
    if (bytes == NULL) {
        return gpu_refuse(device->state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for kernels");
    }
    code = rtc->hiprtcGetCode(program, bytes);
    if (code != HIP_SUCCESS) {
        free(bytes);
        return compiler_error(device, "hiprtcGetCode", code, "");
    }
    *code_p = bytes;
    return MEMSPAN_OK;
}

/* The code for the device. Without a target the compiler queries the current device, by a library
 * that only ROCm's development package has. */
static memspan_status_t compile(const struct gpu_device *device, enum hip_part part, char **code_p)
{
    const struct hip_compiler_calls *rtc = &hip_state(device->state)->rtc;
    const char *options[3]               = {"-O3"};
    int option_count                     = 1;
    char arch[40];
    hip_program_t program = NULL;
    char said[160];
    hip_result_t code;
    memspan_status_t status;

    if (hip_device(device)->facts.target != 0) {
        char target[16];
        hip_target_name(hip_device(device)->facts.target, target, sizeof(target));
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
        read_log(rtc, program, said, sizeof(said));
        status = compiler_error(device, "hiprtcCompileProgram", code, said);
    }
    code = rtc->hiprtcDestroyProgram(&program);
    if (code != HIP_SUCCESS) {
        device->state->services->log(MEMSPAN_LOG_WARN, device->state->driver->name,
                                     "hiprtcDestroyProgram: %d", (int)code);
    }
    return status;
}

/* The device's lock held, as for all that follows. */
static memspan_status_t need_module(struct gpu_device *device, enum hip_part part)
{
    hip_module_t module = NULL;
    char *bytes         = NULL;
    hip_result_t code;
    memspan_status_t status;

    if (hip_device(device)->modules[part] != NULL) {
        return MEMSPAN_OK;
    }
    status = compile(device, part, &bytes);
    if (status != MEMSPAN_OK) {
        return status;
    }
    code = hip_calls(device->state)->hipModuleLoadData(&module, bytes);
    free(bytes);
    if (code != HIP_SUCCESS) {
        return gpu_error(device->state, HIP_ANSWER("hipModuleLoadData", code),
                         "the built-in kernels cannot be loaded on %s", device->info.name);
    }
    hip_device(device)->modules[part] = module;
    return MEMSPAN_OK;
}

memspan_status_t hip_get_kernel(struct gpu_device *device, int place, const char *name,
                                void **function_p)
{
    enum hip_part part      = (place < GPU_KERNELS) ? HIP_PART_BASIC : HIP_PART_COMBINE;
    hip_function_t function = NULL;
    memspan_status_t status = need_module(device, part);
    hip_result_t code;

    if (status != MEMSPAN_OK) {
        return status;
    }
    code = hip_calls(device->state)
               ->hipModuleGetFunction(&function, hip_device(device)->modules[part], name);
    *function_p = function;
    return (code == HIP_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(device->state, HIP_ANSWER("hipModuleGetFunction", code),
                           "the compiled kernel %s is missing", name);
}

void hip_drop_kernels(struct gpu_device *device)
{
    hip_module_t *modules = hip_device(device)->modules;
    int i;

    for (i = 0; i < HIP_PARTS; i++) {
        if (modules[i] != NULL) {
            (void)gpu_log_failure(device->state,
                                  HIP_ANSWER("hipModuleUnload",
                                             hip_calls(device->state)->hipModuleUnload(modules[i])),
                                  "closing a device");
        }
        modules[i] = NULL;
    }
}
