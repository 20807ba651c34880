/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_LOG_H
#define MEMSPAN_CORE_BASE_LOG_H

#include <memspan/backend.h>
#include <stddef.h>

/* Lines on standard error, by level (enum memspan_log_level has the use of each) and subject
 * ("core", "omp", a backend's name). Off costs one load and one branch; errno survives. */

/* The level in force; -1 until the first line reads the options. */
extern int msp_log_level_in_force;

/* True when @p level is printed. */
static inline int msp_log_on(enum memspan_log_level level)
{
    return (int)level <= msp_log_level_in_force || msp_log_level_in_force < 0;
}

void msp_log_line(enum memspan_log_level level, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

#define msp_log(level, subject, ...)                                                               \
    do {                                                                                           \
        if (msp_log_on(level)) {                                                                   \
            msp_log_line((level), (subject), __VA_ARGS__);                                         \
        }                                                                                          \
    } while (0)

/* ---- reports ---- */

/* Reports of the guard and of emulated devices. Each is one write, so that those of several threads
 * and processes stay whole. Signal handlers may call both. */

typedef void msp_report_fn(const char *text, size_t length);

/* To standard error; on a thread that collects, to its function. */
void msp_report_write(const char *text, size_t length);

/* Reports of the calling thread from now on are given to @p collect, to be part of another report;
 * NULL: no more. One thread at a time. */
void msp_report_collect(msp_report_fn *collect);

#endif /* MEMSPAN_CORE_BASE_LOG_H */
