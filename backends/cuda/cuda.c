/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda.c: the table of the CUDA backend, and the driver's calls in the words of backends/gpu. */

#include "backends/cuda/cuda.h"
#include "core/base/dl.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include <stdio.h>
#include <string.h>

extern const memspan_backend_t msp_backend_cuda;

#define SAME(mine, theirs)                                                                         \
    _Static_assert((int)GPU_##mine == (int)CUDA_##theirs, "the numbers of backends/gpu")
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
SAME(CAPTURED_FIRST, ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(CAPTURED_LAST, ERROR_STREAM_CAPTURE_WRONG_THREAD);
#undef SAME

/* ---- opening ---- */

static memspan_status_t load(struct gpu_state *state)
{
    static const char *const sonames[]          = {"libcuda.so.1", NULL};
    static const struct msp_dl_symbol symbols[] = {
#define CUDA_SYMBOL(name, older, optional, arguments)                                              \
    {#name, older, offsetof(struct cuda_calls, name), (optional) != 0},
        CUDA_CALL_MAP(CUDA_SYMBOL)
#undef CUDA_SYMBOL
    };
    struct cuda_calls *cu = &((struct cuda_state *)state)->cu;
    void *library         = NULL;
    cuda_result_t code;
    memspan_status_t status =
        msp_dl_open("cuda", sonames, symbols, sizeof(symbols) / sizeof(symbols[0]), cu, &library);

    if (status != MEMSPAN_OK) {
        return ((library == NULL) && (memspan_error_last()->hint[0] == '\0'))
                   ? msp_error_hint("install NVIDIA's driver; the toolkit is not needed")
                   : status;
    }
    code = cu->cuInit(0);
    if (code != CUDA_SUCCESS) {
        return gpu_error(state, CUDA_ANSWER("cuInit", code), "the CUDA driver does not start");
    }
    code = cu->cuDriverGetVersion(&state->version);
    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : gpu_error(state, CUDA_ANSWER("cuDriverGetVersion", code),
                                              "the CUDA driver has no version");
}

static void words(const struct gpu_device *device, char *text, size_t size)
{
    int capability = cuda_device(device)->facts.capability;

    snprintf(text, size, "compute capability %d.%d", capability / 10, capability % 10);
}

/* ---- answers ---- */

static const char lost[] =
    "a kernel or the device failed earlier: every later call answers this until the process ends";
static const char captured[] = "a stream is being captured: free such memory before or after";

static const struct gpu_meaning meanings[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, MEMSPAN_ERR_NO_MEMORY,
     "free memory, or ask for less at a time; nvidia-smi shows which process has some"},
    {CUDA_ERROR_NO_DEVICE, MEMSPAN_ERR_OFF,
     "see nvidia-smi as the same user; CUDA_VISIBLE_DEVICES and the permissions of /dev/nvidia* "
     "hide devices"},
    {CUDA_ERROR_STUB_LIBRARY, MEMSPAN_ERR_OFF,
     "take the toolkit's folder \"stubs\" out of LD_LIBRARY_PATH"},
    {CUDA_ERROR_SYSTEM_NOT_READY, MEMSPAN_ERR_OFF,
     "start nvidia-fabricmanager and nvidia-persistenced"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, MEMSPAN_ERR_OFF,
     "the kernel's module and libcuda.so.1 differ in version: restart after an update"},
    {CUDA_ERROR_NOT_SUPPORTED, MEMSPAN_ERR_UNSUPPORTED, NULL},
    {CUDA_ERROR_NOT_PERMITTED, MEMSPAN_ERR_PERMISSION, NULL},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, MEMSPAN_ERR_DRIVER,
     "another process has the device to itself (compute mode)"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, MEMSPAN_ERR_DRIVER, lost},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, MEMSPAN_ERR_DRIVER, lost},
    {CUDA_ERROR_ILLEGAL_ADDRESS, MEMSPAN_ERR_DRIVER, lost},
    {CUDA_ERROR_LAUNCH_TIMEOUT, MEMSPAN_ERR_DRIVER, lost},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, MEMSPAN_ERR_DRIVER, lost},
    {CUDA_ERROR_ASSERT, MEMSPAN_ERR_DRIVER, lost},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, MEMSPAN_ERR_DRIVER, lost},
    {CUDA_ERROR_LAUNCH_FAILED, MEMSPAN_ERR_DRIVER, lost},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, MEMSPAN_ERR_DRIVER, captured},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, MEMSPAN_ERR_DRIVER, captured},
    {0, MEMSPAN_OK, NULL},
};

static void explain(const struct gpu_state *state, int code, const char **name_p,
                    const char **words_p)
{
    const struct cuda_calls *cu = cuda_calls(state);

    if (cu->cuGetErrorName != NULL) {
        (void)cu->cuGetErrorName(code, name_p);
    }
    if (cu->cuGetErrorString != NULL) {
        (void)cu->cuGetErrorString(code, words_p);
    }
}

/* ---- calls ---- */

#define CU(owner) cuda_calls((owner)->state)

GPU_CALL(count(const struct gpu_state *state, int *count_p), "cuDeviceGetCount",
         cuda_calls(state)->cuDeviceGetCount(count_p))
GPU_CALL(attribute(const struct gpu_device *device, int which, int *value_p),
         "cuDeviceGetAttribute", CU(device)->cuDeviceGetAttribute(value_p, which, device->id))
GPU_CALL(total(const struct gpu_device *device, size_t *bytes_p), "cuDeviceTotalMem",
         CU(device)->cuDeviceTotalMem_v2(bytes_p, device->id))
GPU_CALL(available(const struct gpu_device *device, size_t *bytes_p), "cuMemGetInfo",
         CU(device)->cuMemGetInfo_v2(bytes_p, &(size_t){0}))
GPU_CALL(can_reach(const struct gpu_device *from, const struct gpu_device *home, int *can_p),
         "cuDeviceCanAccessPeer",
         cuda_has_peers(from->state) ? CU(from)->cuDeviceCanAccessPeer(can_p, from->id, home->id)
                                     : CUDA_SUCCESS)
GPU_CALL(enable_peer(struct gpu_device *from, struct gpu_device *home), "cuCtxEnablePeerAccess",
         CU(from)->cuCtxEnablePeerAccess(atomic_load(&cuda_device(home)->context), 0))
GPU_CALL(exchange_capture(const struct gpu_state *state, int *mode),
         "cuThreadExchangeStreamCaptureMode",
         (cuda_calls(state)->cuThreadExchangeStreamCaptureMode != NULL)
             ? cuda_calls(state)->cuThreadExchangeStreamCaptureMode(mode)
             : CUDA_SUCCESS)
GPU_CALL(register_pages(struct gpu_device *device, void *address, size_t size), "cuMemHostRegister",
         CU(device)->cuMemHostRegister_v2(address, size,
                                          CUDA_MEMHOSTREGISTER_PORTABLE |
                                              CUDA_MEMHOSTREGISTER_DEVICEMAP))
GPU_CALL(unregister_pages(const struct gpu_device *home, void *address), "cuMemHostUnregister",
         CU(home)->cuMemHostUnregister(address))
GPU_CALL(seen_at(const struct gpu_device *device, void *address, void **seen_at_p),
         "cuMemHostGetDevicePointer",
         CU(device)->cuMemHostGetDevicePointer_v2((void *)seen_at_p, address, 0))
GPU_CALL(last_prefetch(const struct gpu_state *state, const void *pointer, int *where_p),
         "cuMemRangeGetAttribute",
         (cuda_calls(state)->cuMemRangeGetAttribute != NULL)
             ? cuda_calls(state)->cuMemRangeGetAttribute(
                   where_p, sizeof(*where_p), CUDA_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                   cuda_address(pointer), 1)
             : CUDA_SUCCESS)
GPU_CALL(make_stream(struct gpu_device *device, void **stream_p), "cuStreamCreate",
         CU(device)->cuStreamCreate((void *)stream_p, CUDA_STREAM_NON_BLOCKING))
GPU_CALL(drop_stream(const struct gpu_state *state, void *stream), "cuStreamDestroy",
         cuda_calls(state)->cuStreamDestroy_v2(stream))
GPU_CALL(wait_for_stream(const struct gpu_state *state, void *stream), "cuStreamSynchronize",
         cuda_calls(state)->cuStreamSynchronize(stream))
GPU_CALL(wait_for_device(const struct gpu_device *device), "cuCtxSynchronize",
         CU(device)->cuCtxSynchronize())
GPU_CALL(
    copy(const struct gpu_queue *queue, void *to, const void *from, size_t size), "cuMemcpyAsync",
    CU(queue->device)->cuMemcpyAsync(cuda_address(to), cuda_address(from), size, queue->stream))
static gpu_result_t copy_blocks(const struct gpu_queue *queue, const struct gpu_blocks *b)
{
    const struct cuda_rectangle rectangle = {.from        = {.type        = CUDA_MEMORYTYPE_UNIFIED,
                                                             .address     = cuda_address(b->from),
                                                             .pitch_bytes = b->from_stride_bytes},
                                             .to          = {.type        = CUDA_MEMORYTYPE_UNIFIED,
                                                             .address     = cuda_address(b->to),
                                                             .pitch_bytes = b->to_stride_bytes},
                                             .width_bytes = b->block_bytes,
                                             .height      = b->block_count};

    return (gpu_result_t){"cuMemcpy2DAsync",
                          (int)CU(queue->device)->cuMemcpy2DAsync_v2(&rectangle, queue->stream)};
}

GPU_CALL(start(const struct gpu_queue *queue, void *function, unsigned blocks, unsigned threads,
               void **arguments),
         "cuLaunchKernel",
         CU(queue->device)
             ->cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, queue->stream, arguments,
                              NULL))
GPU_CALL(ipc_get(const struct gpu_state *state, void *base, void *handle), "cuIpcGetMemHandle",
         cuda_calls(state)->cuIpcGetMemHandle(handle, cuda_address(base)))
GPU_CALL(ipc_open(const struct gpu_state *state, const void *handle, void **base_p),
         "cuIpcOpenMemHandle",
         cuda_calls(state)->cuIpcOpenMemHandle_v2((void *)base_p,
                                                  *(const cuda_ipc_handle_t *)handle,
                                                  CUDA_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))

/* ---- memory ---- */

/* HMM moves pages of the usual size alone. */
static memspan_status_t check(const struct gpu_device *device, const memspan_request_t *request)
{
    return ((request->kind == MEMSPAN_KIND_COHERENT) && !device->facts.host_page_tables &&
            (request->page_size_bytes > msp_page_size()))
               ? gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the page size",
                            "%s reaches no reserved huge pages: its driver moves pages by HMM",
                            device->info.name)
               : MEMSPAN_OK;
}

static gpu_result_t take_memory(const struct gpu_device *device, enum gpu_made made, size_t size,
                                void **base_p)
{
    const struct cuda_calls *cu = CU(device);
    cuda_address_t *address_p   = (void *)base_p;

    switch (made) {
    case GPU_MADE_HOST:
        return CUDA_ANSWER("cuMemHostAlloc", cu->cuMemHostAlloc(base_p, size,
                                                                CUDA_MEMHOSTALLOC_PORTABLE |
                                                                    CUDA_MEMHOSTALLOC_DEVICEMAP));
    case GPU_MADE_MANAGED:
        return CUDA_ANSWER("cuMemAllocManaged",
                           cu->cuMemAllocManaged(address_p, size, CUDA_MEM_ATTACH_GLOBAL));
    default:
        return CUDA_ANSWER("cuMemAlloc", cu->cuMemAlloc_v2(address_p, size));
    }
}

static gpu_result_t give(const struct gpu_device *device, enum gpu_made made, void *base)
{
    const struct cuda_calls *cu = CU(device);

    switch (made) {
    case GPU_MADE_HOST:
        return CUDA_ANSWER("cuMemFreeHost", cu->cuMemFreeHost(base));
    case GPU_MADE_OPENED:
        return CUDA_ANSWER("cuIpcCloseMemHandle", cu->cuIpcCloseMemHandle(cuda_address(base)));
    default:
        return CUDA_ANSWER("cuMemFree", cu->cuMemFree_v2(cuda_address(base)));
    }
}

/* Pages are born where they are first touched: for the host no advice is needed. Without faults the
 * driver moves no pages one by one, and would refuse the advice. */
static memspan_status_t advise(struct gpu_device *device, const memspan_request_t *request,
                               const struct gpu_block *block)
{
    const struct gpu_state *state = device->state;
    const struct cuda_calls *cu   = cuda_calls(state);
    int where                     = request->resident_ordinal;
    cuda_location_t location      = {.type = CUDA_MEM_LOCATION_TYPE_DEVICE};
    gpu_result_t answer           = {"cuMemAdvise", CUDA_SUCCESS};

    if ((where < 0) || (where >= state->device_count) || !state->devices[where]->facts.concurrent) {
        return MEMSPAN_OK;
    }
    location.id = state->devices[where]->id;
    if (cu->cuMemAdvise_v2 != NULL) {
        answer = CUDA_ANSWER("cuMemAdvise_v2",
                             cu->cuMemAdvise_v2(cuda_address(block->base), block->size_bytes,
                                                CUDA_MEM_ADVISE_SET_PREFERRED_LOCATION, location));
    } else if (cu->cuMemAdvise != NULL) {
        answer.code = cu->cuMemAdvise(cuda_address(block->base), block->size_bytes,
                                      CUDA_MEM_ADVISE_SET_PREFERRED_LOCATION, location.id);
    }
    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "managed memory cannot prefer %s",
                           state->devices[where]->info.name);
}

/* The plural query is used: the singular one fails for addresses that the driver has never seen. */
static memspan_status_t query_pointer(const struct gpu_state *state, const void *pointer,
                                      struct gpu_pointer *answer_p)
{
    unsigned type                        = 0;
    unsigned managed                     = 0;
    int ordinal                          = -1;
    cuda_address_t base                  = 0;
    size_t size                          = 0;
    cuda_pointer_attribute_t questions[] = {
        CUDA_POINTER_ATTRIBUTE_MEMORY_TYPE, CUDA_POINTER_ATTRIBUTE_IS_MANAGED,
        CUDA_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CUDA_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CUDA_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *answers[]    = {&type, &managed, &ordinal, &base, &size};
    cuda_result_t code = cuda_calls(state)->cuPointerGetAttributes(
        sizeof(questions) / sizeof(questions[0]), questions, answers, cuda_address(pointer));

    *answer_p = (struct gpu_pointer){.ordinal = -1};
    /* A thread without a context, and a driver that has not started or has ended, give no result.
     */
    if ((code == CUDA_ERROR_INVALID_CONTEXT) || (code == CUDA_ERROR_NOT_INITIALIZED) ||
        (code == CUDA_ERROR_DEINITIALIZED)) {
        return MEMSPAN_OK;
    }
    if (code != CUDA_SUCCESS) {
        return gpu_error(state, CUDA_ANSWER("cuPointerGetAttributes", code),
                         "the driver does not tell what is at %p", pointer);
    }
    *answer_p = (struct gpu_pointer){
        .known      = (type != 0),
        .managed    = (managed & 0xff) != 0, /* a truth value: the driver writes one byte of it */
        .on_host    = (type == CUDA_MEMORYTYPE_HOST),
        .ordinal    = ordinal,
        .base       = (char *)(uintptr_t)base,
        .size_bytes = size};
    return MEMSPAN_OK;
}

/* ---- work ---- */

static gpu_result_t fill_bytes(const struct gpu_queue *queue, void *to, unsigned char byte,
                               size_t size)
{
    const struct cuda_calls *cu = cuda_calls(queue->device->state);

    return ((((uintptr_t)to | size) & 3) == 0)
               ? CUDA_ANSWER("cuMemsetD32Async",
                             cu->cuMemsetD32Async(cuda_address(to), byte * 0x01010101u, size / 4,
                                                  queue->stream))
               : CUDA_ANSWER("cuMemsetD8Async",
                             cu->cuMemsetD8Async(cuda_address(to), byte, size, queue->stream));
}

static gpu_result_t prefetch(const struct gpu_queue *queue, const void *pointer, size_t size,
                             int to)
{
    const struct gpu_state *state = queue->device->state;
    const struct cuda_calls *cu   = cuda_calls(state);
    bool host                     = (to == MEMSPAN_HOST);
    int target                    = host ? CUDA_DEVICE_CPU : state->devices[to]->id;
    cuda_location_t location      = {.type = CUDA_MEM_LOCATION_TYPE_HOST};

    if (cu->cuMemPrefetchAsync_v2 == NULL) {
        return CUDA_ANSWER("cuMemPrefetchAsync", cu->cuMemPrefetchAsync(cuda_address(pointer), size,
                                                                        target, queue->stream));
    }
    if (!host) {
        location = (cuda_location_t){.type = CUDA_MEM_LOCATION_TYPE_DEVICE, .id = target};
    }
    return CUDA_ANSWER(
        "cuMemPrefetchAsync_v2",
        cu->cuMemPrefetchAsync_v2(cuda_address(pointer), size, location, 0, queue->stream));
}

/* Of all bytes that were allocated there. */
static gpu_result_t attach(const struct gpu_queue *queue, void *base, bool alone)
{
    const struct cuda_calls *cu = CU(queue->device);
    unsigned flags              = alone ? CUDA_MEM_ATTACH_SINGLE : CUDA_MEM_ATTACH_GLOBAL;

    return (cu->cuStreamAttachMemAsync == NULL)
               ? CUDA_ANSWER(NULL, CUDA_SUCCESS)
               : CUDA_ANSWER(
                     "cuStreamAttachMemAsync",
                     cu->cuStreamAttachMemAsync(queue->stream, cuda_address(base), 0, flags));
}

/* The range must be whole host pages; an address within one is found by the offset. */
static memspan_status_t dmabuf(const struct gpu_device *device, const void *address, size_t size,
                               int *fd_p, uint64_t *offset_p)
{
    uintptr_t page  = msp_page_size();
    uintptr_t first = (uintptr_t)address & ~(page - 1);
    int fd          = -1;
    bool pcie       = strcmp(device->state->services->option("MEMSPAN_CUDA_DMABUF"), "pcie") == 0;
    cuda_result_t code = cuda_calls(device->state)
                             ->cuMemGetHandleForAddressRange(
                                 &fd, first, msp_round_up((uintptr_t)address - first + size, page),
                                 CUDA_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                 pcie ? CUDA_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE : 0);

    if (code != CUDA_SUCCESS) {
        return gpu_error(device->state, CUDA_ANSWER("cuMemGetHandleForAddressRange", code),
                         "no dma-buf for %zu bytes at %p", size, address);
    }
    *fd_p     = fd;
    *offset_p = (uintptr_t)address - first;
    return MEMSPAN_OK;
}

/* ---- events, and streams of the program ---- */

GPU_CALL(make_event(struct gpu_device *device, void **event_p), "cuEventCreate",
         CU(device)->cuEventCreate((void *)event_p, CUDA_EVENT_DISABLE_TIMING))
GPU_CALL(drop_event(const struct gpu_state *state, void *event), "cuEventDestroy",
         cuda_calls(state)->cuEventDestroy_v2(event))
GPU_CALL(record_event(const struct gpu_queue *queue, void *event), "cuEventRecord",
         CU(queue->device)->cuEventRecord(event, queue->stream))
GPU_CALL(wait_event(const struct gpu_queue *queue, void *event), "cuStreamWaitEvent",
         CU(queue->device)->cuStreamWaitEvent(queue->stream, event, 0))
GPU_CALL(query_event(const struct gpu_state *state, void *event), "cuEventQuery",
         cuda_calls(state)->cuEventQuery(event))

/* The comparison is of 32 bits, and cyclic; the host's memory is little-endian. */
GPU_CALL(wait_word(const struct gpu_queue *queue, uint64_t *word, uint64_t value),
         "cuStreamWaitValue32",
         CU(queue->device)
             ->cuStreamWaitValue32_v2(queue->stream, cuda_address(word), (uint32_t)value,
                                      CUDA_STREAM_WAIT_VALUE_GEQ))

/* Of CUDA 11.7 and later, on every device. */
static bool waits_for_words(const struct gpu_device *device)
{
    return CU(device)->cuStreamWaitValue32_v2 != NULL;
}

static gpu_result_t owns_stream(struct gpu_device *device, void *stream, bool *ours_p)
{
    const struct cuda_calls *cu = CU(device);
    cuda_context_t context      = NULL;
    gpu_result_t answer         = {NULL, GPU_SUCCESS};

    if (cu->cuStreamGetCtx != NULL) {
        answer  = CUDA_ANSWER("cuStreamGetCtx", cu->cuStreamGetCtx(stream, &context));
        *ours_p = (context == atomic_load(&cuda_device(device)->context));
    }
    return answer;
}

static gpu_result_t query_capture(const struct gpu_queue *queue, bool *captured_p)
{
    const struct cuda_calls *cu  = CU(queue->device);
    cuda_capture_status_t status = CUDA_STREAM_CAPTURE_STATUS_NONE;
    gpu_result_t answer          = {NULL, GPU_SUCCESS};

    if (cu->cuStreamIsCapturing != NULL) {
        answer =
            CUDA_ANSWER("cuStreamIsCapturing", cu->cuStreamIsCapturing(queue->stream, &status));
        *captured_p = (status != CUDA_STREAM_CAPTURE_STATUS_NONE);
    }
    return answer;
}

/* ---- the tables ---- */

static const struct gpu_driver driver = {
    GPU_DRIVER_CALLS,
    .name              = "cuda",
    .title             = "CUDA",
    .magic             = "mspcuda",
    .names             = {[GPU_NAME_UNIFIED]     = "UNIFIED_ADDRESSING",
                          [GPU_NAME_CONCURRENT]  = "CONCURRENT_MANAGED_ACCESS",
                          [GPU_NAME_NO_REGISTER] = "HOST_REGISTER_SUPPORTED 0",
                          [GPU_NAME_NO_DMABUF]   = "it takes the open kernel modules and a kernel from 5.12 on",
                          [GPU_NAME_COPY]        = "cuMemcpy; the host has no mapping of device memory"},
    .state_size        = sizeof(struct cuda_state),
    .device_size       = sizeof(struct cuda_device),
    .meanings          = meanings,
    .opens_hidden      = true,
    .moves_integrated  = true,
    .relaxes_always    = true,
    .queue_type        = MEMSPAN_QUEUE_CUDA,
    .load              = load,
    .fill              = cuda_fill,
    .words             = words,
    .enter             = cuda_enter,
    .leave             = cuda_leave,
    .is_awake          = cuda_is_awake,
    .is_active         = cuda_is_active,
    .close             = cuda_close,
    .peer_source       = cuda_peer_source,
    .offer             = cuda_offer,
    .fill_capabilities = cuda_fill_capabilities,
    .reach_host        = cuda_reach_host,
    .reach_own         = cuda_reach_own,
    .reach_peer        = cuda_reach_peer,
    .check             = check,
    .take_device       = cuda_take_device,
    .give_mapped       = cuda_give_mapped,
    .check_kernels     = cuda_check_kernels,
    .get_kernel        = cuda_get_kernel,
    .drop_kernels      = cuda_drop_kernels,
    .sync_copies       = cuda_sync_copies,
    .export_mapped     = cuda_export_mapped,
    .open_mapped       = cuda_open_mapped,
};

static memspan_status_t open_backend(const memspan_services_t *services, void **state_p)
{
    return gpu_open(&driver, services, state_p);
}

static const memspan_backend_option_t options[] = {
    {"MEMSPAN_CUDA_DMABUF", MEMSPAN_OPTION_CHOICE, "default|pcie", "default",
     "how a dma-buf of CUDA memory is mapped: pcie: by PCI Express, for a network card behind it"},
};

const memspan_backend_t msp_backend_cuda = {
    GPU_BACKEND_TABLE,
    .name  = "cuda",
    .title = "CUDA through the driver API",
    .flags = MEMSPAN_BACKEND_OPENS_APART | MEMSPAN_BACKEND_KNOWS_MEMORY,
    .open  = open_backend,
    GPU_EVENT_TABLE,
    .attach       = gpu_attach,
    .copy_blocks  = gpu_copy_blocks,
    .connect      = cuda_connect,
    .options      = options,
    .option_count = sizeof(options) / sizeof(options[0]),
};
