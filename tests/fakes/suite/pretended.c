/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fakes/suite/pretended.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/device/backend.h"
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

__attribute__((format(printf, 3, 4))) static void
keep_line(enum memspan_log_level level, const char *backend, const char *format, ...)
{
    size_t room = sizeof(log_text) - log_used;
    va_list args;
    int length;

    (void)backend;
    if (level == MEMSPAN_LOG_WARN) {
        length = snprintf(log_text + log_used, room, "warning: ");
        if ((length < 0) || ((size_t)length + 1 >= room)) {
            return;
        }
        log_used += (size_t)length;
        room -= (size_t)length;
    }
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

static bool find(void *handle, const char *name, void *call_p)
{
    void *address = dlsym(handle, name);

    memcpy(call_p, &address, sizeof(address));
    return address != NULL;
}

bool pretended_start(void *handle, const struct pretended *about)
{
    pretended    = *about;
    services     = memspan_services;
    services.log = keep_line;
    return (handle != NULL) && find(handle, "fake_gpu_reset", &pretended.reset) &&
           find(handle, "fake_gpu_failed_call", &pretended.failed_call) &&
           find(handle, "fake_gpu_violation", &pretended.violation) &&
           find(handle, "fake_gpu_live", &pretended.live) &&
           find(handle, "fake_gpu_calls", &pretended.calls);
}

/* ---- the machine ---- */

enum { SETTINGS = 8, NAME_BYTES = 64 };

static char names[SETTINGS][NAME_BYTES]; /* that were set */

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void unset_all(void)
{
    char name[NAME_BYTES];
    int i = 0;

    while (environ[i] != NULL) {
        if (begins(environ[i], pretended.prefix)) {
            snprintf(name, sizeof(name), "%.*s", (int)strcspn(environ[i], "="), environ[i]);
            unsetenv(name);
        } else {
            i++;
        }
    }
    for (i = 0; i < SETTINGS; i++) {
        if (names[i][0] != '\0') {
            unsetenv(names[i]);
            names[i][0] = '\0';
        }
    }
}

void pretended_be(const char *const *settings)
{
    int i;

    unset_all();
    for (i = 0; settings[i] != NULL; i++) {
        bool whole = begins(settings[i], "MEMSPAN_");
        snprintf(names[i], sizeof(names[i]), "%s%.*s", whole ? "" : pretended.prefix,
                 (int)strcspn(settings[i], "="), settings[i]);
        setenv(names[i], strchr(settings[i], '=') + 1, 1);
    }
    log_used    = 0;
    log_text[0] = '\0';
    memspan_error_clear();
    msp_option_reload();
    pretended.reset();
}

memspan_status_t pretended_try_open(void **state_p)
{
    return pretended.table->open(&services, state_p);
}

void *pretended_open(void)
{
    void *state = NULL;

    OK(pretended_try_open(&state));
    return state;
}

void pretended_close(void *state)
{
    pretended.table->close(state);
    cr_assert_str_empty(pretended.violation(), "%s", pretended.violation());
    cr_assert_eq(pretended.live(), 0, "%d objects are left", pretended.live());
    if (pretended.check != NULL) {
        pretended.check();
    }
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

memspan_block_t pretended_take(void *state, int ordinal, memspan_kind_t kind)
{
    memspan_request_t request = pretended_ask(kind, PRETENDED_BYTES);
    memspan_block_t block     = {0};

    OK(pretended.table->alloc(state, ordinal, &request, &block));
    return block;
}

void pretended_give_back(void *state, int ordinal, const memspan_block_t *block)
{
    OK(pretended.table->free(state, ordinal, block));
}

void pretended_end(void *state, int ordinal, const memspan_block_t *block)
{
    pretended_give_back(state, ordinal, block);
    pretended_close(state);
}

memspan_device_info_t pretended_describe(void *state, int ordinal)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    OK(pretended.table->device_describe(state, ordinal, &info));
    return info;
}

memspan_status_t pretended_launch_fill(void *state, int ordinal, void *queue, void *address)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = MEMSPAN_KERNEL_FILL,
                                  .count       = 100,
                                  .a           = 2.5,
                                  .z           = address};

    return pretended.table->launch(state, ordinal, queue, &call);
}

memspan_status_t pretended_fill(void *state, int ordinal, void *address)
{
    memspan_status_t status = pretended_launch_fill(state, ordinal, NULL, address);

    return (status == MEMSPAN_OK) ? pretended.table->synchronize(state, ordinal, NULL) : status;
}

void pretended_read(void *state, int ordinal, void *to, const void *from, size_t size)
{
    OK(pretended.table->copy(state, ordinal, NULL, to, from, size));
    OK(pretended.table->synchronize(state, ordinal, NULL));
}
