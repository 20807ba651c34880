/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: finding the fake. */

#include "tests/fakes/cuda/pretended.h"
#include "tests/fakes/suite/gpu_rules.h"
#include <dlfcn.h>

struct driver driver;

static void check(void)
{
    cr_assert_eq(driver.depth(), 0, "a context is left on the thread");
}

static int register_pages(void *pages, size_t size)
{
    return driver.cu.cuMemHostRegister_v2(
        pages, size, CUDA_MEMHOSTREGISTER_PORTABLE | CUDA_MEMHOSTREGISTER_DEVICEMAP);
}

static int take(memspan_kind_t kind, size_t size, void **address_p)
{
    cuda_address_t address = 0;
    int code;

    if (kind == MEMSPAN_KIND_HOST_PINNED) {
        return driver.cu.cuMemHostAlloc(address_p, size,
                                        CUDA_MEMHOSTALLOC_PORTABLE | CUDA_MEMHOSTALLOC_DEVICEMAP);
    }
    code       = (kind == MEMSPAN_KIND_MANAGED)
                     ? driver.cu.cuMemAllocManaged(&address, size, CUDA_MEM_ATTACH_GLOBAL)
                     : driver.cu.cuMemAlloc_v2(&address, size);
    *address_p = (void *)(uintptr_t)address;
    return code;
}

static int give_back(memspan_kind_t kind, void *address)
{
    return (kind == MEMSPAN_KIND_HOST_PINNED) ? driver.cu.cuMemFreeHost(address)
                                              : driver.cu.cuMemFree_v2((uintptr_t)address);
}

static int make_stream(void **stream_p)
{
    return driver.cu.cuStreamCreate((void *)stream_p, CUDA_STREAM_NON_BLOCKING);
}

static int make_blocking_stream(void **stream_p)
{
    return driver.cu.cuStreamCreate((void *)stream_p, 0);
}

static int drop_stream(void *stream)
{
    return driver.cu.cuStreamDestroy_v2(stream);
}

static void find_calls(void *handle)
{
    *(void **)&driver.depth        = dlsym(handle, "fake_cuda_depth");
    *(void **)&driver.current      = dlsym(handle, "fake_cuda_current");
    *(void **)&driver.reset_device = dlsym(handle, "fake_cuda_reset_device");
    *(void **)&driver.copy         = dlsym(handle, "cuMemcpyDtoD_v2");
    *(void **)&driver.end          = dlsym(handle, "fake_cuda_end");
    *(void **)&gpu_program.capture = dlsym(handle, "fake_gpu_capture");
#define FIND(name, older, optional, arguments) *(void **)&driver.cu.name = dlsym(handle, #name);
    CUDA_CALL_MAP(FIND)
#undef FIND
}

void pretended_find(void)
{
    static const struct pretended about = {
        .table = &msp_backend_cuda, .prefix = "FAKE_CUDA_", .check = check};
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!pretended_start(handle, &about)) {
        cr_skip_test("LD_LIBRARY_PATH does not lead to the pretended driver");
    }
    find_calls(handle);
    gpu_names                         = (struct gpu_names){.all_reached      = "ATTRIBUTES=88=1",
                                                           .no_memory        = "CUDA_ERROR_OUT_OF_MEMORY: out of memory",
                                                           .alloc            = "cuMemAlloc",
                                                           .host_alloc       = "cuMemHostAlloc",
                                                           .host_free        = "cuMemFreeHost",
                                                           .register_pages   = "cuMemHostRegister",
                                                           .unregister_pages = "cuMemHostUnregister",
                                                           .wait             = "cuCtxSynchronize",
                                                           .open_handle      = "cuIpcOpenMemHandle",
                                                           .drop_stream      = "cuStreamDestroy",
                                                           .query_event      = "cuEventQuery"};
    gpu_program.register_pages        = register_pages;
    gpu_program.unregister_pages      = driver.cu.cuMemHostUnregister;
    gpu_program.take                  = take;
    gpu_program.give_back             = give_back;
    gpu_program.make_stream           = make_stream;
    gpu_program.make_blocking_stream  = make_blocking_stream;
    gpu_program.drop_stream           = drop_stream;
    gpu_program.queue_type            = MEMSPAN_QUEUE_CUDA;
    gpu_program.knows_owners          = driver.cu.cuStreamGetCtx != NULL;
    gpu_program.exchange_capture_mode = driver.cu.cuThreadExchangeStreamCaptureMode;
    gpu_program.has_attach            = driver.cu.cuStreamAttachMemAsync != NULL;
    gpu_program.has_dmabuf            = driver.cu.cuMemGetHandleForAddressRange != NULL;
}
