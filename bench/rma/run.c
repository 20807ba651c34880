/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds: every peer once, in turn, beginning with another peer each time. One start of a peer's
 * program measures all rows; where a row ends it, it is started again for those after that. */

#include "bench/rma/rma.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 5 }; /* of each peer, a round */

bool rma_is_measured(const struct rma_run *run, enum rma_row row, enum rma_placement placement)
{
    return rma_chosen(&run->plan->rows, row) && rma_chosen(&run->plan->placements, placement) &&
           ((placement == RMA_PLACE_APART) || (rma_rows[row].where == RMA_BOTH));
}

void rma_add(struct rma_run *run, enum rma_placement placement, size_t point, size_t peer,
             double best, double median)
{
    struct rma_figure *figure;

    if ((point >= rma_point_count) || !isfinite(best) || !isfinite(median)) {
        return;
    }
    figure = &run->figures[placement][point][peer];
    if ((figure->medians.count == 0) ||
        (rma_points[point].more ? (best > figure->best) : (best < figure->best))) {
        figure->best = best;
    }
    (void)bench_samples_add(&figure->medians, median);
}

/* Lines of "NAME BEST MEDIAN". */
void rma_add_points(struct rma_run *run, enum rma_placement placement, size_t peer,
                    const char *output)
{
    while (*output != '\0') {
        size_t length = strcspn(output, "\n");
        size_t name   = strcspn(output, " \n");
        char *end;

        if (name < length) {
            double best   = strtod(output + name, &end);
            double median = strtod(end, NULL);
            rma_add(run, placement, rma_point_find(output, name), peer, best, median);
        }
        output += length + (output[length] == '\n');
    }
}

/* ---- rows of the worker ---- */

/* The row that the worker was in when it ended: the last that it named. */
static enum rma_row last_row(const char *output, enum rma_row first)
{
    enum rma_row last = first;

    for (int row = (int)first; row < RMA_START; row++) {
        char line[32];
        (void)snprintf(line, sizeof(line), "row %s\n", rma_rows[row].name);
        if (strstr(output, line) != NULL) {
            last = (enum rma_row)row;
        }
    }
    return last;
}

/* The rows from @p first on that are to be measured, as the worker's words. False where there is
 * none; *first_p is the first that there is. */
static bool list_rows(const struct rma_run *run, enum rma_placement placement, size_t peer,
                      enum rma_row *first_p, char *words, size_t words_size)
{
    bool any    = false;
    size_t used = (size_t)snprintf(words, words_size, "%s", run->plan->quick ? "quick" : "");

    for (int row = (int)*first_p; row < RMA_START; row++) {
        if (!rma_is_measured(run, (enum rma_row)row, placement) ||
            (run->failures[placement][row][peer][0] != '\0')) {
            continue;
        }
        *first_p = any ? *first_p : (enum rma_row)row;
        any      = true;
        used += (size_t)snprintf(words + used, words_size - used, " %s", rma_rows[row].name);
    }
    return any;
}

static void measure_peer(struct rma_run *run, enum rma_placement placement, size_t p)
{
    enum rma_row row = (enum rma_row)0;
    char words[256];

    while (list_rows(run, placement, p, &row, words, sizeof(words))) {
        const struct rma_job job = {.words         = words,
                                    .pe_count      = 2,
                                    .timeout_s     = run->plan->timeout_s,
                                    .one_processor = placement == RMA_PLACE_TOGETHER};
        static struct bench_child child;
        bool good = rma_peer_run(&run->peers.list[p], &job, &child);

        rma_add_points(run, placement, p, child.output);
        if (good) {
            return;
        }
        row = last_row(child.output, row);
        (void)snprintf(run->failures[placement][row][p], sizeof(run->failures[placement][row][p]),
                       "%s", child.failure);
    }
}

/* ---- start-up: the time of whole programs ---- */

static double field(const char *output, const char *name)
{
    const char *at = strstr(output, name);

    return (at == NULL) ? NAN : strtod(at + strlen(name), NULL);
}

static void start_once(struct rma_run *run, size_t p, struct bench_samples *walls,
                       struct bench_samples *inits)
{
    const struct rma_job job = {.words = "hello", .pe_count = 2, .timeout_s = run->plan->timeout_s};
    char *failure            = run->failures[RMA_PLACE_APART][RMA_START][p];
    static struct bench_child child;
    double init_ms;

    if (!rma_peer_run(&run->peers.list[p], &job, &child)) {
        (void)snprintf(failure, sizeof(run->failures[0][0][0]), "%s", child.failure);
        return;
    }
    (void)bench_samples_add(walls, child.wall_ns / 1e6);
    init_ms = field(child.output, "start-init ");
    if (!isnan(init_ms)) {
        (void)bench_samples_add(inits, init_ms);
    }
}

static void add_summary(struct rma_run *run, const char *point, size_t peer,
                        const struct bench_samples *samples)
{
    struct bench_summary summary;

    if (bench_samples_summarize(samples, &summary)) {
        rma_add(run, RMA_PLACE_APART, rma_point_find(point, strlen(point)), peer, summary.min,
                summary.median);
    }
}

static void measure_starts(struct rma_run *run, size_t round)
{
    static struct bench_samples walls[RMA_PEERS_MAX];
    static struct bench_samples inits[RMA_PEERS_MAX];

    memset(walls, 0, sizeof(walls));
    memset(inits, 0, sizeof(inits));
    for (int i = 0; i < (run->plan->quick ? 1 : STARTS); i++) {
        for (size_t j = 0; j < run->peers.count; j++) {
            size_t p = (round + j) % run->peers.count;
            if (rma_chosen(&run->plan->peers, p) && run->peers.list[p].present &&
                (run->peers.list[p].compiler[0] != '\0') &&
                (run->failures[RMA_PLACE_APART][RMA_START][p][0] == '\0')) {
                start_once(run, p, &walls[p], &inits[p]);
            }
        }
    }
    for (size_t p = 0; p < run->peers.count; p++) {
        add_summary(run, "start-wall", p, &walls[p]);
        add_summary(run, "start-init", p, &inits[p]);
    }
}

void rma_measure(struct rma_run *run)
{
    for (size_t round = 0; round < run->plan->rounds; round++) {
        for (int placement = 0; placement < RMA_PLACE_COUNT; placement++) {
            for (size_t i = 0; i < run->peers.count; i++) {
                size_t p = (round + i) % run->peers.count;
                if (rma_chosen(&run->plan->peers, p) && run->peers.list[p].present) {
                    measure_peer(run, (enum rma_placement)placement, p);
                }
            }
        }
        if (rma_is_measured(run, RMA_START, RMA_PLACE_APART)) {
            measure_starts(run, round);
        }
        rma_measure_partitions(run, round);
    }
}

double rma_best(const struct rma_run *run, enum rma_placement placement, size_t point, size_t peer)
{
    const struct rma_figure *figure;

    if (point >= rma_point_count) {
        return NAN;
    }
    figure = &run->figures[placement][point][peer];
    return (figure->medians.count == 0) ? NAN : figure->best;
}

double rma_best_peer(const struct rma_run *run, enum rma_placement placement, size_t point,
                     size_t *peer_p)
{
    double best = NAN;

    for (size_t p = RMA_LIMIT + 1; p < run->peers.count; p++) {
        double value = rma_best(run, placement, point, p);
        if (isnan(value)) {
            continue;
        }
        if (isnan(best) || (rma_points[point].more ? (value > best) : (value < best))) {
            best    = value;
            *peer_p = p;
        }
    }
    return best;
}
