/* SPDX-License-Identifier: BSD-3-Clause */
/* daxpy by OpenMP target regions, in a program built for offloading.
 *
 * naive and copy-once run the same function, listing 1.1 of the proposal, verbatim; for
 * copy-once the data is mapped before the call. A region uses memory from a target memory space
 * (managed, coherent, host-pinned) without a map clause: it has one address, and the runtime passes
 * unknown pointers unchanged. */

#include "bench/daxpy/daxpy.h"
#include "cmd/common/cli.h"
#include <malloc.h>
#include <memspan/omp.h>
#include <omp.h>
#include <stdio.h>

static void daxpy_mapped(int device, int n, double a, double *x, double *y, double *z)
{
#pragma omp target device(device) map(to : x [0:n], y [0:n], n, a) map(tofrom : z [0:n])
#pragma omp teams distribute parallel for simd
    for (int i = 0; i < n; i++) {
        z[i] += a * x[i] + y[i];
    }
}

/* A region of GCC 12 has a null pointer for one that is mapped nowhere and not named here. */
static void daxpy_unmapped(int device, int n, double a, double *x, double *y, double *z)
{
#pragma omp target device(device) is_device_ptr(x, y, z)
#pragma omp teams distribute parallel for simd
    for (int i = 0; i < n; i++) {
        z[i] += a * x[i] + y[i];
    }
}

/* OpenMP's number for our device. */
static int omp_number(int device)
{
    return (device == MEMSPAN_HOST) ? omp_get_initial_device() : device;
}

/* The x86-64 devices take the memory of each map from malloc, which may return it to the system
 * at the map's end; fresh pages cost several times the copies. Malloc is told to keep it, in favour
 * of naive. */
static void prepare(void)
{
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, -1);
}

static int device_default(void)
{
    return (omp_get_num_devices() > 0) ? 0 : MEMSPAN_HOST;
}

static bool device_title(int device, char *title, size_t title_size)
{
    if ((device != MEMSPAN_HOST) && (device > omp_get_num_devices())) {
        (void)snprintf(title, title_size, "there is no OpenMP device %d; the last one is %d",
                       device, omp_get_num_devices() - 1);
        return false;
    }
    return daxpy_device_title(device, title, title_size);
}

/* A target region may fall back to the host, which would measure nothing. */
static bool really_offloads(int device)
{
    int on_host = 1;

#pragma omp target device(device) map(from : on_host)
    on_host = omp_is_initial_device();
    return on_host == 0;
}

/* How a mapped array reaches the device. */
struct mapping {
    bool same_address; /* of omp_get_mapped_ptr */
    bool same_bytes;   /* the device saw what the host stored after mapping */
};

static struct mapping observe_mapping(int device)
{
    enum { COUNT = 1024 };
    static double array[COUNT];
    struct mapping mapping;
    double seen = 0;

    array[0] = 1;
#pragma omp target enter data map(to : array [0:COUNT]) device(device)
    mapping.same_address = (omp_get_mapped_ptr(array, device) == (void *)array);
    array[0]             = 2;
#pragma omp target map(from : seen) map(to : array [0:COUNT]) device(device)
    seen = array[0];
#pragma omp target exit data map(release : array [0:COUNT]) device(device)
    mapping.same_bytes = (seen == 2);
    return mapping;
}

static void describe_mapping(enum daxpy_variant variant, int device, struct daxpy_memory *memory)
{
    struct mapping mapping = observe_mapping(device);
    bool copies            = !mapping.same_address && !mapping.same_bytes;

    (void)snprintf(memory->asked, sizeof(memory->asked), "map");
    (void)snprintf(memory->given, sizeof(memory->given), "%s", copies ? "copy" : "no copy");
    (void)snprintf(memory->why, sizeof(memory->why), "%s; %s",
                   (variant == DAXPY_NAIVE) ? "map clauses on every target region"
                                            : "target enter data before, exit data after",
                   copies ? "the runtime allocates device memory and copies"
                          : "the device uses the program's arrays in place");
}

/* No fallback: other memory would be another variant. */
static int make_traits(enum daxpy_variant variant, int device, omp_alloctrait_t *traits)
{
    int count = 0;

    traits[count++] = (omp_alloctrait_t){omp_atk_fallback, omp_atv_null_fb};
    switch (variant) {
    case DAXPY_HOST_PINNED:
        traits[count++] = (omp_alloctrait_t){omp_atk_pinned, omp_atv_true};
        break;
    case DAXPY_MANAGED:
        traits[count++] = (omp_alloctrait_t){omp_atk_memory_access, omp_atv_managed};
        traits[count++] = (omp_alloctrait_t){omp_atk_preferred_location, (omp_uintptr_t)device};
        break;
    case DAXPY_COHERENT:
        traits[count++] = (omp_alloctrait_t){omp_atk_memory_access, omp_atv_coherent};
        break;
    default:
        break;
    }
    return count;
}

static enum daxpy_state make_allocator(enum daxpy_variant variant, int device,
                                       struct daxpy_memory *memory, char *reason)
{
    int devices[] = {(variant == DAXPY_HOST) ? omp_initial_device : device, omp_initial_device};
    int count     = daxpy_variant_shares(variant) ? 2 : 1;
    omp_alloctrait_t traits[4];
    omp_allocator_handle_t allocator;
    omp_memspace_handle_t *space;

    memspan_error_clear();
    space = omp_get_target_memspace(count, devices, omp_default_mem_space);
    if (space == NULL) {
        return daxpy_memory_refused(reason);
    }
    allocator = omp_init_allocator(*space, make_traits(variant, device, traits), traits);
    if (allocator == omp_null_allocator) {
        return daxpy_memory_refused(reason);
    }
    memory->allocator = (memspan_allocator_h)allocator;
    if (!daxpy_memory_describe(memory, variant == DAXPY_HOST_PINNED, reason)) {
        omp_destroy_allocator(allocator);
        memory->allocator = MEMSPAN_ALLOCATOR_NULL;
        return DAXPY_FAILED;
    }
    return DAXPY_VERIFIED;
}

static enum daxpy_state memory_open(enum daxpy_variant variant, int device,
                                    struct daxpy_memory *memory_p, char *reason)
{
    if (daxpy_memory_needs_device(variant, device, reason)) {
        return DAXPY_WAIVED;
    }
    if ((variant != DAXPY_HOST) && (device != MEMSPAN_HOST) && !really_offloads(device)) {
        (void)snprintf(reason, DAXPY_TEXT_SIZE,
                       "a target region for device %d ran on the host: OMP_TARGET_OFFLOAD, or a "
                       "program built for another device",
                       device);
        return DAXPY_FAILED;
    }
    if ((variant == DAXPY_NAIVE) || (variant == DAXPY_COPY_ONCE)) {
        describe_mapping(variant, device, memory_p);
        return DAXPY_VERIFIED;
    }
    return make_allocator(variant, device, memory_p, reason);
}

static void memory_close(struct daxpy_memory *memory)
{
    if (memory->allocator != MEMSPAN_ALLOCATOR_NULL) {
        omp_destroy_allocator((omp_allocator_handle_t)memory->allocator);
    }
}

static double *memory_alloc(struct daxpy_job *job, size_t size_bytes)
{
    double *array = omp_alloc(size_bytes, (omp_allocator_handle_t)job->memory->allocator);

    if (array == NULL) {
        (void)daxpy_job_failed(job, "omp_alloc");
    }
    return array;
}

static bool memory_free(struct daxpy_job *job, double *array)
{
    omp_free(array, (omp_allocator_handle_t)job->memory->allocator);
    return true;
}

static bool copy(struct daxpy_job *job, double *to, double *from, int to_device, int from_device)
{
    if (omp_target_memcpy(to, from, job->n * sizeof(double), 0, 0, to_device, from_device) == 0) {
        return true;
    }
    (void)snprintf(job->problem, sizeof(job->problem),
                   "omp_target_memcpy from device %d to device %d failed", from_device, to_device);
    return false;
}

static bool copy_in(struct daxpy_job *job)
{
    double *x = job->host.x;
    double *y = job->host.y;
    double *z = job->host.z;
    int host  = omp_get_initial_device();
    size_t n  = job->n;

    if (job->variant == DAXPY_DEVICE_RESIDENT) {
        return copy(job, job->target.x, x, job->device, host) &&
               copy(job, job->target.y, y, job->device, host) &&
               copy(job, job->target.z, z, job->device, host);
    }
#pragma omp target enter data map(to : x [0:n], y [0:n], z [0:n]) device(job->device)
    return true;
}

static bool copy_out(struct daxpy_job *job)
{
    double *x = job->host.x;
    double *y = job->host.y;
    double *z = job->host.z;
    size_t n  = job->n;

    if (job->variant == DAXPY_DEVICE_RESIDENT) {
        return copy(job, z, job->target.z, omp_get_initial_device(), job->device);
    }
#pragma omp target exit data map(from : z [0:n]) map(release : x [0:n], y [0:n]) device(job->device)
    return true;
}

static bool copy_within(struct daxpy_job *job)
{
    return copy(job, job->target.y, job->target.x, job->device, job->device);
}

static bool step(struct daxpy_job *job, size_t count)
{
    const struct daxpy_arrays *host = &job->host;
    int device                      = omp_number(job->device);
    int n                           = (int)job->n;

    for (size_t i = 0; i < count; i++) {
        switch (job->variant) {
        case DAXPY_NAIVE:
        case DAXPY_COPY_ONCE:
            daxpy_mapped(device, n, DAXPY_A, host->x, host->y, host->z);
            break;
        case DAXPY_DEVICE_RESIDENT:
            daxpy_unmapped(device, n, DAXPY_A, job->target.x, job->target.y, job->target.z);
            break;
        case DAXPY_HOST:
            daxpy_unmapped(omp_get_initial_device(), n, DAXPY_A, host->x, host->y, host->z);
            break;
        default:
            daxpy_unmapped(device, n, DAXPY_A, host->x, host->y, host->z);
            break;
        }
    }
    return true;
}

static bool remark(int device, char *text, size_t text_size)
{
    struct mapping mapping;

    if (device == MEMSPAN_HOST) {
        return false;
    }
    mapping = observe_mapping(device);
    (void)snprintf(text, text_size,
                   "map on device %d %s: the device address of a mapped array is %s "
                   "(omp_get_mapped_ptr), and the device %s what the host stored after mapping",
                   device,
                   (mapping.same_address && mapping.same_bytes) ? "copies nothing" : "copies",
                   mapping.same_address ? "its host address" : "not its host address",
                   mapping.same_bytes ? "saw" : "did not see");
    return true;
}

const char cli_name[] = "memspan-bench-offload";

const struct daxpy_engine daxpy_engine = {
    .name           = "openmp",
    .title          = "OpenMP target regions",
    .naive          = "naive map",
    .prepare        = prepare,
    .device_default = device_default,
    .device_title   = device_title,
    .memory_open    = memory_open,
    .memory_close   = memory_close,
    .memory_alloc   = memory_alloc,
    .memory_free    = memory_free,
    .copy_in        = copy_in,
    .copy_out       = copy_out,
    .copy_within    = copy_within,
    .step           = step,
    .remark         = remark,
};
