/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_H
#define MEMSPAN_BENCH_H

/* What every benchmark has: children, samples, a report, a drawing, and the run of those that
 * measure points for peers. */

#include "cmd/common/cli.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* stats.c: samples of one measurement, one a round, and their summary. The median is compared: on a
 * shared machine a disturbance changes the mean. */

#define BENCH_ROUNDS_MAX 64

struct bench_samples {
    double values[BENCH_ROUNDS_MAX];
    size_t count;
};

struct bench_summary {
    double min;
    double median; /* of an even number: the mean of the middle two */
    double p99;    /* nearest rank: with fewer than 100 samples the largest */
    double max;
    double mean;
    double stddev; /* of the sample (n - 1); 0 for a single one */
};

/* Add a sample; those beyond BENCH_ROUNDS_MAX are refused. */
bool bench_samples_add(struct bench_samples *samples, double value);

/* False, and nothing written, where there is no sample. */
bool bench_samples_summarize(const struct bench_samples *samples, struct bench_summary *summary_p);

/* The median, or NAN where there is no sample. */
double bench_samples_median(const struct bench_samples *samples);

/* machine.c: the machine that a figure was measured on. */

struct bench_machine {
    char processor[96]; /* "AMD EPYC ...", or the architecture */
    int processor_count;
    char system[96];   /* "Linux 6.1.0" */
    char date[32];     /* "2026-01-31T12:00:00Z" */
    double load;       /* runnable processes, mean of the last minute; -1 unknown */
    char compiler[64]; /* what compiled this program */
    char machine[160]; /* processor, count and system as one text */
};

void bench_machine_describe(struct bench_machine *machine_p);

/* child.c: a child process of a benchmark, over cmd/common/child.c. */

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

/* report.c: the rows that a benchmark measured, as CSV and JSON of the same data. A column is a
 * call of bench_put_*(): its first use gives its place. Units are part of its name.
 *
 * CSV: RFC 4180, the first line names the columns, an unknown value is an empty field.
 * JSON: {"schema": 1, "benchmark": ..., "head": {...}, "rows": [{column: value}], "notes": [...]},
 * an unknown value is null and never a missing key. */

#define BENCH_REPORT_SCHEMA 1

struct bench_report {
    json_t *document;
    json_t *head;
    json_t *rows;
    json_t *notes;
    json_t *columns; /* the first row */
    json_t *row;     /* the last one */
    bool broken;     /* memory ran out; the writers say so */
};

void bench_report_init(struct bench_report *report, const char *benchmark);
void bench_report_release(struct bench_report *report);

/* A fact of the whole run ("date", "command"). */
void bench_report_head(struct bench_report *report, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A sentence for the reader. */
void bench_report_note(struct bench_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Begin a row. All rows have the same columns in the same order. */
void bench_report_row(struct bench_report *report);

/* Drop the last row; where it was the first, its columns stay. */
void bench_report_drop(struct bench_report *report);

/* The next column of the row. A NULL text, NAN and infinity are unknown. */
void bench_put_text(struct bench_report *report, const char *column, const char *text);
void bench_put_count(struct bench_report *report, const char *column, int64_t count);
void bench_put_real(struct bench_report *report, const char *column, double real);

/* Write the file; "-" is standard output. False after a message; no broken file stays. */
bool bench_report_write_csv(const struct bench_report *report, const char *path);
bool bench_report_write_json(const struct bench_report *report, const char *path);

/* output.c: where a benchmark writes: text for people, and files. "-" is standard output; a file is
 * complete or removed. */

struct bench_output {
    const char *csv; /* paths; NULL: not asked for */
    const char *json;
    const char *svg;
    FILE *text; /* standard output, or standard error where a file has that */
    char command[4096];
    struct bench_machine machine;
};

/* The options of every benchmark, in a table of struct cli_option. */
#define BENCH_OUTPUT_OPTIONS(output, rows, drawing)                                                \
    {.names = "--csv",                                                                             \
     .form  = CLI_TEXT,                                                                            \
     .value = &(output).csv,                                                                       \
     .shape = "FILE",                                                                              \
     .help  = "write " rows " as CSV (\"-\": standard output)"},                                    \
        {.names = "--json",                                                                        \
         .form  = CLI_TEXT,                                                                        \
         .value = &(output).json,                                                                  \
         .shape = "FILE",                                                                          \
         .help  = "write the same as JSON"},                                                        \
        {.names = "--svg",                                                                         \
         .form  = CLI_TEXT,                                                                        \
         .value = &(output).svg,                                                                   \
         .shape = "FILE",                                                                          \
         .help  = "draw " drawing},                                                                 \
    {                                                                                              \
        .names = "--help | -h", .form = CLI_HELP, .help = "this text"                              \
    }

/* Before the measurements: check that the files can be written, note the command and the machine.
 * False after a message. */
bool bench_output_open(struct bench_output *output, int argument_count, char *const *arguments);

/* The first lines: title, command, date, machine. */
void bench_output_head(const struct bench_output *output, const char *title);

/* Begin a report with the same facts. */
void bench_output_report(const struct bench_output *output, struct bench_report *report_p,
                         const char *benchmark);

/* Write the report as CSV and JSON where they were asked for. False after a message. */
bool bench_output_write(const struct bench_output *output, const struct bench_report *report);

/* Open a file; NULL after a message. */
FILE *bench_file_open(const char *path);

/* Close it. False after a message; a file that could not be written completely is removed. */
bool bench_file_close(FILE *file, const char *path);

/* plot_svg.c: grouped bars on a logarithmic axis, panels side by side under one legend, as one SVG
 * file without fonts or scripts, light or dark as its viewer is. Text widths are estimated from the
 * number of letters; a bar's value stands on the bar, a thin line beside it shows the range. */

/* One bar: a value above 0 in the axis's unit, and its range. */
struct bench_plot_bar {
    bool present;
    double value;
    double low;
    double high;
};

struct bench_plot_panel {
    const char *title;
    struct bench_plot_bar *bars; /* group by group: group_count * series_count */
};

struct bench_plot {
    const char *title;
    const char *subtitle;
    const char *x_title;
    const char *y_title; /* with the unit */
    const char *const *groups;
    size_t group_count;
    const char *const *series;
    size_t series_count;
    const struct bench_plot_panel *panels;
    size_t panel_count;
    const char *absent; /* in place of an absent bar; NULL: "waived" */
    const char *note;   /* below everything, such as what is not drawn; NULL: nothing */
};

/* False after a message. */
bool bench_plot_svg_write(const struct bench_plot *plot, const char *path);

/* run.c: a benchmark that measures points for peers.
 *
 * A point ("pair-64") is one figure, a row ("pair") is the points that are measured together, a
 * placement is where the processes run, or another thing that makes a panel of the drawing. A suite
 * is the benchmark as tables; a run is one call of it with its figures. Rounds are interleaved: a
 * disturbance of the machine falls on all peers. */

enum {
    BENCH_PEERS_MAX      = 24,
    BENCH_POINTS_MAX     = 256,
    BENCH_ROWS_MAX       = 24,
    BENCH_PLACEMENTS_MAX = CLI_COUNTS_MAX
};

/* ---- the suite ---- */

struct bench_row {
    const char *name;
    const char *help;
    unsigned placements; /* bits */
    bool ours_only;      /* no other peer has such a thing */
    bool unasked;        /* measured only where it is named */
};

struct bench_point {
    unsigned row;
    const char *name;
    const char *label; /* in the row's table */
    const char *unit;
    bool more; /* more is better */
};

struct bench_placement {
    const char *name;
    const char *note;  /* behind a row's name in text */
    const char *title; /* of the drawing's panel */
};

enum bench_target_form {
    BENCH_AT_MOST,  /* ours <= bound */
    BENCH_AT_LEAST, /* ours >= bound */
    BENCH_TIMES,    /* ours <= bound x other */
    BENCH_FASTER,   /* other >= bound x ours */
    BENCH_RATE,     /* ours >= bound x other */
    BENCH_TWICE     /* ours <= 2 x other + bound */
};

struct bench_target {
    const char *what;
    const char *point;
    enum bench_target_form form;
    double bound;
    /* The other: the best of the peers that begin with these words ("jemalloc,mimalloc"), another
     * point of ours, or NULL: the best of all others. */
    const char *other;
    unsigned placement;
    size_t ours; /* the peer */
};

/* Points as bars, of the suite's placements as panels. */
struct bench_drawing {
    const char *name;          /* "": FILE of --svg; else FILE-NAME */
    const char *const *points; /* NULL at their end */
    bool by_label;             /* groups are called by the points' labels, not by their names */
    double scale;              /* of the values; 0: 1 */
    struct bench_plot plot;    /* its titles */
};

struct bench_run;

typedef void (*bench_note_fn)(void *context, const char *text);

struct bench_suite {
    const char *name;
    const char *title;
    const char *method;    /* what a figure is, for the first lines */
    const char *variables; /* beginnings of environment variables that may change a figure */
    bool best;             /* the best of all batches is compared; else the median of the rounds */
    bool in_process;       /* it starts no workers: no options for them, all rows are measured */
    const char *peer_noun; /* of the option that names peers; NULL: "peers" */
    const char *help;      /* in --help in place of the rows; NULL: these */
    const struct bench_row *rows;
    size_t row_count;
    const struct bench_point *points;
    size_t point_count;
    const struct bench_placement *placements;
    size_t placement_count;
    const struct bench_target *targets;
    size_t target_count;
    const struct bench_drawing *drawings;
    size_t drawing_count;
    const struct cli_option *options;
    size_t option_count;

    /* Add the peers that are known; rows, points and placements may depend on options. False after
     * a message. */
    bool (*list)(struct bench_run *run);
    /* Find out which of the chosen ones are here. */
    void (*find)(struct bench_run *run);
    /* Measure, and print the rows. */
    void (*measure)(struct bench_run *run);
    void (*print_peers)(const struct bench_run *run);
    /* The sentences behind the tables, one by one, for the text and the report; NULL: what was
     * given, waived, not measured and failed. */
    void (*make_notes)(const struct bench_run *run, bench_note_fn emit, void *context);
    /* The targets of this run in place of those above; NULL: there are no others. False: the
     * suite's own. */
    bool (*print_targets)(const struct bench_run *run);
    /* The peer that shows how fast @p peer could be, or the number of peers; NULL: none does. */
    size_t (*limit_of)(const struct bench_run *run, size_t peer);
    /* Facts of this benchmark for the head of a report. */
    void (*put_head)(struct bench_report *report, const struct bench_run *run);
    /* Whether a report has that row; NULL: it has all that were chosen. */
    bool (*has_row)(const struct bench_run *run, unsigned placement, size_t point, size_t peer);
    void (*put_row)(struct bench_report *report, const struct bench_run *run, unsigned placement,
                    size_t point, size_t peer);
};

/* ---- the run ---- */

enum bench_role {
    BENCH_OTHER,
    BENCH_OURS,  /* its failures are the benchmark's */
    BENCH_BESIDE /* neither: the machine's limit, another version of ours */
};

struct bench_peer {
    char name[32];
    enum bench_role role;
    bool present;
    bool unasked;  /* measured only where it is named */
    bool follows;  /* chosen with the peer before it */
    char why[256]; /* it is absent */
    char version[128];
    char library[256];
    const char *origin; /* for reports: how it was used */
};

struct bench_figure {
    struct bench_samples medians; /* one a round */
    double best;                  /* of all rounds, where there are medians */
};

struct bench_run {
    const struct bench_suite *suite;
    size_t rounds;
    size_t timeout_s;
    bool quick;
    bool targets;
    const char *compare; /* the report of an earlier run, or NULL */
    unsigned rows;       /* bits: what was chosen */
    unsigned placements;
    unsigned chosen; /* peers */
    struct bench_output output;
    char tools[256];   /* the folder of this program */
    char workers[320]; /* the folder of the programs that measure */
    struct bench_peer peers[BENCH_PEERS_MAX];
    size_t peer_count;
    struct bench_figure (*figures)[BENCH_POINTS_MAX][BENCH_PEERS_MAX]; /* by placement */
    char failures[BENCH_PLACEMENTS_MAX][BENCH_ROWS_MAX][BENCH_PEERS_MAX][256];
    char given[BENCH_POINTS_MAX][64];   /* the memory that a point was measured on; or "" */
    char waived[BENCH_POINTS_MAX][256]; /* why this machine has no such thing; or "" */
};

/* A benchmark from its arguments, behind its name, to its exit code. */
int bench_run_main(const struct bench_suite *suite, int argument_count, char *const *arguments);

/* The index of a point, or the number of points. */
size_t bench_point_find(const struct bench_suite *suite, const char *name, size_t length);

static inline size_t bench_point(const struct bench_suite *suite, const char *name)
{
    return bench_point_find(suite, name, __builtin_strlen(name));
}

/* Whether the row is chosen there. */
bool bench_run_has(const struct bench_run *run, size_t row, unsigned placement);

/* Whether the peer is chosen and here. */
static inline bool bench_run_uses(const struct bench_run *run, size_t peer)
{
    return ((run->chosen & (1u << peer)) != 0) && run->peers[peer].present;
}

/* Add a sample; one that is not a number is dropped. */
void bench_run_add(struct bench_run *run, unsigned placement, size_t point, size_t peer,
                   double best, double median);

/* Add the lines "POINT BEST MEDIAN" or "POINT VALUE" of a worker's output. */
void bench_run_add_output(struct bench_run *run, unsigned placement, size_t peer,
                          const char *output);

/* The figure that is compared, or the median; NAN without a sample. */
double bench_run_value(const struct bench_run *run, unsigned placement, size_t point, size_t peer);
double bench_run_median(const struct bench_run *run, unsigned placement, size_t point, size_t peer);

/* Peers as bits: those of a role, those whose names begin with one of @p words. */
unsigned bench_peers_of(const struct bench_run *run, enum bench_role role);
unsigned bench_peers_named(const struct bench_run *run, const char *words);

/* The first peer of ours. */
static inline size_t bench_run_ours(const struct bench_run *run)
{
    return (size_t)__builtin_ctz(bench_peers_of(run, BENCH_OURS));
}

/* The best figure of the @p peers (bits), and whose it is; NAN without a sample. */
double bench_run_best(const struct bench_run *run, unsigned placement, size_t point, unsigned peers,
                      size_t *peer_p);

/* "measured", "none", "failed", "waived", "absent". */
const char *bench_run_result(const struct bench_run *run, unsigned placement, size_t point,
                             size_t peer);

/* ---- output ---- */

/* "3.61", "1234"; three significant digits and a unit: "12.3 us". "-" where it is NAN. */
struct bench_text {
    char text[32];
};
struct bench_text bench_number_text(double value);
struct bench_text bench_time_text(double ns);

/* Whether the peer has figures of the row, or a failure. */
bool bench_run_knows(const struct bench_run *run, size_t row, unsigned placement, size_t peer);

void bench_run_print_head(const struct bench_run *run);

/* A table with a line for each point, and for each peer of the suite a column "best (median)". Then
 * how many times the first of ours is better than the others, and the ratios of ours to their
 * limits. */
void bench_run_print_row(const struct bench_run *run, size_t row, unsigned placement);

void bench_run_print_targets(const struct bench_run *run);
void bench_run_print_notes(const struct bench_run *run);

/* The columns of such a table, and the facts of the run: a put_row() of suites. */
void bench_run_put_row(struct bench_report *report, const struct bench_run *run, unsigned placement,
                       size_t point, size_t peer);

/* The figures and notes as a report; release it. */
void bench_run_report(const struct bench_run *run, struct bench_report *report_p);

/* CSV, JSON and SVG where they were asked for. False after a message. */
bool bench_run_write(const struct bench_run *run);

/* compare.c: a run beside the report of an earlier one. */

/* Read that report; NULL after a message. */
json_t *bench_compare_open(const char *path, const char *benchmark);

/* A table with a row for each figure that both have. Returns whether one of ours is slower. */
bool bench_compare_print(const struct bench_run *run, const struct bench_report *report,
                         const json_t *old);

#endif /* MEMSPAN_BENCH_H */
