/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: daxpy's tables and the columns of its report, which has a row for each phase. */

#include "bench/daxpy/daxpy.h"
#include <math.h>

struct bench_text daxpy_count_text(size_t count)
{
    struct bench_text text;

    if ((count != 0) && (count % (1024 * 1024) == 0)) {
        (void)snprintf(text.text, sizeof(text.text), "%zu Mi", count / (1024 * 1024));
    } else if ((count != 0) && (count % 1024 == 0)) {
        (void)snprintf(text.text, sizeof(text.text), "%zu Ki", count / 1024);
    } else {
        (void)snprintf(text.text, sizeof(text.text), "%zu", count);
    }
    return text;
}

/* ---- text ---- */

void daxpy_print_device(const struct bench_run *run)
{
    const struct bench_output *output = &run->output;

    fprintf(output->text, "# engine   %s\n# software memspan %s, %s\n# device   %d: %s\n",
            daxpy_engine.title, memspan_version(), output->machine.compiler, daxpy.device,
            daxpy.device_title);
    fprintf(output->text,
            "# columns  run: copies and repetitions. total: allocate, fill, run and free. steady:\n"
            "#          a repetition after the first. copied: by the program, within run (powers\n"
            "#          of 1024). GB/s: 32 bytes an element a repetition (10^9 bytes).\n"
            "#          of copy: that as a share of the device's copies within its own memory.\n");
}

static void add_row(struct cli_table *table, const struct bench_run *run, struct daxpy_place place)
{
    static const enum daxpy_phase phases[] = {DAXPY_ALLOCATE, DAXPY_FILL, DAXPY_FIRST,
                                              DAXPY_STEADY,   DAXPY_RUN,  DAXPY_TOTAL};
    const struct daxpy_memory *memory      = &daxpy.subjects[place.variant].memory;
    enum daxpy_state state                 = daxpy_cell(place)->state;
    double gb_per_s = daxpy_kernel_bytes(place) / daxpy_repetition_ns(run, place);

    cli_table_add(table, "%s", daxpy_variant_names[place.variant]);
    cli_table_add(table, "%s", memory->asked);
    cli_table_add(table, "%s", memory->given);
    if (state == DAXPY_WAIVED) {
        cli_table_add(table, "all");
    } else {
        cli_table_add(table, "%zu", daxpy.repetitions.values[place.repetitions]);
    }
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        cli_table_add(table, "%s", bench_time_text(daxpy_ns(run, place, phases[i])).text);
    }
    if (isnan(gb_per_s)) {
        cli_table_add(table, "-");
        cli_table_add(table, "-");
    } else {
        cli_table_add(table, "%s", cli_size_text((uint64_t)daxpy_copied_bytes(place)).text);
        cli_table_add(table, "%.3g", gb_per_s);
    }
    if ((place.variant == DAXPY_HOST) || isnan(gb_per_s / daxpy.copy_gb_per_s)) {
        cli_table_add(table, "-");
    } else {
        cli_table_add(table, "%.0f %%", 100 * gb_per_s / daxpy.copy_gb_per_s);
    }
    cli_table_add(table, "%s", daxpy_state_names[state]);
}

void daxpy_print_size(const struct bench_run *run, unsigned size)
{
    static const char *const heads[] = {"variant", "asked",     "given",      "reps",  "allocate",
                                        "fill",    "first use", "steady/rep", "run",   "total",
                                        "copied",  "GB/s",      "of copy",    "result"};
    size_t n                         = daxpy.sizes.values[size];
    struct cli_table table;

    fprintf(run->output.text, "\nn = %s doubles, 3 arrays of %s\n", daxpy_count_text(n).text,
            cli_size_text(n * sizeof(double)).text);
    cli_table_open(&table, "lllrrrrrrrrrrl");
    cli_table_add_row(&table, heads);
    for (size_t i = 0; i < daxpy.repetitions.count * DAXPY_VARIANT_COUNT; i++) {
        struct daxpy_place place = {size, i / DAXPY_VARIANT_COUNT,
                                    (enum daxpy_variant)(i % DAXPY_VARIANT_COUNT)};
        bool again = (daxpy_cell(place)->state == DAXPY_WAIVED) && (place.repetitions > 0);

        if (((run->chosen & (1u << place.variant)) != 0) && !again) {
            add_row(&table, run, place); /* a waived variant has one line */
        }
    }
    cli_table_close_parts(&table, run->output.text);
    (void)fflush(run->output.text);
}

/* ---- the report ---- */

void daxpy_put_head(struct bench_report *report, const struct bench_run *run)
{
    bench_report_head(report, "memspan", "%s", memspan_version());
    bench_report_head(report, "compiler", "%s", run->output.machine.compiler);
    bench_report_head(report, "engine", "%s", daxpy_engine.title);
    bench_report_head(report, "device", "%d: %s", daxpy.device, daxpy.device_title);
}

/* A variant without measurements has one row, its total. */
bool daxpy_has_row(const struct bench_run *run, unsigned size, size_t point, size_t variant)
{
    struct daxpy_place place = {size, point / DAXPY_PHASE_COUNT, (enum daxpy_variant)variant};
    enum daxpy_phase phase   = (enum daxpy_phase)(point % DAXPY_PHASE_COUNT);

    return !isnan(daxpy_ns(run, place, phase)) ||
           ((phase == DAXPY_TOTAL) && isnan(daxpy_ns(run, place, DAXPY_RUN)));
}

static void put_times(struct bench_report *report, const struct bench_samples *ns,
                      const struct daxpy_cell *cell, enum daxpy_phase phase)
{
    struct bench_summary summary = {NAN, NAN, NAN, NAN, NAN, NAN};

    if (bench_samples_summarize(ns, &summary)) {
        bench_put_count(report, "rounds", (int64_t)ns->count);
    } else {
        bench_put_text(report, "rounds", NULL);
    }
    bench_put_real(report, "min_ns", summary.min);
    bench_put_real(report, "median_ns", summary.median);
    bench_put_real(report, "p99_ns", summary.p99);
    bench_put_real(report, "max_ns", summary.max);
    bench_put_real(report, "mean_ns", summary.mean);
    bench_put_real(report, "stddev_ns", summary.stddev);
    bench_put_real(report, "cpu_median_ns", bench_samples_median(&cell->cpu_ns[phase]));
    bench_put_real(report, "page_faults", bench_samples_median(&cell->faults[phase]));
}

/* Bytes of the phases that copy or compute. */
static void put_bytes(struct bench_report *report, struct daxpy_place place, enum daxpy_phase phase,
                      double ns)
{
    bool sum        = !isnan(ns) && ((phase == DAXPY_RUN) || (phase == DAXPY_TOTAL));
    bool repetition = !isnan(ns) && ((phase == DAXPY_FIRST) || (phase == DAXPY_STEADY));
    double bytes    = daxpy_kernel_bytes(place);
    double times    = (double)daxpy.repetitions.values[place.repetitions];

    bench_put_real(report, "copied_bytes", sum ? daxpy_copied_bytes(place) : NAN);
    bench_put_real(report, "kernel_bytes", sum ? bytes * times : (repetition ? bytes : NAN));
    bench_put_real(report, "gb_per_s", repetition ? bytes / ns : NAN);
}

static void put_known(struct bench_report *report, const char *column, int64_t count)
{
    if (count >= 0) {
        bench_put_count(report, column, count);
    } else {
        bench_put_text(report, column, NULL);
    }
}

void daxpy_put_row(struct bench_report *report, const struct bench_run *run, unsigned size,
                   size_t point, size_t variant)
{
    struct daxpy_place place = {size, point / DAXPY_PHASE_COUNT, (enum daxpy_variant)variant};
    enum daxpy_phase phase   = (enum daxpy_phase)(point % DAXPY_PHASE_COUNT);
    const struct daxpy_memory *memory = &daxpy.subjects[variant].memory;
    const struct daxpy_cell *cell     = daxpy_cell(place);
    double ns                         = daxpy_ns(run, place, phase);
    bool compared = ((phase == DAXPY_FIRST) || (phase == DAXPY_STEADY)) && (variant != DAXPY_HOST);

    bench_put_text(report, "date", run->output.machine.date);
    bench_put_text(report, "machine", run->output.machine.machine);
    bench_put_text(report, "engine", daxpy_engine.name);
    bench_put_count(report, "device", daxpy.device);
    bench_put_text(report, "device_name", daxpy.device_title);
    bench_put_text(report, "variant", daxpy_variant_names[variant]);
    bench_put_text(report, "kind_asked", memory->asked[0] ? memory->asked : NULL);
    bench_put_text(report, "kind_given", memory->given[0] ? memory->given : NULL);
    bench_put_count(report, "n", (int64_t)daxpy.sizes.values[size]);
    bench_put_count(report, "repetitions", (int64_t)daxpy.repetitions.values[place.repetitions]);
    bench_put_text(report, "phase", daxpy_phase_names[phase]);
    put_times(report, &run->figures[size][point][variant].medians, cell, phase);
    put_bytes(report, place, phase, ns);
    put_known(report, "page_size_bytes", memory->page_size_bytes);
    put_known(report, "numa_node", memory->numa_node);
    bench_put_text(report, "result", daxpy_state_names[cell->state]);
    bench_put_text(report, "why", cell->reason[0] ? cell->reason : memory->why);
    bench_put_real(report, "device_copy_gb_per_s",
                   (compared && !isnan(ns)) ? daxpy.copy_gb_per_s : NAN);
    bench_put_real(report, "share_of_device_copy",
                   compared ? daxpy_kernel_bytes(place) / ns / daxpy.copy_gb_per_s : NAN);
}
