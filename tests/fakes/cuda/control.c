/* SPDX-License-Identifier: BSD-3-Clause */
/* control.c: what is made to fail, and what is counted. */

#include "fake.h"
#include "tests/fakes/end.h"
#include "tests/fakes/gpu_control.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;
static struct fake_counters counters;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards everything of the fake */

/* A device of today, on a PCI Express bus, in a machine without HMM. */
static const int attributes[][2] = {
    {CUDA_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
    {CUDA_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CUDA_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0x41},
    {CUDA_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CUDA_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CUDA_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CUDA_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CUDA_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CUDA_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CUDA_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CUDA_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CUDA_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 1},
    {CUDA_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 1},
    {CUDA_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 1},
    {CUDA_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1},
};

static void set_attribute(int which, int value)
{
    if ((which >= 0) && (which < FAKE_ATTRIBUTES_MAX)) {
        fake.attributes[which] = value;
    }
}

static void read_attributes(void)
{
    size_t i;

    memset(fake.attributes, 0, sizeof(fake.attributes));
    for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        set_attribute(attributes[i][0], attributes[i][1]);
    }
    fake_each_attribute("FAKE_CUDA_ATTRIBUTES", set_attribute);
}

static void read_environment(void)
{
    fake.ready        = true;
    fake.device_count = (int)fake_number("FAKE_CUDA_DEVICES", 2);
    fake.first        = (int)fake_number("FAKE_CUDA_FIRST", 0);
    fake.capacity     = (size_t)fake_number("FAKE_CUDA_MEMORY", 256L << 20);
    fake.version      = (int)fake_number("FAKE_CUDA_VERSION", 13000);
    fake.fail_at      = (int)fake_number("FAKE_CUDA_FAIL_AT", 0);
    fake.fail_code    = (int)fake_number("FAKE_CUDA_FAIL_CODE", 719);
    fake.lost_at      = (int)fake_number("FAKE_CUDA_LOST_AT", 0);
    fake.hang         = fake_number("FAKE_CUDA_HANG", 0) != 0;
    fake_text("FAKE_CUDA_LIES", fake.lies, sizeof(fake.lies));
    fake_text("FAKE_CUDA_FAIL_CALL", fake.fail_call, sizeof(fake.fail_call));
    read_attributes();
    if (fake_lies("imex") || fake_lies("fabric")) {
        fake.attributes[CUDA_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED] = 1;
    }
}

void fake_cuda_reset(void)
{
    pthread_mutex_lock(&lock);
    fake.ended          = false;
    fake.capturing      = false;
    fake.capture_spoilt = false;
    fake.calls          = 0;
    fake.initialised    = false;
    fake.failed[0]      = '\0';
    fake.violation[0]   = '\0';
    fake.late.size      = 0;
    memset(&counters, 0, sizeof(counters));
    memset(fake.contexts, 0, sizeof(fake.contexts));
    read_environment();
    pthread_mutex_unlock(&lock);
}

/* What a thread whose capture mode is not relaxed may not call while a stream is captured. */
static bool is_unsafe(const char *name)
{
    static const char *const safe[] = {"cuMemcpyAsync",   "cuMemcpy2DAsync",
                                       "cuMemsetD8Async", "cuMemsetD32Async",
                                       "cuMemGetInfo",    "cuMemHostGetDevicePointer"};
    size_t i;

    for (i = 0; i < sizeof(safe) / sizeof(safe[0]); i++) {
        if (strcmp(safe[i], name) == 0) {
            return false;
        }
    }
    return (strncmp(name, "cuMem", 5) == 0) || (strcmp(name, "cuModuleLoadDataEx") == 0) ||
           (strcmp(name, "cuCtxEnablePeerAccess") == 0) ||
           (strcmp(name, "cuDevicePrimaryCtxRetain") == 0);
}

static _Thread_local cuda_result_t refused;

cuda_result_t fake_refused(void)
{
    return refused;
}

/* Lock held; gives it up when the call is not begun. */
static bool refuse(const char *name)
{
    bool waits = strcmp(name, "cuCtxSynchronize") == 0; /* also for the captured stream: never */

    if (fake.ended) {
        refused = CUDA_ERROR_DEINITIALIZED;
    } else if (fake.capturing && (waits || (is_unsafe(name) && !fake_thread_is_relaxed()))) {
        fake.capture_spoilt = true;
        refused             = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else {
        return false;
    }
    pthread_mutex_unlock(&lock);
    fake_call_ends();
    return true;
}

bool fake_cuda_capture(bool begin)
{
    bool whole = !fake.capture_spoilt;

    fake.capturing      = begin;
    fake.capture_spoilt = false;
    return whole;
}

void fake_cuda_end(void)
{
    pthread_mutex_lock(&lock);
    fake_streams_drop(-1);
    fake_remove_all(-1);
    fake_modules_drop(-1);
    fake.ranges  = 0;
    fake.handles = 0;
    memset(fake.contexts, 0, sizeof(fake.contexts));
    fake.ended = true;
    pthread_mutex_unlock(&lock);
}

cuda_result_t fake_enter(const char *name, bool releases)
{
    fake_call_begins(name);
    pthread_mutex_lock(&lock);
    if (!fake.ready) {
        read_environment();
    }
    (*fake_counter(&counters, name))++;
    if (refuse(name)) {
        return refused;
    }
    fake.calls++;
    fake.forced = CUDA_SUCCESS;
    if ((fake.calls == fake.fail_at) || (strcmp(fake.fail_call, name) == 0)) {
        snprintf(fake.failed, sizeof(fake.failed), "%s", name);
        fake.forced = fake.fail_code;
    } else if (!fake.initialised && (strcmp(name, "cuInit") != 0) &&
               (strcmp(name, "cuDriverGetVersion") != 0)) {
        fake.forced = CUDA_ERROR_NOT_INITIALIZED;
    }
    if ((fake.lost_at > 0) && (fake.calls >= fake.lost_at)) {
        int i;
        for (i = 0; i < FAKE_DEVICES_MAX; i++) {
            fake.contexts[i].sticky = FAKE_LOST;
        }
    }
    if ((fake.forced != CUDA_SUCCESS) && !releases) {
        return fake_leave(CUDA_SUCCESS);
    }
    return CUDA_SUCCESS;
}

cuda_result_t fake_leave(cuda_result_t code)
{
    code = (fake.forced != CUDA_SUCCESS) ? fake.forced : code;
    pthread_mutex_unlock(&lock);
    fake_call_ends();
    return code;
}

void fake_broken(const char *format, ...)
{
    va_list args;

    if (fake.violation[0] != '\0') {
        return;
    }
    va_start(args, format);
    vsnprintf(fake.violation, sizeof(fake.violation), format, args);
    va_end(args);
}

bool fake_lies(const char *about)
{
    return strcmp(fake.lies, about) == 0;
}

const char *fake_cuda_failed_call(void)
{
    return fake.failed;
}

const char *fake_cuda_violation(void)
{
    return fake.violation;
}

int fake_cuda_live(void)
{
    const struct fake_memory *memory;
    const struct CUstream_st *stream;
    const struct CUmod_st *module;
    int live = fake.ranges + fake.handles;
    int i;

    for (memory = fake.memory; memory != NULL; memory = memory->next) {
        live++;
    }
    for (module = fake.modules; module != NULL; module = module->next) {
        live++;
    }
    for (stream = fake.streams; stream != NULL; stream = stream->next) {
        live++;
    }
    for (i = 0; i < FAKE_DEVICES_MAX; i++) {
        live += fake.contexts[i].retained;
    }
    return live;
}

unsigned long long fake_cuda_used(int device)
{
    return fake.used[device];
}

unsigned fake_cuda_calls(const char *name)
{
    return *fake_counter(&counters, name);
}
