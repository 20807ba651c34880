/* SPDX-License-Identifier: BSD-3-Clause */
/* openmp_runtime.c: a pretended OpenMP offload runtime over the pretended CUDA driver, with the
 * OpenMP 4.5 calls alone. It works in a context of its own, as libgomp does, or, with
 * FAKE_OPENMP_CONTEXT=primary, in the primary one, as libomptarget does; its context stays current
 * on the thread. FAKE_OPENMP_DEVICES=n: the first n of the driver's. */

#include "backends/cuda/cuda_api.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 8 };

#define CALL_MAP(X)                                                                                \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDeviceGetCount, (int *count))                                                              \
    X(cuDevicePrimaryCtxRetain, (cuda_context_t * context, cuda_device_t device))                  \
    X(cuDevicePrimaryCtxRelease_v2, (cuda_device_t device))                                        \
    X(cuCtxCreate_v2, (cuda_context_t * context, unsigned flags, cuda_device_t device))            \
    X(cuCtxDestroy_v2, (cuda_context_t context))                                                   \
    X(cuCtxGetCurrent, (cuda_context_t * context))                                                 \
    X(cuCtxPushCurrent_v2, (cuda_context_t context))                                               \
    X(cuCtxPopCurrent_v2, (cuda_context_t * context))                                              \
    X(cuMemAlloc_v2, (cuda_address_t * address, size_t size))                                      \
    X(cuMemFree_v2, (cuda_address_t address))                                                      \
    X(cuStreamCreate, (cuda_stream_t * stream, unsigned flags))                                    \
    X(cuStreamSynchronize, (cuda_stream_t stream))                                                 \
    X(cuStreamDestroy_v2, (cuda_stream_t stream))                                                  \
    X(cuModuleLoadDataEx, (cuda_module_t * module, const void *image, unsigned options,            \
                           cuda_jit_option_t *names, void **values))                               \
    X(cuModuleGetFunction, (cuda_function_t * function, cuda_module_t module, const char *name))   \
    X(cuModuleUnload, (cuda_module_t module))                                                      \
    X(cuLaunchKernel,                                                                              \
      (cuda_function_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,                \
       cuda_stream_t stream, void **arguments, void **extra))                                      \
    X(cuMemcpyAsync, (cuda_address_t to, cuda_address_t from, size_t size, cuda_stream_t stream))

static struct {
#define MEMBER(name, arguments) cuda_result_t(*name) arguments;
    CALL_MAP(MEMBER)
#undef MEMBER
} cu;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_primary;
static int count;
static cuda_context_t contexts[DEVICES_MAX];
static int live;
static bool has_ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards contexts, live and has_ended */

int fake_live_blocks(void);
void fake_openmp_end(void);
int fake_openmp_region(double *x, size_t elements, double value, int device);
int omp_get_num_devices(void);
void *omp_target_alloc(size_t size, int device);
void omp_target_free(void *pointer, int device);
int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                      int to_device, int from_device);

static void must(cuda_result_t code, const char *what)
{
    if (code != CUDA_SUCCESS) {
        fprintf(stderr, "pretended OpenMP runtime over CUDA: %s: %d\n", what, (int)code);
        abort();
    }
}

static void start(void)
{
    const char *context = getenv("FAKE_OPENMP_CONTEXT");
    const char *first   = getenv("FAKE_OPENMP_DEVICES");
    void *driver        = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (driver == NULL) {
        return; /* no devices */
    }
#define FIND(name, arguments) *(void **)&cu.name = dlsym(driver, #name);
    CALL_MAP(FIND)
#undef FIND
    must(cu.cuInit(0), "cuInit");
    must(cu.cuDeviceGetCount(&count), "cuDeviceGetCount");
    count      = (first != NULL) ? atoi(first) : count;
    count      = (count > DEVICES_MAX) ? DEVICES_MAX : count;
    is_primary = (context != NULL) && (strcmp(context, "primary") == 0);
}

/* ---- contexts ---- */

static cuda_context_t current(void)
{
    cuda_context_t context = NULL;

    must(cu.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
    return context;
}

/* The lock held. */
static void leave(void)
{
    cuda_context_t context = current();
    int i;

    for (i = 0; (context != NULL) && (i < count); i++) {
        if (contexts[i] == context) {
            must(cu.cuCtxPopCurrent_v2(&context), "cuCtxPopCurrent");
            return;
        }
    }
}

/* The lock held. */
static void enter(int device)
{
    if ((device < 0) || (device >= count) || has_ended) {
        must(CUDA_ERROR_INVALID_DEVICE, "a number of no device");
    }
    if ((contexts[device] != NULL) && (current() == contexts[device])) {
        return;
    }
    leave();
    if ((contexts[device] == NULL) && !is_primary) {
        must(cu.cuCtxCreate_v2(&contexts[device], 0, device), "cuCtxCreate");
        return;
    }
    if (contexts[device] == NULL) {
        must(cu.cuDevicePrimaryCtxRetain(&contexts[device], device), "cuDevicePrimaryCtxRetain");
    }
    must(cu.cuCtxPushCurrent_v2(contexts[device]), "cuCtxPushCurrent");
}

/* Its contexts go, and all that was made in those of its own. */
void fake_openmp_end(void)
{
    int i;

    pthread_mutex_lock(&lock);
    if (!has_ended) {
        leave();
    }
    for (i = 0; !has_ended && (i < count); i++) {
        if (contexts[i] != NULL) {
            must(is_primary ? cu.cuDevicePrimaryCtxRelease_v2(i) : cu.cuCtxDestroy_v2(contexts[i]),
                 "the end of a context");
        }
    }
    has_ended = true;
    pthread_mutex_unlock(&lock);
}

/* ---- for the tests ---- */

int fake_live_blocks(void)
{
    int blocks;

    pthread_mutex_lock(&lock);
    blocks = live;
    pthread_mutex_unlock(&lock);
    return blocks;
}

/* A target region that writes @p value to each element. What the driver answers to it. */
int fake_openmp_region(double *x, size_t elements, double value, int device)
{
    static const char image[] = ".version 7.0\n.target sm_50\n.entry memspan_fill(";
    uint64_t many             = elements;
    uint64_t none             = 0;
    void *arguments[]         = {&many, &value, &none, &none, &x};
    cuda_module_t module      = NULL;
    cuda_function_t function  = NULL;
    cuda_stream_t stream      = NULL;
    cuda_result_t code;

    pthread_mutex_lock(&lock);
    enter(device);
    must(cu.cuStreamCreate(&stream, CUDA_STREAM_NON_BLOCKING), "cuStreamCreate");
    must(cu.cuModuleLoadDataEx(&module, image, 0, NULL, NULL), "cuModuleLoadDataEx");
    must(cu.cuModuleGetFunction(&function, module, "memspan_fill"), "cuModuleGetFunction");
    must(cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL),
         "cuLaunchKernel");
    code = cu.cuStreamSynchronize(stream);
    (void)cu.cuModuleUnload(module); /* a fault makes every call fail */
    (void)cu.cuStreamDestroy_v2(stream);
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---- OpenMP ---- */

int omp_get_num_devices(void)
{
    pthread_once(&once, start);
    return count;
}

void *omp_target_alloc(size_t size, int device)
{
    static bool registered;
    cuda_address_t address = 0;

    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    enter(device);
    if (cu.cuMemAlloc_v2(&address, size) == CUDA_SUCCESS) {
        live++;
    }
    if (!registered) {
        registered = true;
        (void)atexit(fake_openmp_end); /* after the driver's own, so it comes before that */
    }
    pthread_mutex_unlock(&lock);
    return (void *)(uintptr_t)address;
}

void omp_target_free(void *pointer, int device)
{
    pthread_mutex_lock(&lock);
    enter(device);
    must(cu.cuMemFree_v2((uintptr_t)pointer), "cuMemFree");
    live--;
    pthread_mutex_unlock(&lock);
}

int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                      int to_device, int from_device)
{
    cuda_stream_t stream = NULL;
    cuda_result_t code;

    pthread_mutex_lock(&lock);
    enter((to_device < count) ? to_device : from_device);
    must(cu.cuStreamCreate(&stream, CUDA_STREAM_NON_BLOCKING), "cuStreamCreate");
    code = cu.cuMemcpyAsync((uintptr_t)to + to_offset, (uintptr_t)from + from_offset, size, stream);
    if (code == CUDA_SUCCESS) {
        code = cu.cuStreamSynchronize(stream);
    }
    must(cu.cuStreamDestroy_v2(stream), "cuStreamDestroy");
    pthread_mutex_unlock(&lock);
    return (code == CUDA_SUCCESS) ? 0 : -1;
}
