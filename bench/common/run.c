/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c: the command line, the samples, and a run from its first lines to its files. */

#include "bench/common/bench.h"
#include "cmd/common/cli.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTIONS_MAX = 24 };

/* ---- samples ---- */

size_t bench_point_find(const struct bench_suite *suite, const char *name, size_t length)
{
    size_t i;

    for (i = 0; i < suite->point_count; i++) {
        if ((strlen(suite->points[i].name) == length) &&
            (strncmp(suite->points[i].name, name, length) == 0)) {
            break;
        }
    }
    return i;
}

bool bench_run_has(const struct bench_run *run, size_t row, unsigned placement)
{
    return (run->rows & (1u << row)) && (run->placements & (1u << placement)) &&
           (run->suite->rows[row].placements & (1u << placement));
}

static bool is_better(const struct bench_run *run, size_t point, double value, double than)
{
    return isnan(than) || (run->suite->points[point].more ? (value > than) : (value < than));
}

void bench_run_add(struct bench_run *run, unsigned placement, size_t point, size_t peer,
                   double best, double median)
{
    struct bench_figure *figure;

    if ((point >= run->suite->point_count) || !isfinite(best) || !isfinite(median)) {
        return;
    }
    figure = &run->figures[placement][point][peer];
    if ((figure->medians.count == 0) || is_better(run, point, best, figure->best)) {
        figure->best = best;
    }
    (void)bench_samples_add(&figure->medians, median);
}

void bench_run_add_output(struct bench_run *run, unsigned placement, size_t peer,
                          const char *output)
{
    while (*output != '\0') {
        size_t length = strcspn(output, "\n");
        size_t name   = strcspn(output, " \n");
        char *end;

        if (name < length) {
            double best   = strtod(output + name, &end);
            double median = (*end == ' ') ? strtod(end, NULL) : best;
            bench_run_add(run, placement, bench_point_find(run->suite, output, name), peer, best,
                          median);
        }
        output += length + (output[length] == '\n');
    }
}

double bench_run_median(const struct bench_run *run, unsigned placement, size_t point, size_t peer)
{
    return bench_samples_median(&run->figures[placement][point][peer].medians);
}

double bench_run_value(const struct bench_run *run, unsigned placement, size_t point, size_t peer)
{
    const struct bench_figure *figure = &run->figures[placement][point][peer];

    if (run->suite->best && (figure->medians.count != 0)) {
        return figure->best;
    }
    return bench_samples_median(&figure->medians);
}

unsigned bench_peers_of(const struct bench_run *run, enum bench_role role)
{
    unsigned peers = 0;

    for (size_t p = 0; p < run->peer_count; p++) {
        peers |= (run->peers[p].role == role) ? 1u << p : 0;
    }
    return peers;
}

unsigned bench_peers_named(const struct bench_run *run, const char *words)
{
    unsigned peers = 0;

    while (*words != '\0') {
        size_t length = strcspn(words, ",");
        for (size_t p = 0; p < run->peer_count; p++) {
            peers |= (strncmp(run->peers[p].name, words, length) == 0) ? 1u << p : 0;
        }
        words += length + (words[length] == ',');
    }
    return peers;
}

double bench_run_best(const struct bench_run *run, unsigned placement, size_t point, unsigned peers,
                      size_t *peer_p)
{
    double best = NAN;

    for (size_t p = 0; p < run->peer_count; p++) {
        double value = bench_run_value(run, placement, point, p);
        if (((peers & (1u << p)) != 0) && !isnan(value) && is_better(run, point, value, best)) {
            best    = value;
            *peer_p = p;
        }
    }
    return best;
}

const char *bench_run_result(const struct bench_run *run, unsigned placement, size_t point,
                             size_t peer)
{
    if (!run->peers[peer].present) {
        return "absent";
    }
    if (run->figures[placement][point][peer].medians.count != 0) {
        return "measured";
    }
    if ((run->peers[peer].role == BENCH_OURS) && (run->waived[point][0] != '\0')) {
        return "waived";
    }
    return (run->failures[placement][run->suite->points[point].row][peer][0] != '\0') ? "failed"
                                                                                      : "none";
}

/* ---- the command line ---- */

/* The rows, as --help shows them. */
static const char *list_rows(const struct bench_suite *suite, char *text, size_t size)
{
    (void)snprintf(text, size, "%s", (suite->help == NULL) ? "Rows:\n" : suite->help);
    for (size_t i = 0; (i < suite->row_count) && (suite->help == NULL); i++) {
        cli_append(text, size, "  %-18s %s%s\n", suite->rows[i].name, suite->rows[i].help,
                   suite->rows[i].unasked ? " (only where named)" : "");
    }
    cli_append(text, size,
               "\nExit code: 0 measured, 1 a measurement of ours failed or a file was not "
               "written,\n2 wrong arguments, 3 one of ours is slower than before (--compare).\n");
    return text;
}

/* What a call of the program has: one run. */
static struct bench_run the_run;
static const char *peer_words;
static const char *workers;
static const char *row_names[BENCH_ROWS_MAX + 1];
static const char *placement_names[BENCH_PLACEMENTS_MAX + 1];
static char placement_shape[64];
static char placement_help[128];
static char peer_name[32];
static char peer_help[64];

/* X(name, FORM, value, how --help shows the value, words, max, help); counts are at least 1 */
#define OPTION_MAP(X)                                                                              \
    X("--rounds", COUNT, the_run.rounds, "COUNT", NULL, BENCH_ROUNDS_MAX,                          \
      "interleaved rounds (5; of daxpy 3)")                                                        \
    X("--rows", WORDS, the_run.rows, "ROW[,...]", row_names, 0, "rows to measure (all)")           \
    X(peer_name, TEXT, peer_words, "NAME[,...]", NULL, 0, peer_help)                               \
    X("--targets", SET, the_run.targets, NULL, NULL, 0,                                            \
      "end with the table of targets, reached or missed")                                          \
    X("--quick", SET, the_run.quick, NULL, NULL, 0,                                                \
      "few operations: whether it works, not what it costs")                                       \
    X("--timeout", COUNT, the_run.timeout_s, "SECONDS", NULL, 86400,                               \
      "end a measurement that takes longer (60)")                                                  \
    X("--compare", TEXT, the_run.compare, "FILE", NULL, 0,                                         \
      "end with each figure beside that of an earlier run, which --json wrote")                    \
    X("--workers", TEXT, workers, "FOLDER", NULL, 0, NULL)

static const struct cli_option options[] = {
#define OPTION_ROW(text, kind, target, shown, list, most, about)                                   \
    {.names = (text),                                                                              \
     .form  = CLI_##kind,                                                                          \
     .value = &(target),                                                                           \
     .shape = (shown),                                                                             \
     .help  = (about),                                                                             \
     .words = (list),                                                                              \
     .min   = 1,                                                                                   \
     .max   = (most)},
    OPTION_MAP(OPTION_ROW)
#undef OPTION_ROW
        BENCH_OUTPUT_OPTIONS(the_run.output, "a line for each point and peer", "the main points"),
    {.names = "--placement",
     .form  = CLI_WORDS,
     .value = &the_run.placements,
     .shape = placement_shape,
     .help  = placement_help,
     .words = placement_names}};

enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

/* Whether the suite has that option. */
static bool is_offered(const struct bench_suite *suite, const void *value)
{
    if (value == &the_run.placements) {
        return suite->placement_count > 1;
    }
    return !suite->in_process || ((value != &the_run.rows) && (value != &the_run.targets) &&
                                  (value != &the_run.timeout_s) && (value != &workers));
}

static enum cli_outcome read_arguments(const struct bench_suite *suite, int argument_count,
                                       char *const *arguments)
{
    const char *noun = (suite->peer_noun == NULL) ? "peers" : suite->peer_noun;
    struct cli_option all[OPTIONS_MAX];
    char synopsis[64];
    char notes[2048];
    struct cli_usage usage = {.synopsis     = synopsis,
                              .summary      = suite->title,
                              .options      = all,
                              .option_count = suite->option_count,
                              .notes        = list_rows(suite, notes, sizeof(notes))};

    for (size_t i = 0; i < suite->row_count; i++) {
        row_names[i] = suite->rows[i].name;
    }
    for (size_t i = 0; i < suite->placement_count; i++) {
        placement_names[i] = suite->placements[i].name;
        cli_append(placement_shape, sizeof(placement_shape), "%s%s", (i == 0) ? "" : ",",
                   placement_names[i]);
        cli_append(placement_help, sizeof(placement_help), "%s%s", (i == 0) ? "" : ", ",
                   suite->placements[i].title);
    }
    (void)snprintf(peer_name, sizeof(peer_name), "--%s", noun);
    (void)snprintf(peer_help, sizeof(peer_help), "%s to measure (all)", noun);
    (void)snprintf(synopsis, sizeof(synopsis), "%s [options]", suite->name);
    memcpy(all, suite->options, suite->option_count * sizeof(all[0]));
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (is_offered(suite, options[i].value)) {
            all[usage.option_count++] = options[i];
        }
    }
    return cli_parse(&usage, argument_count, arguments, NULL);
}

/* ---- the run ---- */

static bool find_folders(struct bench_run *run)
{
    ssize_t length = readlink("/proc/self/exe", run->tools, sizeof(run->tools) - 1);

    if (length <= 0) {
        cli_complain("cannot find the folder of this program: %s", strerror(errno));
        return false;
    }
    run->tools[length]        = '\0';
    *strrchr(run->tools, '/') = '\0';
    if (workers != NULL) {
        (void)snprintf(run->workers, sizeof(run->workers), "%s", workers);
        return true;
    }
    (void)snprintf(run->workers, sizeof(run->workers), "%s/%s", run->tools, run->suite->name);
    if (access(run->workers, X_OK) != 0) { /* installed */
        (void)snprintf(run->workers, sizeof(run->workers), "%s/../libexec/memspan/bench",
                       run->tools);
    }
    return true;
}

static bool choose_peers(struct bench_run *run)
{
    const char *names[BENCH_PEERS_MAX + 1] = {NULL};
    const struct cli_option option         = {.names = peer_name,
                                              .form  = CLI_WORDS,
                                              .shape = "NAME[,...]",
                                              .value = &run->chosen,
                                              .words = names};

    run->chosen = 0;
    for (size_t p = 0; p < run->peer_count; p++) {
        names[p] = run->peers[p].name;
        run->chosen |= run->peers[p].unasked ? 0 : 1u << p;
    }
    if ((peer_words != NULL) && !cli_read_value(&option, peer_words)) {
        return false;
    }
    for (size_t p = 1; p < run->peer_count; p++) {
        run->chosen |= run->peers[p].follows ? (run->chosen & (1u << (p - 1))) << 1 : 0;
    }
    return true;
}

static bool ours_failed(const struct bench_run *run)
{
    unsigned ours = bench_peers_of(run, BENCH_OURS) & run->chosen;

    for (size_t p = 0; p < run->peer_count; p++) {
        if ((ours & (1u << p)) == 0) {
            continue;
        }
        for (size_t i = 0; i < BENCH_PLACEMENTS_MAX * BENCH_ROWS_MAX; i++) {
            if (run->failures[i / BENCH_ROWS_MAX][i % BENCH_ROWS_MAX][p][0] != '\0') {
                return true;
            }
        }
        if (!run->peers[p].present) {
            return true;
        }
    }
    return false;
}

static unsigned default_rows(const struct bench_suite *suite)
{
    unsigned rows = 0;

    for (size_t i = 0; i < suite->row_count; i++) {
        rows |= suite->rows[i].unasked ? 0 : 1u << i;
    }
    return rows;
}

/* The exit code of a run that has measured. */
static int finish(const struct bench_run *run, const json_t *old)
{
    struct bench_report report;
    bool slower = false;
    bool good   = bench_run_write(run);

    if (old != NULL) {
        bench_run_report(run, &report);
        slower = bench_compare_print(run, &report, old);
        bench_report_release(&report);
    }
    return (!good || ours_failed(run)) ? 1 : (slower ? 3 : 0);
}

int bench_run_main(const struct bench_suite *suite, int argument_count, char *const *arguments)
{
    struct bench_run *run = &the_run;
    enum cli_outcome outcome;
    json_t *old = NULL;
    int code;

    run->suite      = suite;
    run->rounds     = suite->in_process ? 3 : 5;
    run->timeout_s  = 60;
    run->rows       = default_rows(suite);
    run->placements = (1u << suite->placement_count) - 1;
    outcome         = read_arguments(suite, argument_count, arguments);
    if (outcome != CLI_PARSED) {
        return (outcome == CLI_SHOWN) ? 0 : 2;
    }
    if (!find_folders(run) || !suite->list(run) || !choose_peers(run) ||
        !bench_output_open(&run->output, argument_count, arguments)) {
        return 2;
    }
    if (run->compare != NULL) {
        old = bench_compare_open(run->compare, suite->name);
        if (old == NULL) {
            return 2;
        }
    }
    run->figures = cli_calloc(suite->placement_count, sizeof(run->figures[0]));
    suite->find(run);
    bench_run_print_head(run);
    suite->measure(run);
    if (run->targets && ((suite->print_targets == NULL) || !suite->print_targets(run))) {
        bench_run_print_targets(run);
    }
    bench_run_print_notes(run);
    code = finish(run, old);
    json_decref(old);
    return code;
}
