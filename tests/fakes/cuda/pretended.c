/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: the fake's handle, and opening and closing the backend on it. */

#include "tests/fakes/cuda/pretended.h"
#include "core/backend.h"
#include "core/base/platform.h"
#include <dlfcn.h>
#include <memspan/memspan.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pretended pretended;

static memspan_services_t services;
static char log_text[16384];
static size_t log_used;

static const char *const variables[] = {
    "FAKE_CUDA_DEVICES", "FAKE_CUDA_MEMORY",    "FAKE_CUDA_VERSION",   "FAKE_CUDA_ATTRIBUTES",
    "FAKE_CUDA_FAIL_AT", "FAKE_CUDA_FAIL_CALL", "FAKE_CUDA_FAIL_CODE", "FAKE_CUDA_LOST_AT",
    "FAKE_CUDA_LIES",    "FAKE_CUDA_HANG"};

__attribute__((format(printf, 3, 4))) static void
keep_line(enum memspan_log_level level, const char *backend, const char *format, ...)
{
    size_t room = sizeof(log_text) - log_used;
    va_list args;
    int length;

    (void)level;
    (void)backend;
    va_start(args, format);
    length = vsnprintf(log_text + log_used, room, format, args);
    va_end(args);
    if ((length >= 0) && ((size_t)length + 1 < room)) {
        log_used += (size_t)length;
        log_text[log_used++] = '\n';
        log_text[log_used]   = '\0';
    }
}

const char *pretended_log(void)
{
    return log_text;
}

void pretended_find(void)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if ((handle == NULL) || (dlsym(handle, "fake_cuda_reset") == NULL)) {
        cr_skip_test("LD_LIBRARY_PATH does not lead to the pretended driver");
    }
    *(void **)&pretended.reset       = dlsym(handle, "fake_cuda_reset");
    *(void **)&pretended.failed_call = dlsym(handle, "fake_cuda_failed_call");
    *(void **)&pretended.violation   = dlsym(handle, "fake_cuda_violation");
    *(void **)&pretended.live        = dlsym(handle, "fake_cuda_live");
    *(void **)&pretended.depth       = dlsym(handle, "fake_cuda_depth");
    *(void **)&pretended.calls       = dlsym(handle, "fake_cuda_calls");
    *(void **)&pretended.used        = dlsym(handle, "fake_cuda_used");
    *(void **)&pretended.current     = dlsym(handle, "cuCtxGetCurrent");
#define FIND(name, older, optional, arguments) *(void **)&pretended.cu.name = dlsym(handle, #name);
    CUDA_CALL_MAP(FIND)
#undef FIND
    services     = memspan_services;
    services.log = keep_line;
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
    log_used    = 0;
    log_text[0] = '\0';
    memspan_error_clear();
    pretended.reset();
}

memspan_status_t pretended_try_open(void **state_p)
{
    return memspan_backend_cuda.open(&services, state_p);
}

void *pretended_open(void)
{
    void *state = NULL;

    cr_assert_eq(pretended_try_open(&state), MEMSPAN_OK, "%s", memspan_error_text());
    return state;
}

void pretended_close(void *state)
{
    memspan_backend_cuda.close(state);
    cr_assert_str_empty(pretended.violation(), "%s", pretended.violation());
    cr_assert_eq(pretended.live(), 0, "%d objects are left", pretended.live());
    cr_assert_eq(pretended.depth(), 0, "a context is left on the thread");
}

memspan_request_t pretended_ask(memspan_kind_t kind, size_t size_bytes)
{
    return (memspan_request_t){
        .struct_size      = sizeof(memspan_request_t),
        .kind             = kind,
        .size_bytes       = size_bytes,
        .align_bytes      = memspan_page_size(),
        .resident_ordinal = MEMSPAN_HOST,
    };
}

memspan_block_t pretended_take(void *state, int ordinal, memspan_kind_t kind)
{
    memspan_request_t request = pretended_ask(kind, PRETENDED_BYTES);
    memspan_block_t block     = {0};

    cr_assert_eq(memspan_backend_cuda.alloc(state, ordinal, &request, &block), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return block;
}

void pretended_give_back(void *state, int ordinal, const memspan_block_t *block)
{
    cr_assert_eq(memspan_backend_cuda.free(state, ordinal, block), MEMSPAN_OK, "%s",
                 memspan_error_text());
}
