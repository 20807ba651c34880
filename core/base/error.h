/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_ERROR_H
#define MEMSPAN_CORE_BASE_ERROR_H

/* The per-thread error record behind memspan_error_last(). The function that *decides* that
 * something fails records it, once; those above it pass the status on. */

#include <memspan/status.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Record a failure of the library's own and return its status. */
memspan_status_t memspan_error(memspan_status_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Record a failure that a driver or the system reported. Any text may be NULL. */
memspan_status_t msp_error_native(memspan_status_t status, const char *backend, const char *call,
                                  long native_code, const char *native_text, const char *hint,
                                  const char *format, ...)
    __attribute__((format(printf, 7, 8), cold));

/* The same, for callers that were given a va_list. */
memspan_status_t msp_error_native_va(memspan_status_t status, const char *backend, const char *call,
                                     long native_code, const char *native_text, const char *hint,
                                     const char *format, va_list args)
    __attribute__((format(printf, 7, 0), cold));

/* Add advice to the record just made; returns its status, so that it can end a return statement. */
memspan_status_t msp_error_hint(const char *format, ...)
    __attribute__((format(printf, 1, 2), cold));

/* Record that @p bytes are more than the rest of a limit. For refusals that a program gets in its
 * inner loop: only numbers are kept, and formatted when the error is read. */
memspan_status_t msp_error_limit(uint64_t bytes, uint64_t limit_bytes, uint64_t used_bytes);

/* The status of the calling thread's record; cheap, as no words are made. */
memspan_status_t msp_error_status(void);

/* The calling thread's record, put aside while something is tried whose failure is not the caller's
 * (a driver that is not there), and put back afterwards. */
struct msp_error_texts {
    char message[512];
    char hint[256];
    char backend[16];
    char call[64];
    char native_text[128];
};
struct msp_error_saved {
    memspan_error_t record;
    struct msp_error_texts texts;
};
void msp_error_save(struct msp_error_saved *saved);
void msp_error_restore(const struct msp_error_saved *saved);

/* Write @p from over the caller's structure, whose first member is its size in the caller's
 * version: older callers get a prefix, newer ones zeros. MEMSPAN_ERR_INVALID when it was not set.
 */
memspan_status_t msp_struct_write(void *to, const void *from, size_t size);

#endif /* MEMSPAN_CORE_BASE_ERROR_H */
