/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan-bench alloc: each row is measured for every peer once a round, peers in turn, in thread
 * processor time; medians are compared. */

#include "bench/alloc.h"
#include "bench/clock.h"
#include "bench/file.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/plot_svg.h"
#include "bench/report.h"
#include "bench/stats.h"
#include "bench/table.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct plan {
    size_t rounds;
    bool quick;
    bool help;
    struct bench_choice rows;
    struct bench_choice peers;
    const char *csv;
    const char *json;
    const char *svg;
};

typedef double (*measure_fn)(const struct alloc_peer *peer, size_t argument, bool quick);

static double now_ns(void)
{
    return (double)bench_clock_read(CLOCK_THREAD_CPUTIME_ID);
}

static double measure_pair(const struct alloc_peer *peer, size_t size_bytes, bool quick)
{
    size_t count = quick ? 2000 : (size_bytes > 4096) ? 30000 : 300000;
    double start = now_ns();

    for (size_t i = 0; i < count; i++) {
        void *volatile block = peer->alloc(peer, size_bytes);
        if (block == NULL) {
            return NAN;
        }
        peer->release(peer, block);
    }
    return (now_ns() - start) / (double)count;
}

/* One operation: a block of the set is freed and another of 16..4096 B takes its place. */
static double measure_random(const struct alloc_peer *peer, size_t live, bool quick)
{
    size_t count  = quick ? 5000 : 300000;
    void **blocks = calloc(live, sizeof(*blocks));
    uint32_t seed = 12345;
    double start  = 0;

    if (blocks == NULL) {
        return NAN;
    }
    for (size_t i = 0; i < live + count; i++) {
        size_t slot;
        if (i == live) {
            start = now_ns();
        }
        seed = seed * 1664525u + 1013904223u;
        slot = (i < live) ? i : (seed >> 8) % live;
        if (blocks[slot] != NULL) {
            peer->release(peer, blocks[slot]);
        }
        blocks[slot] = peer->alloc(peer, 16 + (seed >> 12) % 4081);
    }
    start = (now_ns() - start) / (double)count;
    for (size_t i = 0; i < live; i++) {
        if (blocks[i] != NULL) {
            peer->release(peer, blocks[i]);
        }
    }
    free(blocks);
    return start;
}

struct thread_job {
    const struct alloc_peer *peer;
    bool quick;
    double ns;
};

static void *run_thread(void *argument)
{
    struct thread_job *job = argument;

    job->ns = measure_random(job->peer, 1000, job->quick);
    return NULL;
}

static double measure_threads(const struct alloc_peer *peer, size_t argument, bool quick)
{
    struct thread_job jobs[2] = {{peer, quick, NAN}, {peer, quick, NAN}};
    pthread_t thread;

    (void)argument;
    if (pthread_create(&thread, NULL, run_thread, &jobs[0]) != 0) {
        return NAN;
    }
    (void)run_thread(&jobs[1]);
    (void)pthread_join(thread, NULL);
    return (jobs[0].ns + jobs[1].ns) / 2;
}

static double measure_init(const struct alloc_peer *peer, size_t argument, bool quick)
{
    size_t count = quick ? 500 : 20000;
    double start = now_ns();

    (void)argument;
    for (size_t i = 0; i < count; i++) {
        uintptr_t allocator = alloc_peer_make(peer, (size_t)64 << 20);
        if (allocator == 0) {
            return NAN;
        }
        alloc_peer_unmake(peer, allocator);
    }
    return (now_ns() - start) / (double)count;
}

/* Part of a full pool_size that 64 B objects get (percent), or the time of a refusal (ns). */
static double measure_limit(const struct alloc_peer *peer, size_t refusal, bool quick)
{
    size_t limit           = (size_t)(quick ? 1 : 64) << 20;
    size_t taken           = 0;
    size_t count           = quick ? 500 : 20000;
    struct alloc_peer mine = *peer;
    void **blocks          = calloc(limit / 64 + 1, sizeof(*blocks));
    double result          = NAN;

    mine.allocator = (blocks != NULL) ? alloc_peer_make(peer, limit) : 0;
    if (mine.allocator == 0) {
        free(blocks);
        return NAN;
    }
    while ((taken <= limit / 64) && ((blocks[taken] = mine.alloc(&mine, 64)) != NULL)) {
        taken++;
    }
    result = 100.0 * (double)taken * 64 / (double)limit;
    if (refusal != 0) {
        double start = now_ns();
        for (size_t i = 0; i < count; i++) {
            void *volatile block = mine.alloc(&mine, limit);
            result               = (block == NULL) ? result : NAN;
        }
        result = isnan(result) ? NAN : (now_ns() - start) / (double)count;
    }
    while (taken > 0) {
        mine.release(&mine, blocks[--taken]);
    }
    alloc_peer_unmake(&mine, mine.allocator);
    free(blocks);
    return result;
}

/* memspan_pointer_reach is the cheapest public question about a pointer; peers have none alike. */
static double measure_lookup(const struct alloc_peer *peer, size_t regions, bool quick)
{
    size_t count  = quick ? 1000 : 50000;
    void **blocks = calloc(regions, sizeof(*blocks));
    memspan_reach_t reach;
    double start;
    double result = NAN;
    size_t made   = 0;

    if ((blocks == NULL) || (peer->omp_alloc != NULL) || (peer->malloc != NULL) ||
        (peer->kind != NULL)) {
        free(blocks);
        return NAN;
    }
    while ((made < regions) && ((blocks[made] = peer->alloc(peer, 65536)) != NULL)) {
        made++;
    }
    memset(&reach, 0, sizeof(reach));
    if ((made == regions) &&
        (memspan_pointer_reach(blocks[0], MEMSPAN_HOST, &reach) != MEMSPAN_OK)) {
        regions = made + 1; /* a refusal's time is no lookup's */
    }
    start = now_ns();
    for (size_t i = 0; (made == regions) && (i < count); i++) {
        (void)memspan_pointer_reach((char *)blocks[i * 7919 % regions] + 64, MEMSPAN_HOST, &reach);
    }
    result = (made == regions) ? (now_ns() - start) / (double)count : NAN;
    while (made > 0) {
        peer->release(peer, blocks[--made]);
    }
    free(blocks);
    return result;
}

/* X(name, unit, function, argument) */
#define ROW_MAP(X)                                                                                 \
    X("pair-16", "ns", measure_pair, 16)                                                           \
    X("pair-64", "ns", measure_pair, 64)                                                           \
    X("pair-256", "ns", measure_pair, 256)                                                         \
    X("pair-1k", "ns", measure_pair, 1024)                                                         \
    X("pair-4k", "ns", measure_pair, 4096)                                                         \
    X("pair-64k", "ns", measure_pair, 65536)                                                       \
    X("pair-1m", "ns", measure_pair, 1048576)                                                      \
    X("random", "ns", measure_random, 10000)                                                       \
    X("threads-2", "ns", measure_threads, 0)                                                       \
    X("limit-usable", "percent", measure_limit, 0)                                                 \
    X("limit-refusal", "ns", measure_limit, 1)                                                     \
    X("init-destroy", "ns", measure_init, 0)                                                       \
    X("lookup-1", "ns", measure_lookup, 1)                                                         \
    X("lookup-64", "ns", measure_lookup, 64)                                                       \
    X("lookup-10000", "ns", measure_lookup, 10000)

static const struct {
    const char *name;
    const char *unit;
    measure_fn measure;
    size_t argument;
} rows[] = {
#define ROW(name, unit, function, argument) {name, unit, function, argument},
    ROW_MAP(ROW)
#undef ROW
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static const char *const row_names[] = {
#define ROW_NAME(name, unit, function, argument) name,
    ROW_MAP(ROW_NAME)
#undef ROW_NAME
};

static const char *const peer_names[] = {
#define PEER_NAME(symbol, name) name,
    ALLOC_PEER_MAP(PEER_NAME)
#undef PEER_NAME
};

static struct bench_samples samples[ROW_COUNT][ALLOC_PEER_COUNT];

static bool chosen(const struct bench_choice *choice, size_t index)
{
    return (choice->mask & (1u << index)) != 0;
}

static void measure(const struct plan *plan, const struct alloc_peer *peers)
{
    for (size_t r = 0; r < ROW_COUNT; r++) {
        for (size_t round = 0; chosen(&plan->rows, r) && (round < plan->rounds); round++) {
            for (size_t p = 0; p < ALLOC_PEER_COUNT; p++) {
                double value = NAN;
                if (peers[p].present && chosen(&plan->peers, p)) {
                    value = rows[r].measure(&peers[p], rows[r].argument, plan->quick);
                }
                if (!isnan(value)) {
                    (void)bench_samples_add(&samples[r][p], value);
                }
            }
        }
    }
}

static const char *const columns[] = {"row", "peer", "unit",          "rounds", "median",
                                      "min", "max",  "memspan_ratio", "result"};

static bool add_cells(struct bench_report *report, const struct alloc_peer *peer, size_t r,
                      size_t p)
{
    struct bench_cell *cells = bench_report_row(report);
    struct bench_summary summary;

    if (cells == NULL) {
        return false;
    }
    bench_cell_count(&cells[3], (int64_t)samples[r][p].count);
    if (bench_samples_summarize(&samples[r][p], &summary)) {
        bench_cell_real(&cells[4], summary.median);
        bench_cell_real(&cells[5], summary.min);
        bench_cell_real(&cells[6], summary.max);
        bench_cell_real(&cells[7],
                        bench_samples_median(&samples[r][ALLOC_MEMSPAN]) / summary.median);
    }
    return bench_cell_text(&cells[0], rows[r].name) && bench_cell_text(&cells[1], peer->name) &&
           bench_cell_text(&cells[2], rows[r].unit) &&
           bench_cell_text(&cells[8], !peer->present             ? "absent"
                                      : samples[r][p].count == 0 ? "none"
                                                                 : "measured");
}

static bool write_report(const struct plan *plan, const struct alloc_peer *peers,
                         const char *command)
{
    struct bench_machine machine;
    struct bench_report *report =
        bench_report_create("alloc", columns, sizeof(columns) / sizeof(columns[0]));
    bool good;

    bench_machine_describe(&machine);
    good = (report != NULL) && bench_report_head(report, "date", "%s", machine.date) &&
           bench_report_head(report, "machine", "%s", machine.machine) &&
           bench_report_head(report, "load", "%.1f", machine.load) &&
           bench_report_head(report, "command", "%s", command);
    for (size_t i = 0; good && (i < (size_t)ROW_COUNT * ALLOC_PEER_COUNT); i++) {
        size_t r = i / ALLOC_PEER_COUNT;
        size_t p = i % ALLOC_PEER_COUNT;
        if (chosen(&plan->rows, r) && chosen(&plan->peers, p)) {
            good = add_cells(report, &peers[p], r, p);
        }
    }
    good = good && ((plan->csv == NULL) || bench_report_write_csv(report, plan->csv));
    good = good && ((plan->json == NULL) || bench_report_write_json(report, plan->json));
    bench_report_destroy(report);
    return good;
}

static bool write_figure(const struct plan *plan)
{
    static struct bench_plot_bar bars[ROW_COUNT * ALLOC_PEER_COUNT];
    struct bench_plot_panel panel = {"alloc", bars};
    struct bench_plot plot        = {.title        = "Allocation, by row and peer",
                                     .subtitle     = "medians; thin lines: fastest to slowest round",
                                     .x_title      = "row",
                                     .y_title      = "thread processor time, ns (limit-usable: percent)",
                                     .groups       = row_names,
                                     .group_count  = ROW_COUNT,
                                     .series       = peer_names,
                                     .series_count = ALLOC_PEER_COUNT,
                                     .panels       = &panel,
                                     .panel_count  = 1};
    struct bench_summary summary;

    for (size_t i = 0; i < (size_t)ROW_COUNT * ALLOC_PEER_COUNT; i++) {
        if (bench_samples_summarize(&samples[i / ALLOC_PEER_COUNT][i % ALLOC_PEER_COUNT],
                                    &summary) &&
            (summary.min > 0)) {
            bars[i] = (struct bench_plot_bar){true, summary.median, summary.min, summary.max};
        }
    }
    return bench_plot_svg_write(&plot, plan->svg);
}

static void print_table(FILE *text, const struct plan *plan, const struct alloc_peer *peers)
{
    for (size_t r = 0; r < ROW_COUNT; r++) {
        double ours = bench_samples_median(&samples[r][ALLOC_MEMSPAN]);
        for (size_t p = 0; chosen(&plan->rows, r) && (p < ALLOC_PEER_COUNT); p++) {
            double median = bench_samples_median(&samples[r][p]);
            if (samples[r][p].count != 0) {
                fprintf(text, "%-14s %-16s %10.2f %-8s memspan/peer %.2f\n", rows[r].name,
                        peers[p].name, median, rows[r].unit, ours / median);
            }
        }
    }
    for (size_t p = 0; p < ALLOC_PEER_COUNT; p++) {
        if (!peers[p].present && chosen(&plan->peers, p)) {
            fprintf(text,
                    "%s: not measured, its library is absent or cannot be opened beside others\n",
                    peers[p].name);
        }
    }
}

static int run_plan(const struct plan *plan, const char *command)
{
    struct alloc_peer peers[ALLOC_PEER_COUNT];
    const char *paths[] = {plan->csv, plan->json, plan->svg};
    size_t taken        = 0;
    bool good           = true;

    for (size_t i = 0; i < 3; i++) {
        if ((paths[i] != NULL) && !bench_file_may_write(paths[i])) {
            return 2;
        }
        taken += ((paths[i] != NULL) && bench_file_is_output(paths[i])) ? 1 : 0;
    }
    if (taken > 1) {
        fprintf(stderr, "only one of --csv, --json and --svg can be '-'\n");
        return 2;
    }
    alloc_peers_open(peers);
    measure(plan, peers);
    print_table((taken == 0) ? stdout : stderr, plan, peers);
    if ((plan->csv != NULL) || (plan->json != NULL)) {
        good = write_report(plan, peers, command);
    }
    if (plan->svg != NULL) {
        good = write_figure(plan) && good;
    }
    return good ? 0 : 1;
}

int alloc_main(int argument_count, char *const *arguments)
{
    struct plan plan              = {.rounds = 5,
                                     .rows   = {row_names, ROW_COUNT, (1u << ROW_COUNT) - 1},
                                     .peers  = {peer_names, ALLOC_PEER_COUNT, (1u << ALLOC_PEER_COUNT) - 1}};
    struct bench_option options[] = {
        {.name  = "rounds",
         .form  = BENCH_OPTION_COUNT,
         .value = &plan.rounds,
         .shape = "COUNT",
         .help  = "interleaved rounds, of which the median is reported (5)",
         .min   = 1,
         .max   = BENCH_ROUNDS_MAX},
        {.name  = "quick",
         .form  = BENCH_OPTION_SET,
         .value = &plan.quick,
         .help  = "a second only: few operations, limits of 1 MiB"},
        {.name  = "rows",
         .form  = BENCH_OPTION_CHOICE,
         .value = &plan.rows,
         .shape = "NAME[,...]",
         .help  = "what to measure (all)"},
        {.name  = "peers",
         .form  = BENCH_OPTION_CHOICE,
         .value = &plan.peers,
         .shape = "NAME[,...]",
         .help  = "whom to measure (all)"},
        {.name  = "csv",
         .form  = BENCH_OPTION_TEXT,
         .value = &plan.csv,
         .shape = "FILE",
         .help  = "write a row a peer as CSV ('-': standard output)"},
        {.name  = "json",
         .form  = BENCH_OPTION_TEXT,
         .value = &plan.json,
         .shape = "FILE",
         .help  = "write the same as JSON"},
        {.name  = "svg",
         .form  = BENCH_OPTION_TEXT,
         .value = &plan.svg,
         .shape = "FILE",
         .help  = "draw the medians"},
        {.name = "help", .form = BENCH_OPTION_SET, .value = &plan.help, .help = "show this"}};
    size_t option_count = sizeof(options) / sizeof(options[0]);
    char command[512]   = "memspan-bench alloc";

    for (int i = 0; i < argument_count; i++) {
        size_t used = strlen(command);
        (void)snprintf(command + used, sizeof(command) - used, " %s", arguments[i]);
    }
    if (!bench_options_parse(options, option_count, argument_count, arguments)) {
        return 2;
    }
    if (plan.help) {
        bench_options_print(stdout, options, option_count);
        return 0;
    }
    return run_plan(&plan, command);
}
