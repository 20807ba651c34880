/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_OPTIONS_H
#define OSHRUN_OPTIONS_H

#include "hosts.h"
#include <stdbool.h>

enum serve_mode { SERVE_AUTO, SERVE_ON, SERVE_OFF };
enum binding { BIND_NONE, BIND_CORE };

/* The command line. Texts are not copied. */
struct options {
    int pe_count; /* 0: number of cores */
    bool tag_output;
    bool verbose;
    double timeout_s;    /* 0: none */
    double kill_after_s; /* from a forwarded SIGTERM or SIGHUP; 0: never */
    enum binding binding;
    enum serve_mode pmix;
    const char *folder;   /* working directory, or NULL */
    const char *launcher; /* NULL: this program itself */
    char **settings;      /* NAME=VALUE of --env, NULL at the end */
    char **inherited;     /* NAME of --env, NULL at the end */
    struct hosts hosts;   /* of --hosts and --hostfile */
    char **program;       /* with its arguments, NULL at the end */
};

enum { EXIT_USAGE = 2, EXIT_TIMEOUT = 124, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* Reads the command line; ends the process on errors, --help and --version. */
void options_parse(int argc, char **argv, struct options *options_p);

#endif /* OSHRUN_OPTIONS_H */
