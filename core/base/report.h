/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_REPORT_H
#define MEMSPAN_CORE_BASE_REPORT_H

/* Reports of the guard and of emulated devices. Each is one write, so that those of several threads
 * and processes stay whole. Signal handlers may call both. */

#include <stddef.h>

typedef void msp_report_fn(const char *text, size_t length);

/* To standard error; on a thread that collects, to its function. */
void msp_report_write(const char *text, size_t length);

/* Reports of the calling thread from now on are given to @p collect, to be part of another report;
 * NULL: no more. One thread at a time. */
void msp_report_collect(msp_report_fn *collect);

#endif /* MEMSPAN_CORE_BASE_REPORT_H */
