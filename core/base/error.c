/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c: the calling thread's last error.
 *
 * The record and its texts are too large for thread-local storage, of which a library that is
 * opened at run time gets little: they are allocated when the thread first needs them and freed
 * when it ends. The first thread that gets no memory for them has the reserve, so that reporting
 * "out of memory" needs no memory; any other has a constant record of its status, and the log the
 * words. */

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    memspan_error_t record;
    struct msp_error_texts texts;
    struct { /* a refusal that is not words yet */
        bool pending;
        uint64_t bytes;
        uint64_t limit_bytes;
        uint64_t used_bytes;
    } refusal;
    char text[1024]; /* the record as one line, made on demand */
};

static const memspan_error_t no_error = {
    .status = MEMSPAN_OK, .message = "", .hint = "", .backend = "", .call = "", .native_text = ""};

static _Thread_local struct state *own __attribute__((tls_model("initial-exec")));
/* Without a state: the status of the last failure. */
static _Thread_local memspan_status_t bare_status __attribute__((tls_model("initial-exec")));

static struct state reserve;
static atomic_flag reserve_taken = ATOMIC_FLAG_INIT;

/* ---- the state ---- */

static pthread_key_t key;
static bool has_key;

/* A destructor that comes later may fail once more: the thread then gets a new state, and glibc
 * calls this one again. */
static void end_thread(void *data)
{
    struct state *state = data;

    own = NULL;
    if (state == &reserve) {
        atomic_flag_clear(&reserve_taken);
    } else {
        free(state);
    }
}

static void make_key(void)
{
    has_key = (pthread_key_create(&key, end_thread) == 0);
}

/* Allocated, and freed when the thread ends; NULL. */
static struct state *allocate_state(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct state *state;

    (void)pthread_once(&once, make_key);
    state = has_key ? malloc(sizeof(*state)) : NULL;
    if ((state != NULL) && (pthread_setspecific(key, state) != 0)) {
        free(state);
        state = NULL;
    }
    return state;
}

static __attribute__((noinline)) struct state *make_state(void)
{
    struct state *state = allocate_state();

    if ((state == NULL) && !atomic_flag_test_and_set(&reserve_taken)) {
        state = &reserve;
        if (has_key) { /* without a destructor the thread keeps it for ever */
            (void)pthread_setspecific(key, state);
        }
    }
    if (state != NULL) {
        state->record          = no_error;
        state->record.status   = bare_status;
        state->refusal.pending = false;
        own                    = state;
    }
    return state;
}

/* The calling thread's; NULL when there is no memory for one. */
static struct state *get_state(void)
{
    return MSP_LIKELY(own != NULL) ? own : make_state();
}

/* The record of threads without a state. */
static const memspan_error_t *bare_record(void)
{
    switch (bare_status) {
#define CASE(name, value, text)                                                                    \
    case name: {                                                                                   \
        static const memspan_error_t record = {                                                    \
            .status      = name,                                                                   \
            .message     = text,                                                                   \
            .hint        = "there was no memory to keep what was asked; the log has it",           \
            .backend     = "",                                                                     \
            .call        = "",                                                                     \
            .native_text = ""};                                                                    \
        return (name == MEMSPAN_OK) ? &no_error : &record;                                         \
    }
        MEMSPAN_STATUS_MAP(CASE)
#undef CASE
    }
    return &no_error;
}

/* ---- recording ---- */

static const char *copy_text(char *buffer, size_t size, const char *text)
{
    snprintf(buffer, size, "%s", (text == NULL) ? "" : text);
    return buffer;
}

memspan_status_t msp_error_native_va(memspan_status_t status, const char *backend, const char *call,
                                     long native_code, const char *native_text, const char *hint,
                                     const char *format, va_list args)
{
    struct state *state = get_state();
    char message[sizeof(state->texts.message)];

    /* Formatted aside first: an argument may point into the record that is being replaced. */
    vsnprintf(message, sizeof(message), format, args);
    if (state == NULL) {
        bare_status = status;
        msp_log(MEMSPAN_LOG_ERROR, "core", "no memory to keep this error: %s", message);
        return status;
    }
    state->refusal.pending = false;
    memcpy(state->texts.message, message, sizeof(message));

    state->record = (memspan_error_t){
        .status      = status,
        .message     = state->texts.message,
        .hint        = copy_text(state->texts.hint, sizeof(state->texts.hint), hint),
        .backend     = copy_text(state->texts.backend, sizeof(state->texts.backend), backend),
        .call        = copy_text(state->texts.call, sizeof(state->texts.call), call),
        .native_code = native_code,
        .native_text =
            copy_text(state->texts.native_text, sizeof(state->texts.native_text), native_text),
    };
    return status;
}

memspan_status_t msp_error_native(memspan_status_t status, const char *backend, const char *call,
                                  long native_code, const char *native_text, const char *hint,
                                  const char *format, ...)
{
    va_list args;

    va_start(args, format);
    msp_error_native_va(status, backend, call, native_code, native_text, hint, format, args);
    va_end(args);
    return status;
}

memspan_status_t memspan_error(memspan_status_t status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    msp_error_native_va(status, NULL, NULL, 0, NULL, NULL, format, args);
    va_end(args);
    return status;
}

static void record_limit(uint64_t bytes, uint64_t limit_bytes, uint64_t used_bytes)
{
    msp_error_native(MEMSPAN_ERR_LIMIT, NULL, NULL, 0, NULL, "raise the trait pool_size",
                     "%llu bytes do not fit in pool_size=%llu, of which %llu are in use",
                     (unsigned long long)bytes, (unsigned long long)limit_bytes,
                     (unsigned long long)used_bytes);
}

static __attribute__((noinline)) memspan_status_t begin_limit(uint64_t bytes, uint64_t limit_bytes,
                                                              uint64_t used_bytes)
{
    if (make_state() == NULL) {
        record_limit(bytes, limit_bytes, used_bytes);
        return MEMSPAN_ERR_LIMIT;
    }
    return msp_error_limit(bytes, limit_bytes, used_bytes);
}

memspan_status_t msp_error_limit(uint64_t bytes, uint64_t limit_bytes, uint64_t used_bytes)
{
    struct state *state = own;

    if (MSP_UNLIKELY(state == NULL)) {
        return begin_limit(bytes, limit_bytes, used_bytes);
    }
    state->refusal.bytes       = bytes;
    state->refusal.limit_bytes = limit_bytes;
    state->refusal.used_bytes  = used_bytes;
    state->refusal.pending     = true;
    return MEMSPAN_ERR_LIMIT;
}

/* The calling thread's state, whose record is words; NULL when there is no memory for one. */
static struct state *get_words(void)
{
    struct state *state = get_state();

    if ((state != NULL) && state->refusal.pending) {
        record_limit(state->refusal.bytes, state->refusal.limit_bytes, state->refusal.used_bytes);
    }
    return state;
}

memspan_status_t msp_error_hint(const char *format, ...)
{
    struct state *state = get_words();
    va_list args;

    if (state == NULL) {
        return bare_status;
    }
    va_start(args, format);
    vsnprintf(state->texts.hint, sizeof(state->texts.hint), format, args);
    va_end(args);
    state->record.hint = state->texts.hint;
    return state->record.status;
}

/* ---- reading ---- */

void msp_error_save(struct msp_error_saved *saved)
{
    const struct state *state = get_words();

    if (state == NULL) {
        saved->record = *bare_record();
        memset(&saved->texts, 0, sizeof(saved->texts));
    } else {
        saved->record = state->record;
        saved->texts  = state->texts;
    }
}

void msp_error_restore(const struct msp_error_saved *saved)
{
    struct state *state = get_state();

    if (state == NULL) {
        bare_status = saved->record.status;
        return;
    }
    state->refusal.pending = false;
    /* The texts lie where they lay; the record's pointers are right again. */
    state->texts  = saved->texts;
    state->record = saved->record;
}

const memspan_error_t *memspan_error_last(void)
{
    const struct state *state = get_words();

    return (state == NULL) ? bare_record() : &state->record;
}

memspan_status_t msp_error_status(void)
{
    if (own == NULL) {
        return bare_status;
    }
    return own->refusal.pending ? MEMSPAN_ERR_LIMIT : own->record.status;
}

void memspan_error_clear(void)
{
    bare_status = MEMSPAN_OK;
    if (own != NULL) {
        own->refusal.pending = false;
        own->record          = no_error;
    }
}

const char *memspan_error_text(void)
{
    struct state *state = get_words();
    const memspan_error_t *e;
    size_t n = 0;

    if (state == NULL) {
        return memspan_status_text(bare_status);
    }
    e = &state->record;
    n += (size_t)snprintf(state->text, sizeof(state->text), "%s",
                          (e->message[0] != '\0') ? e->message : memspan_status_text(e->status));
    if ((e->call[0] != '\0') && (n < sizeof(state->text))) {
        n += (size_t)snprintf(state->text + n, sizeof(state->text) - n, " (%s%s%s: %ld%s%s)",
                              e->backend, (e->backend[0] != '\0') ? ": " : "", e->call,
                              e->native_code, (e->native_text[0] != '\0') ? " " : "",
                              e->native_text);
    }
    if ((e->hint[0] != '\0') && (n < sizeof(state->text))) {
        snprintf(state->text + n, sizeof(state->text) - n, "; %s", e->hint);
    }
    return state->text;
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

memspan_status_t msp_struct_write(void *to, const void *from, size_t size)
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
