/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c: one table says what the options are; getopt_long() is not used because it guesses
 * abbreviations and cannot say which option was probably meant. */

#include "options.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum action { SET_MODE, SET_JSON, SET_PROBE, SET_FORMAT, SET_TIMEOUT, SET_MEASURE, SET_VERBOSE };

static const struct option_row {
    const char *name;
    const char *letter; /* "" for none */
    enum action action;
    enum mode mode;
    enum { HAS_NONE, MUST_HAVE, MAY_HAVE } argument; /* MAY_HAVE: only behind "=" */
} rows[] = {
    {"--json", "", SET_JSON, MODE_SHOW, HAS_NONE},
    {"--output", "-o", SET_FORMAT, MODE_SHOW, MUST_HAVE},
    {"--probe", "", SET_PROBE, MODE_SHOW, MUST_HAVE},
    {"--measure", "", SET_MEASURE, MODE_SHOW, MAY_HAVE},
    {"--timeout", "", SET_TIMEOUT, MODE_SHOW, MUST_HAVE},
    {"--verbose", "-v", SET_VERBOSE, MODE_SHOW, HAS_NONE},
    {"--devices", "", SET_MODE, MODE_DEVICES, HAS_NONE},
    {"--matrix", "", SET_MODE, MODE_MATRIX, HAS_NONE},
    {"--plan", "", SET_MODE, MODE_PLAN, MUST_HAVE},
    {"--check", "", SET_MODE, MODE_CHECK, MUST_HAVE},
    {"--why", "", SET_MODE, MODE_WHY, MUST_HAVE},
    {"--shmem", "", SET_MODE, MODE_SHMEM, HAS_NONE},
    {"--config", "-c", SET_MODE, MODE_CONFIG, HAS_NONE},
    {"--version", "-V", SET_MODE, MODE_VERSION, HAS_NONE},
    {"--help", "-h", SET_MODE, MODE_HELP, HAS_NONE},
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static const char help[] =
    "usage: memquery [-o table|json|csv|svg] [--measure[=WORDS]] [--timeout S] [QUESTION]\n"
    "Show which memory the host and its devices can reach, and what an allocation would get.\n"
    "\n"
    "Without a question: devices, NUMA nodes, memory spaces, and why a backend is off.\n"
    "  --devices       what each device can do and who says so, its modes, and how to turn them "
    "on\n"
    "  --matrix        how each device reaches each other's memory, and who says so\n"
    "  --plan WORDS    what an allocator would be given and why; WORDS are devices=LIST,\n"
    "                  base=SPACE and traits: devices=0,host,memory_access=managed,pinned=true\n"
    "  --check EXPR    no output, only an exit code: space=opencl0.coherent,atomic,size>=1g\n"
    "                  devices=0,host,memory_access=coherent   backend=opencl   device=0\n"
    "  -v, --verbose   with --check: each word with its verdict and why\n"
    "  --why NAME      why a backend, device, space or kind is as it is: probe, native error,\n"
    "                  cause, remedy\n"
    "  --shmem         which symmetric partitions an OpenSHMEM program would have here with this\n"
    "                  environment, and how its peers reach them\n"
    "  -c, --config    every environment variable: value, source, form, default, help\n"
    "  -V, --version   version of memquery and of the library\n"
    "  -h, --help      this text\n"
    "\n"
    "  -o, --output F  table (default), json, csv (a row a space, resource and device) or svg\n"
    "  --json          the same as -o json\n"
    "  --probe DEPTH   none: no driver is opened; safe (default): nothing is allocated on "
    "devices;\n"
    "                  full: a granule of each is shared with another process, data is moved\n"
    "  --measure[=W]   bandwidth and latency of each memory from each device, by using it; W are\n"
    "                  quick (default) or full, and again, cached or no-cache: figures of earlier\n"
    "                  runs are taken from the cache, not taken, nothing else, or neither\n"
    "  --timeout S     seconds that the drivers may take to answer (default 10; with --probe=full\n"
    "                  or --measure 60, --measure=full 600)\n"
    "\n"
    "exit code: 0 yes, 1 absent, 2 usage, 3 a driver failed while probed, 4 only conditionally,\n"
    "5 not known\n";

const char *options_help(void)
{
    return help;
}

static int complain_unknown(const char *word, size_t length)
{
    const char *names[ROW_COUNT];
    const char *nearest;
    char name[64];
    size_t i;

    for (i = 0; i < ROW_COUNT; i++) {
        names[i] = rows[i].name;
    }
    length       = (length < sizeof(name)) ? length : (sizeof(name) - 1);
    name[length] = '\0';
    memcpy(name, word, length);
    if (name[0] != '-') {
        text_complain("\"%s\" is no option; perhaps --why %s? (--help lists all)", name, name);
        return EXIT_USAGE;
    }
    nearest = text_nearest(name, names, ROW_COUNT);
    text_complain("unknown option %s%s%s%s (--help lists all)", name, nearest ? "; perhaps " : "",
                  nearest ? nearest : "", nearest ? "?" : "");
    return EXIT_USAGE;
}

static const struct option_row *find_row(const char *word, size_t length)
{
    size_t i;

    for (i = 0; i < ROW_COUNT; i++) {
        if (((strlen(rows[i].name) == length) && (strncmp(rows[i].name, word, length) == 0)) ||
            ((strlen(rows[i].letter) == length) && (strncmp(rows[i].letter, word, length) == 0))) {
            return &rows[i];
        }
    }
    return NULL;
}

static int set_format(struct options *options, const char *argument)
{
    static const char *const names[] = {"table", "json", "csv", "svg"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(argument, names[i]) == 0) {
            options->format = (enum format)i;
            return EXIT_YES;
        }
    }
    text_complain("-o %s: the formats are table, json, csv and svg", argument);
    return EXIT_USAGE;
}

static int set_measure(struct options *options, const char *argument)
{
    struct measure_wish *wish = &options->measure;
    const struct {
        const char *word;
        bool *flag;
        bool value;
    } words[] = {
        {"quick", &wish->full, false},       {"full", &wish->full, true},
        {"again", &wish->again, true},       {"cached", &wish->cached_only, true},
        {"no-cache", &wish->no_cache, true},
    };

    wish->wanted = true;
    while (argument != NULL) {
        size_t length = strcspn(argument, ",");
        size_t i;

        for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            if ((strlen(words[i].word) == length) &&
                (strncmp(words[i].word, argument, length) == 0)) {
                *words[i].flag = words[i].value;
                break;
            }
        }
        if (i == sizeof(words) / sizeof(words[0])) {
            text_complain("--measure: \"%.*s\" is none of quick, full, again, cached, no-cache",
                          (int)((length < 40) ? length : 40), argument);
            return EXIT_USAGE;
        }
        argument = (argument[length] == ',') ? (argument + length + 1) : NULL;
    }
    if (wish->cached_only && (wish->again || wish->no_cache)) {
        text_complain("--measure: \"cached\" and \"%s\" leave nothing to show",
                      wish->again ? "again" : "no-cache");
        return EXIT_USAGE;
    }
    return EXIT_YES;
}

static int set_timeout(struct options *options, const char *argument)
{
    char *end;
    double seconds = strtod(argument, &end);

    if ((end == argument) || (*end != '\0') || !isfinite(seconds) || (seconds < 0.01) ||
        (seconds > 3600)) {
        text_complain("--timeout %s: give seconds, from 0.01 to 3600", argument);
        return EXIT_USAGE;
    }
    options->timeout_s = seconds;
    return EXIT_YES;
}

static int set_probe(struct options *options, const char *argument)
{
    if (strcmp(argument, "none") == 0) {
        options->probe = PROBE_NONE;
    } else if (strcmp(argument, "safe") == 0) {
        options->probe = PROBE_SAFE;
    } else if (strcmp(argument, "full") == 0) {
        options->probe = PROBE_FULL;
    } else {
        text_complain("--probe %s: give none, safe or full", argument);
        return EXIT_USAGE;
    }
    return EXIT_YES;
}

static int apply(struct options *options, const struct option_row *row, const char *argument)
{
    switch (row->action) {
    case SET_JSON:
        return set_format(options, "json");
    case SET_FORMAT:
        return set_format(options, argument);
    case SET_PROBE:
        return set_probe(options, argument);
    case SET_TIMEOUT:
        return set_timeout(options, argument);
    case SET_MEASURE:
        return set_measure(options, argument);
    case SET_VERBOSE:
        options->verbose = true;
        return EXIT_YES;
    case SET_MODE:
        break;
    }
    if (options->mode != MODE_SHOW) {
        text_complain("%s: one question at a time", row->name);
        return EXIT_USAGE;
    }
    options->mode     = row->mode;
    options->argument = argument;
    return EXIT_YES;
}

/* What only the whole command line tells. */
static int complete(struct options *options)
{
    bool shows = (options->mode <= MODE_MATRIX);

    if (options->measure.wanted && !shows) {
        text_complain("--measure belongs to no question: it fills in what memquery shows");
        return EXIT_USAGE;
    }
    if ((options->format >= FORMAT_CSV) && !shows) {
        text_complain("-o csv and -o svg show the machine: they answer no question");
        return EXIT_USAGE;
    }
    if (options->verbose && (options->mode != MODE_CHECK)) {
        text_complain("--verbose belongs to --check");
        return EXIT_USAGE;
    }
    if (options->timeout_s <= 0) {
        /* A probe in full starts the drivers a second time, for each device. */
        bool long_work     = options->measure.wanted || (options->probe == PROBE_FULL);
        bool longest       = options->measure.wanted && options->measure.full;
        options->timeout_s = longest ? 600 : (long_work ? 60 : 10);
    }
    return EXIT_YES;
}

int options_parse(int argc, char **argv, struct options *options_p)
{
    struct options options = {.mode = MODE_SHOW};
    int i;

    for (i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t length      = (equals != NULL) ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        const struct option_row *row = find_row(argv[i], length);
        const char *argument         = (equals != NULL) ? (equals + 1) : NULL;
        int code;

        if (row == NULL) {
            return complain_unknown(argv[i], length);
        }
        if ((argument != NULL) && (row->argument == HAS_NONE)) {
            text_complain("%s takes no value", row->name);
            return EXIT_USAGE;
        }
        if ((row->argument == MUST_HAVE) && (argument == NULL)) {
            if (i + 1 == argc) {
                text_complain("%s needs a value (--help shows which)", row->name);
                return EXIT_USAGE;
            }
            argument = argv[++i];
        }
        code = apply(&options, row, argument);
        if (code != EXIT_YES) {
            return code;
        }
    }
    *options_p = options;
    return complete(options_p);
}
