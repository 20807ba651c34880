/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: starting, the last error, devices and what is asked of them, and their peers. */

#include "fake.h"
#include <stdio.h>
#include <string.h>

static _Thread_local int current;
static _Thread_local hip_result_t last_error;

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
    {HIP_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE, UNKNOWN_TO_OLD(1)},
    {0, 0},
};

/* ---- the front ---- */

static void read_more(void)
{
    current    = 0;
    last_error = HIP_SUCCESS;
}

/* What a thread whose capture mode is not relaxed may not call while a stream is captured. */
static bool is_unsafe(void)
{
    static const char *const unsafe[] = {
        "hipMalloc",         "hipExtMallocWithFlags", "hipMallocManaged",     "hipFree",
        "hipHostMalloc",     "hipHostFree",           "hipHostRegister",      "hipHostUnregister",
        "hipModuleLoadData", "hipIpcOpenMemHandle",   "hipIpcCloseMemHandle", "hipEventQuery"};
    size_t i;

    for (i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++) {
        if (strcmp(unsafe[i], gpu.call) == 0) {
            return true;
        }
    }
    return false;
}

static int refuse(void)
{
    return fake_refuse_in_capture(is_unsafe(), strcmp(gpu.call, "hipDeviceSynchronize") == 0);
}

static bool is_of_hip(void)
{
    return (strncmp(gpu.call, "hip", 3) == 0) && (strncmp(gpu.call, "hiprtc", 6) != 0);
}

static int force(void)
{
    bool may = gpu.initialised || !is_of_hip() || (strcmp(gpu.call, "hipInit") == 0);

    return may ? HIP_SUCCESS : HIP_ERROR_NOT_INITIALIZED;
}

static void answered(int code)
{
    last_error = ((code != HIP_SUCCESS) && is_of_hip()) ? code : last_error;
}

const struct fake_front fake_front = {.prefix     = "FAKE_HIP_",
                                      .fail_code  = HIP_ERROR_LAUNCH_FAILURE,
                                      .attributes = attributes,
                                      .read       = read_more,
                                      .refuse     = refuse,
                                      .force      = force,
                                      .answered   = answered};

const struct fake_rules fake_rules = {.pageable_attribute = HIP_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
                                      .never_prefetched   = HIP_CPU_DEVICE,
                                      .threads_max        = 256,
                                      .cannot_open        = HIP_ERROR_INVALID_DEVICE_POINTER,
                                      .tells_of_all       = true};

hip_result_t fake_hip_enter(const char *name, bool releases)
{
    return fake_enter(name, releases);
}

hip_result_t fake_hip_leave(hip_result_t code)
{
    return fake_leave(code);
}

bool fake_hip_lies(const char *about)
{
    return fake_lies(about);
}

void fake_hip_programs(int change)
{
    gpu.objects += change;
}

int fake_usable(int *device_p)
{
    *device_p = current;
    return fake_sticky(current);
}

int fake_hip_current(void)
{
    return current;
}

int fake_hip_last_error(void)
{
    return last_error;
}

/* ---- the runtime ---- */

hip_result_t hipInit(unsigned flags)
{
    BEGIN("hipInit");
    fake_hang();
    gpu.initialised = (flags == 0);
    return fake_leave((flags == 0) ? HIP_SUCCESS : HIP_ERROR_INVALID_VALUE);
}

hip_result_t hipRuntimeGetVersion(int *version)
{
    BEGIN("hipRuntimeGetVersion");
#ifdef FAKE_HIP_OLD
    *version = 50221153;
#else
    *version = 70051831;
#endif
    *version -= fake_lies("version") ? 10000000 : 0;
    return fake_leave(HIP_SUCCESS);
}

const char *hipGetErrorName(hip_result_t code)
{
    switch (code) {
#define NAME(name, theirs, value)                                                                  \
    case value:                                                                                    \
        return #theirs;
        HIP_STATUS_MAP(NAME)
#undef NAME
    default:
        return "hipErrorUnknown";
    }
}

const char *hipGetErrorString(hip_result_t code)
{
    switch (code) {
    case HIP_ERROR_OUT_OF_MEMORY:
        return "out of memory";
    case HIP_ERROR_NO_DEVICE:
        return "no ROCm-capable device is detected";
    case HIP_ERROR_LAUNCH_FAILURE:
        return "unspecified launch failure";
    default:
        return hipGetErrorName(code);
    }
}

hip_result_t hipGetLastError(void)
{
    hip_result_t code = last_error;

    last_error = HIP_SUCCESS;
    return code;
}

hip_result_t hipThreadExchangeStreamCaptureMode(int *mode)
{
    CALL("hipThreadExchangeStreamCaptureMode", fake_exchange_capture_mode(mode));
}

/* ---- devices ---- */

static hip_result_t check_device(int device)
{
    return fake_is_device(device) ? HIP_SUCCESS : HIP_ERROR_INVALID_DEVICE;
}

hip_result_t hipGetDeviceCount(int *count)
{
    BEGIN("hipGetDeviceCount");
    *count = gpu.device_count;
    return fake_leave((gpu.device_count > 0) ? HIP_SUCCESS : HIP_ERROR_NO_DEVICE);
}

hip_result_t hipGetDevice(int *device)
{
    BEGIN("hipGetDevice");
    *device = current;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipSetDevice(int device)
{
    BEGIN("hipSetDevice");
    current = fake_is_device(device) ? device : current;
    return fake_leave(check_device(device));
}

hip_result_t hipDeviceGet(hip_device_t *device, int ordinal)
{
    BEGIN("hipDeviceGet");
    *device = ordinal;
    return fake_leave(check_device(ordinal));
}

hip_result_t hipDeviceGetName(char *name, int length, hip_device_t device)
{
    BEGIN("hipDeviceGetName");
    snprintf(name, (size_t)length, "Pretended Instinct %d", device);
    return fake_leave(check_device(device));
}

#ifndef FAKE_HIP_OLD
hip_result_t hipDeviceGetUuid(struct hip_uuid *uuid, hip_device_t device)
{
    char text[32];

    BEGIN("hipDeviceGetUuid");
    snprintf(text, sizeof(text), "f00dfeed000000%02x", (unsigned)device);
    memcpy(uuid->bytes, text, sizeof(uuid->bytes));
    return fake_leave(HIP_SUCCESS);
}
#endif

hip_result_t hipDeviceTotalMem(size_t *size, hip_device_t device)
{
    BEGIN("hipDeviceTotalMem");
    *size = gpu.capacity;
    return fake_leave(check_device(device));
}

hip_result_t hipDeviceGetAttribute(int *value, int which, int device)
{
    int answer;

    BEGIN("hipDeviceGetAttribute");
    answer = fake_attribute(which);
    if ((answer < 0) || !fake_is_device(device)) {
        return fake_leave(HIP_ERROR_INVALID_VALUE);
    }
    *value = answer;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipDeviceGetPCIBusId(char *text, int length, int device)
{
    BEGIN("hipDeviceGetPCIBusId");
    snprintf(text, (size_t)length, "0000:C%d:00.0", device);
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipDeviceSynchronize(void)
{
    hip_result_t code;

    BEGIN("hipDeviceSynchronize");
    code = fake_run_all(current);
    return fake_leave((code == HIP_SUCCESS) ? fake_sticky(current) : code);
}

hip_result_t hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    BEGIN("hipDeviceCanAccessPeer");
    *can = fake_is_device(device) && fake_is_device(peer) && (device != peer);
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    BEGIN("hipDeviceEnablePeerAccess");
    if (!fake_is_device(peer) || (flags != 0) || (peer == current)) {
        return fake_leave(HIP_ERROR_INVALID_DEVICE);
    }
    if (fake_sticky(current) != HIP_SUCCESS) {
        return fake_leave(fake_sticky(current));
    }
    return fake_leave(fake_lies("peer") ? HIP_ERROR_NOT_SUPPORTED
                                        : fake_enable_peer(current, peer));
}

hip_result_t hipDeviceGetP2PAttribute(int *value, int which, int from, int home)
{
    BEGIN("hipDeviceGetP2PAttribute");
    *value =
        (which == HIP_P2P_NATIVE_ATOMIC_SUPPORTED) && fake_is_device(from) && fake_is_device(home);
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipMemGetInfo(size_t *available, size_t *total)
{
    BEGIN("hipMemGetInfo");
    *available = gpu.capacity - gpu.used[current];
    *total     = gpu.capacity;
    return fake_leave(fake_sticky(current));
}
