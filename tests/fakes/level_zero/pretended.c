/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: finding the fake. */

#include "tests/fakes/level_zero/pretended.h"
#include <dlfcn.h>
#include <stdlib.h>

struct driver driver;

void pretended_find(void)
{
    static const struct pretended about = {.table = &msp_backend_level_zero, .prefix = "FAKE_ZE_"};
    const char *path                    = getenv("ZE_ENABLE_ALT_DRIVERS");
    void *handle = (path == NULL) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *state  = NULL;

    if (!pretended_start(handle, &about)) {
        cr_skip_test("ZE_ENABLE_ALT_DRIVERS does not lead to the pretended driver");
    }
    *(void **)&driver.used         = dlsym(handle, "fake_gpu_used");
    *(void **)&driver.foreign      = dlsym(handle, "fake_ze_foreign");
    *(void **)&driver.foreign_free = dlsym(handle, "fake_ze_foreign_free");
    PRETENDED("DEVICES=1");
    OK(pretended_try_open(&state));
    msp_backend_level_zero.close(state);
}
