/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: the fake's handle, and opening and closing the backend on it. */

#include "tests/fakes/level_zero/pretended.h"
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
    "FAKE_ZE_DRIVERS",         "FAKE_ZE_DEVICES", "FAKE_ZE_TILES",   "FAKE_ZE_MEMORY",
    "FAKE_ZE_LIMIT",           "FAKE_ZE_ACCESS",  "FAKE_ZE_FLAGS",   "FAKE_ZE_TYPE",
    "FAKE_ZE_LACKS",           "FAKE_ZE_IMPORT",  "FAKE_ZE_FAIL_AT", "FAKE_ZE_FAIL_CALL",
    "FAKE_ZE_FAIL_CODE",       "FAKE_ZE_LOST_AT", "FAKE_ZE_LIES",    "FAKE_ZE_HANG",
    "MEMSPAN_LEVEL_ZERO_TILES"};

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
    const char *path = getenv("ZE_ENABLE_ALT_DRIVERS");
    void *handle     = (path == NULL) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *state      = NULL;

    if ((handle == NULL) || (dlsym(handle, "fake_ze_reset") == NULL)) {
        cr_skip_test("ZE_ENABLE_ALT_DRIVERS does not lead to the pretended driver");
    }
    *(void **)&pretended.reset        = dlsym(handle, "fake_ze_reset");
    *(void **)&pretended.failed_call  = dlsym(handle, "fake_ze_failed_call");
    *(void **)&pretended.violation    = dlsym(handle, "fake_ze_violation");
    *(void **)&pretended.live         = dlsym(handle, "fake_ze_live");
    *(void **)&pretended.calls        = dlsym(handle, "fake_ze_calls");
    *(void **)&pretended.used         = dlsym(handle, "fake_ze_used");
    *(void **)&pretended.foreign      = dlsym(handle, "fake_ze_foreign");
    *(void **)&pretended.foreign_free = dlsym(handle, "fake_ze_foreign_free");
    services                          = memspan_services;
    services.log                      = keep_line;
    PRETENDED("FAKE_ZE_DEVICES=1");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_OK, "%s", memspan_error_text());
    memspan_backend_level_zero.close(state);
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
    memspan_option_reload();
    log_used    = 0;
    log_text[0] = '\0';
    memspan_error_clear();
    pretended.reset();
}

memspan_status_t pretended_try_open(void **state_p)
{
    return memspan_backend_level_zero.open(&services, state_p);
}

void *pretended_open(void)
{
    void *state = NULL;

    cr_assert_eq(pretended_try_open(&state), MEMSPAN_OK, "%s", memspan_error_text());
    return state;
}

void pretended_close(void *state)
{
    memspan_backend_level_zero.close(state);
    cr_assert_str_empty(pretended.violation(), "%s", pretended.violation());
    cr_assert_eq(pretended.live(), 0, "%d objects are left", pretended.live());
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

    cr_assert_eq(memspan_backend_level_zero.alloc(state, ordinal, &request, &block), MEMSPAN_OK,
                 "%s", memspan_error_text());
    return block;
}

void pretended_give_back(void *state, int ordinal, const memspan_block_t *block)
{
    cr_assert_eq(memspan_backend_level_zero.free(state, ordinal, block), MEMSPAN_OK, "%s",
                 memspan_error_text());
}
