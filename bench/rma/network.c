/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c: what is promised between hosts. Put, get and fetch-add against the network library
 * alone; everything against the best of the peers, best and median. */

#include "bench/rma/rma.h"
#include <math.h>
#include <string.h>

static const double raw_bound  = 1.1;
static const double peer_bound = 1;

static bool is_raw(const struct bench_run *run, size_t p)
{
    return (run->peers[p].role == BENCH_BESIDE) && (p != RMA_LIMIT) && bench_run_uses(run, p);
}

static size_t find(const struct bench_run *run, const char *prefix, const char *suffix)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%s%s", prefix, suffix);
    for (size_t p = 0; p < run->peer_count; p++) {
        if ((strcmp(run->peers[p].name, name) == 0) && bench_run_uses(run, p)) {
            return p;
        }
    }
    return run->peer_count;
}

size_t rma_limit_of(const struct bench_run *run, size_t peer)
{
    const char *name = run->peers[peer].name;

    if (strncmp(name, "memspan-", 8) == 0) {
        return find(run, "raw-", name + 8);
    }
    if ((peer != RMA_MEMSPAN) || bench_run_uses(run, RMA_LIMIT)) {
        return (peer == RMA_MEMSPAN) ? (size_t)RMA_LIMIT : run->peer_count;
    }
    for (size_t p = 0; p < run->peer_count; p++) {
        if (is_raw(run, p) && (strncmp(run->peers[p].name, "raw-", 4) == 0) &&
            (find(run, "memspan-", run->peers[p].name + 4) == run->peer_count)) {
            return p;
        }
    }
    return run->peer_count;
}

/* ---- verdicts ---- */

struct verdicts {
    const struct bench_run *run;
    struct cli_table table; /* of what was missed */
    size_t judged;
    size_t reached;
};

static void judge(struct verdicts *verdicts, const char *what, enum rma_placement placement,
                  size_t point, size_t peer, double ours, double other, double bound)
{
    const struct bench_run *run = verdicts->run;
    double ratio                = run->suite->points[point].more ? other / ours : ours / other;
    struct cli_table *table     = &verdicts->table;

    if (isnan(ratio)) {
        return;
    }
    verdicts->judged++;
    if (ratio <= bound) {
        verdicts->reached++;
        return;
    }
    cli_table_add(table, "%s", run->suite->points[point].name);
    cli_table_add(table, "%s", run->suite->placements[placement].name);
    cli_table_add(table, "%s", what);
    cli_table_add(table, "%s", bench_number_text(ours).text);
    cli_table_add(table, "%s", bench_number_text(other).text);
    cli_table_add(table, "%s", run->peers[peer].name);
    cli_table_add(table, "%s", bench_number_text(ratio).text);
}

static void begin(struct verdicts *verdicts, const struct bench_run *run)
{
    static const char *const heads[] = {"missed", "placement", "what",       "ours",
                                        "other",  "whose",     "times worse"};

    *verdicts = (struct verdicts){.run = run};
    cli_table_open(&verdicts->table, "lllrrlr");
    cli_table_add_row(&verdicts->table, heads);
}

static void end(struct verdicts *verdicts, const char *title)
{
    FILE *text = verdicts->run->output.text;

    fprintf(text, "\n%s: %zu of %zu reached\n", title, verdicts->reached, verdicts->judged);
    if (verdicts->reached < verdicts->judged) {
        cli_table_close_parts(&verdicts->table, text);
    } else {
        cli_table_free(&verdicts->table);
    }
}

/* Put + quiet, get, fetch-add. The raw libraries have no other operation that is the same. */
static bool is_promised(const struct bench_run *run, size_t point)
{
    size_t row = run->suite->points[point].row;

    return (row == RMA_PUT) || (row == RMA_GET) || (row == RMA_ATOMIC) || (row == RMA_PUT_SIZES) ||
           (row == RMA_GET_SIZES);
}

static void print_against_raw(const struct bench_run *run, size_t peer)
{
    size_t limit = rma_limit_of(run, peer);
    struct verdicts verdicts;
    char title[160];

    begin(&verdicts, run);
    for (unsigned placement = RMA_APART; placement <= RMA_TOGETHER; placement++) {
        for (size_t i = 0; i < run->suite->point_count; i++) {
            if (is_promised(run, i)) {
                judge(&verdicts, "best", placement, i, limit,
                      bench_run_value(run, placement, i, peer),
                      bench_run_value(run, placement, i, limit), raw_bound);
            }
        }
    }
    (void)snprintf(title, sizeof(title), "%s at most %g x %s", run->peers[peer].name, raw_bound,
                   run->peers[limit].name);
    end(&verdicts, title);
}

/* The best of the others' medians. */
static double best_median(const struct bench_run *run, enum rma_placement placement, size_t point,
                          size_t *peer_p)
{
    bool more   = run->suite->points[point].more;
    double best = NAN;

    for (size_t p = 0; p < run->peer_count; p++) {
        double median = bench_run_median(run, placement, point, p);

        if ((run->peers[p].role == BENCH_OTHER) && !isnan(median) &&
            (isnan(best) || (more ? median > best : median < best))) {
            best    = median;
            *peer_p = p;
        }
    }
    return best;
}

static void print_against_peers(const struct bench_run *run, size_t peer)
{
    unsigned others = bench_peers_of(run, BENCH_OTHER);
    struct verdicts verdicts;
    char title[160];
    size_t whose = 0;

    begin(&verdicts, run);
    for (unsigned placement = RMA_APART; placement <= RMA_TOGETHER; placement++) {
        for (size_t i = 0; i < run->suite->point_count; i++) {
            double best = bench_run_best(run, placement, i, others, &whose);

            judge(&verdicts, "best", placement, i, whose, bench_run_value(run, placement, i, peer),
                  best, peer_bound);
            best = best_median(run, placement, i, &whose);
            judge(&verdicts, "median", placement, i, whose,
                  bench_run_median(run, placement, i, peer), best, peer_bound);
        }
    }
    (void)snprintf(title, sizeof(title), "%s at or ahead of the best peer", run->peers[peer].name);
    end(&verdicts, title);
}

bool rma_print_network_targets(const struct bench_run *run)
{
    bool network = false;

    for (size_t p = 0; p < run->peer_count; p++) {
        network = network || is_raw(run, p);
    }
    for (size_t p = 0; network && (p < run->peer_count); p++) {
        if ((run->peers[p].role != BENCH_OURS) || !bench_run_uses(run, p)) {
            continue;
        }
        if (rma_limit_of(run, p) != run->peer_count) {
            print_against_raw(run, p);
        }
        print_against_peers(run, p);
    }
    return network;
}
