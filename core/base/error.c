/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c: the calling thread's last error.
 *
 * The record lives in thread-local storage of a fixed size, so that reporting "out of memory"
 * needs no memory. */

#include "core/base/error.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct {
    memspan_error_t record;
    struct memspan_error_texts texts;
    char text[1024]; /* the record as one line, made on demand */
} last = {.record = {.message = "", .hint = "", .backend = "", .call = "", .native_text = ""}};

/* A refusal that is not words yet. */
static _Thread_local struct {
    bool pending;
    uint64_t bytes;
    uint64_t limit_bytes;
    uint64_t used_bytes;
} refusal __attribute__((tls_model("initial-exec")));

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
    char message[sizeof(last.texts.message)];

    refusal.pending = false;
    /* Formatted aside first: an argument may point into the record that is being replaced. */
    vsnprintf(message, sizeof(message), format, args);
    memcpy(last.texts.message, message, sizeof(message));

    last.record = (memspan_error_t){
        .status      = status,
        .message     = last.texts.message,
        .hint        = copy_text(last.texts.hint, sizeof(last.texts.hint), hint),
        .backend     = copy_text(last.texts.backend, sizeof(last.texts.backend), backend),
        .call        = copy_text(last.texts.call, sizeof(last.texts.call), call),
        .native_code = native_code,
        .native_text =
            copy_text(last.texts.native_text, sizeof(last.texts.native_text), native_text),
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

memspan_status_t memspan_error_limit(uint64_t bytes, uint64_t limit_bytes, uint64_t used_bytes)
{
    refusal.bytes       = bytes;
    refusal.limit_bytes = limit_bytes;
    refusal.used_bytes  = used_bytes;
    refusal.pending     = true;
    return MEMSPAN_ERR_LIMIT;
}

static void find_words(void)
{
    if (refusal.pending) {
        memspan_error_native(MEMSPAN_ERR_LIMIT, NULL, NULL, 0, NULL, "raise the trait pool_size",
                             "%llu bytes do not fit in pool_size=%llu, of which %llu are in use",
                             (unsigned long long)refusal.bytes,
                             (unsigned long long)refusal.limit_bytes,
                             (unsigned long long)refusal.used_bytes);
    }
}

memspan_status_t memspan_error_hint(const char *format, ...)
{
    va_list args;

    find_words();
    va_start(args, format);
    vsnprintf(last.texts.hint, sizeof(last.texts.hint), format, args);
    va_end(args);
    last.record.hint = last.texts.hint;
    return last.record.status;
}

void memspan_error_save(struct memspan_error_saved *saved)
{
    find_words();
    saved->record = last.record;
    saved->texts  = last.texts;
}

void memspan_error_restore(const struct memspan_error_saved *saved)
{
    refusal.pending = false;
    /* The texts lie where they lay; the record's pointers are right again. */
    last.texts  = saved->texts;
    last.record = saved->record;
}

const memspan_error_t *memspan_error_last(void)
{
    find_words();
    return &last.record;
}

void memspan_error_clear(void)
{
    refusal.pending = false;
    last.record     = (memspan_error_t){.status      = MEMSPAN_OK,
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

    find_words();
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
