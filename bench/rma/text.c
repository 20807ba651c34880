/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: the libraries that were measured, and tables by size. */

#include "bench/rma/rma.h"
#include <math.h>
#include <string.h>

void rma_print_peers(const struct bench_run *run)
{
    FILE *text = run->output.text;

    for (size_t p = 0; p < run->peer_count; p++) {
        const struct bench_peer *peer = &run->peers[p];
        if (!peer->present) {
            continue;
        }
        fprintf(text, "# peer     %-8s %s\n", peer->name, peer->version);
        if ((peer->library[0] == '\0') && (rma_peers[p].launcher[0] != '\0')) {
            fprintf(text, "#          %-8s %s\n", "", rma_peers[p].launcher);
        }
        if (peer->library[0] != '\0') {
            fprintf(text, "#          %-8s %s\n", "", peer->library);
            fprintf(text, "#          %-8s %s (%s); %s\n", "", rma_peers[p].compiler,
                    rma_peers[p].built_by, rma_peers[p].launcher);
        }
    }
}

/* ---- tables by size in the form of the OSU micro-benchmarks, for programs that read those ---- */

static const char *const quantities[RMA_ROW_COUNT] = {
    [RMA_PUT_SIZES] = "Latency (us)",  [RMA_GET_SIZES] = "Latency (us)",
    [RMA_STREAM] = "Bandwidth (MB/s)", [RMA_RATE] = "Messages/s",
    [RMA_GET_RATE] = "Messages/s",     [RMA_PING_PONG] = "Latency (us)",
};

static void print_osu(const struct bench_run *run, size_t row, unsigned placement, size_t peer)
{
    const struct bench_suite *suite = run->suite;
    FILE *text                      = run->output.text;

    fprintf(text, "\n# OpenSHMEM %s%s: %s %s\n# %-8s%18s\n", suite->rows[row].name,
            suite->placements[placement].note, run->peers[peer].name, run->peers[peer].version,
            "Size", quantities[row]);
    for (size_t i = 0; i < suite->point_count; i++) {
        double scale = (strcmp(suite->points[i].unit, "M/s") == 0) ? 1e6 : 1; /* of a rate */
        double value = bench_run_median(run, placement, i, peer);

        if ((suite->points[i].row == row) && !isnan(value)) {
            fprintf(text, "%-10s%18.2f\n", suite->points[i].label, value * scale);
        }
    }
}

void rma_print_osu(const struct bench_run *run, size_t row, unsigned placement)
{
    for (size_t p = 0; (quantities[row] != NULL) && (p < run->peer_count); p++) {
        if (bench_run_knows(run, row, placement, p)) {
            print_osu(run, row, placement, p);
        }
    }
}
