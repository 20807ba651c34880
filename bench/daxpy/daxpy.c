/* SPDX-License-Identifier: BSD-3-Clause */
/* daxpy.c: the suite. Rounds are interleaved: every variant runs once before any runs again, so
 * that a disturbance of the machine falls on all of them. */

#include "bench/daxpy/daxpy.h"
#include <math.h>
#include <string.h>

const char *const daxpy_variant_names[] = {
#define VARIANT_NAME(symbol, name, help) name,
    DAXPY_VARIANT_MAP(VARIANT_NAME)
#undef VARIANT_NAME
};

const char *const daxpy_phase_names[] = {
#define PHASE_NAME(symbol, name) name,
    DAXPY_PHASE_MAP(PHASE_NAME)
#undef PHASE_NAME
};

const char *const daxpy_state_names[] = {"verified", "unverified", "waived", "WRONG", "FAILED"};

struct daxpy daxpy; /* an initial value would put 17 MB of zeros into the program */

double daxpy_ns(const struct bench_run *run, struct daxpy_place place, enum daxpy_phase phase)
{
    return bench_run_median(run, place.size, daxpy_point(place.repetitions, phase), place.variant);
}

double daxpy_kernel_bytes(struct daxpy_place place)
{
    return 4.0 * (double)daxpy.sizes.values[place.size] * sizeof(double);
}

/* x, y, z in; z out. */
double daxpy_copied_bytes(struct daxpy_place place)
{
    double times = (place.variant == DAXPY_NAIVE)
                       ? (double)daxpy.repetitions.values[place.repetitions]
                       : (place.variant == DAXPY_COPY_ONCE);

    return 4.0 * (double)daxpy.sizes.values[place.size] * sizeof(double) * times;
}

double daxpy_repetition_ns(const struct bench_run *run, struct daxpy_place place)
{
    bool several = (daxpy.repetitions.values[place.repetitions] > 1);

    return daxpy_ns(run, place, several ? DAXPY_STEADY : DAXPY_FIRST);
}

/* ---- sizes, repetitions and variants as parts of the run ---- */

static struct bench_row rows[CLI_COUNTS_MAX];
static struct bench_point points[CLI_COUNTS_MAX * DAXPY_PHASE_COUNT];
static struct bench_placement placements[CLI_COUNTS_MAX];
static const char *drawn[CLI_COUNTS_MAX + 1];
static struct bench_text row_texts[CLI_COUNTS_MAX];
static struct bench_text point_texts[CLI_COUNTS_MAX * DAXPY_PHASE_COUNT];
static struct bench_text size_texts[CLI_COUNTS_MAX];
static char subtitle[256];

static struct bench_drawing drawing = {
    .name     = "",
    .points   = drawn,
    .by_label = true,
    .scale    = 1e-6,
    .plot     = {.title    = "daxpy: total time by variant and repetitions",
                 .subtitle = subtitle,
                 .x_title  = "repetitions of the kernel",
                 .y_title  = "total time, ms"}};

static void name_parts(void)
{
    for (size_t s = 0; s < daxpy.sizes.count; s++) {
        (void)snprintf(size_texts[s].text, sizeof(size_texts[s].text), "n = %.16s doubles",
                       daxpy_count_text(daxpy.sizes.values[s]).text);
        placements[s] = (struct bench_placement){size_texts[s].text, "", size_texts[s].text};
    }
    for (size_t r = 0; r < daxpy.repetitions.count; r++) {
        row_texts[r] = daxpy_count_text(daxpy.repetitions.values[r]);
        rows[r]      = (struct bench_row){.name = row_texts[r].text, .placements = ~0u};
        for (size_t phase = 0; phase < DAXPY_PHASE_COUNT; phase++) {
            size_t point = daxpy_point(r, (enum daxpy_phase)phase);

            (void)snprintf(point_texts[point].text, sizeof(point_texts[point].text), "%zu-%s",
                           daxpy.repetitions.values[r], daxpy_phase_names[phase]);
            points[point] = (struct bench_point){(unsigned)r, point_texts[point].text,
                                                 row_texts[r].text, "ns", false};
        }
        drawn[r] = points[daxpy_point(r, DAXPY_TOTAL)].name;
    }
}

static bool device_given;

/* The device to run on. False after a message. */
static bool find_device(void)
{
    if (daxpy_engine.prepare != NULL) {
        daxpy_engine.prepare();
    }
    daxpy.device = device_given ? daxpy.device : daxpy_engine.device_default();
    if (!daxpy_engine.device_title(daxpy.device, daxpy.device_title, sizeof(daxpy.device_title))) {
        cli_complain("--device: %s", daxpy.device_title);
        return false;
    }
    if (daxpy.device == memspan_host_device()) {
        daxpy.device = MEMSPAN_HOST;
    }
    return true;
}

static void set_defaults(const struct bench_run *run)
{
    static const struct cli_counts sizes = {.values = {1024 * 1024, 10 * 1024 * 1024}, .count = 2};
    static const struct cli_counts quick = {.values = {256 * 1024}, .count = 1};
    static const struct cli_counts repetitions = {.values = {1, 10, 100}, .count = 3};

    if (daxpy.sizes.count == 0) {
        daxpy.sizes = run->quick ? quick : sizes;
    }
    if (daxpy.repetitions.count == 0) {
        daxpy.repetitions = repetitions;
    }
}

static bool list(struct bench_run *run)
{
    set_defaults(run);
    name_parts();
    daxpy_suite.placement_count = daxpy.sizes.count;
    daxpy_suite.row_count       = daxpy.repetitions.count;
    daxpy_suite.point_count     = daxpy.repetitions.count * DAXPY_PHASE_COUNT;
    run->placements             = (1u << daxpy.sizes.count) - 1;
    run->rows                   = (1u << daxpy.repetitions.count) - 1;
    run->peer_count             = DAXPY_VARIANT_COUNT;
    for (size_t v = 0; v < DAXPY_VARIANT_COUNT; v++) {
        (void)snprintf(run->peers[v].name, sizeof(run->peers[v].name), "%s",
                       daxpy_variant_names[v]);
    }
    return find_device();
}

/* ---- the measurement ---- */

static bool may_run(enum daxpy_state state)
{
    return (state == DAXPY_VERIFIED) || (state == DAXPY_UNVERIFIED);
}

/* The memory of the variants. One that is waived has bars without values. */
static void find(struct bench_run *run)
{
    for (size_t v = 0; v < DAXPY_VARIANT_COUNT; v++) {
        struct daxpy_subject *subject   = &daxpy.subjects[v];
        subject->warm_up_ns             = NAN;
        subject->memory.numa_node       = -1;
        subject->memory.page_size_bytes = -1;
        if ((run->chosen & (1u << v)) != 0) {
            subject->state        = daxpy_engine.memory_open((enum daxpy_variant)v, daxpy.device,
                                                             &subject->memory, subject->reason);
            run->peers[v].present = (subject->state != DAXPY_FAILED);
            run->peers[v].role    = (subject->state == DAXPY_WAIVED) ? BENCH_BESIDE : BENCH_OURS;
        }
    }
    (void)snprintf(subtitle, sizeof(subtitle), "device %d: %.150s; %.10s", daxpy.device,
                   daxpy.device_title, run->output.machine.date);
}

static struct daxpy_job make_job(size_t variant, size_t n, size_t repetitions)
{
    return (struct daxpy_job){.variant     = (enum daxpy_variant)variant,
                              .device      = daxpy.device,
                              .n           = n,
                              .repetitions = repetitions,
                              .memory      = &daxpy.subjects[variant].memory};
}

static bool is_usable(const struct bench_run *run, size_t variant)
{
    return ((run->chosen & (1u << variant)) != 0) &&
           (daxpy.subjects[variant].state == DAXPY_VERIFIED);
}

/* The first kernel on a device is built or loaded, which takes some drivers half a second. It is in
 * no row, and reported apart. */
static void warm_up(const struct bench_run *run)
{
    for (size_t v = 0; v < DAXPY_VARIANT_COUNT; v++) {
        struct daxpy_job job = make_job(v, daxpy.sizes.values[0], 1);
        struct daxpy_readings readings;
        char reason[DAXPY_TEXT_SIZE];

        if (is_usable(run, v) && (daxpy_job_run(&job, &readings, reason) == DAXPY_VERIFIED)) {
            daxpy.subjects[v].warm_up_ns = readings.ns[DAXPY_FIRST];
        }
    }
}

enum { COPY_LEAST = 1024 * 1024 }; /* doubles */

/* With arrays of the largest size: a short copy is more latency than bandwidth. */
static void measure_copy(const struct bench_run *run)
{
    size_t most = COPY_LEAST;

    for (size_t i = 0; i < daxpy.sizes.count; i++) {
        most = (daxpy.sizes.values[i] > most) ? daxpy.sizes.values[i] : most;
    }
    daxpy.copy_gb_per_s =
        is_usable(run, DAXPY_DEVICE_RESIDENT)
            ? daxpy_copy_measure(daxpy.device, most, &daxpy.subjects[DAXPY_DEVICE_RESIDENT].memory)
            : NAN;
}

static void make_cells(void)
{
    for (size_t i = 0; i < daxpy.sizes.count * daxpy.repetitions.count * DAXPY_VARIANT_COUNT; i++) {
        size_t v                            = i % DAXPY_VARIANT_COUNT;
        size_t both                         = i / DAXPY_VARIANT_COUNT;
        const struct daxpy_subject *subject = &daxpy.subjects[v];
        struct daxpy_cell *cell =
            &daxpy.cells[both / daxpy.repetitions.count][both % daxpy.repetitions.count][v];

        cell->state = ((subject->state == DAXPY_VERIFIED) && daxpy.no_verify) ? DAXPY_UNVERIFIED
                                                                              : subject->state;
        memcpy(cell->reason, subject->reason, sizeof(cell->reason));
    }
}

static void measure_once(struct bench_run *run, struct daxpy_place place)
{
    struct daxpy_cell *cell = daxpy_cell(place);
    struct daxpy_job job    = make_job(place.variant, daxpy.sizes.values[place.size],
                                       daxpy.repetitions.values[place.repetitions]);
    struct daxpy_readings readings;
    enum daxpy_state state = daxpy_job_run(&job, &readings, cell->reason);

    if (state != DAXPY_VERIFIED) {
        cell->state = state;
        (void)snprintf(run->failures[place.size][place.repetitions][place.variant],
                       sizeof(run->failures[0][0][0]), "%.250s", cell->reason);
        return;
    }
    for (size_t i = 0; i < DAXPY_PHASE_COUNT; i++) {
        size_t point = daxpy_point(place.repetitions, (enum daxpy_phase)i);

        bench_run_add(run, place.size, point, place.variant, readings.ns[i], readings.ns[i]);
        if (!isnan(readings.ns[i])) {
            (void)bench_samples_add(&cell->cpu_ns[i], readings.cpu_ns[i]);
            (void)bench_samples_add(&cell->faults[i], readings.faults[i]);
        }
    }
}

static void measure_size(struct bench_run *run, unsigned size)
{
    for (size_t i = 0; i < daxpy.repetitions.count * run->rounds * DAXPY_VARIANT_COUNT; i++) {
        struct daxpy_place place = {size, i / DAXPY_VARIANT_COUNT / run->rounds,
                                    (enum daxpy_variant)(i % DAXPY_VARIANT_COUNT)};

        if (is_usable(run, place.variant) && may_run(daxpy_cell(place)->state)) {
            measure_once(run, place);
        }
    }
}

static void measure(struct bench_run *run)
{
    warm_up(run);
    make_cells();
    measure_copy(run);
    for (unsigned size = 0; size < daxpy.sizes.count; size++) {
        measure_size(run, size);
        daxpy_print_size(run, size);
    }
    for (size_t v = 0; v < DAXPY_VARIANT_COUNT; v++) {
        if (is_usable(run, v)) {
            daxpy_engine.memory_close(&daxpy.subjects[v].memory);
        }
    }
}

/* ---- the suite ---- */

/* X(option, FORM, member of daxpy, how --help shows the value, min, max, given, help). At most 2^30
 * elements: the count is an int in the paper's listing. At most a million repetitions: every value
 * is still exact then (job.c). */
#define OPTION_MAP(X)                                                                              \
    X("--n", COUNTS, sizes, "COUNT[,...]", 1, 1u << 30, NULL,                                      \
      "doubles in each of the three arrays (1m,10m; --quick: 256k); k, m, g: powers of 1024")      \
    X("--reps", COUNTS, repetitions, "COUNT[,...]", 1, 1000000, NULL,                              \
      "repetitions of the kernel (1,10,100)")                                                      \
    X("--device", DEVICE, device, "NUMBER", 0, 0, &device_given,                                   \
      "device number, or \"host\" (the first device that can run it)")                             \
    X("--verify", CLEAR, no_verify, NULL, 0, 0, NULL,                                              \
      "compare every element with the right one (default)")                                        \
    X("--no-verify", SET, no_verify, NULL, 0, 0, NULL, "do not check the results")                 \
    X("--inject-error", SET, inject_error, NULL, 0, 0, NULL, NULL)

static const struct cli_option options[] = {
#define OPTION_ROW(text, kind, member, shown, least, most, flag, about)                            \
    {.names = (text),                                                                              \
     .form  = CLI_##kind,                                                                          \
     .value = &daxpy.member,                                                                       \
     .shape = (shown),                                                                             \
     .help  = (about),                                                                             \
     .min   = (least),                                                                             \
     .max   = (most),                                                                              \
     .given = (flag)},
    OPTION_MAP(OPTION_ROW)
#undef OPTION_ROW
};

static const char help[] = "Variants:\n"
#define VARIANT_HELP(symbol, name, help) "  " name ": " help "\n"
    DAXPY_VARIANT_MAP(VARIANT_HELP)
#undef VARIANT_HELP
    ;

struct bench_suite daxpy_suite = {
    .name          = "daxpy",
    .title         = "z[i] += a * x[i] + y[i], by the path of the data to the device",
    .method        = "medians of wall-clock time; warm-up not included",
    .variables     = "",
    .in_process    = true,
    .peer_noun     = "variants",
    .help          = help,
    .rows          = rows,
    .points        = points,
    .placements    = placements,
    .drawings      = &drawing,
    .drawing_count = 1,
    .options       = options,
    .option_count  = sizeof(options) / sizeof(options[0]),
    .list          = list,
    .find          = find,
    .measure       = measure,
    .print_peers   = daxpy_print_device,
    .make_notes    = daxpy_make_notes,
    .put_head      = daxpy_put_head,
    .has_row       = daxpy_has_row,
    .put_row       = daxpy_put_row};
