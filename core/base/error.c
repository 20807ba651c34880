/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c: the calling thread's last error.
 *
 * The record lives in thread-local storage of a fixed size, so that reporting "out of memory"
 * needs no memory. */

#include "core/base/error.h"
#include <stdio.h>
#include <string.h>

static _Thread_local struct {
    memspan_error_t record;
    char message[512];
    char hint[256];
    char backend[16];
    char call[64];
    char native_text[128];
    char text[1024]; /* the record as one line, made on demand */
} last = {.record = {.message = "", .hint = "", .backend = "", .call = "", .native_text = ""}};

static const char *copy_text(char *buffer, size_t size, const char *text)
{
    snprintf(buffer, size, "%s", (text == NULL) ? "" : text);
    return buffer;
}

memspan_status_t memspan_error_native_va(memspan_status_t status, const char *backend,
                                         const char *call, long native_code,
                                         const char *native_text, const char *hint,
                                         const char *format, va_list args)
{
    char message[sizeof(last.message)];

    /* Formatted aside first: an argument may point into the record that is being replaced. */
    vsnprintf(message, sizeof(message), format, args);
    memcpy(last.message, message, sizeof(message));

    last.record = (memspan_error_t){
        .status      = status,
        .message     = last.message,
        .hint        = copy_text(last.hint, sizeof(last.hint), hint),
        .backend     = copy_text(last.backend, sizeof(last.backend), backend),
        .call        = copy_text(last.call, sizeof(last.call), call),
        .native_code = native_code,
        .native_text = copy_text(last.native_text, sizeof(last.native_text), native_text),
    };
    return status;
}

memspan_status_t memspan_error_native(memspan_status_t status, const char *backend,
                                      const char *call, long native_code, const char *native_text,
                                      const char *hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    memspan_error_native_va(status, backend, call, native_code, native_text, hint, format, args);
    va_end(args);
    return status;
}

memspan_status_t memspan_error(memspan_status_t status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    memspan_error_native_va(status, NULL, NULL, 0, NULL, NULL, format, args);
    va_end(args);
    return status;
}

memspan_status_t memspan_error_hint(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last.hint, sizeof(last.hint), format, args);
    va_end(args);
    last.record.hint = last.hint;
    return last.record.status;
}

const memspan_error_t *memspan_error_last(void)
{
    return &last.record;
}

void memspan_error_clear(void)
{
    last.record = (memspan_error_t){.status      = MEMSPAN_OK,
                                    .message     = "",
                                    .hint        = "",
                                    .backend     = "",
                                    .call        = "",
                                    .native_text = ""};
}

const char *memspan_error_text(void)
{
    const memspan_error_t *e = &last.record;
    size_t n                 = 0;

    n += (size_t)snprintf(last.text, sizeof(last.text), "%s",
                          (e->message[0] != '\0') ? e->message : memspan_status_text(e->status));
    if ((e->call[0] != '\0') && (n < sizeof(last.text))) {
        n +=
            (size_t)snprintf(last.text + n, sizeof(last.text) - n, " (%s%s%s: %ld%s%s)", e->backend,
                             (e->backend[0] != '\0') ? ": " : "", e->call, e->native_code,
                             (e->native_text[0] != '\0') ? " " : "", e->native_text);
    }
    if ((e->hint[0] != '\0') && (n < sizeof(last.text))) {
        snprintf(last.text + n, sizeof(last.text) - n, "; %s", e->hint);
    }
    return last.text;
}

const char *memspan_status_name(memspan_status_t status)
{
    switch (status) {
#define CASE(name, value, text)                                                                    \
    case name:                                                                                     \
        return #name;
        MEMSPAN_STATUS_MAP(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *memspan_status_text(memspan_status_t status)
{
    switch (status) {
#define CASE(name, value, text)                                                                    \
    case name:                                                                                     \
        return text;
        MEMSPAN_STATUS_MAP(CASE)
#undef CASE
    }
    return "unknown status";
}

const char *memspan_version(void)
{
    return MEMSPAN_VERSION_STRING;
}

memspan_status_t memspan_struct_write(void *to, const void *from, size_t size)
{
    size_t caller_size;

    memcpy(&caller_size, to, sizeof(caller_size));
    if ((caller_size < 2 * sizeof(size_t)) || (caller_size > ((size_t)1 << 20))) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "struct_size of the structure to fill is %zu; set it to its sizeof",
                             caller_size);
    }
    memset(to, 0, caller_size);
    memcpy(to, from, (caller_size < size) ? caller_size : size);
    memcpy(to, &caller_size, sizeof(caller_size));
    return MEMSPAN_OK;
}
