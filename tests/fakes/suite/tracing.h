/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_SUITE_TRACING_H
#define MEMSPAN_TESTS_FAKES_SUITE_TRACING_H

/* A kernel that restricts who may fetch descriptors of a process, whatever the real one does:
 * prctl() and syscall() are wrapped when the suites are linked. What is set holds for processes
 * that are forked later as well. */

#include <stdbool.h>

enum tracing {
    TRACING_OPEN,  /* as the real kernel decides */
    TRACING_NAMED, /* Yama at 1: by whom the process has named */
    TRACING_NEVER  /* a filter refuses the call */
};

/* Begin, with no process named. */
void tracing_set(enum tracing tracing);

bool tracing_is_open(void);

/* Since then the process permits all processes of its user. */
bool tracing_is_offered(void);

#endif /* MEMSPAN_TESTS_FAKES_SUITE_TRACING_H */
