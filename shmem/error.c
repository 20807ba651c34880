/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c: failures go into the same record as those of libmemspan, through its services. */

#include "shmem/error.h"
#include "shmem/control/memory.h"
#include "shmem/device/device.h"
#include "shmem/job.h"
#include "shmem/option.h"
#include <errno.h>
#include <memspan/backend.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 512, FLUSH_TIMEOUT_S = 1 };

static void print_line(const char *what, const char *text);

static atomic_bool is_elsewhere; /* the last record is of another PE's decision */

memspan_status_t msp_error_native_va(memspan_status_t status, const char *backend, const char *call,
                                     long native_code, const char *native_text, const char *hint,
                                     const char *format, va_list args)
{
    char text[TEXT_BYTES];

    vsnprintf(text, sizeof text, format, args);
    atomic_store_explicit(&is_elsewhere, false, memory_order_relaxed);
    return memspan_services_get()->fail(status, (backend != NULL) ? backend : "", call, native_code,
                                        native_text, hint, "%s", text);
}

memspan_status_t memspan_error(memspan_status_t status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    status = msp_error_native_va(status, "", NULL, 0, NULL, NULL, format, args);
    va_end(args);
    return status;
}

/* False: the place has printed before. Beyond the table all are printed. */
static bool is_first_refusal(const char *format)
{
    enum { PLACES_MAX = 128 };
    static _Atomic(const char *) places[PLACES_MAX];
    int i;

    for (i = 0; i < PLACES_MAX; i++) {
        const char *known = NULL;

        if (atomic_compare_exchange_strong(&places[i], &known, format)) {
            return true;
        }
        if (known == format) {
            return false;
        }
    }
    return true;
}

memspan_status_t msp_refuse(memspan_status_t status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    status = msp_error_native_va(status, "", NULL, 0, NULL, NULL, format, args);
    va_end(args);
    if (is_first_refusal(format)) {
        print_line("warning: ", memspan_error_text());
    }
    return status;
}

memspan_status_t msp_error_elsewhere(memspan_status_t status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    status = msp_error_native_va(status, "", NULL, 0, NULL, NULL, format, args);
    va_end(args);
    atomic_store_explicit(&is_elsewhere, true, memory_order_relaxed);
    return status;
}

bool msp_error_is_elsewhere(void)
{
    return atomic_load_explicit(&is_elsewhere, memory_order_relaxed);
}

memspan_status_t msp_error_native(memspan_status_t status, const char *backend, const char *call,
                                  long native_code, const char *native_text, const char *hint,
                                  const char *format, ...)
{
    va_list args;

    va_start(args, format);
    status =
        msp_error_native_va(status, backend, call, native_code, native_text, hint, format, args);
    va_end(args);
    return status;
}

/* The record is the library's: it is made again with the advice in it. */
memspan_status_t msp_error_hint(const char *format, ...)
{
    const memspan_error_t *last = memspan_error_last();
    char message[TEXT_BYTES];
    char backend[16];
    char call[64];
    char native_text[128];
    char hint[256];
    va_list args;

    snprintf(message, sizeof message, "%s", last->message);
    snprintf(backend, sizeof backend, "%s", last->backend);
    snprintf(call, sizeof call, "%s", last->call);
    snprintf(native_text, sizeof native_text, "%s", last->native_text);
    va_start(args, format);
    vsnprintf(hint, sizeof hint, format, args);
    va_end(args);
    return memspan_services_get()->fail(last->status, backend, call, last->native_code, native_text,
                                        hint, "%s", message);
}

/* One write, so that lines of several PEs do not mix. */
static void print_line(const char *what, const char *text)
{
    char line[TEXT_BYTES + 96];
    int length;

    if (msp_job.pe_count > 0) {
        length = snprintf(line, sizeof line, "memspan: PE %d of %d: %s%s\n", msp_job.pe,
                          msp_job.pe_count, what, text);
    } else {
        length = snprintf(line, sizeof line, "memspan: %s%s\n", what, text);
    }
    if (length > 0) {
        size_t size    = ((size_t)length < sizeof line) ? (size_t)length : (sizeof line - 1);
        line[size - 1] = '\n';
        /* Where standard error is closed there is no place to report it. */
        if (write(STDERR_FILENO, line, size) < 0) {
            return;
        }
    }
}

/* ---- the program's output ---- */

static void *flush_all(void *unused)
{
    (void)unused;
    fflush(NULL);
    return NULL;
}

/* Of all streams in a thread that may be left behind: another one may be waiting in a read and hold
 * the lock of its stream. */
void msp_flush(void)
{
    struct timespec until;
    pthread_t thread;

    if (ftrylockfile(stdout) == 0) {
        fflush(stdout);
        funlockfile(stdout);
    }
    if (pthread_create(&thread, NULL, flush_all, NULL) == 0) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += FLUSH_TIMEOUT_S;
        (void)pthread_timedjoin_np(thread, NULL, &until);
    }
}

/* ---- the end of a job ---- */

/* Standard error may lead to a launcher that has died, or ends the job: the status is to be ours.
 */
static void ignore_broken_pipe(void)
{
    sigset_t pipe;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
}

void msp_fatal(const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ignore_broken_pipe();
    msp_flush();
    if (msp_job.pe_count == 0) {
        print_line("", text); /* a child of a PE, too: the job's report is not its own */
    } else {
        if (msp_host_claim_report()) {
            print_line("", text);
            msp_host_finish_report();
        }
        msp_device_fail(); /* a program may end because its kernel returns: this report is first */
    }
    msp_job_abort(1, text);
}

void memspan_report(const char *what, const char *call)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof text, "%s: %s", call, memspan_error_text());
    msp_flush();
    print_line(what, text);
}

void msp_fatal_error(const char *call)
{
    msp_fatal("%s: %s", call, memspan_error_text());
}

void msp_warn_once(int *key, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;

    if (__atomic_exchange_n(key, 1, __ATOMIC_RELAXED) != 0) {
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_line("warning: ", text);
}

void msp_debug_note(const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;

    if (!msp_shmem_option_is_on(MEMSPAN_SHMEM_DEBUG)) {
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_line("", text);
}
