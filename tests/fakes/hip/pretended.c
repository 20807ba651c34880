/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: finding the fake. */

#include "tests/fakes/hip/pretended.h"
#include "tests/fakes/suite/gpu_rules.h"
#include <dlfcn.h>

struct driver driver;

static void check(void)
{
    cr_assert_eq(driver.current(), 0, "device %d is left current", driver.current());
    cr_assert_eq(driver.last_error(), 0, "the thread's last error is %d", driver.last_error());
}

/* The program looks at the error of its own call. */
static int seen(hip_result_t code)
{
    if (code != HIP_SUCCESS) {
        (void)driver.hip.hipGetLastError();
    }
    return code;
}

static int register_pages(void *pages, size_t size)
{
    return seen(driver.hip.hipHostRegister(pages, size,
                                           HIP_HOST_REGISTER_PORTABLE | HIP_HOST_REGISTER_MAPPED));
}

static int take(memspan_kind_t kind, size_t size, void **address_p)
{
    switch (kind) {
    case MEMSPAN_KIND_HOST_PINNED:
        return seen(driver.hip.hipHostMalloc(address_p, size,
                                             HIP_HOST_MALLOC_PORTABLE | HIP_HOST_MALLOC_MAPPED |
                                                 HIP_HOST_MALLOC_COHERENT));
    case MEMSPAN_KIND_MANAGED:
        return seen(driver.hip.hipMallocManaged(address_p, size, HIP_MEM_ATTACH_GLOBAL));
    default:
        return seen(driver.hip.hipMalloc(address_p, size));
    }
}

static int give_back(memspan_kind_t kind, void *address)
{
    return seen((kind == MEMSPAN_KIND_HOST_PINNED) ? driver.hip.hipHostFree(address)
                                                   : driver.hip.hipFree(address));
}

static int make_stream(void **stream_p)
{
    return seen(driver.hip.hipStreamCreateWithFlags((void *)stream_p, HIP_STREAM_NON_BLOCKING));
}

static int make_blocking_stream(void **stream_p)
{
    return seen(driver.hip.hipStreamCreateWithFlags((void *)stream_p, 0));
}

static int drop_stream(void *stream)
{
    return seen(driver.hip.hipStreamDestroy(stream));
}

static void *open_runtime(void)
{
    void *handle = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        handle     = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_LOCAL);
        driver.old = true;
    }
    return handle;
}

static void find_calls(void *handle)
{
    *(void **)&driver.current    = dlsym(handle, "fake_hip_current");
    *(void **)&driver.last_error = dlsym(handle, "fake_hip_last_error");
    *(void **)&driver.is_coarse  = dlsym(handle, "fake_hip_is_coarse");
    *(void **)&driver.arch =
        dlsym(driver.old ? handle : dlopen("libhiprtc.so.7", RTLD_NOW), "fake_hip_arch");
    *(void **)&gpu_program.capture = dlsym(handle, "fake_gpu_capture");
#define FIND(name, optional, result, arguments) *(void **)&driver.hip.name = dlsym(handle, #name);
    HIP_CALL_MAP(FIND)
#undef FIND
}

void pretended_find(void)
{
    static const struct pretended about = {
        .table = &msp_backend_hip, .prefix = "FAKE_HIP_", .check = check};
    void *handle = open_runtime();

    if (!pretended_start(handle, &about)) {
        cr_skip_test("LD_LIBRARY_PATH does not lead to the pretended runtime");
    }
    find_calls(handle);
    gpu_names                         = (struct gpu_names){.all_reached      = "ATTRIBUTES=65=1",
                                                           .no_memory        = "hipErrorOutOfMemory: out of memory",
                                                           .alloc            = "hipMalloc",
                                                           .host_alloc       = "hipHostMalloc",
                                                           .host_free        = "hipHostFree",
                                                           .register_pages   = "hipHostRegister",
                                                           .unregister_pages = "hipHostUnregister",
                                                           .wait             = "hipDeviceSynchronize",
                                                           .open_handle      = "hipIpcOpenMemHandle",
                                                           .drop_stream      = "hipStreamDestroy",
                                                           .query_event      = "hipEventQuery"};
    gpu_program.register_pages        = register_pages;
    gpu_program.unregister_pages      = driver.hip.hipHostUnregister;
    gpu_program.take                  = take;
    gpu_program.give_back             = give_back;
    gpu_program.make_stream           = make_stream;
    gpu_program.make_blocking_stream  = make_blocking_stream;
    gpu_program.drop_stream           = drop_stream;
    gpu_program.queue_type            = MEMSPAN_QUEUE_HIP;
    gpu_program.knows_owners          = driver.hip.hipStreamGetDevice != NULL;
    gpu_program.exchange_capture_mode = driver.hip.hipThreadExchangeStreamCaptureMode;
    gpu_program.has_attach            = driver.hip.hipStreamAttachMemAsync != NULL;
    gpu_program.has_dmabuf            = true;
}
