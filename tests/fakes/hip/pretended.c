/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: the fake's handle, and opening and closing the backend on it. */

#include "tests/fakes/hip/pretended.h"
#include "core/backend.h"
#include "core/base/option.h"
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
    "FAKE_HIP_DEVICES",   "FAKE_HIP_MEMORY",    "FAKE_HIP_ATTRIBUTES", "FAKE_HIP_FAIL_AT",
    "FAKE_HIP_FAIL_CALL", "FAKE_HIP_FAIL_CODE", "FAKE_HIP_LOST_AT",    "FAKE_HIP_LIES",
    "FAKE_HIP_HANG",      "MEMSPAN_HIP_GRAIN"};

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

static void *open_runtime(void)
{
    void *handle = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        handle        = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_LOCAL);
        pretended.old = true;
    }
    return handle;
}

void pretended_find(void)
{
    void *handle = open_runtime();

    if ((handle == NULL) || (dlsym(handle, "fake_hip_reset") == NULL)) {
        cr_skip_test("LD_LIBRARY_PATH does not lead to the pretended runtime");
    }
    *(void **)&pretended.reset       = dlsym(handle, "fake_hip_reset");
    *(void **)&pretended.failed_call = dlsym(handle, "fake_hip_failed_call");
    *(void **)&pretended.violation   = dlsym(handle, "fake_hip_violation");
    *(void **)&pretended.live        = dlsym(handle, "fake_hip_live");
    *(void **)&pretended.calls       = dlsym(handle, "fake_hip_calls");
    *(void **)&pretended.current     = dlsym(handle, "fake_hip_current");
    *(void **)&pretended.last_error  = dlsym(handle, "fake_hip_last_error");
    *(void **)&pretended.is_coarse   = dlsym(handle, "fake_hip_is_coarse");
#define FIND(name, optional, result, arguments)                                                    \
    *(void **)&pretended.hip.name = dlsym(handle, #name);
    HIP_CALL_MAP(FIND)
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
    memspan_option_reload();
    memspan_error_clear();
    pretended.reset();
}

memspan_status_t pretended_try_open(void **state_p)
{
    return memspan_backend_hip.open(&services, state_p);
}

void *pretended_open(void)
{
    void *state = NULL;

    cr_assert_eq(pretended_try_open(&state), MEMSPAN_OK, "%s", memspan_error_text());
    return state;
}

void pretended_close(void *state)
{
    memspan_backend_hip.close(state);
    cr_assert_str_empty(pretended.violation(), "%s", pretended.violation());
    cr_assert_eq(pretended.live(), 0, "%d objects are left", pretended.live());
    cr_assert_eq(pretended.current(), 0, "device %d is left current", pretended.current());
    cr_assert_eq(pretended.last_error(), 0, "the thread's last error is %d",
                 pretended.last_error());
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

    cr_assert_eq(memspan_backend_hip.alloc(state, ordinal, &request, &block), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return block;
}

void pretended_give_back(void *state, int ordinal, const memspan_block_t *block)
{
    cr_assert_eq(memspan_backend_hip.free(state, ordinal, block), MEMSPAN_OK, "%s",
                 memspan_error_text());
}
