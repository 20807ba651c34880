/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_HARDWARE_CUDA_H
#define MEMSPAN_TESTS_HARDWARE_CUDA_H

/* The calls of CUDA's driver that the programs here make. The driver is opened by its name, as the
 * library does: no toolkit is needed to build. */

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

/* Needed or not: drivers before CUDA 11.2 have no pools. Then name, symbol and parameters. */
#define CUDA_CALLS(CALL)                                                                           \
    CALL(true, retain, "cuDevicePrimaryCtxRetain", void **context, int device)                     \
    CALL(true, release, "cuDevicePrimaryCtxRelease_v2", int device)                                \
    CALL(true, reset, "cuDevicePrimaryCtxReset_v2", int device)                                    \
    CALL(true, push, "cuCtxPushCurrent_v2", void *context)                                         \
    CALL(true, pop, "cuCtxPopCurrent_v2", void **context)                                          \
    CALL(true, stream_create, "cuStreamCreate", void **stream, unsigned flags)                     \
    CALL(true, stream_destroy, "cuStreamDestroy_v2", void *stream)                                 \
    CALL(true, wait, "cuStreamSynchronize", void *stream)                                          \
    CALL(true, event_create, "cuEventCreate", void **event, unsigned flags)                        \
    CALL(true, event_record, "cuEventRecord", void *event, void *stream)                           \
    CALL(true, event_wait, "cuStreamWaitEvent", void *stream, void *event, unsigned flags)         \
    CALL(true, capture, "cuStreamBeginCapture_v2", void *stream, int mode)                         \
    CALL(true, end_capture, "cuStreamEndCapture", void *stream, void **graph)                      \
    CALL(true, graph_destroy, "cuGraphDestroy", void *graph)                                       \
    CALL(true, copy, "cuMemcpyAsync", unsigned long long to, unsigned long long from, size_t size, \
         void *stream)                                                                             \
    CALL(true, copy_within, "cuMemcpyDtoD_v2", unsigned long long to, unsigned long long from,     \
         size_t size)                                                                              \
    CALL(true, fill, "cuMemsetD32Async", unsigned long long to, unsigned value, size_t count,      \
         void *stream)                                                                             \
    CALL(true, load, "cuModuleLoadDataEx", void **module, const void *image, unsigned count,       \
         int *options, void **values)                                                              \
    CALL(true, function, "cuModuleGetFunction", void **function, void *module, const char *name)   \
    CALL(true, launch, "cuLaunchKernel", void *function, unsigned grid_x, unsigned grid_y,         \
         unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,                    \
         unsigned shared_bytes, void *stream, void **arguments, void **extra)                      \
    CALL(false, pool_of, "cuDeviceGetDefaultMemPool", void **pool, int device)                     \
    CALL(false, pool_set, "cuMemPoolSetAttribute", void *pool, int attribute, void *value)         \
    CALL(false, alloc, "cuMemAllocAsync", unsigned long long *address, size_t size, void *stream)  \
    CALL(false, free, "cuMemFreeAsync", unsigned long long address, void *stream)

#define CUDA_FIELD(needed, name, symbol, ...) int (*name)(__VA_ARGS__);
static struct {
    CUDA_CALLS(CUDA_FIELD)
} cu;

static bool find(void *library, const char *symbol, void *call_p)
{
    *(void **)call_p = dlsym(library, symbol);
    return *(void **)call_p != NULL;
}

#define CUDA_FIND(needed, name, symbol, ...)                                                       \
    fine = (find(library, symbol, &cu.name) || !(needed)) && fine;
static bool find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool fine     = library != NULL;

    if (fine) {
        CUDA_CALLS(CUDA_FIND)
    }
    return fine;
}

#endif /* MEMSPAN_TESTS_HARDWARE_CUDA_H */
