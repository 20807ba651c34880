/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: finding the fake. */

#include "tests/fakes/cuda/pretended.h"
#include <dlfcn.h>

struct driver driver;

static const char *const variables[] = {"FAKE_CUDA_DEVICES",
                                        "FAKE_CUDA_FIRST",
                                        "FAKE_CUDA_MEMORY",
                                        "FAKE_CUDA_VERSION",
                                        "FAKE_CUDA_ATTRIBUTES",
                                        "FAKE_CUDA_FAIL_AT",
                                        "FAKE_CUDA_FAIL_CALL",
                                        "FAKE_CUDA_FAIL_CODE",
                                        "FAKE_CUDA_LOST_AT",
                                        "FAKE_CUDA_LIES",
                                        "FAKE_CUDA_HANG",
                                        "MEMSPAN_CUDA_DMABUF",
                                        NULL};

static void check(void)
{
    cr_assert_eq(driver.depth(), 0, "a context is left on the thread");
}

void pretended_find(void)
{
    static const struct pretended about = {
        .table = &msp_backend_cuda, .variables = variables, .check = check};
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!pretended_start(handle, "fake_cuda_", &about)) {
        cr_skip_test("LD_LIBRARY_PATH does not lead to the pretended driver");
    }
    *(void **)&driver.depth        = dlsym(handle, "fake_cuda_depth");
    *(void **)&driver.used         = dlsym(handle, "fake_cuda_used");
    *(void **)&driver.current      = dlsym(handle, "cuCtxGetCurrent");
    *(void **)&driver.capture      = dlsym(handle, "fake_cuda_capture");
    *(void **)&driver.reset_device = dlsym(handle, "fake_cuda_reset_device");
    *(void **)&driver.copy         = dlsym(handle, "cuMemcpyDtoD_v2");
    *(void **)&driver.end          = dlsym(handle, "fake_cuda_end");
#define FIND(name, older, optional, arguments) *(void **)&driver.cu.name = dlsym(handle, #name);
    CUDA_CALL_MAP(FIND)
#undef FIND
}
