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
    MODE_SHMEM,
    MODE_CONFIG,
    MODE_VERSION,
    MODE_HELP
};

/* How much is done to find out. */
enum probe_depth {
    PROBE_SAFE, /* drivers are opened and asked; nothing is allocated on devices */
    PROBE_NONE, /* no driver is opened: the host alone */
    PROBE_FULL  /* a granule of each device's memory is allocated, shared, and data moved */
};

/* The form of the answer. */
enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_SVG };

struct measure_board;

/* --measure and its words. */
struct measure_wish {
    bool wanted;
    bool full;                   /* large sizes, a second for each figure */
    bool again;                  /* what earlier runs have measured is not taken over */
    bool cached_only;            /* nothing but what earlier runs have measured */
    bool no_cache;               /* neither read nor written */
    struct measure_board *board; /* the figures; NULL before they are there */
};

struct options {
    enum mode mode;
    const char *argument; /* of --plan, --check, --why */
    enum format format;
    struct measure_wish measure;
    enum probe_depth probe;
    bool verbose;     /* --check says why */
    double timeout_s; /* each attempt to look at the machine may take this long */
};

/* EXIT_YES and the options, or EXIT_USAGE after a message on standard error. */
int options_parse(int argc, char **argv, struct options *options_p);

/* What --help prints. */
const char *options_help(void);

#endif /* MEMQUERY_OPTIONS_H */
