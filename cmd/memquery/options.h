/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_OPTIONS_H
#define MEMQUERY_OPTIONS_H

/* The command line. */

#include <stdbool.h>

enum mode {
    MODE_SHOW,    /* everything, as a table or as JSON */
    MODE_DEVICES, /* of the same, what devices can do, and who says so */
    MODE_MATRIX,  /* of the same, who reaches whose memory */
    MODE_PLAN,
    MODE_CHECK,
    MODE_WHY,
    MODE_CONFIG,
    MODE_VERSION,
    MODE_HELP
};

struct options {
    enum mode mode;
    const char *argument; /* of --plan, --check, --why */
    bool json;
    double timeout_s; /* each attempt to look at the machine may take this long */
};

/* EXIT_YES and the options, or EXIT_USAGE after a message on standard error. */
int options_parse(int argc, char **argv, struct options *options_p);

/* What --help prints. */
const char *options_help(void);

#endif /* MEMQUERY_OPTIONS_H */
