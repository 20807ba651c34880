/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c: one write per line, so that lines of several threads and processes stay whole. */

#include "core/base/log.h"
#include "core/base/option.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int msp_log_level_in_force = -1;

static const char *const level_names[] = {"error", "warn", "info", "debug", "trace"};

void msp_log_line(enum memspan_log_level level, const char *subject, const char *format, ...)
{
    char line[768];
    int saved_errno = errno;
    int n;
    va_list args;

    if (msp_log_level_in_force < 0) {
        msp_log_level_in_force = msp_option_choice(MSP_OPTION_LOG);
        if ((int)level > msp_log_level_in_force) {
            errno = saved_errno;
            return;
        }
    }

    n = snprintf(line, sizeof(line), "memspan[%d] %s %s: ", (int)getpid(), level_names[level],
                 subject);
    va_start(args, format);
    n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, args);
    va_end(args);
    if ((size_t)n > sizeof(line) - 2) {
        n = (int)sizeof(line) - 2;
    }
    line[n] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n + 1) < 0) {
        /* There is nowhere left to report it. */
    }
    errno = saved_errno;
}
