/* SPDX-License-Identifier: BSD-3-Clause */
/* stub_measure.c: memory that can be measured, and kernels that run in the calling thread.
 * MEMQUERY_STUB_MEASURE selects a fault: "refuse" (no managed memory), "wrong" (kernels do
 * nothing and succeed), "ones" (they leave what a read from an absent PCI device returns),
 * "error" (a driver's error), "crash" and "hang" (in kernels on managed memory). */

#include "stub.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 0x200, MOST_BYTES = 1 << 20 };

static void *managed[64];

static bool wanted(const char *what)
{
    const char *setting = getenv("MEMQUERY_STUB_MEASURE");

    return (setting != NULL) && (strcmp(setting, what) == 0);
}

memspan_status_t stub_measure_create(memspan_space_h space, const memspan_trait_t *traits,
                                     size_t count, memspan_allocator_h *allocator_p)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};

    (void)memspan_allocator_plan(space, traits, count, &info);
    *allocator_p = (memspan_allocator_h)(uintptr_t)(FIRST + info.kind_given);
    return MEMSPAN_OK;
}

bool stub_measure_is(memspan_allocator_h allocator)
{
    return ((uintptr_t)allocator >= FIRST) && ((uintptr_t)allocator < FIRST + MEMSPAN_KIND_COUNT);
}

memspan_kind_t stub_measure_kind(memspan_allocator_h allocator)
{
    return (memspan_kind_t)((uintptr_t)allocator - FIRST);
}

/* No large blocks: the caller has to ask for less. */
void *memspan_aligned_alloc(memspan_allocator_h allocator, size_t align_bytes, size_t size_bytes)
{
    bool moves = (stub_measure_kind(allocator) == MEMSPAN_KIND_MANAGED);
    void *block;

    if ((size_bytes > MOST_BYTES) || (moves && wanted("refuse"))) {
        stub_fail_native(MEMSPAN_ERR_NO_MEMORY, "the device is full", "wait", "cuMemCreate", 2,
                         "CUDA_ERROR_OUT_OF_MEMORY");
        return NULL;
    }
    block = aligned_alloc(align_bytes, (size_bytes + align_bytes - 1) & ~(align_bytes - 1));
    for (size_t i = 0; moves && (i < sizeof(managed) / sizeof(managed[0])); i++) {
        if (managed[i] == NULL) {
            managed[i] = block;
            break;
        }
    }
    return block;
}

void stub_measure_free(void *pointer)
{
    for (size_t i = 0; i < sizeof(managed) / sizeof(managed[0]); i++) {
        managed[i] = (managed[i] == pointer) ? NULL : managed[i];
    }
    free(pointer);
}

memspan_status_t memspan_fill(void *to, unsigned char byte, size_t size_bytes)
{
    memset(to, byte, size_bytes);
    return MEMSPAN_OK;
}

memspan_status_t memspan_device_synchronize(int device)
{
    (void)device;
    return MEMSPAN_OK;
}

static bool is_managed(const void *pointer)
{
    for (size_t i = 0; i < sizeof(managed) / sizeof(managed[0]); i++) {
        if ((managed[i] != NULL) && (pointer >= managed[i]) &&
            ((const char *)pointer < (const char *)managed[i] + MOST_BYTES)) {
            return true;
        }
    }
    return false;
}

memspan_status_t memspan_kernel_launch(int device, const memspan_kernel_call_t *call)
{
    const void *next = call->x;
    const double *x  = call->x;
    const double *y  = call->y;
    double *z        = call->z;

    if (device == MEMSPAN_HOST) {
        return stub_fail_native(MEMSPAN_ERR_INVALID, "the host has loops of its own", "", "", 0,
                                "");
    }
    if (wanted("error")) {
        return stub_fail_native(MEMSPAN_ERR_DRIVER, "the kernel cannot be started", "restart",
                                "cuLaunchKernel", 719, "CUDA_ERROR_LAUNCH_FAILED");
    }
    if (wanted("crash") && is_managed(call->z)) {
        abort();
    }
    while (wanted("hang") && is_managed(call->z)) {
        pause();
    }
    for (size_t i = 0; (i < call->count) && !wanted("wrong"); i++) {
        if (call->kernel == MEMSPAN_KERNEL_FILL) {
            z[i] = call->a;
        } else if (call->kernel == MEMSPAN_KERNEL_DAXPY) {
            z[i] += call->a * x[i] + y[i];
            if (wanted("ones")) {
                memset(&z[i], 0xff, sizeof(z[i]));
            }
        } else {
            next = *(void *const *)next;
        }
    }
    if (call->kernel == MEMSPAN_KERNEL_CHASE) {
        memcpy(call->z, &next, sizeof(next));
    }
    return MEMSPAN_OK;
}
