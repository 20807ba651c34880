/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/log.h"
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

/* collector is written while no thread collects, by the one that is to. */
static msp_report_fn *collector;
static _Atomic pid_t collecting; /* its thread; 0: none */

void msp_report_collect(msp_report_fn *collect)
{
    atomic_store(&collecting, 0);
    collector = collect;
    atomic_store(&collecting, (collect != NULL) ? gettid() : 0);
}

void msp_report_write(const char *text, size_t length)
{
    ssize_t n = 0;

    if (atomic_load(&collecting) == gettid()) {
        collector(text, length);
        return;
    }
    while ((length > 0) && ((n >= 0) || (errno == EINTR))) {
        n = write(STDERR_FILENO, text, length);
        text += (n > 0) ? n : 0;
        length -= (n > 0) ? (size_t)n : 0;
    }
}
