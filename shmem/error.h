/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_ERROR_H
#define MEMSPAN_SHMEM_ERROR_H

/* Errors of the SHMEM layer.
 *
 * A call that can return a status or NULL leaves a record (memspan_error_last()) with the reason.
 * Most OpenSHMEM calls return nothing: a wrong one is fatal, for the whole job, with words.
 */

#include "core/base/error.h"
#include <stdbool.h>

/* memspan_error() where a call of the program tells the failure by its result alone: the reason is
 * printed once for each place, as a warning, for programs that do not look at results. */
memspan_status_t msp_refuse(memspan_status_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* The same as memspan_error() for another PE's decision: that one has the reason, and is the one to
 * print it. */
memspan_status_t msp_error_elsewhere(memspan_status_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
bool msp_error_is_elsewhere(void);

/* Write out the program's output; at most a second. */
void msp_flush(void);

/* "memspan: PE 3 of 8: ..." to standard error, then the end of the job with status 1. The message
 * names the call, the argument and its value, and a remedy. The program's earlier output is written
 * out. Of PEs that end at the same time the first one prints. */
_Noreturn void msp_fatal(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* The same with the calling thread's error record as the message. */
_Noreturn void msp_fatal_error(const char *call) __attribute__((cold));

/* The error record to standard error, behind @p what ("", "warning: "). */
void memspan_report(const char *what, const char *call) __attribute__((cold));

/* "memspan: PE 3: warning: ...", once for each @p key of the caller's (a static, 0 at first). */
void msp_warn_once(int *key, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* The log that SHMEM_DEBUG turns on. */
void msp_debug_note(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

#endif /* MEMSPAN_SHMEM_ERROR_H */
