/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: streams, copies, fills, modules and launches. */

#include "fake.h"
#include <stdio.h>
#include <string.h>

/* Streams are their context's: with another current they are refused. */
int fake_check_stream(struct fake_stream *stream)
{
    struct CUctx_st *context = NULL;
    cuda_result_t code       = fake_current(&context);

    if (code != CUDA_SUCCESS) {
        return code;
    }
    return (fake_is_stream(stream) && (stream->context == context)) ? fake_check_implicit(stream)
                                                                    : CUDA_ERROR_INVALID_HANDLE;
}

cuda_result_t cuStreamCreate(cuda_stream_t *stream_p, unsigned flags)
{
    CALL("cuStreamCreate", fake_stream_create(stream_p, flags));
}

cuda_result_t cuStreamDestroy_v2(cuda_stream_t stream)
{
    CALL_RELEASE("cuStreamDestroy", fake_stream_destroy(stream, "cuStreamDestroy"));
}

cuda_result_t cuStreamSynchronize(cuda_stream_t stream)
{
    CALL("cuStreamSynchronize", fake_stream_wait(fake_stream_of(stream)));
}

#ifndef FAKE_CUDA_OLD
static int find_context(struct fake_stream *stream, cuda_context_t *context_p)
{
    if (!fake_is_stream(stream)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *context_p = stream->context;
    return CUDA_SUCCESS;
}

cuda_result_t cuStreamGetCtx(cuda_stream_t stream, cuda_context_t *context_p)
{
    CALL("cuStreamGetCtx", find_context(fake_stream_of(stream), context_p));
}

cuda_result_t cuStreamIsCapturing(cuda_stream_t stream, cuda_capture_status_t *status_p)
{
    bool captured = false;
    cuda_result_t code;

    BEGIN("cuStreamIsCapturing");
    stream    = fake_stream_of(stream);
    code      = fake_check_stream(stream);
    code      = (code == CUDA_SUCCESS) ? fake_stream_is_captured(stream, &captured) : code;
    *status_p = captured ? 1 : CUDA_STREAM_CAPTURE_STATUS_NONE;
    return fake_leave(code);
}
#endif

/* ---- events ---- */

cuda_result_t cuStreamWaitEvent(cuda_stream_t stream, cuda_event_t event, unsigned flags)
{
    CALL("cuStreamWaitEvent", fake_event_wait(fake_stream_of(stream), event, flags));
}

#ifndef FAKE_CUDA_OLD
cuda_result_t cuStreamAttachMemAsync(cuda_stream_t stream, cuda_address_t address, size_t size,
                                     unsigned flags)
{
    CALL("cuStreamAttachMemAsync", fake_attach(fake_stream_of(stream), address, size, flags));
}
#endif
cuda_result_t cuStreamWaitValue32_v2(cuda_stream_t stream, cuda_address_t address, uint32_t value,
                                     unsigned flags)
{
    CALL("cuStreamWaitValue32_v2",
         fake_wait_word(stream, (uintptr_t)address, value, flags == CUDA_STREAM_WAIT_VALUE_GEQ));
}

cuda_result_t cuEventCreate(cuda_event_t *event_p, unsigned flags)
{
    CALL("cuEventCreate", fake_event_create(event_p, flags));
}

cuda_result_t cuEventDestroy_v2(cuda_event_t event)
{
    CALL_RELEASE("cuEventDestroy", fake_event_destroy(event, "cuEventDestroy"));
}

cuda_result_t cuEventRecord(cuda_event_t event, cuda_stream_t stream)
{
    CALL("cuEventRecord", fake_event_record(event, fake_stream_of(stream)));
}

cuda_result_t cuEventQuery(cuda_event_t event)
{
    CALL("cuEventQuery", fake_event_query(event));
}

/* ---- what programs do ---- */

cuda_result_t cuStreamBeginCapture_v2(cuda_stream_t stream, int mode)
{
    CALL("cuStreamBeginCapture", fake_capture_begin(fake_stream_of(stream), mode));
}

static int end_capture(struct fake_stream *stream, void **graph)
{
    static char made;
    int code = fake_check_stream(stream);

    code   = (code == CUDA_SUCCESS) ? fake_capture_end(stream) : code;
    *graph = (code == CUDA_SUCCESS) ? &made : NULL;
    return code;
}

cuda_result_t cuStreamEndCapture(cuda_stream_t stream, void **graph)
{
    CALL("cuStreamEndCapture", end_capture(fake_stream_of(stream), graph));
}

cuda_result_t cuGraphDestroy(void *graph)
{
    return (graph != NULL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

cuda_result_t cuMemcpyDtoD_v2(cuda_address_t to, cuda_address_t from, size_t size)
{
    const struct fake_memory *target = fake_find(to);
    const struct fake_memory *source = fake_find(from);
    struct CUctx_st *context;
    cuda_result_t code = fake_current(&context);

    if ((code != CUDA_SUCCESS) || (target == NULL) || (source == NULL)) {
        return (code != CUDA_SUCCESS) ? code : CUDA_ERROR_INVALID_VALUE;
    }
    fake_late_begin(to, from, size);
    if (target->synced || source->synced || ((context->flags & CUDA_CTX_SYNC_MEMOPS) != 0)) {
        fake_late_finish();
    }
    return CUDA_SUCCESS;
}

/* ---- copies and fills ---- */

cuda_result_t cuMemcpyAsync(cuda_address_t to, cuda_address_t from, size_t size,
                            cuda_stream_t stream)
{
    CALL("cuMemcpyAsync", fake_copy(to, from, size, fake_stream_of(stream)));
}

cuda_result_t cuMemcpy2DAsync_v2(const cuda_rectangle_t *r, cuda_stream_t stream)
{
    BEGIN("cuMemcpy2DAsync");
    if ((r->to.type != CUDA_MEMORYTYPE_UNIFIED) || (r->from.type != CUDA_MEMORYTYPE_UNIFIED)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return fake_leave(fake_copy_rows(r->to.address, r->to.pitch_bytes, r->from.address,
                                     r->from.pitch_bytes, r->width_bytes, r->height,
                                     fake_stream_of(stream)));
}

cuda_result_t cuMemsetD8Async(cuda_address_t to, unsigned char byte, size_t count,
                              cuda_stream_t stream)
{
    CALL("cuMemsetD8Async", fake_fill(to, byte, 1, count, fake_stream_of(stream)));
}

cuda_result_t cuMemsetD32Async(cuda_address_t to, unsigned word, size_t count, cuda_stream_t stream)
{
    CALL("cuMemsetD32Async", fake_fill(to, word, 4, count, fake_stream_of(stream)));
}

/* ---- modules and launches ---- */

/* The compiler: a version, a target, and one entry whose name is known. */
static const char *compile(const char *text, char name[FAKE_NAME_BYTES])
{
    const char *entry = strstr(text, ".entry ");
    bool combining;

    if ((strncmp(text, ".version ", 9) != 0) || (strstr(text, ".target sm_") == NULL)) {
        return "no version or target";
    }
    if (entry == NULL) {
        return "no entry";
    }
    entry += strlen(".entry ");
    snprintf(name, FAKE_NAME_BYTES, "%.*s", (int)strcspn(entry, "("), entry);
    return fake_knows_kernel(name, &combining) ? NULL : "unknown entry";
}

cuda_result_t cuModuleLoadDataEx(cuda_module_t *module_p, const void *image, unsigned count,
                                 cuda_jit_option_t *options, void **values)
{
    const char *problem;
    char name[FAKE_NAME_BYTES];
    int device;
    cuda_result_t code = fake_enter("cuModuleLoadDataEx", false);

    if ((code == CUDA_ERROR_INVALID_PTX) && (count == 2) &&
        (options[0] == CUDA_JIT_ERROR_LOG_BUFFER)) {
        snprintf(values[0], (size_t)(uintptr_t)values[1], "ptxas: pretended words\nmore");
    }
    if (code != CUDA_SUCCESS) {
        return code;
    }
    code = fake_usable(&device);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    problem = compile(image, name);
    if (problem != NULL) {
        fake_broken("PTX: %s", problem);
        return fake_leave(CUDA_ERROR_INVALID_PTX);
    }
    *module_p = fake_module_add(device);
    memcpy((*module_p)->entry, name, sizeof(name));
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuModuleUnload(cuda_module_t module)
{
    CALL_RELEASE("cuModuleUnload", fake_module_unload(module, "cuModuleUnload"));
}

cuda_result_t cuModuleGetFunction(cuda_function_t *function, cuda_module_t module, const char *name)
{
    CALL("cuModuleGetFunction", (strcmp(module->entry, name) == 0)
                                    ? fake_module_function(module, name, function)
                                    : CUDA_ERROR_NOT_FOUND);
}

cuda_result_t cuLaunchKernel(cuda_function_t function, unsigned grid_x, unsigned grid_y,
                             unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, cuda_stream_t stream, void **arguments,
                             void **extra)
{
    const unsigned grid[]  = {grid_x, grid_y, grid_z};
    const unsigned block[] = {block_x, block_y, block_z};
    cuda_result_t code;

    BEGIN("cuLaunchKernel");
    stream = fake_stream_of(stream);
    code   = fake_check_stream(stream);
    if ((code != CUDA_SUCCESS) || (function->context != stream->context)) {
        return fake_leave((code != CUDA_SUCCESS) ? code : CUDA_ERROR_INVALID_HANDLE);
    }
    code = fake_launch(function, grid, block, shared_bytes, stream, arguments, extra);
    if ((code == CUDA_SUCCESS) &&
        (fake_attribute(CUDA_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) == 0)) {
        fake_managed_open(false);
    }
    return fake_leave(code);
}
