/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_PROBE_H
#define MEMQUERY_PROBE_H

/* Query drivers in a child, which may crash or hang. */

#include "cmd/memquery/options.h"
#include <stddef.h>
#include <stdio.h>

/* A backend that failed while probed. */
struct failure {
    char backend[64]; /* or "MEMSPAN_BACKEND_PATH": loading the plug-ins failed */
    char what[320];   /* "crashed (signal 11, Segmentation fault) while probed" */
};

/* What is asked, and what failed already. */
struct request {
    const struct options *options;
    struct failure failures[32]; /* not used in this attempt */
    size_t failure_count;
    const char *user_backends; /* MEMSPAN_BACKENDS as the user set it, or NULL */
};

/* Answers a request in a child: prints to @p out, returns the exit code. */
typedef int (*probe_job_t)(const struct request *request, FILE *out);

/* The failure named @p backend, or NULL. */
const struct failure *probe_failure(const struct request *request, const char *backend);

/* Run @p job in a child, print its output, and return the exit code. This process calls nothing
 * of the library that could open a driver or load a plug-in. */
int probe_answer(const struct options *options, probe_job_t job);

#endif /* MEMQUERY_PROBE_H */
