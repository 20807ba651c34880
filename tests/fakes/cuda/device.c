/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: the driver, its devices, their primary contexts, and each thread's stack of those. */

#include "fake.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Thread_local struct CUctx_st *stack[FAKE_STACK_MAX];
static _Thread_local int depth;
static _Thread_local int capture_mode; /* 0: global */

static bool is_device(int device)
{
    return (device >= 0) && (device < fake.device_count);
}

cuda_result_t fake_current(struct CUctx_st **context_p)
{
    if ((depth == 0) || (stack[depth - 1] == NULL) || (stack[depth - 1]->retained == 0)) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (stack[depth - 1]->reset) {
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *context_p = stack[depth - 1];
    return (*context_p)->sticky;
}

int fake_cuda_depth(void)
{
    return depth;
}

cuda_result_t cuInit(unsigned flags)
{
    BEGIN("cuInit");
    while (fake.hang) {
        pause();
    }
    if (fake.device_count == 0) {
        return fake_leave(CUDA_ERROR_NO_DEVICE);
    }
    fake.initialised = true;
    return fake_leave((flags == 0) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

cuda_result_t cuDriverGetVersion(int *version)
{
    BEGIN("cuDriverGetVersion");
    *version = fake.version;
    return fake_leave(CUDA_SUCCESS);
}

/* These two are not counted: every report of a failure asks them. */
cuda_result_t cuGetErrorName(cuda_result_t code, const char **name)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
#define NAME(name, value) {(value), #name},
        CUDA_STATUS_MAP(NAME)
#undef NAME
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code) {
            *name = names[i].name;
            return CUDA_SUCCESS;
        }
    }
    *name = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

cuda_result_t cuGetErrorString(cuda_result_t code, const char **words)
{
    *words = (code == CUDA_ERROR_OUT_OF_MEMORY) ? "out of memory" : "pretended words";
    return CUDA_SUCCESS;
}

cuda_result_t cuDeviceGetCount(int *count)
{
    BEGIN("cuDeviceGetCount");
    *count = fake.device_count;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuDeviceGet(cuda_device_t *device, int ordinal)
{
    BEGIN("cuDeviceGet");
    if (!is_device(ordinal)) {
        return fake_leave(CUDA_ERROR_INVALID_DEVICE);
    }
    *device = ordinal;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuDeviceGetName(char *name, int length, cuda_device_t device)
{
    BEGIN("cuDeviceGetName");
    snprintf(name, (size_t)length, "Pretended GPU %d", device);
    return fake_leave(CUDA_SUCCESS);
}

static void write_uuid(cuda_uuid_t *uuid, cuda_device_t device)
{
    memset(uuid, 0x5a, sizeof(*uuid));
    uuid->bytes[15] = (char)(fake.first + device);
    if (fake_lies("uuid")) {
        memset(uuid, 0, sizeof(*uuid));
    }
}

#ifdef FAKE_CUDA_OLD
cuda_result_t cuDeviceGetUuid(cuda_uuid_t *uuid, cuda_device_t device)
{
    BEGIN("cuDeviceGetUuid");
    write_uuid(uuid, device);
    return fake_leave(CUDA_SUCCESS);
}
#else
cuda_result_t cuDeviceGetUuid_v2(cuda_uuid_t *uuid, cuda_device_t device)
{
    BEGIN("cuDeviceGetUuid");
    write_uuid(uuid, device);
    return fake_leave(CUDA_SUCCESS);
}
#endif

cuda_result_t cuDeviceTotalMem_v2(size_t *bytes, cuda_device_t device)
{
    BEGIN("cuDeviceTotalMem");
    *bytes = fake.capacity;
    return fake_leave(is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

#ifdef FAKE_CUDA_OLD
enum { ATTRIBUTES_KNOWN = CUDA_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED };
#else
enum { ATTRIBUTES_KNOWN = FAKE_ATTRIBUTES_MAX };
#endif

cuda_result_t cuDeviceGetAttribute(int *value, cuda_device_attribute_t which, cuda_device_t device)
{
    BEGIN("cuDeviceGetAttribute");
    if ((which <= 0) || (which >= ATTRIBUTES_KNOWN)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    *value = fake.attributes[which];
    if (which == CUDA_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
        *value += device;
    }
    return fake_leave(is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

cuda_result_t cuDeviceCanAccessPeer(int *can, cuda_device_t device, cuda_device_t peer)
{
    BEGIN("cuDeviceCanAccessPeer");
    if (!is_device(device) || !is_device(peer)) {
        return fake_leave(CUDA_ERROR_INVALID_DEVICE);
    }
    *can = (device != peer) ? 1 : 0;
    return fake_leave(CUDA_SUCCESS);
}

/* ---- contexts ---- */

static unsigned long long serial;

cuda_result_t cuDevicePrimaryCtxRetain(cuda_context_t *context, cuda_device_t device)
{
    BEGIN("cuDevicePrimaryCtxRetain");
    if (!is_device(device)) {
        return fake_leave(CUDA_ERROR_INVALID_DEVICE);
    }
    fake.contexts[device].device = device;
    fake.contexts[device].retained++;
    if (fake.contexts[device].reset || (fake.contexts[device].id == 0)) {
        fake.contexts[device].id = ++serial;
    }
    fake.contexts[device].reset = false;
    *context                    = &fake.contexts[device];
    return fake_leave(CUDA_SUCCESS);
}

static void release(int device)
{
    if (!is_device(device) || (fake.contexts[device].retained == 0)) {
        fake_broken("a primary context is released that was not retained");
        return;
    }
    fake.contexts[device].retained--;
    if (fake.contexts[device].retained == 0) {
        fake_streams_drop(device);
    }
}

void fake_cuda_reset_device(int device)
{
    int i;

    fake_streams_drop(device);
    fake_modules_drop(device);
    fake_remove_all(device);
    fake.contexts[device].reset = true;
    fake.contexts[device].peers = 0;
    fake.contexts[device].flags = 0;
    fake.late.size              = 0;
    for (i = 0; i < FAKE_DEVICES_MAX; i++) {
        fake.contexts[i].peers &= ~(1u << device);
    }
}

cuda_result_t cuDevicePrimaryCtxReset_v2(cuda_device_t device)
{
    fake_cuda_reset_device(device);
    return CUDA_SUCCESS;
}

#ifndef FAKE_CUDA_OLD
cuda_result_t cuCtxGetFlags(unsigned *flags)
{
    struct CUctx_st *context;
    cuda_result_t code;

    BEGIN("cuCtxGetFlags");
    code   = fake_current(&context);
    *flags = (code == CUDA_SUCCESS) ? context->flags : 0;
    return fake_leave(code);
}

cuda_result_t cuCtxSetFlags(unsigned flags)
{
    struct CUctx_st *context;
    cuda_result_t code;

    BEGIN("cuCtxSetFlags");
    code = fake_current(&context);
    if (code == CUDA_SUCCESS) {
        context->flags = flags;
    }
    return fake_leave(code);
}

cuda_result_t cuCtxGetId(cuda_context_t context, unsigned long long *id)
{
    BEGIN("cuCtxGetId");
    if ((context == NULL) || (context->retained == 0) || context->reset) {
        return fake_leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
    *id = context->id;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuThreadExchangeStreamCaptureMode(cuda_capture_mode_t *mode)
{
    int before = capture_mode;

    BEGIN("cuThreadExchangeStreamCaptureMode");
    capture_mode = *mode;
    *mode        = before;
    return fake_leave(CUDA_SUCCESS);
}
#endif

bool fake_thread_is_relaxed(void)
{
    return capture_mode == CUDA_STREAM_CAPTURE_MODE_RELAXED;
}

#ifdef FAKE_CUDA_OLD
cuda_result_t cuDevicePrimaryCtxRelease(cuda_device_t device)
{
    BEGIN_RELEASE("cuDevicePrimaryCtxRelease");
    release(device);
    return fake_leave(CUDA_SUCCESS);
}
#else
cuda_result_t cuDevicePrimaryCtxRelease_v2(cuda_device_t device)
{
    BEGIN_RELEASE("cuDevicePrimaryCtxRelease");
    release(device);
    return fake_leave(CUDA_SUCCESS);
}
#endif

cuda_result_t cuDevicePrimaryCtxGetState(cuda_device_t device, unsigned *flags, int *active)
{
    BEGIN("cuDevicePrimaryCtxGetState");
    *flags  = 0;
    *active = (fake.contexts[device].retained > 0) && !fake.contexts[device].reset;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuCtxPushCurrent_v2(cuda_context_t context)
{
    BEGIN("cuCtxPushCurrent");
    if ((context == NULL) || (context->retained == 0)) {
        return fake_leave(CUDA_ERROR_INVALID_CONTEXT);
    }
    if (context->reset) {
        return fake_leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
    if (depth == FAKE_STACK_MAX) {
        fake_broken("contexts are pushed and not popped");
        return fake_leave(CUDA_ERROR_UNKNOWN);
    }
    stack[depth++] = context;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuCtxPopCurrent_v2(cuda_context_t *context)
{
    BEGIN("cuCtxPopCurrent");
    if (depth == 0) {
        fake_broken("a context is popped that was not pushed");
        return fake_leave(CUDA_ERROR_INVALID_CONTEXT);
    }
    *context = stack[--depth];
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuCtxGetCurrent(cuda_context_t *context)
{
    *context = (depth == 0) ? NULL : stack[depth - 1];
    return CUDA_SUCCESS;
}

cuda_result_t cuCtxSynchronize(void)
{
    struct CUctx_st *context;
    cuda_result_t code;

    BEGIN("cuCtxSynchronize");
    code = fake_current(&context);
    fake_late_finish();
    return fake_leave((code == CUDA_SUCCESS) ? fake_run_all(context) : code);
}

cuda_result_t cuCtxEnablePeerAccess(cuda_context_t peer, unsigned flags)
{
    struct CUctx_st *context;
    cuda_result_t code;

    BEGIN("cuCtxEnablePeerAccess");
    code = fake_current(&context);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    if ((peer == NULL) || (peer == context) || (peer->retained == 0) || (flags != 0)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    if (fake_lies("peer")) {
        return fake_leave(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    }
    if ((context->peers & (1u << peer->device)) != 0) {
        return fake_leave(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    }
    context->peers |= 1u << peer->device;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemGetInfo_v2(size_t *available, size_t *total)
{
    struct CUctx_st *context;
    cuda_result_t code;

    BEGIN("cuMemGetInfo");
    code = fake_current(&context);
    if (code == CUDA_SUCCESS) {
        *available = fake.capacity - fake.used[context->device];
        *total     = fake.capacity;
    }
    return fake_leave(code);
}
