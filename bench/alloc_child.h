/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_ALLOC_CHILD_H
#define MEMSPAN_BENCH_ALLOC_CHILD_H

/* A process, what it wrote, how it ended, and the processor time it took. */

#include <stdbool.h>
#include <stddef.h>

struct alloc_command {
    char path[512];
    const char *arguments[5];   /* without the program's name, then NULL */
    const char *preload;        /* LD_PRELOAD; NULL: none, whatever is set here */
    const char *library_folder; /* before LD_LIBRARY_PATH; NULL: none */
    const char *backend_path;   /* MEMSPAN_BACKEND_PATH; NULL: as it is here */
    const char *devices;        /* MEMSPAN_DEVICES; NULL: as it is here */
    size_t timeout_s;
};

struct alloc_child {
    bool good;         /* it ran and ended with exit code 0 */
    char failure[160]; /* else what happened, with the first line that it wrote to standard error */
    char output[8192]; /* what it wrote to standard output; more is lost */
    double cpu_ns;
};

/* Run it to its end; one that runs past its time is killed. Returns child_p->good. */
bool alloc_child_run(const struct alloc_command *command, struct alloc_child *child_p);

#endif /* MEMSPAN_BENCH_ALLOC_CHILD_H */
