/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_COMMON_RUN_H
#define MEMSPAN_BENCH_COMMON_RUN_H

/* A benchmark that measures points for peers: alloc and rma.
 *
 * A point ("pair-64") is one figure, a row ("pair") is the points that are measured together, a
 * placement is where the processes run. A suite is the benchmark as tables; a run is one call of it
 * with its figures. Rounds are interleaved: a disturbance of the machine falls on all peers. */

#include "bench/common/child.h"
#include "bench/common/output.h"
#include "bench/common/plot_svg.h"
#include "bench/common/report.h"
#include "bench/common/stats.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    BENCH_PEERS_MAX      = 24,
    BENCH_POINTS_MAX     = 256,
    BENCH_ROWS_MAX       = 24,
    BENCH_PLACEMENTS_MAX = 2
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
    struct bench_plot plot;    /* its titles */
};

struct bench_run;

struct bench_suite {
    const char *name;
    const char *title;
    const char *method;    /* what a figure is, for the first lines */
    const char *variables; /* beginnings of environment variables that may change a figure */
    bool best;             /* the best of all batches is compared; else the median of the rounds */
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

    /* Add the peers that are known. False after a message. */
    bool (*list)(struct bench_run *run);
    /* Find out which of the chosen ones are here. */
    void (*find)(struct bench_run *run);
    /* Measure, and print the rows. */
    void (*measure)(struct bench_run *run);
    void (*print_peers)(const struct bench_run *run);
    /* The targets of this run in place of those above; NULL: there are no others. False: the
     * suite's own. */
    bool (*print_targets)(const struct bench_run *run);
    /* The peer that shows how fast @p peer could be, or the number of peers; NULL: none does. */
    size_t (*limit_of)(const struct bench_run *run, size_t peer);
    /* Facts of this benchmark for the head of a report. */
    void (*put_head)(struct bench_report *report, const struct bench_run *run);
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
    unsigned rows; /* bits: what was chosen */
    unsigned placements;
    unsigned chosen; /* peers */
    struct bench_output output;
    char tools[256];   /* the folder of this program */
    char workers[320]; /* the folder of the programs that measure */
    struct bench_peer peers[BENCH_PEERS_MAX];
    size_t peer_count;
    struct bench_figure figures[BENCH_PLACEMENTS_MAX][BENCH_POINTS_MAX][BENCH_PEERS_MAX];
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

/* CSV, JSON and SVG where they were asked for. False after a message. */
bool bench_run_write(const struct bench_run *run);

#endif /* MEMSPAN_BENCH_COMMON_RUN_H */
