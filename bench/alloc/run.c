/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds: every peer once, in turn, beginning with another peer each time. */

#include "bench/alloc/alloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 20 }; /* processes a round of the row start-up */

static const struct alloc_peer baseline = {.name = "glibc", .worker = "malloc"};

static bool takes_part(const struct alloc_run *run, enum alloc_row row, size_t p)
{
    const struct alloc_peer *peer = &run->peers.list[p];

    return alloc_chosen(&run->plan->peers, p) && peer->present &&
           ((peer->rows & (1u << row)) != 0) && (run->failures[row][p][0] == '\0');
}

static void add(struct alloc_run *run, size_t point, size_t peer, double value)
{
    if ((point < alloc_point_count) && !isnan(value)) {
        (void)bench_samples_add(&run->samples[point][peer], value);
    }
}

/* Lines of "NAME VALUE". */
static void add_points(struct alloc_run *run, size_t peer, const char *output)
{
    while (*output != '\0') {
        size_t length = strcspn(output, "\n");
        size_t name   = strcspn(output, " \n");

        if (name < length) {
            add(run, alloc_point_find(output, name), peer, strtod(output + name, NULL));
        }
        output += length + (output[length] == '\n');
    }
}

static void measure_once(struct alloc_run *run, enum alloc_row row, size_t p)
{
    for (size_t w = 0; (w < 2) && (alloc_rows[row].workers[w] != NULL); w++) {
        struct bench_command command = alloc_peer_command(&run->peers, &run->peers.list[p], row);
        struct bench_child child;

        command.arguments[0] = alloc_rows[row].workers[w];
        command.arguments[2] = run->plan->quick ? "quick" : NULL;
        command.timeout_s    = run->plan->timeout_s;
        if (!bench_child_run(&command, &child)) {
            (void)snprintf(run->failures[row][p], sizeof(run->failures[row][p]), "%s",
                           child.failure);
        }
        add_points(run, p, child.output); /* what came before a failure was measured */
    }
}

/* ---- start-up: the time of whole processes, peers in turn within a round too ---- */

static double start_once(struct alloc_run *run, const struct alloc_peer *peer, char *failure,
                         size_t failure_size)
{
    struct bench_command command = alloc_peer_command(&run->peers, peer, ALLOC_START);
    struct bench_child child;

    command.arguments[0] = "start";
    command.timeout_s    = run->plan->timeout_s;
    if (!bench_child_run(&command, &child)) {
        (void)snprintf(failure, failure_size, "%s", child.failure);
        return NAN;
    }
    return child.cpu_ns / 1e6;
}

static void measure_starts(struct alloc_run *run)
{
    static struct bench_samples times[ALLOC_PEERS_MAX + 1];
    struct bench_summary summary;
    size_t starts = run->plan->quick ? 2 : STARTS;
    double base;
    char ignored[8];

    memset(times, 0, sizeof(times));
    for (size_t i = 0; i < starts; i++) {
        double value = start_once(run, &baseline, ignored, sizeof(ignored));
        if (!isnan(value)) {
            (void)bench_samples_add(&times[ALLOC_PEERS_MAX], value);
        }
        for (size_t p = 0; p < run->peers.count; p++) {
            if (!takes_part(run, ALLOC_START, p)) {
                continue;
            }
            value = start_once(run, &run->peers.list[p], run->failures[ALLOC_START][p],
                               sizeof(run->failures[ALLOC_START][p]));
            if (!isnan(value)) {
                (void)bench_samples_add(&times[p], value);
            }
        }
    }
    base = bench_samples_median(&times[ALLOC_PEERS_MAX]);
    for (size_t p = 0; p < run->peers.count; p++) {
        if (bench_samples_summarize(&times[p], &summary)) {
            add(run, alloc_point_find("start-up", 8), p, summary.median);
            add(run, alloc_point_find("start-up-min", 12), p, summary.min);
            add(run, alloc_point_find("start-up-added", 14), p, summary.median - base);
        }
    }
}

void alloc_measure_row(struct alloc_run *run, enum alloc_row row)
{
    for (size_t round = 0; round < run->plan->rounds; round++) {
        if (row == ALLOC_START) {
            measure_starts(run);
            continue;
        }
        for (size_t i = 0; i < run->peers.count; i++) {
            size_t p = (round + i) % run->peers.count;
            if (takes_part(run, row, p)) {
                measure_once(run, row, p);
            }
        }
    }
}

static bool begins_with_one_of(const char *name, const char *families)
{
    while (*families != '\0') {
        size_t length = strcspn(families, ",");
        if (strncmp(name, families, length) == 0) {
            return true;
        }
        families += length + (families[length] == ',');
    }
    return false;
}

double alloc_best(const struct alloc_run *run, size_t point, const char *families, size_t *peer_p)
{
    double best = NAN;

    for (size_t p = 0; (point < alloc_point_count) && (p < run->peers.count); p++) {
        double median = bench_samples_median(&run->samples[point][p]);
        if (isnan(median) ||
            ((families != NULL) && !begins_with_one_of(run->peers.list[p].name, families))) {
            continue;
        }
        if (isnan(best) || (alloc_points[point].more ? (median > best) : (median < best))) {
            best    = median;
            *peer_p = p;
        }
    }
    return best;
}
