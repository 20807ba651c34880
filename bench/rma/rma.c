/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.c: the benchmark as tables. Workers name the points; their order here is that of tables and
 * files. */

#include "bench/rma/rma.h"

struct cli_texts rma_more;
struct cli_texts rma_beside;

/* Where a row is measured; only we have partitions; rows by size are long. */
#define APART 1u << RMA_APART, false, false
#define BOTH  1u << RMA_APART | 1u << RMA_TOGETHER, false, false
#define OURS  1u << RMA_APART, true, false
#define SIZES 1u << RMA_APART | 1u << RMA_TOGETHER, false, true

static const struct bench_row rows[RMA_ROW_COUNT] = {
#define ROW(symbol, name, where, help) {name, help, where},
    RMA_ROW_MAP(ROW)
#undef ROW
};

static const struct bench_placement placements[] = {
    [RMA_APART]    = {"apart", "", "each PE on a processor"},
    [RMA_TOGETHER] = {"together", ", both PEs on one processor", "both PEs on one processor"}};

static const struct bench_point points[] = {
    {RMA_MEMORY, "rss", "resident", "MiB", false},
    {RMA_MEMORY, "pss", "shared divided", "MiB", false},
    {RMA_PUT, "put-8", "8", "ns", false},
    {RMA_PUT, "put-64", "64", "ns", false},
    {RMA_PUT, "put-1k", "1024", "ns", false},
    {RMA_PUT, "put-8k", "8192", "ns", false},
    {RMA_PUT, "put-64k", "65536", "ns", false},
    {RMA_PUT, "put-1m", "1048576", "ns", false},
    {RMA_PUT, "put-4m", "4194304", "ns", false},
    {RMA_PUT, "put-data-8", "data 8", "ns", false},
    {RMA_PUT, "put-data-1k", "data 1024", "ns", false},
    {RMA_PUT, "put-data-8k", "data 8192", "ns", false},
    {RMA_PUT, "put-data-64k", "data 65536", "ns", false},
    {RMA_PUT, "put-data-1m", "data 1048576", "ns", false},
    {RMA_GET, "get-8", "8", "ns", false},
    {RMA_GET, "get-64", "64", "ns", false},
    {RMA_GET, "get-1k", "1024", "ns", false},
    {RMA_GET, "get-8k", "8192", "ns", false},
    {RMA_GET, "get-64k", "65536", "ns", false},
    {RMA_GET, "get-1m", "1048576", "ns", false},
    {RMA_GET, "get-4m", "4194304", "ns", false},
    {RMA_GET, "get-data-8", "data 8", "ns", false},
    {RMA_GET, "get-data-1k", "data 1024", "ns", false},
    {RMA_GET, "get-data-8k", "data 8192", "ns", false},
    {RMA_GET, "get-data-64k", "data 65536", "ns", false},
    {RMA_GET, "get-data-1m", "data 1048576", "ns", false},
    {RMA_SCALAR, "p", "p + quiet", "ns", false},
    {RMA_SCALAR, "p-64", "p, 64 a quiet", "ns", false},
    {RMA_SCALAR, "p-data", "p + quiet, data", "ns", false},
    {RMA_SCALAR, "g", "g", "ns", false},
    {RMA_SCALAR, "g-data", "g, data", "ns", false},
    {RMA_SCALAR, "put-self-8", "put 8 to self", "ns", false},
    {RMA_NBI, "nbi-8", "put 8", "M/s", true},
    {RMA_NBI, "nbi-1k", "put 1024", "M/s", true},
    {RMA_NBI, "nbi-get-8", "get 8", "M/s", true},
    {RMA_NBI, "nbi-64k", "put 65536", "GiB/s", true},
    {RMA_NBI, "nbi-1m", "put 1048576", "GiB/s", true},
    {RMA_NBI, "nbi-4m", "put 4194304", "GiB/s", true},
    {RMA_ATOMIC, "fetch-add", "fetch_add", "ns", false},
    {RMA_ATOMIC, "fetch-add-data", "fetch_add, data", "ns", false},
    {RMA_ATOMIC, "add", "add + quiet", "ns", false},
    {RMA_ATOMIC, "add-64", "add, 64 a quiet", "ns", false},
    {RMA_ATOMIC, "fetch", "fetch", "ns", false},
    {RMA_ATOMIC, "swap", "swap", "ns", false},
    {RMA_ATOMIC, "compare-swap", "compare_swap", "ns", false},
    {RMA_BARRIER, "barrier", "barrier_all", "ns", false},
    {RMA_BARRIER, "sync", "sync_all", "ns", false},
    {RMA_COLLECTIVE, "broadcast-8", "broadcast 8", "ns", false},
    {RMA_COLLECTIVE, "broadcast-64k", "broadcast 65536", "ns", false},
    {RMA_COLLECTIVE, "fcollect-8", "fcollect 8", "ns", false},
    {RMA_COLLECTIVE, "fcollect-64k", "fcollect 65536", "ns", false},
    {RMA_COLLECTIVE, "alltoall-8", "alltoall 8", "ns", false},
    {RMA_COLLECTIVE, "alltoall-64k", "alltoall 65536", "ns", false},
    {RMA_SUM, "sum-1", "1", "ns", false},
    {RMA_SUM, "sum-1024", "1024", "ns", false},
    {RMA_SUM, "sum-131072", "131072", "ns", false},
    {RMA_MALLOC, "malloc-64", "64 B", "ns", false},
    {RMA_MALLOC, "malloc-mix", "16 B..6 KiB, mixed", "ns", false},
    {RMA_VISIBLE, "visible-p", "p", "ns", false},
    {RMA_VISIBLE, "visible-data", "p, data", "ns", false},
    {RMA_VISIBLE, "visible-put", "put", "ns", false},
    {RMA_VISIBLE, "visible-1k", "1 KiB, fence, p", "ns", false},
#define POINT(bytes) {RMA_PUT_SIZES, "put-size-" #bytes, #bytes, "us", false},
    RMA_SIZE_MAP(POINT)
#undef POINT
#define POINT(bytes) {RMA_GET_SIZES, "get-size-" #bytes, #bytes, "us", false},
        RMA_SIZE_MAP(POINT)
#undef POINT
#define POINT(bytes) {RMA_STREAM, "stream-" #bytes, #bytes, "MB/s", true},
            RMA_SIZE_MAP(POINT)
#undef POINT
#define POINT(bytes) {RMA_RATE, "rate-" #bytes, #bytes, "M/s", true},
                RMA_SIZE_MAP(POINT)
#undef POINT
#define POINT(bytes) {RMA_GET_RATE, "get-rate-" #bytes, #bytes, "M/s", true},
                    RMA_SIZE_MAP(POINT)
#undef POINT
#define POINT(bytes) {RMA_PING_PONG, "ping-pong-" #bytes, #bytes, "us", false},
                        RMA_SIZE_MAP(POINT)
#undef POINT
                            {RMA_START, "start-wall", "all of it", "ms", false},
    {RMA_START, "start-init", "shmem_init", "ms", false},
    {RMA_PARTITION, "partition-1", "one partition", "ns", false},
    {RMA_PARTITION, "partition-8", "one out of eight", "ns", false},
    {RMA_STENCIL, "stencil-normal", "NORMALMEM", "us", false},
    {RMA_STENCIL, "stencil-huge", "NORMALMEM, 2 MiB pages", "us", false},
    {RMA_STENCIL, "stencil-fast", "FASTMEM", "us", false},
    {RMA_STENCIL, "stencil-pinned", "PINNED", "us", false},
    {RMA_STENCIL, "stencil-managed", "MANAGED", "us", false},
    {RMA_STENCIL, "stencil-coherent", "COHERENT", "us", false},
    {RMA_STENCIL, "stencil-device", "DEVICE", "us", false},
    {RMA_STENCIL, "stencil-libomp", "LIBOMP", "us", false},
    {RMA_CALL, "call-quiet", "8 B + quiet", "ns", false},
    {RMA_CALL, "call-8", "8 B, 4096 a quiet", "ns", false},
    {RMA_QUEUE, "queue-blocking-64k", "blocking 65536", "MB/s", true},
    {RMA_QUEUE, "queue-put-64k", "on a queue 65536", "MB/s", true},
    {RMA_QUEUE, "queue-put-work-64k", "beside work 65536", "MB/s", true},
    {RMA_QUEUE, "queue-work-64k", "work 65536", "%", true},
    {RMA_QUEUE, "queue-blocking-1m", "blocking 1048576", "MB/s", true},
    {RMA_QUEUE, "queue-put-1m", "on a queue 1048576", "MB/s", true},
    {RMA_QUEUE, "queue-put-work-1m", "beside work 1048576", "MB/s", true},
    {RMA_QUEUE, "queue-work-1m", "work 1048576", "%", true},
};

_Static_assert(sizeof(points) / sizeof(points[0]) <= BENCH_POINTS_MAX, "too many points");

/* Best against best: what lies above the best is a disturbance. */
static const struct bench_target targets[] = {
    {"8 B put + quiet", "put-8", BENCH_FASTER, 2.5, NULL, RMA_APART, 0},
    {"the same, data segment", "put-data-8", BENCH_FASTER, 2.5, NULL, RMA_APART, 0},
    {"8 B get", "get-8", BENCH_FASTER, 2, NULL, RMA_APART, 0},
    {"fetch_add", "fetch-add", BENCH_FASTER, 2, NULL, RMA_APART, 0},
    {"put 8 KiB", "put-8k", BENCH_TIMES, 1.05, "limit", RMA_APART, 0},
    {"put 64 KiB", "put-64k", BENCH_TIMES, 1.05, "limit", RMA_APART, 0},
    {"put 1 MiB", "put-1m", BENCH_TIMES, 1.05, "limit", RMA_APART, 0},
    {"put 4 MiB", "put-4m", BENCH_TIMES, 1.05, "limit", RMA_APART, 0},
    {"get 8 KiB", "get-8k", BENCH_TIMES, 1.05, "limit", RMA_APART, 0},
    {"get 64 KiB", "get-64k", BENCH_TIMES, 1.05, "limit", RMA_APART, 0},
    {"get 1 MiB", "get-1m", BENCH_TIMES, 1.05, "limit", RMA_APART, 0},
    {"get 4 MiB", "get-4m", BENCH_TIMES, 1.05, "limit", RMA_APART, 0},
    {"barrier, two round trips", "barrier", BENCH_TIMES, 1.3, "limit", RMA_APART, 0},
    {"int sum 1", "sum-1", BENCH_FASTER, 1, NULL, RMA_APART, 0},
    {"int sum 1,024", "sum-1024", BENCH_FASTER, 1, NULL, RMA_APART, 0},
    {"int sum 131,072", "sum-131072", BENCH_FASTER, 1, NULL, RMA_APART, 0},
    {"alltoall 8 B", "alltoall-8", BENCH_FASTER, 1, NULL, RMA_APART, 0},
    {"alltoall 64 KiB", "alltoall-64k", BENCH_FASTER, 1, NULL, RMA_APART, 0},
    {"malloc + free, 64 B", "malloc-64", BENCH_TWICE, 50, "barrier", RMA_APART, 0},
    {"visible, raw flags", "visible-p", BENCH_TIMES, 1.2, "limit", RMA_APART, 0},
    {"start, ms", "start-wall", BENCH_AT_MOST, 20, NULL, RMA_APART, 0},
    {"resident, MiB", "rss", BENCH_AT_MOST, 12, NULL, RMA_APART, 0},
    {"one processor: barrier, ns", "barrier", BENCH_AT_MOST, 20000, NULL, RMA_TOGETHER, 0},
    {"one processor: sum 1, ns", "sum-1", BENCH_AT_MOST, 40000, NULL, RMA_TOGETHER, 0},
    {"one processor: visible, ns", "visible-p", BENCH_AT_MOST, 20000, NULL, RMA_TOGETHER, 0},
    {"eight partitions against one", "partition-8", BENCH_TIMES, 1.02, "partition-1", RMA_APART, 0},
};

static const char *const drawn[] = {"put-8",      "put-data-8", "put-8k",    "get-8",
                                    "fetch-add",  "visible-p",  "barrier",   "sum-1",
                                    "sum-131072", "alltoall-8", "malloc-64", NULL};

static const struct bench_drawing drawing = {
    .name   = "",
    .points = drawn,
    .plot   = {.title    = "One-sided communication, by operation and library, 2 PEs",
               .subtitle = "bars: best; thin lines: to the median of the rounds",
               .x_title  = "operation",
               .y_title  = "time, ns"}};

bool rma_osu;

static const struct cli_option options[] = {
    {.names = "--osu",
     .form  = CLI_SET,
     .value = &rma_osu,
     .help  = "rows by size also as tables of the OSU micro-benchmarks' form"},
    {.names = "--peer",
     .form  = CLI_TEXTS,
     .value = &rma_more,
     .shape = "NAME=COMPILER,LAUNCHER",
     .help  = "one more peer, or another memspan or ompi; may be given again"},
    {.names = "--beside",
     .form  = CLI_TEXTS,
     .value = &rma_beside,
     .shape = "NAME=PROGRAM,LAUNCHER",
     .help  = "a program that no library can beat: raw-ucx, raw-ofi; may be given again"}};

static void put_head(struct bench_report *report, const struct bench_run *run)
{
    (void)run;
    bench_report_head(report, "pes", "2");
}

const struct bench_suite rma_suite = {.name            = "rma",
                                      .title           = "cost of one-sided communication, 2 PEs",
                                      .method          = "best of all batches (median of rounds)",
                                      .variables       = "MEMSPAN_ SHMEM SMA_ OMPI_ UCX_ FI_ LD_",
                                      .best            = true,
                                      .rows            = rows,
                                      .row_count       = RMA_ROW_COUNT,
                                      .points          = points,
                                      .point_count     = sizeof(points) / sizeof(points[0]),
                                      .placements      = placements,
                                      .placement_count = sizeof(placements) / sizeof(placements[0]),
                                      .targets         = targets,
                                      .target_count    = sizeof(targets) / sizeof(targets[0]),
                                      .drawings        = &drawing,
                                      .drawing_count   = 1,
                                      .options         = options,
                                      .option_count    = sizeof(options) / sizeof(options[0]),
                                      .list            = rma_peers_list,
                                      .find            = rma_peers_find,
                                      .measure         = rma_measure,
                                      .print_peers     = rma_print_peers,
                                      .print_targets   = rma_print_network_targets,
                                      .limit_of        = rma_limit_of,
                                      .put_head        = put_head,
                                      .put_row         = bench_run_put_row};
