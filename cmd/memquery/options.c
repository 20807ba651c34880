/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c: the table of options, and checks across options. */

#include "cmd/memquery/options.h"
#include "cmd/memquery/output/output.h"
#include <stdio.h>

static struct options parsed;
static bool is_asked; /* a question has been read */
static unsigned measure_words;

enum { QUICK, FULL };
static const char *const measures[] = {"quick", "full", NULL};
/* enum format */
static const char *const formats[] = {"table", "json", "csv", "svg", "prometheus", "nagios", NULL};
static const char *const depths[]  = {"safe", "none", "full", NULL}; /* enum probe_depth */

static bool choose_mode(const struct cli_option *option, const char *value)
{
    if (is_asked) {
        cli_complain("%s: one question at a time", option->names);
        return false;
    }
    is_asked        = true;
    parsed.mode     = (enum mode)option->constant;
    parsed.argument = value;
    return true;
}

static bool choose_files(const struct cli_option *option, const char *value)
{
    if ((parsed.mode == MODE_DIFF) && (parsed.other == NULL)) {
        parsed.other = value;
        return true;
    }
    return choose_mode(option, value);
}

#define QUESTION(name, mode, text, about)                                                          \
    {                                                                                              \
        .names = (name), .form = CLI_CALL, .read = choose_mode, .constant = (mode),                \
        .shape = (text), .help = (about)                                                           \
    }

/* For completions: what can be asked for on every machine. */
static const char *const why_names[] = {
    "host",    "opencl",    "openmp", "cuda",    "hip",      "level_zero",
    "emu",     "device0",   "device", "managed", "coherent", "host-pinned",
    "default", "large_cap", "const",  "high_bw", "low_lat",  NULL};

static const struct cli_option rows[] = {
    {.form = CLI_TITLE,
     .help = "Questions (without one: devices, NUMA nodes, memory spaces, and why a backend is "
             "off):"},
    QUESTION("--devices", MODE_DEVICES, NULL,
             "what each device can do and by which source, its modes, and how to turn them on"),
    QUESTION("--matrix", MODE_MATRIX, NULL,
             "how each device reaches the memory of the others, and by which source"),
    QUESTION("--plan", MODE_PLAN, "WORDS",
             "what an allocator would be given and why; WORDS are devices=LIST, base=SPACE and "
             "traits: devices=0,host,memory_access=managed,pinned=true"),
    QUESTION("--check", MODE_CHECK, "EXPR",
             "no output, only an exit code: space=opencl0.coherent,atomic,size>=1g or "
             "devices=0,host,memory_access=coherent or backend=opencl or device=0"),
    {.names = "-v --verbose",
     .form  = CLI_SET,
     .value = &parsed.verbose,
     .help  = "with --check: each word with its verdict and the reason"},
    {.names    = "--why",
     .form     = CLI_CALL,
     .read     = choose_mode,
     .constant = MODE_WHY,
     .shape    = "NAME",
     .words    = why_names,
     .help = "the state of a backend, device, space or kind: probe, native error, cause, remedy"},
    QUESTION("--shmem", MODE_SHMEM, NULL,
             "the symmetric partitions that an OpenSHMEM program would get here with this "
             "environment, how its peers reach them, and by which transports"),
    QUESTION("-c --config", MODE_CONFIG, NULL,
             "every environment variable: value, source, form, default, help"),
    {.names    = "--diff",
     .form     = CLI_CALL,
     .read     = choose_files,
     .constant = MODE_DIFF,
     .values   = 2,
     .shape    = "FILE FILE",
     .help     = "what differs between two files of memquery --json, --config --json or --shmem "
                 "--json: exit code 0 nothing, 1 something, 2 a file cannot be used"},
    {.names = "-V --version",
     .form  = CLI_VERSION,
     .help  = "version of memquery and of the library"},
    {.names = "-h --help", .form = CLI_HELP, .help = "this text"},

    {.form = CLI_TITLE, .help = "Options:"},
    {.names = "-o --output --format",
     .form  = CLI_WORD,
     .value = &parsed.format,
     .shape = "FORMAT",
     .words = formats,
     .help  = "table (default), json, csv (a row a space, resource and device), svg, prometheus "
              "(metrics "
              "as text), or with --check nagios (one line, exit codes of monitoring plug-ins)"},
    {.names    = "--json",
     .form     = CLI_CONSTANT,
     .value    = &parsed.format,
     .constant = FORMAT_JSON,
     .help     = "the same as -o json"},
    {.names = "--probe",
     .form  = CLI_WORD,
     .value = &parsed.probe,
     .shape = "DEPTH",
     .words = depths,
     .help  = "none: no driver is opened; safe (default): nothing is allocated on devices; full: a "
              "granule of each is shared with another process, data is moved"},
    {.names = "--measure",
     .form  = CLI_WORDS,
     .value = &measure_words,
     .shape = "[=WORDS]",
     .words = measures,
     .given = &parsed.measure.wanted,
     .help  = "bandwidth and latency of each memory from each device; WORDS are quick (default) or "
              "full"},
    {.names = "--timeout",
     .form  = CLI_SECONDS,
     .value = &parsed.timeout_s,
     .shape = "SECONDS",
     .min   = 0.01,
     .max   = 3600,
     .help  = "time limit for the drivers (default 10; with --probe=full or --measure 60, "
              "--measure=full 600)"},
};

static bool refuse_arguments(const char *message)
{
    cli_complain("%s", message);
    return false;
}

static bool check_format(const struct options *options)
{
    bool shows = (options->mode <= MODE_MATRIX);

    if ((options->format == FORMAT_NAGIOS) && (options->mode != MODE_CHECK)) {
        return refuse_arguments("--format nagios needs --check");
    }
    if ((options->format >= FORMAT_CSV) && (options->format != FORMAT_NAGIOS) && !shows) {
        cli_complain("--format %s cannot be combined with a question", formats[options->format]);
        return false;
    }
    return true;
}

static bool complete(struct options *options)
{
    bool shows = (options->mode <= MODE_MATRIX);

    options->measure.full = (measure_words & (1u << FULL)) != 0;
    if (options->measure.wanted && !shows) {
        return refuse_arguments("--measure cannot be combined with a question");
    }
    if (!check_format(options)) {
        return false;
    }
    if (options->verbose && ((options->mode != MODE_CHECK) || (options->format == FORMAT_NAGIOS))) {
        return refuse_arguments("--verbose needs --check, and not --format nagios");
    }
    if (options->timeout_s <= 0) {
        /* A full probe starts the drivers a second time, for each device. */
        bool long_work     = options->measure.wanted || (options->probe == PROBE_FULL);
        bool longest       = options->measure.wanted && options->measure.full;
        options->timeout_s = longest ? 600 : (long_work ? 60 : 10);
    }
    return true;
}

enum cli_outcome options_parse(int argc, char **argv, struct options *options_p)
{
    char version[128];
    struct cli_usage usage = {
        .synopsis     = "[OPTION]... [QUESTION]",
        .summary      = "Show which memory the host and its devices can reach, and what an "
                        "allocation would get.",
        .options      = rows,
        .option_count = sizeof(rows) / sizeof(rows[0]),
        .version      = version,
        .notes = "Exit code: 0 yes, 1 absent, 2 usage, 3 a driver failed while probed, 4 only "
                 "conditionally, 5 not known\n",
        .operand_hint = "--why"};
    enum cli_outcome outcome;

    snprintf(version, sizeof(version), "%s (libmemspan %s)", MEMSPAN_VERSION_STRING,
             memspan_version());
    outcome = cli_parse(&usage, argc, argv, NULL);
    if ((outcome == CLI_PARSED) && !complete(&parsed)) {
        return CLI_REFUSED;
    }
    *options_p = parsed;
    return outcome;
}
