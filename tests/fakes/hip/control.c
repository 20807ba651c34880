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
_Thread_local int fake_current;
static _Thread_local hip_result_t last_error;
static struct fake_counters counters;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards everything of the fake */

/* A GPU of today on PCI Express in a machine with HMM, XNACK off, no large BAR. ROCm 5 does not
 * know three of the questions. */
#ifdef FAKE_HIP_OLD
#define UNKNOWN_TO_OLD(value) (-1)
#else
#define UNKNOWN_TO_OLD(value) (value)
#endif
static const int attributes[][2] = {
    {HIP_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {HIP_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, UNKNOWN_TO_OLD(1)},
    {HIP_ATTRIBUTE_INTEGRATED, 0},
    {HIP_ATTRIBUTE_MANAGED_MEMORY, 1},
    {HIP_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
    {HIP_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0},
    {HIP_ATTRIBUTE_HOST_PAGE_TABLES, 0},
    {HIP_ATTRIBUTE_UNIFIED_ADDRESSING, UNKNOWN_TO_OLD(1)},
    {HIP_ATTRIBUTE_IS_LARGE_BAR, 0},
    {HIP_ATTRIBUTE_FINE_GRAIN_SUPPORT, UNKNOWN_TO_OLD(1)},
};

static void set_attribute(int which, int value)
{
    int i;

    for (i = 0; (i < FAKE_ATTRIBUTES - 1) && (fake.attributes[i][0] != which) &&
                (fake.attributes[i][0] != 0);
         i++) {
    }
    fake.attributes[i][0] = which;
    fake.attributes[i][1] = value;
}

static void read_attributes(void)
{
    size_t i;

    memset(fake.attributes, 0, sizeof(fake.attributes));
    for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        set_attribute(attributes[i][0], attributes[i][1]);
    }
    fake_each_attribute("FAKE_HIP_ATTRIBUTES", set_attribute);
}

int fake_attribute(int which)
{
    int i;

    for (i = 0; i < FAKE_ATTRIBUTES; i++) {
        if (fake.attributes[i][0] == which) {
            return fake.attributes[i][1];
        }
    }
    return -1;
}

static void read_environment(void)
{
    fake.ready        = true;
    fake.device_count = (int)fake_number("FAKE_HIP_DEVICES", 2);
    fake.capacity     = (size_t)fake_number("FAKE_HIP_MEMORY", 256L << 20);
    fake.fail_at      = (int)fake_number("FAKE_HIP_FAIL_AT", 0);
    fake.fail_code    = (int)fake_number("FAKE_HIP_FAIL_CODE", FAKE_LOST);
    fake.lost_at      = (int)fake_number("FAKE_HIP_LOST_AT", 0);
    fake.hang         = fake_number("FAKE_HIP_HANG", 0) != 0;
    fake_text("FAKE_HIP_LIES", fake.lies, sizeof(fake.lies));
    fake_text("FAKE_HIP_FAIL_CALL", fake.fail_call, sizeof(fake.fail_call));
    read_attributes();
}

void fake_hip_reset(void)
{
    pthread_mutex_lock(&lock);
    fake.capturing      = false;
    fake.capture_spoilt = false;
    fake.calls          = 0;
    fake.initialised    = false;
    fake.failed[0]      = '\0';
    fake.violation[0]   = '\0';
    fake_current        = 0;
    last_error          = HIP_SUCCESS;
    memset(&counters, 0, sizeof(counters));
    memset(fake.sticky, 0, sizeof(fake.sticky));
    memset(fake.peers, 0, sizeof(fake.peers));
    read_environment();
    pthread_mutex_unlock(&lock);
}

static void lose_devices(void)
{
    int i;

    for (i = 0; i < FAKE_DEVICES_MAX; i++) {
        fake.sticky[i] = FAKE_LOST;
    }
}

/* 0: global. */
static _Thread_local int capture_mode;
static _Thread_local hip_result_t refused;

hip_result_t hipThreadExchangeStreamCaptureMode(int *mode)
{
    int before = capture_mode;

    BEGIN("hipThreadExchangeStreamCaptureMode");
    capture_mode = *mode;
    *mode        = before;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t fake_hip_refused(void)
{
    return refused;
}

/* What a thread whose capture mode is not relaxed may not call while a stream is captured. */
static bool is_unsafe(const char *name)
{
    static const char *const unsafe[] = {
        "hipMalloc",         "hipExtMallocWithFlags", "hipMallocManaged",    "hipFree",
        "hipHostMalloc",     "hipHostFree",           "hipHostRegister",     "hipHostUnregister",
        "hipModuleLoadData", "hipIpcOpenMemHandle",   "hipIpcCloseMemHandle"};
    size_t i;

    for (i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++) {
        if (strcmp(unsafe[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Lock held; gives it up when the call is not begun. */
static bool refuse(const char *name)
{
    bool waits =
        strcmp(name, "hipDeviceSynchronize") == 0; /* also for the captured stream: never */

    if (!fake.capturing ||
        (!waits && (!is_unsafe(name) || (capture_mode == HIP_CAPTURE_RELAXED)))) {
        return false;
    }
    fake.capture_spoilt = true;
    refused             = HIP_ERROR_CAPTURE_UNSUPPORTED;
    last_error          = refused;
    pthread_mutex_unlock(&lock);
    fake_call_ends();
    return true;
}

bool fake_hip_capture(bool begin)
{
    bool whole = !fake.capture_spoilt;

    fake.capturing      = begin;
    fake.capture_spoilt = false;
    return whole;
}

hip_result_t fake_hip_enter(const char *name, bool releases)
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
    fake.forced = HIP_SUCCESS;
    fake.of_hip = (strncmp(name, "hip", 3) == 0) && (strncmp(name, "hiprtc", 6) != 0);
    if ((fake.calls == fake.fail_at) || (strcmp(fake.fail_call, name) == 0)) {
        snprintf(fake.failed, sizeof(fake.failed), "%s", name);
        fake.forced = fake.fail_code;
    } else if (!fake.initialised && fake.of_hip && (strcmp(name, "hipInit") != 0)) {
        fake.forced = HIP_ERROR_NOT_INITIALIZED;
    }
    if ((fake.lost_at > 0) && (fake.calls >= fake.lost_at)) {
        lose_devices();
    }
    return ((fake.forced != HIP_SUCCESS) && !releases) ? fake_hip_leave(HIP_SUCCESS) : HIP_SUCCESS;
}

hip_result_t fake_hip_leave(hip_result_t code)
{
    code = (fake.forced != HIP_SUCCESS) ? fake.forced : code;
    if ((code != HIP_SUCCESS) && fake.of_hip) {
        last_error = code;
    }
    pthread_mutex_unlock(&lock);
    fake_call_ends();
    return code;
}

hip_result_t hipGetLastError(void)
{
    hip_result_t code = last_error;

    last_error = HIP_SUCCESS;
    return code;
}

hip_result_t fake_usable(void)
{
    return fake.sticky[fake_current];
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

bool fake_hip_lies(const char *about)
{
    return strcmp(fake.lies, about) == 0;
}

void fake_hip_programs(int change)
{
    fake.programs += change;
}

const char *fake_hip_failed_call(void)
{
    return fake.failed;
}

const char *fake_hip_violation(void)
{
    return fake.violation;
}

int fake_hip_live(void)
{
    const struct fake_memory *memory;
    const struct ihipStream_t *stream;
    int live = fake.modules + fake.programs;

    for (memory = fake.memory; memory != NULL; memory = memory->next) {
        live++;
    }
    for (stream = fake.streams; stream != NULL; stream = stream->next) {
        live++;
    }
    return live;
}

unsigned fake_hip_calls(const char *name)
{
    return *fake_counter(&counters, name);
}

int fake_hip_current(void)
{
    return fake_current;
}

int fake_hip_last_error(void)
{
    return last_error;
}
