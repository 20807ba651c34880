/* SPDX-License-Identifier: BSD-3-Clause */
/* capability.c: a device's capabilities with their sources, and the modes that decide which memory
 * it reaches. A note names the device's answer to a query of OpenCL; a capability found by trying
 * is marked so. */

#include "core/base/capability.h"
#include "backends/opencl/opencl.h"
#include <stdio.h>

static void fill_access(struct opencl_device *device)
{
    memspan_device_info_t *info = &device->info;
    unsigned svm                = device->svm;
    const char *limited = (device->svm != device->svm_has) ? " (MEMSPAN_OPENCL_SVM limits it)" : "";

    msp_capability_set(info, MEMSPAN_CAN_SHARE_ADDRESSES, svm != 0,
                       "CL_DEVICE_SVM_CAPABILITIES %#x%s", device->svm_has, limited);
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_CONCURRENT, false,
                       "OpenCL maps managed memory for one side at a time");
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_PAGEABLE, (svm & OPENCL_SVM_SYSTEM) != 0,
                       "CL_DEVICE_SVM_CAPABILITIES %#x: system SVM is bit 4%s", device->svm_has,
                       limited);
    msp_capability_set(info, MEMSPAN_CAN_HOST_ATOMICS, (svm & OPENCL_SVM_ATOMICS) != 0,
                       "CL_DEVICE_SVM_CAPABILITIES %#x: atomics are bit 8%s", device->svm_has,
                       limited);
    msp_capability_set(info, MEMSPAN_CAN_UNIFIED_PHYSICAL, device->unified,
                       "CL_DEVICE_TYPE_CPU or CL_DEVICE_HOST_UNIFIED_MEMORY: %d", device->unified);
}

static void fill_import(struct opencl_device *device)
{
    memspan_device_info_t *info = &device->info;
    const char *why             = "its memory is apart, or no compiler confirms the address";

    if ((device->svm & OPENCL_SVM_SYSTEM) != 0) {
        why = "system SVM: every host page is reached";
    } else if (device->same == OPENCL_SAME_NO) {
        why = "a kernel saw host pages at another address";
    } else if (opencl_may_import(device)) {
        why = "CL_MEM_USE_HOST_PTR; a kernel confirms the address of each";
    }
    msp_capability_set(info, MEMSPAN_CAN_IMPORT, opencl_may_import(device), "%s", why);
}

static void fill_moves(struct opencl_device *device)
{
    memspan_device_info_t *info = &device->info;
    bool coarse                 = (device->svm & OPENCL_SVM_COARSE) != 0;
    bool migrates               = (device->platform->version >= 21) &&
                    (device->platform->state->cl.clEnqueueSVMMigrateMem != NULL);
    const char *missing = opencl_kernel_missing(device, MEMSPAN_KERNEL_DAXPY);

    if (device->unified) {
        msp_capability_set(info, MEMSPAN_CAN_PREFETCH, false,
                           "its memory is the host's: nothing moves");
    } else {
        msp_capability_set(info, MEMSPAN_CAN_PREFETCH, migrates && coarse,
                           "clEnqueueSVMMigrateMem %s, coarse-grain SVM %s",
                           migrates ? "there" : "missing", coarse ? "there" : "missing");
    }
    msp_capability_set(info, MEMSPAN_CAN_IPC, false,
                       "OpenCL has no call that shares SVM with another process");
    msp_capability_set(info, MEMSPAN_CAN_DMABUF, false,
                       "OpenCL exports no memory; its external memory extensions only import");
    msp_capability_set(info, MEMSPAN_CAN_RDMA, false, "OpenCL tells nothing of network cards%s",
                       opencl_device_is_fine(device)
                           ? "; a network registers fine-grain SVM as the host's"
                           : "; coarse-grain SVM is not the host's while kernels use it");
    msp_capability_set(info, MEMSPAN_CAN_KERNELS, missing == NULL, "%s",
                       (missing != NULL) ? missing : "CL_DEVICE_COMPILER_AVAILABLE 1");
}

void opencl_device_fill_capabilities(struct opencl_device *device)
{
    bool system = (device->svm_has & OPENCL_SVM_SYSTEM) != 0;
    bool used   = (device->svm & OPENCL_SVM_SYSTEM) != 0;

    fill_access(device);
    fill_import(device);
    fill_moves(device);
    msp_mode_set(&device->info, "system SVM", used,
                 system ? "CL_DEVICE_SVM_FINE_GRAIN_SYSTEM is set"
                        : "CL_DEVICE_SVM_FINE_GRAIN_SYSTEM is not set: malloc memory is not "
                          "the device's",
                 used ? ""
                      : (system ? "MEMSPAN_OPENCL_SVM leaves it out"
                                : "it cannot be turned on: the driver has it or not"));
}

void opencl_reach_source(void *opaque, int home, memspan_kind_t kind, int from, char *text,
                         size_t size)
{
    const struct opencl_state *state = opaque;

    text[0] = '\0';
    if ((home < 0) || (home >= state->device_count) || (from >= state->device_count)) {
        return;
    }
    if (from == home) {
        snprintf(text, size, "its own");
    } else if (from < 0) {
        snprintf(text, size, "%s",
                 (kind == MEMSPAN_KIND_DEVICE) ? "clEnqueueSVMMemcpy; the host never maps it"
                                               : "CL_DEVICE_SVM_CAPABILITIES");
    } else if (state->devices[from]->platform != state->devices[home]->platform) {
        snprintf(text, size, "two platforms of OpenCL share no context");
    } else {
        snprintf(text, size, "one context; CL_DEVICE_SVM_CAPABILITIES %#x",
                 state->devices[from]->svm);
    }
}
