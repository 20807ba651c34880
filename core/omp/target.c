/* SPDX-License-Identifier: BSD-3-Clause */
/* target.c: the device-memory routines.
 *
 * The real runtime serves its own devices, whenever it has the routine. Ours to serve are: devices
 * that only this library has, and routines that the runtime in the process lacks (libgomp 12 has
 * the 4.5 set, a clang program linked for the host alone has none). Numbers are checked before they
 * are passed on: libomptarget ends the process for some unknown ones. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/base/region.h"
#include "core/omp/abi.h"
#include "core/omp/mapped.h"
#include "core/omp/openmp.h"
#include "core/omp/runtime.h"
#include <memspan/transfer.h>
#include <stdlib.h>
#include <string.h>

enum { FILL_WINDOW_BYTES = 1 << 20 };

static bool is_host(int number)
{
    return (number == MEMSPAN_HOST) || (number == omp_get_initial_device());
}

static memspan_status_t check_number(int number)
{
    int device;
    memspan_status_t status;

    if (is_host(number) || msp_omp_runtime_has(number)) {
        return MEMSPAN_OK;
    }
    status = msp_omp_device_from(number, &device);
    if (status == MEMSPAN_OK) {
        memspan_device_info_t info = {.struct_size = sizeof(info)};
        status                     = memspan_device_describe(device, &info);
    }
    return status;
}

bool msp_omp_alloc_is_watched(int number)
{
    const struct msp_region_watcher *watcher;

    if (msp_option_is_set(MSP_OPTION_DEVICES)) {
        (void)memspan_device_count(); /* opens those who may watch */
    }
    watcher = msp_region_watched();
    return (watcher != NULL) && (number >= 0) && (number < watcher->device_count);
}

/* While regions are watched, device memory is watched memory, and nothing is left to the runtime to
 * be done later: the uses of memory must be seen. */
static bool is_withheld(enum msp_omp_real real, int number)
{
    switch (real) {
    case MSP_OMP_REAL_TARGET_ALLOC:
        return msp_omp_alloc_is_watched(number);
    case MSP_OMP_REAL_TARGET_MEMCPY_ASYNC:
    case MSP_OMP_REAL_TARGET_MEMCPY_RECT_ASYNC:
    case MSP_OMP_REAL_TARGET_MEMSET_ASYNC:
        return msp_region_watched() != NULL;
    default:
        return false;
    }
}

memspan_status_t msp_omp_target_route(enum msp_omp_real real, int *device_a, int *device_b,
                                      uintptr_t *routine_p)
{
    int *numbers[2]         = {device_a, device_b};
    bool theirs             = true;
    memspan_status_t status = MEMSPAN_OK;
    int i;

    for (i = 0; (status == MEMSPAN_OK) && (i < 2) && (numbers[i] != NULL); i++) {
        *numbers[i] = msp_omp_device_number(*numbers[i]);
        status      = check_number(*numbers[i]);
        if (status == MEMSPAN_OK) {
            if (is_host(*numbers[i]) && !msp_omp_numbers_are_ours()) {
                *numbers[i] = msp_omp_runtime_host();
            }
            theirs = theirs && msp_omp_runtime_has(*numbers[i]);
        }
    }
    if (status == MEMSPAN_OK) {
        *routine_p = (theirs && !is_withheld(real, *device_a)) ? msp_omp_real(real) : 0;
    } else {
        msp_omp_refused(msp_omp_real_name(real));
    }
    return status;
}

void msp_omp_target_wait(int depend_count)
{
    uintptr_t wait = msp_omp_real(MSP_OMP_REAL_TASKWAIT);

    if ((depend_count > 0) && (wait != 0)) {
        ((void (*)(void))wait)();
    }
}

void *omp_target_alloc(size_t size_bytes, int device)
{
    MSP_OMP_CALL();
    memspan_allocator_h allocator;
    uintptr_t routine;
    void *pointer;

    if ((size_bytes == 0) ||
        (msp_omp_target_route(MSP_OMP_REAL_TARGET_ALLOC, &device, NULL, &routine) != MEMSPAN_OK)) {
        return NULL;
    }
    if (routine != 0) {
        return ((void *(*)(size_t, int))routine)(size_bytes, device);
    }
    allocator =
        msp_omp_vendor_allocator(MSP_OMP_TARGET_DEVICE, is_host(device) ? MEMSPAN_HOST : device);
    pointer = (allocator == MEMSPAN_ALLOCATOR_NULL) ? NULL : memspan_alloc(allocator, size_bytes);
    if (pointer == NULL) {
        msp_omp_refused("omp_target_alloc");
    }
    return pointer;
}

void omp_target_free(void *pointer, int device)
{
    MSP_OMP_CALL();
    uintptr_t routine = 0;

    if (pointer == NULL) {
        return;
    }
    if (!msp_pointer_is_ours(pointer)) {
        msp_omp_target_route(MSP_OMP_REAL_TARGET_FREE, &device, NULL, &routine);
        if (routine != 0) {
            ((void (*)(void *, int))routine)(pointer, device);
            return;
        }
    }
    if (memspan_free(pointer) != MEMSPAN_OK) {
        msp_log(MEMSPAN_LOG_ERROR, "omp", "omp_target_free: %s", memspan_error_text());
    }
}

/* Loads and stores by the device, without a copy first. */
static bool device_reaches(const void *pointer, int device)
{
    memspan_reach_t reach;

    if (msp_pointer_is_ours(pointer)) {
        return (memspan_pointer_reach(pointer, device, &reach) == MEMSPAN_OK) &&
               (reach.access >= MEMSPAN_ACCESS_FAULT);
    }
    return (memspan_device_reach(MEMSPAN_HOST, MEMSPAN_KIND_HOST, device, &reach) == MEMSPAN_OK) &&
           (reach.access >= MEMSPAN_ACCESS_FAULT);
}

int omp_target_is_present(const void *pointer, int device)
{
    MSP_OMP_CALL();
    uintptr_t routine;

    if ((pointer == NULL) || (msp_omp_target_route(MSP_OMP_REAL_TARGET_IS_PRESENT, &device, NULL,
                                                   &routine) != MEMSPAN_OK)) {
        return 0;
    }
    if (routine != 0) {
        return ((int (*)(const void *, int))routine)(pointer, device);
    }
    return is_host(device) || device_reaches(pointer, device);
}

/* True when the first and the last byte can be read by the host. */
static bool host_reads(const void *pointer, size_t size_bytes)
{
    char byte;

    return msp_omp_read_safely(pointer, &byte, 1) &&
           msp_omp_read_safely((const char *)pointer + size_bytes - 1, &byte, 1);
}

/* For memory of ours this library has the exact answer, the runtime has not. */
static bool ours_is_accessible(const void *pointer, size_t size_bytes, int device)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    size_t before;

    if (memspan_pointer_describe(pointer, &info) != MEMSPAN_OK) {
        return false;
    }
    before = (size_t)((const char *)pointer - (const char *)info.base);
    return (before <= info.size_bytes) && (size_bytes <= info.size_bytes - before) &&
           device_reaches(pointer, device);
}

int omp_target_is_accessible(const void *pointer, size_t size_bytes, int device)
{
    MSP_OMP_CALL();
    uintptr_t routine;
    uintptr_t end;
    int number;

    device = msp_omp_device_number(device);
    number = device;
    if ((pointer == NULL) || __builtin_add_overflow((uintptr_t)pointer, size_bytes, &end) ||
        (msp_omp_target_route(MSP_OMP_REAL_TARGET_IS_ACCESSIBLE, &number, NULL, &routine) !=
         MEMSPAN_OK)) {
        return 0;
    }
    if (msp_pointer_is_ours(pointer)) {
        return ours_is_accessible(pointer, size_bytes, is_host(device) ? MEMSPAN_HOST : device);
    }
    /* Runtimes report that the host reaches any address. */
    if (is_host(device)) {
        return host_reads(pointer, (size_bytes == 0) ? 1 : size_bytes);
    }
    if (routine != 0) {
        return ((int (*)(const void *, size_t, int))routine)(pointer, size_bytes, number);
    }
    return device_reaches(pointer, device);
}

void *omp_get_mapped_ptr(const void *pointer, int device)
{
    MSP_OMP_CALL();
    uintptr_t routine;

    if ((pointer == NULL) || (msp_omp_target_route(MSP_OMP_REAL_GET_MAPPED_PTR, &device, NULL,
                                                   &routine) != MEMSPAN_OK)) {
        return NULL;
    }
    if (is_host(device)) {
        return (void *)(uintptr_t)pointer;
    }
    if (routine != 0) {
        return ((void *(*)(const void *, int))routine)(pointer, device);
    }
    return device_reaches(pointer, device) ? (void *)(uintptr_t)pointer : NULL;
}

/* The result of routines that return a number, after the log. */
static int refused(const char *routine)
{
    msp_omp_refused(routine);
    return -1;
}

/* A copy between a device of the runtime's and one of our own: the runtime's memory is no address
 * that we may touch. */
static bool refuse_mixed(const void *pointer, int device)
{
    if (is_host(device) || !msp_omp_runtime_has(device) || msp_pointer_is_ours(pointer)) {
        return false;
    }
    memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                  "%p on device %d is the OpenMP runtime's, and the other device is unknown to it",
                  pointer, device);
    msp_error_hint("copy to the host first");
    return true;
}

static int copy_ourselves(void *to, const void *from, size_t size_bytes, size_t to_offset,
                          size_t from_offset)
{
    uintptr_t to_start;
    uintptr_t from_start;
    uintptr_t end;

    if (size_bytes == 0) {
        return 0;
    }
    if ((to == NULL) || (from == NULL)) {
        memspan_error(MEMSPAN_ERR_INVALID, "%s of the copy is NULL", (to == NULL) ? "dst" : "src");
        return -1;
    }
    if (__builtin_add_overflow((uintptr_t)to, to_offset, &to_start) ||
        __builtin_add_overflow((uintptr_t)from, from_offset, &from_start) ||
        __builtin_add_overflow(to_start, size_bytes, &end) ||
        __builtin_add_overflow(from_start, size_bytes, &end)) {
        memspan_error(MEMSPAN_ERR_INVALID, "%zu bytes and the offsets leave the address space",
                      size_bytes);
        return -1;
    }
    return (memspan_copy((void *)to_start, (const void *)from_start, size_bytes) == MEMSPAN_OK)
               ? 0
               : -1;
}

/* The runtime's devices that a routine of its works on, entered and left. */
struct devices_entered {
    const struct msp_region_watcher *watchers[2];
    int numbers[2];
};

static struct devices_entered enter(int a, int b)
{
    struct devices_entered e = {{msp_region_enter(a), NULL}, {a, b}};

    e.watchers[1] = (b == a) ? NULL : msp_region_enter(b);
    return e;
}

static void leave(const struct devices_entered *e)
{
    msp_region_leave(e->watchers[1], e->numbers[1]);
    msp_region_leave(e->watchers[0], e->numbers[0]);
}

int omp_target_memcpy(void *to, const void *from, size_t size_bytes, size_t to_offset,
                      size_t from_offset, int to_device, int from_device)
{
    MSP_OMP_CALL();
    struct devices_entered entered;
    uintptr_t routine;
    int result;

    if (msp_omp_target_route(MSP_OMP_REAL_TARGET_MEMCPY, &to_device, &from_device, &routine) !=
        MEMSPAN_OK) {
        return -1;
    }
    if (routine != 0) {
        entered = enter(to_device, from_device);
        result  = ((int (*)(void *, const void *, size_t, size_t, size_t, int, int))routine)(
            to, from, size_bytes, to_offset, from_offset, to_device, from_device);
        leave(&entered);
        return result;
    }
    if (refuse_mixed(to, to_device) || refuse_mixed(from, from_device) ||
        (copy_ourselves(to, from, size_bytes, to_offset, from_offset) != 0)) {
        return refused("omp_target_memcpy");
    }
    return 0;
}

int omp_target_memcpy_async(void *to, const void *from, size_t size_bytes, size_t to_offset,
                            size_t from_offset, int to_device, int from_device, int depend_count,
                            void *depends)
{
    MSP_OMP_CALL();
    int real_to   = to_device;
    int real_from = from_device;
    uintptr_t routine;

    if (msp_omp_target_route(MSP_OMP_REAL_TARGET_MEMCPY_ASYNC, &real_to, &real_from, &routine) !=
        MEMSPAN_OK) {
        return -1;
    }
    if (routine != 0) {
        return ((int (*)(void *, const void *, size_t, size_t, size_t, int, int, int,
                         void *))routine)(to, from, size_bytes, to_offset, from_offset, real_to,
                                          real_from, depend_count, depends);
    }
    msp_omp_target_wait(depend_count);
    return omp_target_memcpy(to, from, size_bytes, to_offset, from_offset, to_device, from_device);
}

typedef int rect_fn(void *to, const void *from, size_t element_bytes, int dimensions,
                    const size_t *volume, const size_t *to_offsets, const size_t *from_offsets,
                    const size_t *to_dimensions, const size_t *from_dimensions, int to_device,
                    int from_device);

int omp_target_memcpy_rect(void *to, const void *from, size_t element_bytes, int dimensions,
                           const size_t *volume, const size_t *to_offsets,
                           const size_t *from_offsets, const size_t *to_dimensions,
                           const size_t *from_dimensions, int to_device, int from_device)
{
    MSP_OMP_CALL();
    struct msp_omp_rect rect = {to,         from,         element_bytes, dimensions,     volume,
                                to_offsets, from_offsets, to_dimensions, from_dimensions};
    struct devices_entered entered;
    uintptr_t routine;
    int result;

    if (msp_omp_target_route(MSP_OMP_REAL_TARGET_MEMCPY_RECT, &to_device, &from_device, &routine) !=
        MEMSPAN_OK) {
        return -1;
    }
    if (routine != 0) {
        entered = enter(to_device, from_device);
        result  = ((rect_fn *)routine)(to, from, element_bytes, dimensions, volume, to_offsets,
                                      from_offsets, to_dimensions, from_dimensions, to_device,
                                      from_device);
        leave(&entered);
        return result;
    }
    if ((to == NULL) && (from == NULL)) {
        return MSP_OMP_RECT_DIMENSIONS; /* the question how many dimensions there may be */
    }
    if (refuse_mixed(to, to_device) || refuse_mixed(from, from_device) ||
        (msp_omp_rect_copy(&rect) != MEMSPAN_OK)) {
        return refused("omp_target_memcpy_rect");
    }
    return 0;
}

typedef int rect_async_fn(void *to, const void *from, size_t element_bytes, int dimensions,
                          const size_t *volume, const size_t *to_offsets,
                          const size_t *from_offsets, const size_t *to_dimensions,
                          const size_t *from_dimensions, int to_device, int from_device,
                          int depend_count, void *depends);

int omp_target_memcpy_rect_async(void *to, const void *from, size_t element_bytes, int dimensions,
                                 const size_t *volume, const size_t *to_offsets,
                                 const size_t *from_offsets, const size_t *to_dimensions,
                                 const size_t *from_dimensions, int to_device, int from_device,
                                 int depend_count, void *depends)
{
    MSP_OMP_CALL();
    int real_to   = to_device;
    int real_from = from_device;
    uintptr_t routine;

    if (msp_omp_target_route(MSP_OMP_REAL_TARGET_MEMCPY_RECT_ASYNC, &real_to, &real_from,
                             &routine) != MEMSPAN_OK) {
        return -1;
    }
    if (routine != 0) {
        return ((rect_async_fn *)routine)(to, from, element_bytes, dimensions, volume, to_offsets,
                                          from_offsets, to_dimensions, from_dimensions, real_to,
                                          real_from, depend_count, depends);
    }
    if ((to != NULL) || (from != NULL)) {
        msp_omp_target_wait(depend_count);
    }
    return omp_target_memcpy_rect(to, from, element_bytes, dimensions, volume, to_offsets,
                                  from_offsets, to_dimensions, from_dimensions, to_device,
                                  from_device);
}

/* For a runtime that copies to its device but cannot fill (libgomp before 16). */
static void fill_by_copies(void *pointer, int value, size_t size_bytes, int device)
{
    size_t window = (size_bytes < FILL_WINDOW_BYTES) ? size_bytes : FILL_WINDOW_BYTES;
    char *buffer  = malloc(window);
    size_t done;

    if (buffer == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a window of %zu bytes", window);
        msp_log(MEMSPAN_LOG_ERROR, "omp", "omp_target_memset: %s", memspan_error_text());
        return;
    }
    memset(buffer, value, window);
    for (done = 0; done < size_bytes; done += window) {
        size_t n = (size_bytes - done < window) ? size_bytes - done : window;
        if (omp_target_memcpy(pointer, buffer, n, done, 0, device, omp_get_initial_device()) != 0) {
            msp_log(MEMSPAN_LOG_ERROR, "omp", "omp_target_memset: device %d refused a copy",
                    device);
            break;
        }
    }
    free(buffer);
}

void *omp_target_memset(void *pointer, int value, size_t size_bytes, int device)
{
    MSP_OMP_CALL();
    const struct msp_region_watcher *entered;
    uintptr_t routine;

    if ((pointer == NULL) || (size_bytes == 0) ||
        (msp_omp_target_route(MSP_OMP_REAL_TARGET_MEMSET, &device, NULL, &routine) != MEMSPAN_OK)) {
        return pointer;
    }
    if (routine != 0) {
        entered = msp_region_enter(device);
        ((void *(*)(void *, int, size_t, int))routine)(pointer, value, size_bytes, device);
        msp_region_leave(entered, device);
        return pointer;
    }
    if (!is_host(device) && msp_omp_runtime_has(device) && !msp_pointer_is_ours(pointer)) {
        fill_by_copies(pointer, value, size_bytes, device);
        return pointer;
    }
    if (memspan_fill(pointer, (unsigned char)value, size_bytes) != MEMSPAN_OK) {
        msp_log(MEMSPAN_LOG_ERROR, "omp", "omp_target_memset: %s", memspan_error_text());
    }
    return pointer;
}

void *omp_target_memset_async(void *pointer, int value, size_t size_bytes, int device,
                              int depend_count, void *depends)
{
    MSP_OMP_CALL();
    int number = device;
    uintptr_t routine;

    if (msp_omp_target_route(MSP_OMP_REAL_TARGET_MEMSET_ASYNC, &number, NULL, &routine) !=
        MEMSPAN_OK) {
        return pointer;
    }
    if (routine != 0) {
        return ((void *(*)(void *, int, size_t, int, int, void *))routine)(
            pointer, value, size_bytes, number, depend_count, depends);
    }
    msp_omp_target_wait(depend_count);
    return omp_target_memset(pointer, value, size_bytes, device);
}

int omp_target_associate_ptr(const void *host_pointer, const void *device_pointer,
                             size_t size_bytes, size_t device_offset, int device)
{
    MSP_OMP_CALL();
    uintptr_t routine;

    if (msp_omp_target_route(MSP_OMP_REAL_TARGET_ASSOCIATE_PTR, &device, NULL, &routine) !=
        MEMSPAN_OK) {
        return -1;
    }
    if (routine != 0) {
        return ((int (*)(const void *, const void *, size_t, size_t, int))routine)(
            host_pointer, device_pointer, size_bytes, device_offset, device);
    }
    memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                  "no OpenMP runtime in this process maps memory to "
                  "device %d",
                  device);
    return refused("omp_target_associate_ptr");
}

int omp_target_disassociate_ptr(const void *pointer, int device)
{
    MSP_OMP_CALL();
    uintptr_t routine;

    if (msp_omp_target_route(MSP_OMP_REAL_TARGET_DISASSOCIATE_PTR, &device, NULL, &routine) !=
        MEMSPAN_OK) {
        return -1;
    }
    if (msp_omp_mapped_has(pointer, device)) {
        memspan_error(MEMSPAN_ERR_INVALID, "%p is mapped, not associated", pointer);
        return refused("omp_target_disassociate_ptr");
    }
    if (routine != 0) {
        return ((int (*)(const void *, int))routine)(pointer, device);
    }
    memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                  "no OpenMP runtime in this process maps memory to "
                  "device %d",
                  device);
    return refused("omp_target_disassociate_ptr");
}
