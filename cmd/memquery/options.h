/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_OPTIONS_H
#define MEMQUERY_OPTIONS_H

/* The command line. */

#include "cmd/common/cli.h"
#include <stdbool.h>

enum mode {
    MODE_SHOW,    /* everything, as a table or as JSON */
    MODE_DEVICES, /* of the same, the capabilities of devices, and their sources */
    MODE_MATRIX,  /* of the same, which device reaches which memory */
    MODE_PLAN,
    MODE_CHECK,
    MODE_WHY,
    MODE_SHMEM,
    MODE_CONFIG,
    MODE_DIFF
};

enum probe_depth {
    PROBE_SAFE, /* drivers are opened and queried; nothing is allocated on devices */
    PROBE_NONE, /* no driver is opened: the host alone */
    PROBE_FULL  /* a granule of each device's memory is allocated, shared, and data moved */
};

/* The form of the output. */
enum format {
    FORMAT_TABLE,
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_SVG,
    FORMAT_PROMETHEUS,
    FORMAT_NAGIOS /* of --check */
};

struct measure_figures;

/* --measure and its words. */
struct measure_request {
    bool wanted;
    bool full;                       /* large sizes, a second for each figure */
    struct measure_figures *figures; /* NULL before they are measured */
};

struct options {
    enum mode mode;
    const char *argument; /* of --plan, --check, --why; the first file of --diff */
    const char *other;    /* the second file of --diff */
    enum format format;
    struct measure_request measure;
    enum probe_depth probe;
    bool verbose;     /* --check prints why */
    double timeout_s; /* limit of each attempt to probe the machine */
};

/* Reads the command line. */
enum cli_outcome options_parse(int argc, char **argv, struct options *options_p);

#endif /* MEMQUERY_OPTIONS_H */
