/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_CHILD_H
#define MEMSPAN_BENCH_CHILD_H

/* A process, what it wrote, how it ended, and the processor time it took. */

#include <stdbool.h>
#include <stddef.h>

struct bench_command {
    char path[512];
    const char *arguments[16];  /* without the program's name, then NULL */
    const char *preload;        /* LD_PRELOAD; NULL: none, whatever is set here */
    const char *library_folder; /* before LD_LIBRARY_PATH; NULL: none */
    const char *backend_path;   /* MEMSPAN_BACKEND_PATH; NULL: as it is here */
    const char *devices;        /* MEMSPAN_DEVICES; NULL: as it is here */
    bool one_processor;         /* it and its children share one of the processors */
    bool is_launcher;           /* starts others: asked to end before it is killed */
    size_t timeout_s;
};

struct bench_child {
    bool good;         /* it ran and ended with exit code 0 */
    char failure[160]; /* else what happened, with the first line that it wrote to standard error */
    char output[8192]; /* what it wrote to standard output; more is lost */
    double cpu_ns;
    double wall_ns; /* from before its start to after its end */
};

/* Run it to its end; one that runs past its time is killed. Returns child_p->good. */
bool bench_child_run(const struct bench_command *command, struct bench_child *child_p);

#endif /* MEMSPAN_BENCH_CHILD_H */
