/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: the fake's handle, and opening and closing the backend on it. */

#include "tests/fakes/opencl/pretended.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/device/backend.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pretended pretended;

static const char *const variables[] = {
    "FAKE_OPENCL_FAIL_AT",   "FAKE_OPENCL_FAIL_CALL", "FAKE_OPENCL_SVM",    "FAKE_OPENCL_APART",
    "FAKE_OPENCL_PLATFORMS", "FAKE_OPENCL_DEVICES",   "FAKE_OPENCL_MEMORY", "FAKE_OPENCL_VERSION",
    "FAKE_OPENCL_HANG",      "FAKE_OPENCL_CRASH",     "FAKE_OPENCL_LACKS"};

void pretended_find(void)
{
    void *handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

    if ((handle == NULL) || (dlsym(handle, "fake_opencl_reset") == NULL)) {
        cr_skip_test("LD_LIBRARY_PATH does not lead to the pretended driver");
    }
    *(void **)&pretended.reset       = dlsym(handle, "fake_opencl_reset");
    *(void **)&pretended.failed_call = dlsym(handle, "fake_opencl_failed_call");
    *(void **)&pretended.violation   = dlsym(handle, "fake_opencl_violation");
    *(void **)&pretended.live        = dlsym(handle, "fake_opencl_live");
    *(void **)&pretended.calls       = dlsym(handle, "fake_opencl_calls");
}

void pretended_be(const char *const *settings)
{
    size_t i;

    for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        unsetenv(variables[i]);
    }
    for (i = 0; settings[i] != NULL; i++) {
        char name[64];
        const char *value = strchr(settings[i], '=');
        snprintf(name, sizeof(name), "%.*s", (int)(value - settings[i]), settings[i]);
        setenv(name, value + 1, 1);
    }
    pretended.reset();
}

struct opencl_state *pretended_open(void)
{
    void *state = NULL;

    cr_assert_eq(msp_backend_opencl.open(&memspan_services, &state), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return state;
}

void pretended_close(struct opencl_state *state)
{
    msp_backend_opencl.close(state);
    cr_assert_str_empty(pretended.violation(), "%s", pretended.violation());
    cr_assert_eq(pretended.live(), 0, "%d objects are left", pretended.live());
}

memspan_request_t pretended_ask(memspan_kind_t kind, size_t size_bytes)
{
    return (memspan_request_t){
        .struct_size      = sizeof(memspan_request_t),
        .kind             = kind,
        .size_bytes       = size_bytes,
        .align_bytes      = msp_page_size(),
        .resident_ordinal = MEMSPAN_HOST,
    };
}

memspan_block_t pretended_take(struct opencl_state *state, int ordinal, memspan_kind_t kind)
{
    memspan_request_t request = pretended_ask(kind, PRETENDED_BYTES);
    memspan_block_t block     = {0};

    cr_assert_eq(msp_backend_opencl.alloc(state, ordinal, &request, &block), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return block;
}
