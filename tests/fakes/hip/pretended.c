/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: finding the fake. */

#include "tests/fakes/hip/pretended.h"
#include <dlfcn.h>

struct driver driver;

static const char *const variables[] = {"FAKE_HIP_DEVICES",
                                        "FAKE_HIP_MEMORY",
                                        "FAKE_HIP_ATTRIBUTES",
                                        "FAKE_HIP_FAIL_AT",
                                        "FAKE_HIP_FAIL_CALL",
                                        "FAKE_HIP_FAIL_CODE",
                                        "FAKE_HIP_LOST_AT",
                                        "FAKE_HIP_LIES",
                                        "FAKE_HIP_HANG",
                                        "MEMSPAN_HIP_GRAIN",
                                        NULL};

static void check(void)
{
    cr_assert_eq(driver.current(), 0, "device %d is left current", driver.current());
    cr_assert_eq(driver.last_error(), 0, "the thread's last error is %d", driver.last_error());
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

void pretended_find(void)
{
    static const struct pretended about = {
        .table = &msp_backend_hip, .variables = variables, .check = check};
    void *handle = open_runtime();

    if (!pretended_start(handle, "fake_hip_", &about)) {
        cr_skip_test("LD_LIBRARY_PATH does not lead to the pretended runtime");
    }
    *(void **)&driver.current    = dlsym(handle, "fake_hip_current");
    *(void **)&driver.last_error = dlsym(handle, "fake_hip_last_error");
    *(void **)&driver.is_coarse  = dlsym(handle, "fake_hip_is_coarse");
    *(void **)&driver.capture    = dlsym(handle, "fake_hip_capture");
    *(void **)&driver.arch =
        dlsym(driver.old ? handle : dlopen("libhiprtc.so.7", RTLD_NOW), "fake_hip_arch");
#define FIND(name, optional, result, arguments) *(void **)&driver.hip.name = dlsym(handle, #name);
    HIP_CALL_MAP(FIND)
#undef FIND
}
