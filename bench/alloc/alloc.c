/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c: the benchmark as tables. Workers name the points; their order here is that of tables and
 * files. */

#include "bench/alloc/alloc.h"
#include <math.h>

const char *alloc_also;

static const struct bench_row rows[ALLOC_ROW_COUNT] = {
#define ROW(symbol, name, help) {name, help, 1, false, false},
    ALLOC_ROW_MAP(ROW)
#undef ROW
};

static const struct bench_point points[] = {
    {ALLOC_PAIR, "pair-16", "16 B", "ns", false},
    {ALLOC_PAIR, "pair-64", "64 B", "ns", false},
    {ALLOC_PAIR, "pair-256", "256 B", "ns", false},
    {ALLOC_PAIR, "pair-1k", "1 KiB", "ns", false},
    {ALLOC_PAIR, "pair-4k", "4 KiB", "ns", false},
    {ALLOC_PAIR, "pair-64k", "64 KiB", "ns", false},
    {ALLOC_PAIR, "pair-1m", "1 MiB", "ns", false},
    {ALLOC_RANDOM, "random", "not touched", "ns", false},
    {ALLOC_RANDOM, "random-write", "written", "ns", false},
    {ALLOC_THREADS, "threads", "random, CPU", "Mops/s", true},
    {ALLOC_THREADS, "threads-wall", "random, clock", "Mops/s", true},
    {ALLOC_THREADS, "threads-pair", "pair 64 B, CPU", "Mops/s", true},
    {ALLOC_MANY, "many-threads", "16 threads", "ns", false},
    {ALLOC_MANY, "many-tasks", "freed elsewhere", "ns", false},
    {ALLOC_MANY, "many-allocators", "64 allocators", "ns", false},
    {ALLOC_PRODUCER, "producer-consumer", "M a second", "Mops/s", true},
    {ALLOC_PRODUCER, "producer-consumer-cpu", "CPU, ns", "ns", false},
    {ALLOC_FOOTPRINT, "footprint", "B per object", "B", false},
    {ALLOC_FOOTPRINT, "footprint-kept", "kept, %", "percent", false},
    {ALLOC_FOOTPRINT, "footprint-alloc", "alloc, ns", "ns", false},
    {ALLOC_FOOTPRINT, "footprint-free", "free, ns", "ns", false},
    {ALLOC_LIMIT, "limit-usable", "usable, %", "percent", true},
    {ALLOC_LIMIT, "limit-usable-threads", "by 2 threads, %", "percent", true},
    {ALLOC_LIMIT, "limit-refusal", "refusal, ns", "ns", false},
    {ALLOC_LIMIT, "limit-refusal-large", "of all of it, ns", "ns", false},
    {ALLOC_LIMIT, "limit-wrong", "wrong, per M", "per M", false},
    {ALLOC_LIMIT, "limit-overshoot", "overshoot, B", "B", false},
    {ALLOC_INIT, "init-destroy", "init + destroy", "ns", false},
    {ALLOC_INIT, "init-alloc-destroy", "with one block", "ns", false},
    {ALLOC_INIT, "init-threads", "in 2 threads", "ns", false},
    {ALLOC_START, "start-up", "median", "ms", false},
    {ALLOC_START, "start-up-min", "minimum", "ms", false},
    {ALLOC_START, "start-up-added", "added to glibc", "ms", false},
    {ALLOC_DEVICE, "device-mix-64k", "mix to 64 KiB", "ns", false},
    {ALLOC_DEVICE, "device-mix-1m", "mix to 1 MiB", "ns", false},
    {ALLOC_DEVICE, "device-pair-256", "pair 256 B", "ns", false},
    {ALLOC_DEVICE, "device-pair-4k", "4 KiB", "ns", false},
    {ALLOC_DEVICE, "device-pair-1m", "1 MiB", "ns", false},
    {ALLOC_DEVICE, "device-queue", "64 KiB, a queue", "ns", false},
    {ALLOC_DEVICE, "device-queues", "two in turn", "ns", false},
    {ALLOC_FILL, "fill", "uniform, %", "percent", true},
    {ALLOC_FILL, "fill-largest", "largest, MiB", "MiB", true},
    {ALLOC_FILL, "fill-log", "log-uniform, %", "percent", true},
    {ALLOC_FILL, "fill-log-largest", "largest, MiB", "MiB", true},
    {ALLOC_LOOKUP, "lookup-1", "1 region", "ns", false},
    {ALLOC_LOOKUP, "lookup-64", "64", "ns", false},
    {ALLOC_LOOKUP, "lookup-10000", "10,000", "ns", false},
    {ALLOC_RETENTION, "kept-peak", "threads: peak", "MiB", false},
    {ALLOC_RETENTION, "kept", "freed", "MiB", false},
    {ALLOC_RETENTION, "kept-later", "3 s later", "MiB", false},
    {ALLOC_RETENTION, "phases-peak", "phases: peak", "MiB", false},
    {ALLOC_RETENTION, "phases", "99 % freed", "MiB", false},
    {ALLOC_RETENTION, "phases-later", "3 s later", "MiB", false},
    {ALLOC_GROWTH, "growth", "not touched", "us", false},
    {ALLOC_GROWTH, "growth-write", "written", "us", false},
    {ALLOC_GROWTH, "growth-small", "1 KiB, written", "ns", false},
    {ALLOC_LARGE, "large-resident", "3 pages each", "MiB", false},
    {ALLOC_LARGE, "large-sparse", "3 pages, us", "us", false},
    {ALLOC_LARGE, "large-full", "in full, us", "us", false},
    {ALLOC_ARRAYS, "arrays-step", "3 x 1 GiB, steps", "MiB", false},
    {ALLOC_ARRAYS, "arrays-hash", "1 GiB, random", "MiB", false},
    {ALLOC_ARRAYS, "arrays-full", "512 MiB, ms", "ms", false},
    {ALLOC_ARRAYS, "arrays-full-again", "again, ms", "ms", false},
    {ALLOC_ARRAYS, "sizes-1", "1 size, freed", "MiB", false},
    {ALLOC_ARRAYS, "sizes-5", "5 sizes", "MiB", false},
    {ALLOC_ARRAYS, "sizes-many", "many sizes", "MiB", false},
    {ALLOC_TEAM, "team-64", "64 B", "ns", false},
    {ALLOC_TEAM, "team-4k", "4 KiB", "ns", false},
    {ALLOC_TEAM, "team-64k", "64 KiB", "ns", false},
};

enum { DEFAULT = ALLOC_MEMSPAN, CUSTOM = ALLOC_MEMSPAN_CUSTOM };

static const struct bench_target targets[] = {
    {"pair 64 B", "pair-64", BENCH_TIMES, 1.3, "mimalloc", 0, DEFAULT},
    {"pair 64 B, custom", "pair-64", BENCH_TIMES, 1.3, "mimalloc", 0, CUSTOM},
    {"pair 64 B, custom", "pair-64", BENCH_FASTER, 3, "libgomp-custom", 0, CUSTOM},
    {"pair 64 B, custom", "pair-64", BENCH_FASTER, 6, "libomp-custom", 0, CUSTOM},
    {"random, 10,000 live", "random", BENCH_TIMES, 1.1, "jemalloc,mimalloc", 0, DEFAULT},
    {"random, custom", "random", BENCH_TIMES, 1.1, "jemalloc,mimalloc", 0, CUSTOM},
    {"random, written", "random-write", BENCH_TIMES, 1.1, "jemalloc,mimalloc", 0, DEFAULT},
    {"2 threads, CPU", "threads", BENCH_RATE, 1, "mimalloc", 0, DEFAULT},
    {"2 threads, clock", "threads-wall", BENCH_RATE, 1, "mimalloc", 0, DEFAULT},
    {"2 threads, pairs", "threads-pair", BENCH_RATE, 1, "mimalloc", 0, DEFAULT},
    {"producer/consumer, clock", "producer-consumer", BENCH_RATE, 1, "jemalloc,mimalloc", 0,
     DEFAULT},
    {"producer/consumer, CPU", "producer-consumer-cpu", BENCH_TIMES, 1, "mimalloc", 0, DEFAULT},
    {"bytes per 64 B object", "footprint", BENCH_AT_MOST, 66, NULL, 0, DEFAULT},
    {"bytes, custom", "footprint", BENCH_AT_MOST, 66, NULL, 0, CUSTOM},
    {"usable of pool_size, %", "limit-usable", BENCH_AT_LEAST, 94, NULL, 0, DEFAULT},
    {"the same by 2 threads, %", "limit-usable-threads", BENCH_AT_LEAST, 94, NULL, 0, DEFAULT},
    {"wrong refusals per M", "limit-wrong", BENCH_AT_MOST, 0, NULL, 0, DEFAULT},
    {"overshoot, B", "limit-overshoot", BENCH_AT_MOST, 0, NULL, 0, DEFAULT},
    {"refusal", "limit-refusal", BENCH_TIMES, 1, "libgomp", 0, DEFAULT},
    {"refusal of all of it, ns", "limit-refusal-large", BENCH_AT_MOST, 5, NULL, 0, DEFAULT},
    {"init + destroy", "init-destroy", BENCH_TIMES, 1, "libgomp", 0, DEFAULT},
    {"the same with a block", "init-alloc-destroy", BENCH_TIMES, 1, "libgomp", 0, DEFAULT},
    {"the same in 2 threads", "init-threads", BENCH_TIMES, 1.3, "libgomp", 0, DEFAULT},
    {"start-up added, ms", "start-up-added", BENCH_AT_MOST, 0.3,
     "jemalloc,mimalloc,memkind,libgomp,libomp", 0, DEFAULT},
    {"device mix to 64 KiB, ns", "device-mix-64k", BENCH_AT_MOST, 20, "umf", 0, DEFAULT},
    {"device mix to 1 MiB, ns", "device-mix-1m", BENCH_AT_MOST, 20, "umf", 0, DEFAULT},
    {"fill, uniform, %", "fill", BENCH_AT_LEAST, 97, NULL, 0, DEFAULT},
    {"fill, log-uniform, %", "fill-log", BENCH_AT_LEAST, 97, NULL, 0, DEFAULT},
    {"lookup, 1 region, ns", "lookup-1", BENCH_AT_MOST, 2, NULL, 0, DEFAULT},
    {"lookup, 64 regions, ns", "lookup-64", BENCH_AT_MOST, 2, NULL, 0, DEFAULT},
    {"lookup, 10,000, ns", "lookup-10000", BENCH_AT_MOST, 2, NULL, 0, DEFAULT},
    {"kept by 16 threads, MiB", "kept", BENCH_TIMES, 1, "jemalloc,mimalloc", 0, DEFAULT},
    {"3 s later, MiB", "kept-later", BENCH_TIMES, 1, "jemalloc,mimalloc", 0, DEFAULT},
    {"kept of phases, MiB", "phases", BENCH_TIMES, 1, "jemalloc,mimalloc", 0, DEFAULT},
    {"3 s later, MiB", "phases-later", BENCH_TIMES, 1, "jemalloc,mimalloc", 0, DEFAULT},
    {"growth by realloc", "growth-write", BENCH_TIMES, 2, "libgomp", 0, DEFAULT},
    {"growth by 1 KiB", "growth-small", BENCH_TIMES, 1.3, "libgomp", 0, DEFAULT},
    {"team, 64 B", "team-64", BENCH_TIMES, 1.3, "libgomp", 0, DEFAULT},
    {"team, 4 KiB", "team-4k", BENCH_TIMES, 1.3, "libgomp", 0, DEFAULT},
    {"team, 64 KiB", "team-64k", BENCH_TIMES, 1.3, "libgomp", 0, DEFAULT},
    {"lookup, 10,000 against 1", "lookup-10000", BENCH_TIMES, 1.25, "lookup-1", 0, DEFAULT},
};

_Static_assert(sizeof(points) / sizeof(points[0]) <= BENCH_POINTS_MAX, "too many points");

static const char *const drawn[] = {
    "pair-64",      "pair-4k",        "random",    "producer-consumer-cpu",
    "init-destroy", "device-mix-64k", "lookup-64", NULL};

static const struct bench_drawing drawing = {
    .name   = "",
    .points = drawn,
    .plot   = {.title    = "Allocation, by row and peer",
               .subtitle = "bars: medians; thin lines: fastest to slowest round",
               .x_title  = "row",
               .y_title  = "thread processor time, ns"}};

static const struct bench_placement placements[] = {{"", "", ""}};

static const struct cli_option options[] = {
    {.names = "--also",
     .form  = CLI_TEXT,
     .value = &alloc_also,
     .shape = "NAME=LIBRARY[,...]",
     .help  = "more peers: libraries of malloc, or other versions of ours, libgomp, libomp"}};

static void put_head(struct bench_report *report, const struct bench_run *run)
{
    (void)run;
    bench_report_head(report, "build", "%s", alloc_peers[ALLOC_MEMSPAN].build);
}

static double ratio(double value, double to)
{
    return (to == 0) ? NAN : value / to;
}

static void put_row(struct bench_report *report, const struct bench_run *run, unsigned placement,
                    size_t point, size_t p)
{
    const struct bench_figure *figure = &run->figures[placement][point][p];
    const char *build                 = alloc_peers[p].build;
    struct bench_summary summary      = {.median = NAN, .min = NAN, .max = NAN};
    size_t ignored;

    (void)bench_samples_summarize(&figure->medians, &summary);
    bench_put_text(report, "date", run->output.machine.date);
    bench_put_text(report, "machine", run->output.machine.machine);
    bench_put_text(report, "build", (build[0] != '\0') ? build : alloc_peers[ALLOC_MEMSPAN].build);
    bench_put_text(report, "row", rows[points[point].row].name);
    bench_put_text(report, "point", points[point].name);
    bench_put_text(report, "peer", run->peers[p].name);
    bench_put_text(report, "version", run->peers[p].version);
    bench_put_text(report, "unit", points[point].unit);
    bench_put_text(report, "better", points[point].more ? "more" : "less");
    bench_put_count(report, "rounds", (int64_t)figure->medians.count);
    bench_put_real(report, "median", summary.median);
    bench_put_real(report, "min", summary.min);
    bench_put_real(report, "max", summary.max);
    bench_put_real(report, "ratio_to_best",
                   ratio(summary.median, bench_run_best(run, placement, point, ~0u, &ignored)));
    bench_put_real(report, "ratio_to_memspan",
                   ratio(summary.median, bench_run_median(run, placement, point, ALLOC_MEMSPAN)));
    bench_put_text(report, "result", bench_run_result(run, placement, point, p));
}

const struct bench_suite alloc_suite = {
    .name            = "alloc",
    .title           = "cost of allocation",
    .method          = "medians; ns are thread processor time\n"
                       "# (times the best of the column)   ~ rounds differ by more than a quarter",
    .variables       = "MEMSPAN_ MALLOC_ MIMALLOC_ OMP_ GOMP_ KMP_ LD_ MEMKIND_",
    .rows            = rows,
    .row_count       = ALLOC_ROW_COUNT,
    .points          = points,
    .point_count     = sizeof(points) / sizeof(points[0]),
    .placements      = placements,
    .placement_count = 1,
    .targets         = targets,
    .target_count    = sizeof(targets) / sizeof(targets[0]),
    .drawings        = &drawing,
    .drawing_count   = 1,
    .options         = options,
    .option_count    = sizeof(options) / sizeof(options[0]),
    .list            = alloc_peers_list,
    .find            = alloc_peers_find,
    .measure         = alloc_measure,
    .print_peers     = alloc_print_peers,
    .put_head        = put_head,
    .put_row         = put_row};
