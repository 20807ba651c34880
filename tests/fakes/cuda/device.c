/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: the driver, its devices, their primary contexts, those that programs make, and each
 * thread's stack of them. */

#include "fake.h"
#include <stdio.h>
#include <string.h>

enum { STACK_MAX = 16, MADE_MAX = 16, CONTEXTS = FAKE_DEVICES_MAX + MADE_MAX };

static struct CUctx_st contexts[CONTEXTS]; /* each device's primary one, then those of programs */
static int made;                           /* of these; a handle has one context, ever */
static unsigned long long serial;
static int version;
static _Thread_local struct CUctx_st *stack[STACK_MAX];
static _Thread_local int depth;

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
    {0, 0},
};

#ifdef FAKE_CUDA_OLD
enum { ATTRIBUTES_KNOWN = CUDA_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED };
#else
enum { ATTRIBUTES_KNOWN = 160 };
#endif

/* ---- the front ---- */

static void forget_contexts(void)
{
    int i;

    for (i = 0; i < CONTEXTS; i++) {
        gpu.objects -= contexts[i].retained;
    }
    memset(contexts, 0, sizeof(contexts));
    made = 0;
}

static void read_more(void)
{
    forget_contexts();
    version = (int)fake_number("VERSION", 13000);
}

/* What a thread whose capture mode is not relaxed may not call while a stream is captured. */
static bool is_unsafe(void)
{
    static const char *const safe[] = {"cuMemcpyAsync",   "cuMemcpy2DAsync",
                                       "cuMemsetD8Async", "cuMemsetD32Async",
                                       "cuMemGetInfo",    "cuMemHostGetDevicePointer"};
    size_t i;

    for (i = 0; i < sizeof(safe) / sizeof(safe[0]); i++) {
        if (strcmp(safe[i], gpu.call) == 0) {
            return false;
        }
    }
    return (strncmp(gpu.call, "cuMem", 5) == 0) || (strcmp(gpu.call, "cuModuleLoadDataEx") == 0) ||
           (strcmp(gpu.call, "cuCtxEnablePeerAccess") == 0) ||
           (strcmp(gpu.call, "cuEventQuery") == 0) ||
           (strcmp(gpu.call, "cuDevicePrimaryCtxRetain") == 0);
}

static int refuse(void)
{
    return gpu.ended
               ? CUDA_ERROR_DEINITIALIZED
               : fake_refuse_in_capture(is_unsafe(), strcmp(gpu.call, "cuCtxSynchronize") == 0);
}

static int force(void)
{
    bool may = gpu.initialised || (strcmp(gpu.call, "cuInit") == 0) ||
               (strcmp(gpu.call, "cuDriverGetVersion") == 0);

    return may ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

const struct fake_front fake_front = {.prefix     = "FAKE_CUDA_",
                                      .fail_code  = CUDA_ERROR_LAUNCH_FAILED,
                                      .attributes = attributes,
                                      .read       = read_more,
                                      .refuse     = refuse,
                                      .force      = force};

static void *current_context(void)
{
    return (depth == 0) ? NULL : stack[depth - 1];
}

const struct fake_rules fake_rules = {.pageable_attribute =
                                          CUDA_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
                                      .never_prefetched = -2,
                                      .threads_max      = 1024,
                                      .cannot_open      = CUDA_ERROR_INVALID_HANDLE,
                                      .context          = current_context};

void fake_cuda_end(void)
{
    fake_streams_drop(-1, NULL);
    fake_remove_all(-1, NULL);
    fake_modules_drop(-1, NULL);
    fake_events_drop(-1, NULL);
    forget_contexts();
    gpu.objects = 0;
    gpu.ended   = true;
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
    return fake_sticky((*context_p)->device);
}

int fake_usable(int *device_p)
{
    struct CUctx_st *context = NULL;
    cuda_result_t code       = fake_current(&context);

    *device_p = (context == NULL) ? -1 : context->device;
    return code;
}

int fake_cuda_depth(void)
{
    return depth;
}

/* ---- the driver ---- */

cuda_result_t cuInit(unsigned flags)
{
    BEGIN("cuInit");
    fake_hang();
    if (gpu.device_count == 0) {
        return fake_leave(CUDA_ERROR_NO_DEVICE);
    }
    gpu.initialised = true;
    return fake_leave((flags == 0) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

cuda_result_t cuDriverGetVersion(int *version_p)
{
    BEGIN("cuDriverGetVersion");
    *version_p = version;
    return fake_leave(CUDA_SUCCESS);
}

/* These two are not counted: every report of a failure asks them. */
cuda_result_t cuGetErrorName(cuda_result_t code, const char **name)
{
    switch (code) {
#define NAME(constant, value)                                                                      \
    case value:                                                                                    \
        *name = #constant;                                                                         \
        return CUDA_SUCCESS;
        CUDA_STATUS_MAP(NAME)
#undef NAME
    default:
        *name = NULL;
        return CUDA_ERROR_INVALID_VALUE;
    }
}

cuda_result_t cuGetErrorString(cuda_result_t code, const char **words)
{
    *words = (code == CUDA_ERROR_OUT_OF_MEMORY) ? "out of memory" : "pretended words";
    return CUDA_SUCCESS;
}

/* ---- devices ---- */

static int check_device(int device)
{
    return fake_is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

cuda_result_t cuDeviceGetCount(int *count)
{
    BEGIN("cuDeviceGetCount");
    *count = gpu.device_count;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuDeviceGet(cuda_device_t *device, int ordinal)
{
    BEGIN("cuDeviceGet");
    *device = ordinal;
    return fake_leave(check_device(ordinal));
}

cuda_result_t cuDeviceGetName(char *name, int length, cuda_device_t device)
{
    BEGIN("cuDeviceGetName");
    snprintf(name, (size_t)length, "Pretended GPU %d", device);
    return fake_leave(CUDA_SUCCESS);
}

static int write_uuid(cuda_uuid_t *uuid, cuda_device_t device)
{
    memset(uuid, 0x5a, sizeof(*uuid));
    uuid->bytes[15] = (char)(gpu.first + device);
    if (fake_lies("uuid")) {
        memset(uuid, 0, sizeof(*uuid));
    }
    return CUDA_SUCCESS;
}

#ifdef FAKE_CUDA_OLD
#define cuDeviceGetUuid_v2           cuDeviceGetUuid
#define cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxRelease
#endif

cuda_result_t cuDeviceGetUuid_v2(cuda_uuid_t *uuid, cuda_device_t device)
{
    CALL("cuDeviceGetUuid", write_uuid(uuid, device));
}

cuda_result_t cuDeviceTotalMem_v2(size_t *bytes, cuda_device_t device)
{
    BEGIN("cuDeviceTotalMem");
    *bytes = gpu.capacity;
    return fake_leave(check_device(device));
}

cuda_result_t cuDeviceGetAttribute(int *value, cuda_device_attribute_t which, cuda_device_t device)
{
    bool imex;

    BEGIN("cuDeviceGetAttribute");
    if ((which <= 0) || (which >= ATTRIBUTES_KNOWN)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    imex   = fake_lies("imex") || fake_lies("fabric");
    *value = (fake_attribute(which) > 0) ? fake_attribute(which) : 0;
    if (which == CUDA_DEVICE_ATTRIBUTE_PCI_BUS_ID) {
        *value += device;
    }
    if (imex && (which == CUDA_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED)) {
        *value = 1;
    }
    return fake_leave(check_device(device));
}

cuda_result_t cuDeviceCanAccessPeer(int *can, cuda_device_t device, cuda_device_t peer)
{
    BEGIN("cuDeviceCanAccessPeer");
    *can = (device != peer) ? 1 : 0;
    return fake_leave((check_device(device) == CUDA_SUCCESS) ? check_device(peer)
                                                             : CUDA_ERROR_INVALID_DEVICE);
}

/* ---- contexts ---- */

cuda_result_t cuDevicePrimaryCtxRetain(cuda_context_t *context, cuda_device_t device)
{
    BEGIN("cuDevicePrimaryCtxRetain");
    if (!fake_is_device(device)) {
        return fake_leave(CUDA_ERROR_INVALID_DEVICE);
    }
    *context           = &contexts[device];
    (*context)->device = device;
    (*context)->retained++;
    gpu.objects++;
    if ((*context)->reset || ((*context)->id == 0)) {
        (*context)->id = ++serial;
    }
    (*context)->reset = false;
    return fake_leave(CUDA_SUCCESS);
}

static int release(int device)
{
    if (!fake_is_device(device) || (contexts[device].retained == 0)) {
        fake_broken("a primary context is released that was not retained");
        return CUDA_SUCCESS;
    }
    contexts[device].retained--;
    gpu.objects--;
    if (contexts[device].retained == 0) {
        fake_streams_drop(device, &contexts[device]);
    }
    return CUDA_SUCCESS;
}

cuda_result_t cuDevicePrimaryCtxRelease_v2(cuda_device_t device)
{
    CALL_RELEASE("cuDevicePrimaryCtxRelease", release(device));
}

void fake_cuda_reset_device(int device)
{
    int i;

    fake_streams_drop(device, NULL);
    fake_modules_drop(device, NULL);
    fake_events_drop(device, NULL);
    fake_remove_all(device, NULL);
    contexts[device].reset = true;
    contexts[device].flags = 0;
    gpu.peers[device]      = 0;
    for (i = 0; i < FAKE_DEVICES_MAX; i++) {
        gpu.peers[i] &= ~fake_bit(device);
    }
}

cuda_result_t cuDevicePrimaryCtxReset_v2(cuda_device_t device)
{
    fake_cuda_reset_device(device);
    return CUDA_SUCCESS;
}

cuda_result_t cuCtxCreate_v2(cuda_context_t *context, unsigned flags, cuda_device_t device)
{
    BEGIN("cuCtxCreate");
    if (!fake_is_device(device)) {
        return fake_leave(CUDA_ERROR_INVALID_DEVICE);
    }
    if ((made == MADE_MAX) || (depth == STACK_MAX)) {
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *context  = &contexts[FAKE_DEVICES_MAX + made++];
    **context = (struct CUctx_st){.device = device, .retained = 1, .id = ++serial, .flags = flags};
    gpu.objects++;
    stack[depth++] = *context;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuCtxDestroy_v2(cuda_context_t context)
{
    BEGIN_RELEASE("cuCtxDestroy");
    if ((context < &contexts[FAKE_DEVICES_MAX]) || (context->retained == 0)) {
        fake_broken("cuCtxDestroy of no context that a program made");
        return fake_leave(CUDA_ERROR_INVALID_CONTEXT);
    }
    if ((depth > 0) && (stack[depth - 1] == context)) {
        depth--;
    }
    fake_streams_drop(-1, context);
    fake_modules_drop(-1, context);
    fake_events_drop(-1, context);
    fake_remove_all(-1, context);
    context->retained = 0;
    gpu.objects--;
    return fake_leave(CUDA_SUCCESS);
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
    CALL("cuThreadExchangeStreamCaptureMode", fake_exchange_capture_mode(mode));
}
#endif

cuda_result_t cuDevicePrimaryCtxGetState(cuda_device_t device, unsigned *flags, int *active)
{
    BEGIN("cuDevicePrimaryCtxGetState");
    *flags  = 0;
    *active = (contexts[device].retained > 0) && !contexts[device].reset;
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
    if (depth == STACK_MAX) {
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

cuda_result_t fake_cuda_current(cuda_context_t *context)
{
    *context = (depth == 0) ? NULL : stack[depth - 1];
    return CUDA_SUCCESS;
}

cuda_result_t cuCtxGetCurrent(cuda_context_t *context)
{
    CALL("cuCtxGetCurrent", fake_cuda_current(context));
}

cuda_result_t cuCtxSynchronize(void)
{
    int device;
    cuda_result_t code;

    BEGIN("cuCtxSynchronize");
    code = fake_usable(&device);
    fake_late_finish();
    return fake_leave((code == CUDA_SUCCESS) ? fake_run_all(device) : code);
}

cuda_result_t cuCtxEnablePeerAccess(cuda_context_t peer, unsigned flags)
{
    int device;
    cuda_result_t code;

    BEGIN("cuCtxEnablePeerAccess");
    code = fake_usable(&device);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    if ((peer == NULL) || (peer->device == device) || (peer->retained == 0) || (flags != 0)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return fake_leave(fake_lies("peer") ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
                                        : fake_enable_peer(device, peer->device));
}

cuda_result_t cuMemGetInfo_v2(size_t *available, size_t *total)
{
    int device;
    cuda_result_t code;

    BEGIN("cuMemGetInfo");
    code = fake_usable(&device);
    if (code == CUDA_SUCCESS) {
        *available = gpu.capacity - gpu.used[device];
        *total     = gpu.capacity;
    }
    return fake_leave(code);
}
