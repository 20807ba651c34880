/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: starting, devices and what is asked of them, and their peers. */

#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

hip_result_t hipInit(unsigned flags)
{
    BEGIN("hipInit");
    while (fake.hang) {
        sleep(1);
    }
    if (flags != 0) {
        return fake_leave(HIP_ERROR_INVALID_VALUE);
    }
    fake.initialised = true;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipRuntimeGetVersion(int *version)
{
    BEGIN("hipRuntimeGetVersion");
#ifdef FAKE_HIP_OLD
    *version = 50221153;
#else
    *version = 70051831;
#endif
    *version -= fake_hip_lies("version") ? 10000000 : 0;
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

hip_result_t hipGetDeviceCount(int *count)
{
    BEGIN("hipGetDeviceCount");
    *count = fake.device_count;
    return fake_leave((fake.device_count > 0) ? HIP_SUCCESS : HIP_ERROR_NO_DEVICE);
}

static bool is_device(int device)
{
    return (device >= 0) && (device < fake.device_count);
}

hip_result_t hipGetDevice(int *device)
{
    BEGIN("hipGetDevice");
    *device = fake_current;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipSetDevice(int device)
{
    BEGIN("hipSetDevice");
    if (!is_device(device)) {
        return fake_leave(HIP_ERROR_INVALID_DEVICE);
    }
    fake_current = device;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipDeviceGet(hip_device_t *device, int ordinal)
{
    BEGIN("hipDeviceGet");
    if (!is_device(ordinal)) {
        return fake_leave(HIP_ERROR_INVALID_DEVICE);
    }
    *device = ordinal;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipDeviceGetName(char *name, int length, hip_device_t device)
{
    BEGIN("hipDeviceGetName");
    snprintf(name, (size_t)length, "Pretended Instinct %d", device);
    return fake_leave(is_device(device) ? HIP_SUCCESS : HIP_ERROR_INVALID_DEVICE);
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
    *size = fake.capacity;
    return fake_leave(is_device(device) ? HIP_SUCCESS : HIP_ERROR_INVALID_DEVICE);
}

hip_result_t hipDeviceGetAttribute(int *value, int which, int device)
{
    int answer;

    BEGIN("hipDeviceGetAttribute");
    answer = fake_attribute(which);
    if ((answer < 0) || !is_device(device)) {
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
    code = fake_run_all(fake_current);
    return fake_leave((code == HIP_SUCCESS) ? fake_usable() : code);
}

hip_result_t hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    BEGIN("hipDeviceCanAccessPeer");
    *can = is_device(device) && is_device(peer) && (device != peer);
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    BEGIN("hipDeviceEnablePeerAccess");
    if (!is_device(peer) || (flags != 0) || (peer == fake_current)) {
        return fake_leave(HIP_ERROR_INVALID_DEVICE);
    }
    if (fake_usable() != HIP_SUCCESS) {
        return fake_leave(fake_usable());
    }
    if (fake_hip_lies("peer")) {
        return fake_leave(HIP_ERROR_NOT_SUPPORTED);
    }
    if ((fake.peers[fake_current] & (1u << peer)) != 0) {
        return fake_leave(HIP_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    }
    fake.peers[fake_current] |= 1u << peer;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipDeviceGetP2PAttribute(int *value, int which, int from, int home)
{
    BEGIN("hipDeviceGetP2PAttribute");
    *value = (which == HIP_P2P_NATIVE_ATOMIC_SUPPORTED) && is_device(from) && is_device(home);
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipMemGetInfo(size_t *available, size_t *total)
{
    BEGIN("hipMemGetInfo");
    *available = fake.capacity - fake.used[fake_current];
    *total     = fake.capacity;
    return fake_leave(fake_usable());
}
