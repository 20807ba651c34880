/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_COMMON_CHILD_H
#define MEMSPAN_BENCH_COMMON_CHILD_H

/* A child process of a benchmark, over cmd/common/child.h. */

#include <stdbool.h>
#include <stddef.h>

struct bench_command {
    char path[512];
    const char *arguments[16]; /* behind the program's name, then NULL */
    char settings[4][640];     /* "NAME=VALUE" each, or ""; LD_PRELOAD is never inherited */
    bool one_processor;        /* it and its children share one processor */
    bool is_launcher;          /* at its limit it gets time to end its children */
    size_t timeout_s;
};

struct bench_child {
    bool good;          /* it exited with status 0 */
    char failure[256];  /* else what happened, and the first line of its standard error */
    char output[16384]; /* its standard output; the rest is dropped */
    double cpu_ns;
    double wall_ns; /* from before its start to after its end */
};

/* Run it to its end, or kill it at its limit. Returns child_p->good. */
bool bench_child_run(const struct bench_command *command, struct bench_child *child_p);

/* The text behind "KEY " at the start of a line of its output; @p value stays without such a line.
 */
void bench_child_field(const struct bench_child *child, const char *key, char *value,
                       size_t value_size);

#endif /* MEMSPAN_BENCH_COMMON_CHILD_H */
