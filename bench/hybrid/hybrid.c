/* SPDX-License-Identifier: BSD-3-Clause */
/* hybrid.c: the benchmark as tables. */

#include "bench/hybrid/hybrid.h"
#include <memspan/memspan.h>

const char *hybrid_hosts;

#define ONE_HOST  (1u << HYBRID_ONE_HOST)
#define TWO_HOSTS (1u << HYBRID_TWO_HOSTS)

static const struct bench_row rows[HYBRID_ROW_COUNT] = {
#define ROW(symbol, name, ours, help)                                                              \
    {name, help, ONE_HOST | ((HYBRID_##symbol == HYBRID_LINES) ? 0 : TWO_HOSTS), ours, false},
    HYBRID_ROW_MAP(ROW)
#undef ROW
};

static const struct bench_placement placements[] = {
    [HYBRID_ONE_HOST]  = {"one-host", "", "one host"},
    [HYBRID_TWO_HOSTS] = {"two-hosts", ", two hosts", "two hosts"}};

#define SIZES(X, row, name)                                                                        \
    X(row, name, 8)                                                                                \
    X(row, name, 64) X(row, name, 1024) X(row, name, 8192) X(row, name, 65536) X(row, name, 1048576)
#define SIZE(row, name, bytes) {row, name "-" #bytes, #bytes, "us", false},
#define PES(row, name, scaling, label, unit, more)                                                 \
    {row, name scaling "-1", label "1 PE", unit, more},                                            \
        {row, name scaling "-2", label "2 PEs", unit, more},                                       \
    {                                                                                              \
        row, name scaling "-4", label "4 PEs", unit, more                                          \
    }
#define SCALED(row, name, unit)                                                                    \
    PES(row, name, "-strong", "strong, ", unit, false),                                            \
        PES(row, name, "-weak", "weak, ", unit, false)

static const struct bench_point points[] = {
    SIZES(SIZE, HYBRID_PUT, "put"){HYBRID_PUT, "put-4194304", "4194304", "us", false},
    SIZES(SIZE, HYBRID_ALLTOALL, "alltoall") SIZES(SIZE, HYBRID_BROADCAST, "broadcast")
        SIZES(SIZE, HYBRID_REDUCE, "reduce") SCALED(HYBRID_RANDOM, "random", "us"),
    SCALED(HYBRID_ATOMIC, "random-atomic", "us"),
    SCALED(HYBRID_FFT, "fft", "ms"),
    SCALED(HYBRID_MATRIX, "matrix", "ms"),
    SCALED(HYBRID_HEAT, "heat", "ms"),
    PES(HYBRID_RATE, "rate", "-weak", "weak, ", "M/s", true),
    PES(HYBRID_EFFICIENCY, "efficiency", "-fft", "fft, ", "", true),
    PES(HYBRID_EFFICIENCY, "efficiency", "-matrix", "matrix, ", "", true),
    PES(HYBRID_EFFICIENCY, "efficiency", "-heat", "heat, ", "", true),
    {HYBRID_LINES, "lines-job", "arrays", "", false},
    {HYBRID_LINES, "lines-move", "put, collectives", "", false},
    {HYBRID_LINES, "lines-random", "random", "", false},
    {HYBRID_LINES, "lines-fft", "fft", "", false},
    {HYBRID_LINES, "lines-matrix", "matrix", "", false},
    {HYBRID_LINES, "lines-heat", "heat", "", false},
};

_Static_assert(sizeof(points) / sizeof(points[0]) <= BENCH_POINTS_MAX, "too many points");

/* What the paper reports for GPUs: 6 and 4.9 times, and never slower. */
#define FASTER(what, point, times)                                                                 \
    {what, point, BENCH_FASTER, times, "standard", HYBRID_ONE_HOST, HYBRID_EXTENDED},              \
    {                                                                                              \
        what ", two hosts", point, BENCH_FASTER, times, "standard", HYBRID_TWO_HOSTS,              \
            HYBRID_EXTENDED                                                                        \
    }
#define NOT_SLOWER(app)                                                                            \
    FASTER(app ", strong, 2 PEs", app "-strong-2", 1),                                             \
        FASTER(app ", strong, 4 PEs", app "-strong-4", 1),                                         \
        FASTER(app ", weak, 2 PEs", app "-weak-2", 1),                                             \
        FASTER(app ", weak, 4 PEs", app "-weak-4", 1)

/* Kernels that call OpenSHMEM against calls of the host. */
#define BY_KERNEL(what, point, times)                                                              \
    {                                                                                              \
        what, point, BENCH_FASTER, times, "extended", HYBRID_ONE_HOST, HYBRID_DEVICE               \
    }

static const struct bench_target targets[] = {
    FASTER("put of 8 B", "put-8", 6),
    FASTER("random access, 2 PEs", "random-weak-2", 4.9),
    FASTER("random access, 4 PEs", "random-weak-4", 4.9),
    NOT_SLOWER("fft"),
    NOT_SLOWER("matrix"),
    NOT_SLOWER("heat"),
    BY_KERNEL("random access by kernels, 2 PEs", "random-weak-2", 2),
    BY_KERNEL("random access by kernels, 4 PEs", "random-weak-4", 2),
    BY_KERNEL("heat by kernels, strong, 2 PEs", "heat-strong-2", 1),
    BY_KERNEL("heat by kernels, strong, 4 PEs", "heat-strong-4", 1),
    BY_KERNEL("heat by kernels, weak, 2 PEs", "heat-weak-2", 1),
    BY_KERNEL("heat by kernels, weak, 4 PEs", "heat-weak-4", 1),
};

#define NAME(row, name, bytes) name "-" #bytes,
#define PES_NAMES(name)                                                                            \
    {                                                                                              \
        name "-1", name "-2", name "-4", NULL                                                      \
    }

static const char *const put_points[]      = {SIZES(NAME, , "put") "put-4194304", NULL};
static const char *const alltoall_points[] = {SIZES(NAME, , "alltoall") NULL};
static const char *const rate_points[]     = PES_NAMES("rate-weak");
static const char *const fft_points[]      = PES_NAMES("efficiency-fft");
static const char *const matrix_points[]   = PES_NAMES("efficiency-matrix");
static const char *const heat_points[]     = PES_NAMES("efficiency-heat");

#define DRAWING(suffix, drawn, text, x, y)                                                         \
    {                                                                                              \
        .name = suffix, .points = drawn, .by_label = true, .plot = {                               \
            .title    = text,                                                                      \
            .subtitle = "bars: best; thin lines: to the median of the rounds",                     \
            .x_title  = x,                                                                         \
            .y_title  = y                                                                          \
        }                                                                                          \
    }

/* The paper's figures 4 to 9. */
static const struct bench_drawing drawings[] = {
    DRAWING("put", put_points, "Latency between two devices", "bytes", "half a round trip, us"),
    DRAWING("alltoall", alltoall_points, "All-to-all exchange of 2 devices", "bytes of a block",
            "time, us"),
    DRAWING("random", rate_points, "Random access, weak scaling", "PEs",
            "million updates a second"),
    DRAWING("fft", fft_points, "Fourier transform, strong scaling", "PEs", "parallel efficiency"),
    DRAWING("matrix", matrix_points, "Product of matrices, strong scaling", "PEs",
            "parallel efficiency"),
    DRAWING("heat", heat_points, "Heat equation, strong scaling", "PEs", "parallel efficiency"),
};

static const struct cli_option options[] = {
    {.names = "--hosts",
     .form  = CLI_TEXT,
     .value = &hybrid_hosts,
     .shape = "LAUNCHER",
     .help  = "measure between two hosts too, by this launcher's words (hybrid.sh)"}};

static void put_head(struct bench_report *report, const struct bench_run *run)
{
    (void)run;
    bench_report_head(report, "memspan", "%s", memspan_version());
}

/* What a form is compared with. */
static size_t limit_of(const struct bench_run *run, size_t peer)
{
    return (peer == HYBRID_EXTENDED) ? (size_t)HYBRID_STANDARD
           : (peer == HYBRID_DEVICE) ? (size_t)HYBRID_EXTENDED
                                     : run->peer_count;
}

const struct bench_suite hybrid_suite = {
    .name            = "hybrid",
    .title           = "mini-apps on OpenMP's devices, by the path of their data between PEs",
    .method          = "best of all batches (median of rounds)",
    .variables       = "MEMSPAN_ SHMEM SMA_ OMPI_ OMP_ UCX_ FI_ LD_",
    .best            = true,
    .rows            = rows,
    .row_count       = HYBRID_ROW_COUNT,
    .points          = points,
    .point_count     = sizeof(points) / sizeof(points[0]),
    .placements      = placements,
    .placement_count = sizeof(placements) / sizeof(placements[0]),
    .targets         = targets,
    .target_count    = sizeof(targets) / sizeof(targets[0]),
    .drawings        = drawings,
    .drawing_count   = sizeof(drawings) / sizeof(drawings[0]),
    .options         = options,
    .option_count    = sizeof(options) / sizeof(options[0]),
    .list            = hybrid_list,
    .find            = hybrid_find,
    .measure         = hybrid_measure,
    .print_peers     = hybrid_print_peers,
    .limit_of        = limit_of,
    .put_head        = put_head,
    .put_row         = bench_run_put_row};
