/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: the built-in kernels, each compiled by the driver when first used. */

#include "backends/cuda/cuda.h"
#include <stdio.h>
#include <string.h>

enum { LEAST_CAPABILITY = 50 };

bool cuda_has_kernels(const struct gpu_device *device)
{
    const struct cuda_calls *cu = cuda_calls(device->state);

    return (cu->cuModuleLoadDataEx != NULL) && (cu->cuModuleUnload != NULL) &&
           (cu->cuModuleGetFunction != NULL) && (cu->cuLaunchKernel != NULL) &&
           (cuda_device(device)->facts.capability >= LEAST_CAPABILITY);
}

memspan_status_t cuda_check_kernels(const struct gpu_device *device)
{
    int capability = cuda_device(device)->facts.capability;

    return cuda_has_kernels(device)
               ? MEMSPAN_OK
               : gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                            "%s of compute capability %d.%d is too old for the built-in kernels",
                            device->info.name, capability / 10, capability % 10);
}

static memspan_status_t compile(const struct gpu_device *device, const char *text, const char *name,
                                struct cuda_kernel *kernel)
{
    const struct cuda_calls *cu  = cuda_calls(device->state);
    char said[160]               = "";
    cuda_jit_option_t options[2] = {CUDA_JIT_ERROR_LOG_BUFFER,
                                    CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[2]              = {said, (void *)(uintptr_t)(sizeof(said) - 1)};
    struct cuda_kernel made      = {NULL, NULL};
    cuda_result_t code           = cu->cuModuleLoadDataEx(&made.module, text, 2, options, values);

    if (code != CUDA_SUCCESS) {
        said[strcspn(said, "\n")] = '\0';
        return gpu_error(device->state, CUDA_ANSWER("cuModuleLoadDataEx", code),
                         "the kernel %s does not compile for %s%s%s", name, device->info.name,
                         (said[0] == '\0') ? "" : ": ", said);
    }
    code = cu->cuModuleGetFunction(&made.function, made.module, name);
    if (code != CUDA_SUCCESS) {
        (void)cu->cuModuleUnload(made.module);
        return gpu_error(device->state, CUDA_ANSWER("cuModuleGetFunction", code),
                         "the compiled kernel %s is missing", name);
    }
    *kernel = made;
    return MEMSPAN_OK;
}

memspan_status_t cuda_get_kernel(struct gpu_device *device, int place, const char *name,
                                 void **function_p)
{
    struct cuda_kernel *kernel = &cuda_device(device)->kernels[place];
    memspan_status_t status    = MEMSPAN_OK;
    char text[CUDA_PTX_BYTES];

    if (kernel->function == NULL) {
        cuda_ptx_write(place, name, cuda_device(device)->facts.capability, text);
        status = compile(device, text, name, kernel);
    }
    *function_p = kernel->function;
    return status;
}

void cuda_drop_kernels(struct gpu_device *device)
{
    struct cuda_kernel *kernels = cuda_device(device)->kernels;
    int i;

    for (i = 0; i < GPU_KERNEL_COUNT; i++) {
        if (kernels[i].module != NULL) {
            (void)gpu_log_failure(
                device->state,
                CUDA_ANSWER("cuModuleUnload",
                            cuda_calls(device->state)->cuModuleUnload(kernels[i].module)),
                "closing a device");
        }
        kernels[i].module = NULL;
    }
}
