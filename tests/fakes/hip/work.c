/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: streams, copies, fills, modules and launches. */

#include "fake.h"
#include <string.h>

int fake_check_stream(struct fake_stream *stream)
{
    if (!fake_is_stream(stream)) {
        fake_broken("no stream");
        return HIP_ERROR_INVALID_HANDLE;
    }
    return (fake_sticky(stream->device) != HIP_SUCCESS) ? fake_sticky(stream->device)
                                                        : fake_check_implicit(stream);
}

hip_result_t hipStreamCreateWithFlags(hip_stream_t *stream_p, unsigned flags)
{
    CALL("hipStreamCreateWithFlags", fake_stream_create(stream_p, flags));
}

hip_result_t hipStreamDestroy(hip_stream_t stream)
{
    CALL_RELEASE("hipStreamDestroy", fake_stream_destroy(stream, "hipStreamDestroy"));
}

hip_result_t hipStreamSynchronize(hip_stream_t stream)
{
    CALL("hipStreamSynchronize", fake_stream_wait(fake_stream_of(stream)));
}

#ifndef FAKE_HIP_OLD
hip_result_t hipStreamGetDevice(hip_stream_t stream, hip_device_t *device_p)
{
    BEGIN("hipStreamGetDevice");
    stream = fake_stream_of(stream);
    if (!fake_is_stream(stream)) {
        return fake_leave(HIP_ERROR_INVALID_HANDLE);
    }
    *device_p = stream->device;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipStreamIsCapturing(hip_stream_t stream, hip_capture_status_t *status_p)
{
    bool captured = false;
    hip_result_t code;

    BEGIN("hipStreamIsCapturing");
    stream    = fake_stream_of(stream);
    code      = fake_check_stream(stream);
    code      = (code == HIP_SUCCESS) ? fake_stream_is_captured(stream, &captured) : code;
    *status_p = captured ? 1 : HIP_CAPTURE_STATUS_NONE;
    return fake_leave(code);
}
#endif

/* ---- events ---- */

hip_result_t hipStreamAttachMemAsync(hip_stream_t stream, void *address, size_t size,
                                     unsigned flags)
{
    CALL("hipStreamAttachMemAsync",
         fake_attach(fake_stream_of(stream), (uintptr_t)address, size, flags));
}

hip_result_t hipStreamWaitEvent(hip_stream_t stream, hip_event_t event, unsigned flags)
{
    CALL("hipStreamWaitEvent", fake_event_wait(fake_stream_of(stream), event, flags));
}

hip_result_t hipStreamWaitValue64(hip_stream_t stream, void *address, uint64_t value,
                                  unsigned flags, uint64_t mask)
{
    CALL("hipStreamWaitValue64",
         fake_wait_word(stream, (uintptr_t)address, value,
                        (flags == HIP_STREAM_WAIT_VALUE_GTE) && (mask == UINT64_MAX)));
}

hip_result_t hipEventCreateWithFlags(hip_event_t *event_p, unsigned flags)
{
    CALL("hipEventCreateWithFlags", fake_event_create(event_p, flags));
}

hip_result_t hipEventDestroy(hip_event_t event)
{
    CALL_RELEASE("hipEventDestroy", fake_event_destroy(event, "hipEventDestroy"));
}

hip_result_t hipEventRecord(hip_event_t event, hip_stream_t stream)
{
    CALL("hipEventRecord", fake_event_record(event, fake_stream_of(stream)));
}

hip_result_t hipEventQuery(hip_event_t event)
{
    CALL("hipEventQuery", fake_event_query(event));
}

/* ---- copies and fills ---- */

hip_result_t hipMemcpyAsync(void *to, const void *from, size_t size, int kind, hip_stream_t stream)
{
    CALL("hipMemcpyAsync", (kind == HIP_MEMCPY_DEFAULT) ? fake_copy((uintptr_t)to, (uintptr_t)from,
                                                                    size, fake_stream_of(stream))
                                                        : HIP_ERROR_INVALID_VALUE);
}

hip_result_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, int kind, hip_stream_t stream)
{
    CALL("hipMemcpy2DAsync", (kind == HIP_MEMCPY_DEFAULT)
                                 ? fake_copy_rows((uintptr_t)to, to_pitch, (uintptr_t)from,
                                                  from_pitch, width, height, fake_stream_of(stream))
                                 : HIP_ERROR_INVALID_VALUE);
}

hip_result_t hipMemsetAsync(void *to, int value, size_t size, hip_stream_t stream)
{
    CALL("hipMemsetAsync",
         fake_fill((uintptr_t)to, (unsigned)value, 1, size, fake_stream_of(stream)));
}

/* ---- modules and launches ---- */

hip_result_t hipModuleLoadData(hip_module_t *module_p, const void *bytes)
{
    const struct fake_code *code = bytes;
    int device;

    BEGIN("hipModuleLoadData");
    if (fake_usable(&device) != HIP_SUCCESS) {
        return fake_leave(fake_usable(&device));
    }
    if (memcmp(code->magic, FAKE_CODE_MAGIC, sizeof(code->magic)) != 0) {
        return fake_leave(HIP_ERROR_NO_BINARY_FOR_GPU);
    }
    *module_p              = fake_module_add(device);
    (*module_p)->combining = (code->combining != 0);
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipModuleUnload(hip_module_t module)
{
    hip_result_t code;
    hip_result_t ran;

    BEGIN_RELEASE("hipModuleUnload");
    ran  = fake_run_all(module->device);
    code = fake_module_unload(module, "hipModuleUnload");
    return fake_leave((ran != HIP_SUCCESS) ? ran : code);
}

hip_result_t hipModuleGetFunction(hip_function_t *function_p, hip_module_t module, const char *name)
{
    bool combining;

    BEGIN("hipModuleGetFunction");
    if (!fake_knows_kernel(name, &combining) || (combining != module->combining)) {
        return fake_leave(HIP_ERROR_NOT_FOUND);
    }
    return fake_leave(fake_module_function(module, name, function_p));
}

hip_result_t hipModuleLaunchKernel(hip_function_t function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, hip_stream_t stream,
                                   void **arguments, void **extra)
{
    const unsigned grid[]  = {grid_x, grid_y, grid_z};
    const unsigned block[] = {block_x, block_y, block_z};
    hip_result_t code;

    BEGIN("hipModuleLaunchKernel");
    stream = fake_stream_of(stream);
    code   = fake_check_stream(stream);
    if (code != HIP_SUCCESS) {
        return fake_leave(code);
    }
    if (stream->device != function->device) {
        fake_broken("a kernel of device %d on a stream of device %d", function->device,
                    stream->device);
        return fake_leave(HIP_ERROR_INVALID_HANDLE);
    }
    return fake_leave(fake_launch(function, grid, block, shared_bytes, stream, arguments, extra));
}
