/* SPDX-License-Identifier: BSD-3-Clause */
/* run_text.c: the text of a run but for the tables of its rows. */

#include "bench/common/bench.h"
#include "cmd/common/cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bench_text bench_number_text(double value)
{
    struct bench_text text = {"-"};

    if (!isnan(value)) {
        (void)snprintf(text.text, sizeof(text.text), (fabs(value) < 999.5) ? "%.3g" : "%.0f",
                       value);
    }
    return text;
}

struct bench_text bench_time_text(double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    struct bench_text text           = {"-"};
    size_t unit                      = 0;

    if (isnan(ns)) {
        return text;
    }
    while ((ns >= 999.5) && (unit < 3)) {
        ns /= 1000;
        unit++;
    }
    (void)snprintf(text.text, sizeof(text.text), "%.*f %s",
                   (unit == 0 || ns >= 99.95) ? 0 : ((ns >= 9.995) ? 1 : 2), ns, units[unit]);
    return text;
}

/* Variables that may change a figure: those that begin with one of @p words. */
static void print_environment(FILE *text, const char *words)
{
    char **variables = cli_environment_make(NULL, NULL, NULL);

    for (size_t i = 0; (variables != NULL) && (variables[i] != NULL); i++) {
        for (const char *word = words; *word != '\0'; word += strspn(word, " ")) {
            size_t length = strcspn(word, " ");
            if (strncmp(variables[i], word, length) == 0) {
                fprintf(text, "# set      %.120s\n", variables[i]);
            }
            word += length;
        }
    }
    free(variables);
}

void bench_run_print_head(const struct bench_run *run)
{
    FILE *text = run->output.text;
    char title[128];

    (void)snprintf(title, sizeof(title), "%s: %s", run->suite->name, run->suite->title);
    bench_output_head(&run->output, title);
    fprintf(text, "# rounds   %zu, interleaved; %s\n", run->rounds, run->suite->method);
    if (run->quick) {
        fprintf(text, "# quick    few operations: the figures mean nothing\n");
    }
    print_environment(text, run->suite->variables);
    run->suite->print_peers(run);
    (void)fflush(text);
}

bool bench_run_knows(const struct bench_run *run, size_t row, unsigned placement, size_t peer)
{
    for (size_t i = 0; i < run->suite->point_count; i++) {
        if ((run->suite->points[i].row == row) &&
            (run->figures[placement][i][peer].medians.count != 0)) {
            return true;
        }
    }
    return run->failures[placement][row][peer][0] != '\0';
}

/* ---- rows ---- */

static void add_figure(struct cli_table *table, const struct bench_run *run, unsigned placement,
                       size_t point, size_t peer)
{
    if (run->figures[placement][point][peer].medians.count == 0) {
        size_t row = run->suite->points[point].row;
        cli_table_add(table, (run->failures[placement][row][peer][0] != '\0') ? "failed" : "-");
        return;
    }
    cli_table_add(table, "%s (%s)",
                  bench_number_text(bench_run_value(run, placement, point, peer)).text,
                  bench_number_text(bench_run_median(run, placement, point, peer)).text);
}

/* How many times better than the best peer. */
static double better(const struct bench_run *run, unsigned placement, size_t point)
{
    bool more   = run->suite->points[point].more;
    double ours = bench_run_value(run, placement, point, bench_run_ours(run));
    size_t ignored;
    double peer = bench_run_best(run, placement, point, bench_peers_of(run, BENCH_OTHER), &ignored);

    return more ? ours / peer : peer / ours;
}

/* How many times the limit's cost. */
static double ratio_to_limit(const struct bench_run *run, unsigned placement, size_t point,
                             size_t peer)
{
    bool more    = run->suite->points[point].more;
    double ours  = bench_run_value(run, placement, point, peer);
    double limit = bench_run_value(run, placement, point, run->suite->limit_of(run, peer));

    return more ? limit / ours : ours / limit;
}

/* Of ours that have a limit; its name heads the column where that is not the machine's. */
static size_t list_ratios(const struct bench_run *run, size_t ratios[BENCH_PEERS_MAX],
                          char titles[BENCH_PEERS_MAX][72])
{
    size_t count = 0;

    for (size_t p = 0; p < run->peer_count; p++) {
        size_t limit =
            (run->suite->limit_of == NULL) ? run->peer_count : run->suite->limit_of(run, p);

        if ((run->peers[p].role != BENCH_OURS) || !bench_run_uses(run, p) ||
            (limit == run->peer_count)) {
            continue;
        }
        (void)snprintf(titles[count], sizeof(titles[0]), "%s", "x limit");
        if (strcmp(run->peers[limit].name, "limit") != 0) {
            (void)snprintf(titles[count], sizeof(titles[0]), "%s / %s", run->peers[p].name,
                           run->peers[limit].name);
        }
        ratios[count++] = p;
    }
    return count;
}

void bench_run_print_row(const struct bench_run *run, size_t row, unsigned placement)
{
    const struct bench_suite *suite            = run->suite;
    const char *heads[2 * BENCH_PEERS_MAX + 3] = {"#", "unit"};
    char align[2 * BENCH_PEERS_MAX + 4]        = "ll";
    char titles[BENCH_PEERS_MAX][72];
    size_t peers[BENCH_PEERS_MAX];
    size_t ratios[BENCH_PEERS_MAX];
    size_t ratio_count = list_ratios(run, ratios, titles);
    size_t count       = 0;
    struct cli_table table;

    for (size_t p = 0; p < run->peer_count; p++) {
        if (bench_run_knows(run, row, placement, p)) {
            heads[2 + count] = run->peers[p].name;
            peers[count++]   = p;
        }
    }
    if (count == 0) {
        return;
    }
    heads[2 + count] = "x better than peers";
    for (size_t r = 0; r < ratio_count; r++) {
        heads[3 + count + r] = titles[r];
    }
    memset(align + 2, 'r', 1 + count + ratio_count);
    cli_table_open(&table, align);
    cli_table_add_row(&table, heads);
    for (size_t i = 0; i < suite->point_count; i++) {
        if (suite->points[i].row != row) {
            continue;
        }
        cli_table_add(&table, "%s", suite->points[i].label);
        cli_table_add(&table, "%s",
                      (suite->points[i].unit[0] == '\0') ? " " : suite->points[i].unit);
        for (size_t p = 0; p < count; p++) {
            add_figure(&table, run, placement, i, peers[p]);
        }
        cli_table_add(&table, "%s", bench_number_text(better(run, placement, i)).text);
        for (size_t r = 0; r < ratio_count; r++) {
            cli_table_add(&table, "%s",
                          bench_number_text(ratio_to_limit(run, placement, i, ratios[r])).text);
        }
    }
    fprintf(run->output.text, "\n%s%s: %s\n", suite->rows[row].name,
            suite->placements[placement].note, suite->rows[row].help);
    cli_table_close_parts(&table, run->output.text);
    (void)fflush(run->output.text);
}

/* ---- notes ---- */

static void print_failures(const struct bench_run *run, size_t p)
{
    const struct bench_suite *suite = run->suite;

    for (size_t i = 0; i < suite->placement_count * suite->row_count; i++) {
        size_t placement    = i / suite->row_count;
        size_t row          = i % suite->row_count;
        const char *failure = run->failures[placement][row][p];
        if (failure[0] != '\0') {
            fprintf(run->output.text, "%s, %s%s: FAILED: %s\n", run->peers[p].name,
                    suite->rows[row].name, suite->placements[placement].note, failure);
        }
    }
}

static void print_note(void *file, const char *text)
{
    fprintf(file, "%s\n", text);
}

void bench_run_print_notes(const struct bench_run *run)
{
    FILE *text = run->output.text;

    fprintf(text, "\n");
    if (run->suite->make_notes != NULL) {
        run->suite->make_notes(run, print_note, text);
        return;
    }
    for (size_t i = 0; i < run->suite->point_count; i++) {
        if (run->given[i][0] != '\0') {
            fprintf(text, "%s: given %s\n", run->suite->points[i].name, run->given[i]);
        }
        if (run->waived[i][0] != '\0') {
            fprintf(text, "%s: waived: %s\n", run->suite->points[i].name, run->waived[i]);
        }
    }
    for (size_t p = 0; p < run->peer_count; p++) {
        if ((run->chosen & (1u << p)) == 0) {
            continue;
        }
        if (!run->peers[p].present) {
            fprintf(text, "%s: not measured: %s\n", run->peers[p].name, run->peers[p].why);
        }
        print_failures(run, p);
    }
}

/* ---- targets ---- */

/* A target and the figures that decide it. */
struct verdict {
    const struct bench_target *target;
    double ours;
    double other;
    const char *whose;
    const char *result; /* NULL: something was not measured */
};

/* Whether the other figure is one of ours, of the point *@p point_p. */
static bool is_own_point(const struct bench_run *run, const struct bench_target *target,
                         size_t *point_p)
{
    *point_p =
        (target->other == NULL) ? run->suite->point_count : bench_point(run->suite, target->other);
    return *point_p < run->suite->point_count;
}

static void find_figures(const struct bench_run *run, struct verdict *verdict)
{
    const struct bench_target *target = verdict->target;
    size_t point                      = bench_point(run->suite, target->point);
    unsigned others                   = (target->other == NULL) ? bench_peers_of(run, BENCH_OTHER)
                                                                : bench_peers_named(run, target->other);
    size_t other_point;
    size_t peer;

    verdict->ours = bench_run_value(run, target->placement, point, target->ours);
    if (!is_own_point(run, target, &other_point)) {
        verdict->other = bench_run_best(run, target->placement, point, others, &peer);
        verdict->whose = isnan(verdict->other) ? "-" : run->peers[peer].name;
        return;
    }
    verdict->whose = target->other;
    verdict->other = bench_run_value(run, target->placement, other_point, target->ours);
    if (target->form == BENCH_TWICE) {
        verdict->other *= 2;
    } else { /* both points took turns: their medians saw the same disturbances */
        verdict->ours  = bench_run_median(run, target->placement, point, target->ours);
        verdict->other = bench_run_median(run, target->placement, other_point, target->ours);
    }
}

static void judge(struct verdict *verdict)
{
    double bound = verdict->target->bound;
    double ours  = verdict->ours;
    double other = verdict->other;
    bool reached = false;

    switch (verdict->target->form) {
    case BENCH_AT_MOST:
        reached = ours <= bound;
        other   = 0;
        break;
    case BENCH_AT_LEAST:
        reached = ours >= bound;
        other   = 0;
        break;
    case BENCH_TIMES:
        reached = ours <= bound * other;
        break;
    case BENCH_FASTER:
        reached = other >= bound * ours;
        break;
    case BENCH_RATE:
        reached = ours >= bound * other;
        break;
    case BENCH_TWICE:
        reached = ours <= other + bound;
        break;
    }
    verdict->result = (isnan(ours) || isnan(other)) ? NULL : reached ? "reached" : "MISSED";
}

static void add_target(struct cli_table *table, const struct bench_target *target)
{
    static const char *const forms[] = {
        [BENCH_AT_MOST] = "<= %g",    [BENCH_AT_LEAST] = ">= %g",
        [BENCH_TIMES] = "<= %g x %s", [BENCH_FASTER] = ">= %g x faster",
        [BENCH_RATE] = ">= %g x %s",  [BENCH_TWICE] = "<= %g + 2 x %s"};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    cli_table_add(table, forms[target->form], target->bound,
                  (target->other == NULL) ? "others" : target->other);
#pragma GCC diagnostic pop
}

void bench_run_print_targets(const struct bench_run *run)
{
    static const char *const heads[] = {"what",  "target",     "ours",  "other",
                                        "whose", "ours/other", "result"};
    struct cli_table table;
    size_t judged  = 0;
    size_t reached = 0;

    cli_table_open(&table, "llrrlrl");
    cli_table_add_row(&table, heads);
    for (size_t i = 0; i < run->suite->target_count; i++) {
        const struct bench_target *target = &run->suite->targets[i];
        struct verdict verdict            = {.target = target};
        size_t row = run->suite->points[bench_point(run->suite, target->point)].row;

        if (!bench_run_has(run, row, target->placement)) {
            continue;
        }
        find_figures(run, &verdict);
        judge(&verdict);
        cli_table_add(&table, "%s", target->what);
        add_target(&table, target);
        cli_table_add(&table, "%s", bench_number_text(verdict.ours).text);
        cli_table_add(&table, "%s", bench_number_text(verdict.other).text);
        cli_table_add(&table, "%s", isnan(verdict.other) ? "-" : verdict.whose);
        cli_table_add(
            &table, "%s",
            bench_number_text((verdict.other != 0) ? verdict.ours / verdict.other : NAN).text);
        cli_table_add(&table, "%s", (verdict.result == NULL) ? "not measured" : verdict.result);
        judged += (verdict.result != NULL) ? 1 : 0;
        reached += ((verdict.result != NULL) && (strcmp(verdict.result, "reached") == 0)) ? 1 : 0;
    }
    fprintf(run->output.text, "\ntargets: %zu of %zu reached\n", reached, judged);
    cli_table_close_parts(&table, run->output.text);
}
