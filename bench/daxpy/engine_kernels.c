/* SPDX-License-Identifier: BSD-3-Clause */
/* daxpy by the library's built-in kernels: any device that has them, and the host.
 *
 * The naive variant copies between the program's arrays and device memory around each kernel. It
 * keeps the device memory from one repetition to the next, which an OpenMP map does not: it
 * pays for copies, not for allocations. */

#include "bench/daxpy/daxpy.h"
#include "cmd/common/cli.h"
#include <stdio.h>

/* Where no device has the kernels it is the first, whose rows say why they are waived. */
static int device_default(void)
{
    int device;

    for (int i = 0; memspan_device_at(i, &device) == MEMSPAN_OK; i++) {
        memspan_device_info_t info = {.struct_size = sizeof(info)};
        if ((memspan_device_describe(device, &info) == MEMSPAN_OK) &&
            ((info.capabilities & MEMSPAN_CAN_KERNELS) != 0)) {
            return device;
        }
    }
    return (memspan_device_at(0, &device) == MEMSPAN_OK) ? device : MEMSPAN_HOST;
}

static bool has_kernels(int device, char *reason)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    if (memspan_device_describe(device, &info) != MEMSPAN_OK) {
        (void)snprintf(reason, DAXPY_TEXT_SIZE, "%s", memspan_error_text());
        return false;
    }
    if ((info.capabilities & MEMSPAN_CAN_KERNELS) == 0) {
        (void)snprintf(reason, DAXPY_TEXT_SIZE, "device %d (%s) has no built-in kernels: %s",
                       device, info.backend,
                       info.capability_note[__builtin_ctz(MEMSPAN_CAN_KERNELS)]);
        return false;
    }
    return true;
}

/* No fallback: other memory would be another variant. */
static size_t make_traits(enum daxpy_variant variant, int device, memspan_trait_t *traits)
{
    size_t count = 0;

    traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    switch (variant) {
    case DAXPY_HOST_PINNED:
        traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
        break;
    case DAXPY_MANAGED:
        traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED};
        traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_PREFERRED_LOCATION, (uintptr_t)device};
        break;
    case DAXPY_COHERENT:
        traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_COHERENT};
        break;
    default:
        break;
    }
    return count;
}

static memspan_status_t make_space(enum daxpy_variant variant, int device, memspan_space_h *space_p)
{
    int devices[] = {device, MEMSPAN_HOST};

    if (variant == DAXPY_HOST) {
        devices[0] = MEMSPAN_HOST;
    }
    return memspan_space_get(devices, daxpy_variant_shares(variant) ? 2 : 1, MEMSPAN_SPACE_NULL,
                             space_p);
}

static enum daxpy_state memory_open(enum daxpy_variant variant, int device,
                                    struct daxpy_memory *memory_p, char *reason)
{
    memspan_trait_t traits[4];
    memspan_space_h space;
    memspan_status_t status;

    if (daxpy_memory_needs_device(variant, device, reason)) {
        return DAXPY_WAIVED;
    }
    if ((variant != DAXPY_HOST) && !has_kernels(device, reason)) {
        return DAXPY_WAIVED;
    }
    status = make_space(variant, device, &space);
    if (status == MEMSPAN_OK) {
        status = memspan_allocator_create(space, traits, make_traits(variant, device, traits),
                                          &memory_p->allocator);
    }
    if (status != MEMSPAN_OK) {
        return daxpy_memory_refused(reason);
    }
    if (!daxpy_memory_describe(memory_p, variant == DAXPY_HOST_PINNED, reason)) {
        (void)memspan_allocator_destroy(memory_p->allocator);
        return DAXPY_FAILED;
    }
    return DAXPY_VERIFIED;
}

static void memory_close(struct daxpy_memory *memory)
{
    (void)memspan_allocator_destroy(memory->allocator);
}

static double *memory_alloc(struct daxpy_job *job, size_t size_bytes)
{
    double *array = memspan_alloc(job->memory->allocator, size_bytes);

    if (array == NULL) {
        (void)daxpy_job_failed(job, "allocation");
    }
    return array;
}

static bool memory_free(struct daxpy_job *job, double *array)
{
    return (memspan_free(array) == MEMSPAN_OK) || daxpy_job_failed(job, "free");
}

static bool copy_in(struct daxpy_job *job)
{
    size_t size_bytes = job->n * sizeof(double);

    return ((memspan_copy(job->target.x, job->host.x, size_bytes) == MEMSPAN_OK) &&
            (memspan_copy(job->target.y, job->host.y, size_bytes) == MEMSPAN_OK) &&
            (memspan_copy(job->target.z, job->host.z, size_bytes) == MEMSPAN_OK)) ||
           daxpy_job_failed(job, "copy to the device");
}

static bool copy_out(struct daxpy_job *job)
{
    size_t size_bytes = job->n * sizeof(double);

    return (memspan_copy(job->host.z, job->target.z, size_bytes) == MEMSPAN_OK) ||
           daxpy_job_failed(job, "copy from the device");
}

static bool copy_within(struct daxpy_job *job)
{
    return (memspan_copy(job->target.y, job->target.x, job->n * sizeof(double)) == MEMSPAN_OK) ||
           daxpy_job_failed(job, "copy on the device");
}

static bool launch(struct daxpy_job *job, int device)
{
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call),
        .kernel      = MEMSPAN_KERNEL_DAXPY,
        .count       = job->n,
        .a           = DAXPY_A,
        .x           = job->target.x,
        .y           = job->target.y,
        .z           = job->target.z,
    };

    return (memspan_kernel_launch(device, &call) == MEMSPAN_OK) || daxpy_job_failed(job, "kernel");
}

static bool step(struct daxpy_job *job, size_t count)
{
    bool naive = (job->variant == DAXPY_NAIVE);
    int device = (job->variant == DAXPY_HOST) ? MEMSPAN_HOST : job->device;

    for (size_t i = 0; i < count; i++) {
        if ((naive && !copy_in(job)) || !launch(job, device) || (naive && !copy_out(job))) {
            return false;
        }
    }
    return (memspan_device_synchronize(device) == MEMSPAN_OK) ||
           daxpy_job_failed(job, "synchronise");
}

const char cli_name[] = "memspan-bench";

const struct daxpy_engine daxpy_engine = {
    .name           = "kernels",
    .title          = "the library's built-in kernels",
    .naive          = "explicit copies around each kernel",
    .device_default = device_default,
    .device_title   = daxpy_device_title,
    .memory_open    = memory_open,
    .memory_close   = memory_close,
    .memory_alloc   = memory_alloc,
    .memory_free    = memory_free,
    .copy_in        = copy_in,
    .copy_out       = copy_out,
    .copy_within    = copy_within,
    .step           = step,
};
