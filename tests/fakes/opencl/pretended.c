/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: finding the fake. */

#include "tests/fakes/opencl/pretended.h"
#include <dlfcn.h>

void pretended_find(void)
{
    static const struct pretended about = {.table = &msp_backend_opencl, .prefix = "FAKE_OPENCL_"};

    if (!pretended_start(dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL), &about)) {
        cr_skip_test("LD_LIBRARY_PATH does not lead to the pretended driver");
    }
}
