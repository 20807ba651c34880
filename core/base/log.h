/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_LOG_H
#define MEMSPAN_CORE_BASE_LOG_H

/* Lines on standard error, by level (enum memspan_log_level has the use of each) and subject
 * ("core", "omp", a backend's name). Off costs one load and one branch; errno survives. */

#include <memspan/backend.h> /* enum memspan_log_level */

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

#endif /* MEMSPAN_CORE_BASE_LOG_H */
