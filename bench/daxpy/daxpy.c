/* SPDX-License-Identifier: BSD-3-Clause */
/* daxpy from arguments to exit code. Rounds are interleaved: every variant runs once before any
 * runs again, so that a disturbance of the machine falls on all of them. */

#include "bench/daxpy/daxpy.h"
#include "cmd/common/cli.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variant_names[] = {
#define VARIANT_NAME(symbol, name, help) name,
    DAXPY_VARIANT_MAP(VARIANT_NAME)
#undef VARIANT_NAME
        NULL};

static const char *const phase_names[] = {
#define PHASE_NAME(symbol, name) name,
    DAXPY_PHASE_MAP(PHASE_NAME)
#undef PHASE_NAME
};

static const char *const state_names[] = {"verified", "unverified", "waived", "WRONG", "FAILED"};

const char *daxpy_variant_name(enum daxpy_variant variant)
{
    return variant_names[variant];
}

const char *daxpy_phase_name(enum daxpy_phase phase)
{
    return phase_names[phase];
}

const char *daxpy_state_name(enum daxpy_state state)
{
    return state_names[state];
}

double daxpy_row_copied_bytes(const struct daxpy_row *row)
{
    double arrays_bytes = 4.0 * (double)row->n * sizeof(double); /* x, y, z in; z out */

    switch (row->variant) {
    case DAXPY_NAIVE:
        return arrays_bytes * (double)row->repetitions;
    case DAXPY_COPY_ONCE:
        return arrays_bytes;
    default:
        return 0;
    }
}

double daxpy_row_kernel_bytes(const struct daxpy_row *row)
{
    return 4.0 * (double)row->n * sizeof(double);
}

double daxpy_row_repetition_ns(const struct daxpy_row *row)
{
    return bench_samples_median(&row->ns[(row->repetitions > 1) ? DAXPY_STEADY : DAXPY_FIRST]);
}

double daxpy_row_copy_share(const struct daxpy_run *run, const struct daxpy_row *row)
{
    double ns = daxpy_row_repetition_ns(row);

    return (row->variant == DAXPY_HOST) ? NAN
                                        : (daxpy_row_kernel_bytes(row) / ns / run->copy_gb_per_s);
}

struct daxpy_row *daxpy_run_row(const struct daxpy_run *run, size_t n, size_t repetitions,
                                enum daxpy_variant variant)
{
    for (size_t i = 0; i < run->row_count; i++) {
        struct daxpy_row *row = &run->rows[i];
        if ((row->n == n) && (row->repetitions == repetitions) && (row->variant == variant)) {
            return row;
        }
    }
    return NULL;
}

static void choose_variants(struct daxpy_run *run)
{
    const struct daxpy_plan *plan = run->plan;

    for (size_t i = 0; i < DAXPY_VARIANT_COUNT; i++) {
        struct daxpy_subject *subject   = &run->subjects[i];
        subject->chosen                 = (plan->variants & (1u << i)) != 0;
        subject->warm_up_ns             = NAN;
        subject->memory.numa_node       = -1;
        subject->memory.page_size_bytes = -1;
        if (subject->chosen) {
            subject->state = daxpy_engine.memory_open((enum daxpy_variant)i, plan->device,
                                                      &subject->memory, subject->reason);
        }
    }
}

/* The first kernel on a device is built or loaded, which takes some drivers half a second. It is in
 * no row, and reported apart. */
static void warm_up(struct daxpy_run *run)
{
    for (size_t i = 0; i < DAXPY_VARIANT_COUNT; i++) {
        struct daxpy_subject *subject = &run->subjects[i];
        struct daxpy_row row          = {.n = run->plan->sizes.values[0], .repetitions = 1};
        struct daxpy_job job          = {.variant     = (enum daxpy_variant)i,
                                         .device      = run->plan->device,
                                         .n           = row.n,
                                         .repetitions = 1,
                                         .memory      = &subject->memory};

        if (!subject->chosen || (subject->state != DAXPY_VERIFIED)) {
            continue;
        }
        daxpy_job_run(&job, run->plan, &row);
        subject->warm_up_ns = bench_samples_median(&row.ns[DAXPY_FIRST]);
    }
}

static bool make_rows(struct daxpy_run *run)
{
    const struct daxpy_plan *plan = run->plan;
    size_t capacity = plan->sizes.count * plan->repetitions.count * DAXPY_VARIANT_COUNT;
    struct daxpy_row *row;

    run->rows = calloc(capacity, sizeof(*run->rows));
    if (run->rows == NULL) {
        cli_complain("not enough memory for the results");
        return false;
    }
    for (size_t i = 0; i < capacity; i++) {
        const struct daxpy_subject *subject = &run->subjects[i % DAXPY_VARIANT_COUNT];
        if (!subject->chosen) {
            continue;
        }
        row          = &run->rows[run->row_count++];
        row->variant = (enum daxpy_variant)(i % DAXPY_VARIANT_COUNT);
        row->n       = plan->sizes.values[i / DAXPY_VARIANT_COUNT / plan->repetitions.count];
        row->repetitions =
            plan->repetitions.values[i / DAXPY_VARIANT_COUNT % plan->repetitions.count];
        row->state = subject->state;
        if ((row->state == DAXPY_VERIFIED) && !plan->verify) {
            row->state = DAXPY_UNVERIFIED;
        }
        (void)snprintf(row->reason, sizeof(row->reason), "%s", subject->reason);
    }
    return true;
}

static bool may_run(const struct daxpy_row *row)
{
    return (row->state == DAXPY_VERIFIED) || (row->state == DAXPY_UNVERIFIED);
}

static void measure_size(struct daxpy_run *run, size_t n)
{
    const struct daxpy_plan *plan = run->plan;

    for (size_t r = 0; r < plan->repetitions.count; r++) {
        for (size_t round = 0; round < plan->rounds; round++) {
            for (size_t v = 0; v < DAXPY_VARIANT_COUNT; v++) {
                struct daxpy_row *row =
                    daxpy_run_row(run, n, plan->repetitions.values[r], (enum daxpy_variant)v);
                struct daxpy_job job = {.variant     = (enum daxpy_variant)v,
                                        .device      = plan->device,
                                        .n           = n,
                                        .repetitions = plan->repetitions.values[r],
                                        .memory      = &run->subjects[v].memory};
                if ((row != NULL) && may_run(row)) {
                    daxpy_job_run(&job, plan, row);
                }
            }
        }
    }
}

enum { COPY_LEAST = 1024 * 1024 }; /* doubles */

/* With arrays of the largest size: a short copy is more latency than bandwidth. */
static void measure_copy(struct daxpy_run *run)
{
    const struct daxpy_subject *subject = &run->subjects[DAXPY_DEVICE_RESIDENT];
    size_t most                         = COPY_LEAST;

    for (size_t i = 0; i < run->plan->sizes.count; i++) {
        most = (run->plan->sizes.values[i] > most) ? run->plan->sizes.values[i] : most;
    }
    run->copy_gb_per_s = (subject->chosen && (subject->state == DAXPY_VERIFIED))
                             ? daxpy_copy_measure(run->plan->device, most, &subject->memory)
                             : NAN;
}

static int measure(struct daxpy_run *run)
{
    int code = 0;

    choose_variants(run);
    warm_up(run);
    if (!make_rows(run)) {
        code = 1;
        goto close_memory;
    }
    measure_copy(run);
    daxpy_print_head(run);
    for (size_t i = 0; i < run->plan->sizes.count; i++) {
        measure_size(run, run->plan->sizes.values[i]);
        daxpy_print_size(run, run->plan->sizes.values[i]);
    }
    daxpy_print_foot(run);
    for (size_t i = 0; i < run->row_count; i++) {
        code = may_run(&run->rows[i]) || (run->rows[i].state == DAXPY_WAIVED) ? code : 1;
    }
    if (!daxpy_write_files(run)) {
        code = 1;
    }
    free(run->rows);
close_memory:
    for (size_t i = 0; i < DAXPY_VARIANT_COUNT; i++) {
        if (run->subjects[i].chosen && (run->subjects[i].state == DAXPY_VERIFIED)) {
            daxpy_engine.memory_close(&run->subjects[i].memory);
        }
    }
    return code;
}

/* The device to run on. False after a message. */
static bool find_device(struct daxpy_plan *plan, bool given, struct daxpy_run *run)
{
    if (daxpy_engine.prepare != NULL) {
        daxpy_engine.prepare();
    }
    plan->device = given ? plan->device : daxpy_engine.device_default();
    if (!daxpy_engine.device_title(plan->device, run->device_title, sizeof(run->device_title))) {
        cli_complain("--device: %s", run->device_title);
        return false;
    }
    if (plan->device == memspan_host_device()) {
        plan->device = MEMSPAN_HOST;
    }
    return true;
}

/* X(option, FORM, member of the plan, how --help shows the value, min, max, given, help). At most
 * 2^30 elements: the count is an int in the paper's listing. At most a million repetitions: every
 * value is still exact then (job.c). */
#define OPTION_MAP(X)                                                                              \
    X("--n", COUNTS, sizes, "COUNT[,...]", 1, 1u << 30, &n_given,                                  \
      "doubles in each of the three arrays (1m,10m); k, m, g: powers of 1024")                     \
    X("--reps", COUNTS, repetitions, "COUNT[,...]", 1, 1000000, NULL,                              \
      "repetitions of the kernel (1,10,100)")                                                      \
    X("--rounds", COUNT, rounds, "COUNT", 1, BENCH_ROUNDS_MAX, &rounds_given,                      \
      "interleaved rounds, of which the median is reported (3)")                                   \
    X("--device", DEVICE, device, "NUMBER", 0, 0, &device_given,                                   \
      "device number, or \"host\" (the first device that can run it)")                             \
    X("--variants", WORDS, variants, "NAME[,...]", 0, 0, NULL, "variants to run, see below (all)") \
    X("--quick", SET, quick, NULL, 0, 0, NULL, "a few seconds only: 256 Ki doubles, 3 rounds")     \
    X("--verify", SET, verify, NULL, 0, 0, NULL,                                                   \
      "compare every element with the right one (default)")                                        \
    X("--no-verify", CLEAR, verify, NULL, 0, 0, NULL, "do not check the results")                  \
    X("--inject-error", SET, inject_error, NULL, 0, 0, NULL, NULL)

/* --quick leaves alone what was named. */
static enum cli_outcome read_plan(struct daxpy_plan *plan, bool *device_given_p, int argument_count,
                                  char *const *arguments)
{
    static bool n_given;
    static bool rounds_given;
    static bool device_given;
    const struct cli_option options[] = {
#define OPTION_ROW(text, kind, member, shown, least, most, flag, about)                            \
    {.names = (text),                                                                              \
     .form  = CLI_##kind,                                                                          \
     .value = &plan->member,                                                                       \
     .shape = (shown),                                                                             \
     .help  = (about),                                                                             \
     .words = variant_names,                                                                       \
     .min   = (least),                                                                             \
     .max   = (most),                                                                              \
     .given = (flag)},
        OPTION_MAP(OPTION_ROW)
#undef OPTION_ROW
            BENCH_OUTPUT_OPTIONS(plan->output, "a row for each phase",
                                 "the total time by variant and repetitions")};
    static const char notes[] = "Variants:\n"
#define VARIANT_HELP(symbol, name, help) "  " name ": " help "\n"
        DAXPY_VARIANT_MAP(VARIANT_HELP)
#undef VARIANT_HELP
            "\nExit code: 0 every result verified or its variant waived, 1 a result is wrong or a\n"
            "variant failed, 2 wrong arguments.\n";
    const struct cli_usage usage = {.synopsis = "daxpy [options]",
                                    .summary =
                                        "z[i] += a * x[i] + y[i], by the path of the data to "
                                        "the device",
                                    .options      = options,
                                    .option_count = sizeof(options) / sizeof(options[0]),
                                    .notes        = notes};
    enum cli_outcome outcome     = cli_parse(&usage, argument_count, arguments, NULL);

    if (plan->quick && !n_given) {
        plan->sizes = (struct cli_counts){.values = {256 * 1024}, .count = 1};
    }
    if (plan->quick && !rounds_given) {
        plan->rounds = 3;
    }
    *device_given_p = device_given;
    return outcome;
}

int daxpy_main(int argument_count, char *const *arguments)
{
    struct daxpy_plan plan = {
        .sizes       = {.values = {1024 * 1024, 10 * 1024 * 1024}, .count = 2},
        .repetitions = {.values = {1, 10, 100}, .count = 3},
        .rounds      = 3,
        .variants    = (1u << DAXPY_VARIANT_COUNT) - 1,
        .verify      = true,
    };
    struct daxpy_run run     = {.plan = &plan};
    bool device_given        = false;
    enum cli_outcome outcome = read_plan(&plan, &device_given, argument_count, arguments);

    if (outcome != CLI_PARSED) {
        return (outcome == CLI_SHOWN) ? 0 : 2;
    }
    if (!bench_output_open(&plan.output, argument_count, arguments) ||
        !find_device(&plan, device_given, &run)) {
        return 2;
    }
    return measure(&run);
}
