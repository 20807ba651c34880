/* SPDX-License-Identifier: BSD-3-Clause */
/* hip.c: the table of the HIP backend, and the runtime's calls in the words of backends/gpu. */

#include "backends/hip/hip.h"
#include "core/base/platform.h"
#include <stdlib.h>

extern const memspan_backend_t msp_backend_hip;

#define SAME(mine, theirs)                                                                         \
    _Static_assert((int)GPU_##mine == (int)HIP_##theirs, "the numbers of backends/gpu")
SAME(SUCCESS, SUCCESS);
SAME(INVALID_VALUE, ERROR_INVALID_VALUE);
SAME(DEINITIALIZED, ERROR_DEINITIALIZED);
SAME(NO_DEVICE, ERROR_NO_DEVICE);
SAME(INVALID_CONTEXT, ERROR_INVALID_CONTEXT);
SAME(INVALID_HANDLE, ERROR_INVALID_HANDLE);
SAME(NOT_READY, ERROR_NOT_READY);
SAME(PEER_ALREADY_ENABLED, ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME(PAGES_ALREADY_REGISTERED, ERROR_HOST_MEMORY_ALREADY_REGISTERED);
SAME(NOT_SUPPORTED, ERROR_NOT_SUPPORTED);
SAME(CAPTURED_FIRST, ERROR_CAPTURE_UNSUPPORTED);
SAME(CAPTURED_LAST, ERROR_CAPTURE_WRONG_THREAD);
#undef SAME

static void drop(struct gpu_state *state)
{
    free(hip_state(state)->peer_atomics);
}

/* ---- answers ---- */

static const char no_device[] =
    "see rocminfo as the same user: /dev/kfd and /dev/dri/renderD* must be open to it (groups "
    "render, video); HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES hide devices";
static const char lost[] =
    "a kernel or the device failed earlier: every later call answers this until the process ends";

static const struct gpu_meaning meanings[] = {
    {HIP_ERROR_OUT_OF_MEMORY, MEMSPAN_ERR_NO_MEMORY,
     "free memory, or ask for less at a time; rocm-smi shows which process has some"},
    {HIP_ERROR_NO_DEVICE, MEMSPAN_ERR_OFF, no_device},
    /* hipInit()'s result where there is none. */
    {HIP_ERROR_INVALID_DEVICE, MEMSPAN_ERR_OFF, no_device},
    {HIP_ERROR_INSUFFICIENT_DRIVER, MEMSPAN_ERR_OFF,
     "the kernel's module amdgpu is older than this ROCm needs"},
    {HIP_ERROR_NOT_SUPPORTED, MEMSPAN_ERR_UNSUPPORTED, NULL},
    {HIP_ERROR_NO_BINARY_FOR_GPU, MEMSPAN_ERR_DRIVER,
     "this ROCm does not support the device; HSA_OVERRIDE_GFX_VERSION can name a near one"},
    {HIP_ERROR_ILLEGAL_ADDRESS, MEMSPAN_ERR_DRIVER, lost},
    {HIP_ERROR_LAUNCH_FAILURE, MEMSPAN_ERR_DRIVER, lost},
    {0, MEMSPAN_OK, NULL},
};

static void explain(const struct gpu_state *state, int code, const char **name_p,
                    const char **words_p)
{
    const struct hip_calls *hip = hip_calls(state);

    *name_p  = (hip->hipGetErrorName != NULL) ? hip->hipGetErrorName(code) : NULL;
    *words_p = (hip->hipGetErrorString != NULL) ? hip->hipGetErrorString(code) : NULL;
}

static void forget_error(const struct gpu_state *state)
{
    if (hip_calls(state)->hipGetLastError != NULL) {
        (void)hip_calls(state)->hipGetLastError();
    }
}

/* ---- the current device ---- */

/* Memory and streams are found by their addresses and handles: to give back or to query, no device
 * need be current. */
static memspan_status_t enter(struct gpu_device *device, enum gpu_purpose purpose, int *before_p)
{
    const struct gpu_state *state = device->state;
    int before                    = device->ordinal;
    gpu_result_t answer           = {"hipGetDevice", HIP_SUCCESS};

    if ((purpose != GPU_TO_GIVE_BACK) && (purpose != GPU_TO_ASK)) {
        answer.code = hip_calls(state)->hipGetDevice(&before);
        if ((answer.code == HIP_SUCCESS) && (before != device->ordinal)) {
            answer = HIP_ANSWER("hipSetDevice", hip_calls(state)->hipSetDevice(device->ordinal));
        }
    }
    *before_p = before;
    return (answer.code == HIP_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "%s cannot be used", device->info.name);
}

static void leave(struct gpu_device *device, int before)
{
    const struct hip_calls *hip = hip_calls(device->state);

    if ((before != device->ordinal) &&
        !gpu_log_failure(device->state, HIP_ANSWER("hipSetDevice", hip->hipSetDevice(before)),
                         "the thread's device")) {
        /* The thread must not keep our device: a call that failed once may work now. */
        (void)hip->hipSetDevice(before);
    }
}

/* ---- calls ---- */

#define HIP(owner) hip_calls((owner)->state)

GPU_CALL(count(const struct gpu_state *state, int *count_p), "hipGetDeviceCount",
         hip_calls(state)->hipGetDeviceCount(count_p))
GPU_CALL(attribute(const struct gpu_device *device, int which, int *value_p),
         "hipDeviceGetAttribute",
         HIP(device)->hipDeviceGetAttribute(value_p, which, device->ordinal))
GPU_CALL(total(const struct gpu_device *device, size_t *bytes_p), "hipDeviceTotalMem",
         HIP(device)->hipDeviceTotalMem(bytes_p, device->id))
GPU_CALL(available(const struct gpu_device *device, size_t *bytes_p), "hipMemGetInfo",
         HIP(device)->hipMemGetInfo(bytes_p, &(size_t){0}))
GPU_CALL(can_reach(const struct gpu_device *from, const struct gpu_device *home, int *can_p),
         "hipDeviceCanAccessPeer",
         hip_has_peers(from->state)
             ? HIP(from)->hipDeviceCanAccessPeer(can_p, from->ordinal, home->ordinal)
             : HIP_SUCCESS)
GPU_CALL(enable_peer(struct gpu_device *from, struct gpu_device *home), "hipDeviceEnablePeerAccess",
         HIP(from)->hipDeviceEnablePeerAccess(home->ordinal, 0))
GPU_CALL(exchange_capture(const struct gpu_state *state, int *mode),
         "hipThreadExchangeStreamCaptureMode",
         (hip_calls(state)->hipThreadExchangeStreamCaptureMode != NULL)
             ? hip_calls(state)->hipThreadExchangeStreamCaptureMode(mode)
             : HIP_SUCCESS)
GPU_CALL(register_pages(struct gpu_device *device, void *address, size_t size), "hipHostRegister",
         HIP(device)->hipHostRegister(address, size,
                                      HIP_HOST_REGISTER_PORTABLE | HIP_HOST_REGISTER_MAPPED))
GPU_CALL(unregister_pages(const struct gpu_device *home, void *address), "hipHostUnregister",
         HIP(home)->hipHostUnregister(address))
GPU_CALL(seen_at(const struct gpu_device *device, void *address, void **seen_at_p),
         "hipHostGetDevicePointer", HIP(device)->hipHostGetDevicePointer(seen_at_p, address, 0))
GPU_CALL(last_prefetch(const struct gpu_state *state, const void *pointer, int *where_p),
         "hipMemRangeGetAttribute",
         (hip_calls(state)->hipMemRangeGetAttribute != NULL)
             ? hip_calls(state)->hipMemRangeGetAttribute(where_p, sizeof(*where_p),
                                                         HIP_RANGE_LAST_PREFETCH_LOCATION, pointer,
                                                         1)
             : HIP_SUCCESS)
GPU_CALL(make_stream(struct gpu_device *device, void **stream_p), "hipStreamCreateWithFlags",
         HIP(device)->hipStreamCreateWithFlags((void *)stream_p, HIP_STREAM_NON_BLOCKING))
GPU_CALL(drop_stream(const struct gpu_state *state, void *stream), "hipStreamDestroy",
         hip_calls(state)->hipStreamDestroy(stream))
GPU_CALL(wait_for_stream(const struct gpu_state *state, void *stream), "hipStreamSynchronize",
         hip_calls(state)->hipStreamSynchronize(stream))
GPU_CALL(wait_for_device(const struct gpu_device *device), "hipDeviceSynchronize",
         HIP(device)->hipDeviceSynchronize())
GPU_CALL(copy(const struct gpu_queue *queue, void *to, const void *from, size_t size),
         "hipMemcpyAsync",
         HIP(queue->device)->hipMemcpyAsync(to, from, size, HIP_MEMCPY_DEFAULT, queue->stream))
GPU_CALL(copy_blocks(const struct gpu_queue *queue, const struct gpu_blocks *b), "hipMemcpy2DAsync",
         HIP(queue->device)
             ->hipMemcpy2DAsync(b->to, b->to_stride_bytes, b->from, b->from_stride_bytes,
                                b->block_bytes, b->block_count, HIP_MEMCPY_DEFAULT, queue->stream))
GPU_CALL(fill_bytes(const struct gpu_queue *queue, void *to, unsigned char byte, size_t size),
         "hipMemsetAsync", HIP(queue->device)->hipMemsetAsync(to, byte, size, queue->stream))
GPU_CALL(prefetch(const struct gpu_queue *queue, const void *pointer, size_t size, int to),
         "hipMemPrefetchAsync",
         HIP(queue->device)
             ->hipMemPrefetchAsync(pointer, size, (to == MEMSPAN_HOST) ? HIP_CPU_DEVICE : to,
                                   queue->stream))
/* Of all bytes that were allocated there. */
static gpu_result_t attach(const struct gpu_queue *queue, void *base, bool alone)
{
    const struct hip_calls *hip = HIP(queue->device);
    unsigned flags              = alone ? HIP_MEM_ATTACH_SINGLE : HIP_MEM_ATTACH_GLOBAL;

    return (hip->hipStreamAttachMemAsync == NULL)
               ? HIP_ANSWER(NULL, HIP_SUCCESS)
               : HIP_ANSWER("hipStreamAttachMemAsync",
                            hip->hipStreamAttachMemAsync(queue->stream, base, 0, flags));
}

GPU_CALL(start(const struct gpu_queue *queue, void *function, unsigned blocks, unsigned threads,
               void **arguments),
         "hipModuleLaunchKernel",
         HIP(queue->device)
             ->hipModuleLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, queue->stream,
                                     arguments, NULL))
GPU_CALL(ipc_get(const struct gpu_state *state, void *base, void *handle), "hipIpcGetMemHandle",
         hip_calls(state)->hipIpcGetMemHandle(handle, base))
GPU_CALL(ipc_open(const struct gpu_state *state, const void *handle, void **base_p),
         "hipIpcOpenMemHandle",
         hip_calls(state)->hipIpcOpenMemHandle(base_p, *(const hip_ipc_handle_t *)handle,
                                               (state->version >= HIP_VERSION_6) ? HIP_IPC_LAZY_6
                                                                                 : HIP_IPC_LAZY_5))

/* ---- memory ---- */

static gpu_result_t take_memory(const struct gpu_device *device, enum gpu_made made, size_t size,
                                void **base_p)
{
    const struct hip_calls *hip = HIP(device);

    switch (made) {
    case GPU_MADE_FINE:
        return HIP_ANSWER("hipExtMallocWithFlags",
                          hip->hipExtMallocWithFlags(base_p, size, HIP_DEVICE_MALLOC_FINE_GRAINED));
    case GPU_MADE_MANAGED:
        return HIP_ANSWER("hipMallocManaged",
                          hip->hipMallocManaged(base_p, size, HIP_MEM_ATTACH_GLOBAL));
    case GPU_MADE_HOST:
        return HIP_ANSWER(
            "hipHostMalloc",
            hip->hipHostMalloc(
                base_p, size,
                HIP_HOST_MALLOC_PORTABLE | HIP_HOST_MALLOC_MAPPED |
                    (hip_state(device->state)->host_is_loose ? 0 : HIP_HOST_MALLOC_COHERENT)));
    default:
        return HIP_ANSWER("hipMalloc", hip->hipMalloc(base_p, size));
    }
}

static gpu_result_t give(const struct gpu_device *device, enum gpu_made made, void *base)
{
    const struct hip_calls *hip = HIP(device);

    switch (made) {
    case GPU_MADE_HOST:
        return HIP_ANSWER("hipHostFree", hip->hipHostFree(base));
    case GPU_MADE_OPENED:
        return HIP_ANSWER("hipIpcCloseMemHandle", hip->hipIpcCloseMemHandle(base));
    default:
        return HIP_ANSWER("hipFree", hip->hipFree(base));
    }
}

static memspan_status_t take_device(struct gpu_device *device, const memspan_request_t *request,
                                    struct gpu_block *block, memspan_block_t *given)
{
    bool fine = !hip_state(device->state)->coarse && hip_device(device)->facts.fine_grain;

    (void)given;
    return gpu_take(device, fine ? GPU_MADE_FINE : GPU_MADE_DEVICE, request, block);
}

/* Without faults: host and device reach fine-grained memory wherever it is, so it is where it is to
 * live. */
static memspan_status_t take_coherent(struct gpu_device *device, const memspan_request_t *request,
                                      struct gpu_block *block, memspan_block_t *given)
{
    memspan_status_t status;

    if (request->resident_ordinal != device->ordinal) {
        return gpu_take_pinned(device, request, block, given);
    }
    gpu_peers_enable(device);
    status = gpu_take(device, GPU_MADE_FINE, request, block);
    if ((status != MEMSPAN_OK) && (status != MEMSPAN_ERR_NO_MEMORY)) {
        gpu_log_record(device->state, MEMSPAN_LOG_WARN, "coherent memory is taken from the host");
        return gpu_take_pinned(device, request, block, given);
    }
    given->flags |= MEMSPAN_BLOCK_PINNED;
    return status;
}

static memspan_status_t advise_one(const struct gpu_device *device, const struct gpu_block *block,
                                   int advice, int where)
{
    const struct gpu_state *state = device->state;
    hip_result_t code =
        hip_calls(state)->hipMemAdvise(block->base, block->size_bytes, advice, where);

    return (code == HIP_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, HIP_ANSWER("hipMemAdvise", code),
                           "managed memory cannot be advised to %s %s",
                           (advice == HIP_ADVISE_SET_COARSE_GRAIN) ? "be coarse-grained for"
                                                                   : "prefer",
                           state->devices[where]->info.name);
}

/* Pages are born where they are first touched: for the host no advice is needed. */
static memspan_status_t advise(struct gpu_device *device, const memspan_request_t *request,
                               const struct gpu_block *block)
{
    const struct gpu_state *state = device->state;
    int where                     = request->resident_ordinal;

    if (hip_managed_is_coarse(device) &&
        (advise_one(device, block, HIP_ADVISE_SET_COARSE_GRAIN, device->ordinal) != MEMSPAN_OK)) {
        /* Fine-grained memory is slower and promises more. */
        gpu_log_record(state, MEMSPAN_LOG_INFO, "managed memory stays fine-grained");
    }
    return ((hip_calls(state)->hipMemAdvise != NULL) && (where >= 0) &&
            (where < state->device_count) && state->devices[where]->facts.concurrent)
               ? advise_one(device, block, HIP_ADVISE_SET_PREFERRED_LOCATION, where)
               : MEMSPAN_OK;
}

/* The range of an address; HIP has another call for it, which older versions refuse for some
 * memory. */
static void fill_range(const struct gpu_state *state, const void *pointer,
                       struct gpu_pointer *answer)
{
    const struct hip_calls *hip = hip_calls(state);
    void *base                  = NULL;
    size_t size                 = 0;

    if ((hip->hipMemGetAddressRange != NULL) &&
        gpu_log_failure(
            state,
            HIP_ANSWER("hipMemGetAddressRange",
                       hip->hipMemGetAddressRange(&base, &size, (void *)(uintptr_t)pointer)),
            "the range of an address")) {
        answer->base       = base;
        answer->size_bytes = size;
    }
}

/* The numbers of memory types changed with ROCm 6, under the same name of the call. And of an
 * address that HIP has never seen, ROCm 5 returns that the value is invalid, newer ones return type
 * 0. */
static memspan_status_t query_pointer(const struct gpu_state *state, const void *pointer,
                                      struct gpu_pointer *answer_p)
{
    struct hip_pointer_attributes asked = {.type = -1};
    hip_result_t code = hip_calls(state)->hipPointerGetAttributes(&asked, pointer);
    int type_host     = hip_state(state)->type_host;

    *answer_p = (struct gpu_pointer){.ordinal = -1};
    if ((code == HIP_ERROR_INVALID_VALUE) ||
        ((code == HIP_SUCCESS) && (asked.is_managed == 0) && (asked.type < type_host))) {
        forget_error(state);
        return MEMSPAN_OK;
    }
    if (code != HIP_SUCCESS) {
        return gpu_error(state, HIP_ANSWER("hipPointerGetAttributes", code),
                         "the driver does not tell what is at %p", pointer);
    }
    *answer_p = (struct gpu_pointer){.known   = true,
                                     .managed = (asked.is_managed != 0),
                                     .on_host = (asked.type == type_host),
                                     .ordinal = asked.device};
    fill_range(state, pointer, answer_p);
    return MEMSPAN_OK;
}

/* HIP's own call: whole host pages. It has no word for where in the buffer they start, and drivers
 * export the whole allocation: from its first byte on the two are the same. */
static memspan_status_t export_by_hip(const struct gpu_device *device, const void *address,
                                      size_t size, int *fd_p, uint64_t *offset_p)
{
    const struct gpu_block *block = gpu_block_find(device->state, address);
    uintptr_t page                = msp_page_size();
    uintptr_t first =
        (uintptr_t)((block != NULL) ? block->base : (const char *)address) & ~(page - 1);
    int fd = -1;
    hip_result_t code =
        hip_calls(device->state)
            ->hipMemGetHandleForAddressRange(&fd, (void *)first,
                                             msp_round_up((uintptr_t)address - first + size, page),
                                             HIP_RANGE_HANDLE_DMA_BUF_FD, 0);

    if (code != HIP_SUCCESS) {
        return gpu_error(device->state, HIP_ANSWER("hipMemGetHandleForAddressRange", code),
                         "no dma-buf for %zu bytes at %p", size, address);
    }
    *fd_p     = fd;
    *offset_p = (uintptr_t)address - first;
    return MEMSPAN_OK;
}

/* HSA's has the offset of the memory in the buffer. */
static memspan_status_t dmabuf(const struct gpu_device *device, const void *address, size_t size,
                               int *fd_p, uint64_t *offset_p)
{
    const struct gpu_state *state   = device->state;
    const struct hip_hsa_calls *hsa = &hip_state(state)->hsa;
    const char *words               = NULL;
    uint64_t offset                 = 0;
    int fd                          = -1;
    hip_result_t code;

    if (hsa->hsa_amd_portable_export_dmabuf == NULL) {
        return export_by_hip(device, address, size, fd_p, offset_p);
    }
    code = hsa->hsa_amd_portable_export_dmabuf(address, size, &fd, &offset);
    if (code != HIP_SUCCESS) {
        (void)hsa->hsa_status_string(code, &words);
        return state->services->fail(MEMSPAN_ERR_DRIVER, state->driver->name,
                                     "hsa_amd_portable_export_dmabuf", code,
                                     (words == NULL) ? "unknown answer" : words, NULL,
                                     "no dma-buf for %zu bytes at %p", size, address);
    }
    *fd_p     = fd;
    *offset_p = offset;
    return MEMSPAN_OK;
}

/* ---- events, and streams of the program ---- */

GPU_CALL(make_event(struct gpu_device *device, void **event_p), "hipEventCreateWithFlags",
         HIP(device)->hipEventCreateWithFlags((void *)event_p, HIP_EVENT_DISABLE_TIMING))
GPU_CALL(drop_event(const struct gpu_state *state, void *event), "hipEventDestroy",
         hip_calls(state)->hipEventDestroy(event))
GPU_CALL(record_event(const struct gpu_queue *queue, void *event), "hipEventRecord",
         HIP(queue->device)->hipEventRecord(event, queue->stream))
GPU_CALL(wait_event(const struct gpu_queue *queue, void *event), "hipStreamWaitEvent",
         HIP(queue->device)->hipStreamWaitEvent(queue->stream, event, 0))
GPU_CALL(query_event(const struct gpu_state *state, void *event), "hipEventQuery",
         hip_calls(state)->hipEventQuery(event))

GPU_CALL(wait_word(const struct gpu_queue *queue, uint64_t *word, uint64_t value),
         "hipStreamWaitValue64",
         HIP(queue->device)
             ->hipStreamWaitValue64(queue->stream, word, value, HIP_STREAM_WAIT_VALUE_GTE,
                                    UINT64_MAX))

static bool waits_for_words(const struct gpu_device *device)
{
    return (HIP(device)->hipStreamWaitValue64 != NULL) && hip_device(device)->facts.waits_for_words;
}

static gpu_result_t owns_stream(struct gpu_device *device, void *stream, bool *ours_p)
{
    const struct hip_calls *hip = HIP(device);
    hip_device_t owner          = -1;
    gpu_result_t answer         = {NULL, GPU_SUCCESS};

    if (hip->hipStreamGetDevice != NULL) {
        answer  = HIP_ANSWER("hipStreamGetDevice", hip->hipStreamGetDevice(stream, &owner));
        *ours_p = (owner == device->id);
    }
    return answer;
}

static gpu_result_t query_capture(const struct gpu_queue *queue, bool *captured_p)
{
    const struct hip_calls *hip = HIP(queue->device);
    hip_capture_status_t status = HIP_CAPTURE_STATUS_NONE;
    gpu_result_t answer         = {NULL, GPU_SUCCESS};

    if (hip->hipStreamIsCapturing != NULL) {
        answer =
            HIP_ANSWER("hipStreamIsCapturing", hip->hipStreamIsCapturing(queue->stream, &status));
        *captured_p = (status != HIP_CAPTURE_STATUS_NONE);
    }
    return answer;
}

/* ---- the tables ---- */

static const struct gpu_driver driver = {
    GPU_DRIVER_CALLS,
    .name              = "hip",
    .title             = "HIP",
    .magic             = "msp-hip",
    .names             = {[GPU_NAME_UNIFIED]     = "UnifiedAddressing",
                          [GPU_NAME_CONCURRENT]  = "ConcurrentManagedAccess",
                          [GPU_NAME_NO_REGISTER] = "the driver has no hipHostRegister",
                          [GPU_NAME_NO_DMABUF]   = "it takes ROCm 5.6 and a kernel with "
                                                               "DMABUF_MOVE_NOTIFY and PCI_P2PDMA",
                          [GPU_NAME_COPY]        = "hipMemcpy; loads and stores are for the kind coherent"},
    .state_size        = sizeof(struct hip_state),
    .device_size       = sizeof(struct hip_device),
    .meanings          = meanings,
    .registers_twice   = true,
    .queue_type        = MEMSPAN_QUEUE_HIP,
    .load              = hip_load,
    .fill              = hip_fill,
    .probe             = hip_probe,
    .words             = hip_xnack_words,
    .drop              = drop,
    .forget_error      = forget_error,
    .enter             = enter,
    .leave             = leave,
    .peer_source       = hip_peer_source,
    .offer             = hip_offer,
    .fill_capabilities = hip_fill_capabilities,
    .reach_host        = hip_reach_host,
    .reach_own         = hip_reach_own,
    .reach_peer        = hip_reach_peer,
    .take_device       = take_device,
    .take_coherent     = take_coherent,
    .check_kernels     = hip_check_kernels,
    .get_kernel        = hip_get_kernel,
    .drop_kernels      = hip_drop_kernels,
};

static memspan_status_t open_backend(const memspan_services_t *services, void **state_p)
{
    return gpu_open(&driver, services, state_p);
}

static const memspan_backend_option_t options[] = {
    {"MEMSPAN_HIP_GRAIN", MEMSPAN_OPTION_CHOICE, "coarse|fine", "coarse",
     "device and managed memory of HIP: coarse: faster, one side at a time; fine: all at once"},
};

const memspan_backend_t msp_backend_hip = {
    GPU_BACKEND_TABLE,
    .name  = "hip",
    .title = "HIP runtime of ROCm",
    .flags = MEMSPAN_BACKEND_OPENS_APART | MEMSPAN_BACKEND_KNOWS_MEMORY,
    .open  = open_backend,
    GPU_EVENT_TABLE,
    .attach       = gpu_attach,
    .copy_blocks  = gpu_copy_blocks,
    .options      = options,
    .option_count = sizeof(options) / sizeof(options[0]),
};
