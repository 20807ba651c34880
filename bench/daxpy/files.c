/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV and JSON with a row for each phase, and the figure of the paper as SVG. */

#include "bench/common/bench.h"
#include "bench/daxpy/daxpy.h"
#include "cmd/common/cli.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put_times(struct bench_report *report, const struct daxpy_row *row,
                      enum daxpy_phase phase)
{
    struct bench_summary summary = {NAN, NAN, NAN, NAN, NAN, NAN};

    if (bench_samples_summarize(&row->ns[phase], &summary)) {
        bench_put_count(report, "rounds", (int64_t)row->ns[phase].count);
    } else {
        bench_put_text(report, "rounds", NULL);
    }
    bench_put_real(report, "min_ns", summary.min);
    bench_put_real(report, "median_ns", summary.median);
    bench_put_real(report, "p99_ns", summary.p99);
    bench_put_real(report, "max_ns", summary.max);
    bench_put_real(report, "mean_ns", summary.mean);
    bench_put_real(report, "stddev_ns", summary.stddev);
    bench_put_real(report, "cpu_median_ns", bench_samples_median(&row->cpu_ns[phase]));
    bench_put_real(report, "page_faults", bench_samples_median(&row->faults[phase]));
}

/* Bytes of the phases that copy or compute, and the rates of a repetition. */
static void put_bytes(struct bench_report *report, const struct daxpy_row *row,
                      enum daxpy_phase phase, double *gb_per_s_p)
{
    bool measured   = row->ns[phase].count != 0;
    bool sum        = measured && ((phase == DAXPY_RUN) || (phase == DAXPY_TOTAL));
    bool repetition = measured && ((phase == DAXPY_FIRST) || (phase == DAXPY_STEADY));
    double bytes    = daxpy_row_kernel_bytes(row);

    *gb_per_s_p = repetition ? bytes / bench_samples_median(&row->ns[phase]) : NAN;
    bench_put_real(report, "copied_bytes", sum ? daxpy_row_copied_bytes(row) : NAN);
    bench_put_real(report, "kernel_bytes",
                   sum          ? bytes * (double)row->repetitions
                   : repetition ? bytes
                                : NAN);
    bench_put_real(report, "gb_per_s", *gb_per_s_p);
}

static void put_known(struct bench_report *report, const char *column, int64_t count)
{
    if (count >= 0) {
        bench_put_count(report, column, count);
    } else {
        bench_put_text(report, column, NULL);
    }
}

static void put_row(struct bench_report *report, const struct daxpy_run *run,
                    const struct daxpy_row *row, enum daxpy_phase phase)
{
    const struct daxpy_memory *memory = &run->subjects[row->variant].memory;
    double copy_gb_per_s              = (row->variant == DAXPY_HOST) ? NAN : run->copy_gb_per_s;
    double gb_per_s;

    bench_report_row(report);
    bench_put_text(report, "date", run->plan->output.machine.date);
    bench_put_text(report, "machine", run->plan->output.machine.machine);
    bench_put_text(report, "engine", daxpy_engine.name);
    bench_put_count(report, "device", run->plan->device);
    bench_put_text(report, "device_name", run->device_title);
    bench_put_text(report, "variant", daxpy_variant_name(row->variant));
    bench_put_text(report, "kind_asked", memory->asked[0] ? memory->asked : NULL);
    bench_put_text(report, "kind_given", memory->given[0] ? memory->given : NULL);
    bench_put_count(report, "n", (int64_t)row->n);
    bench_put_count(report, "repetitions", (int64_t)row->repetitions);
    bench_put_text(report, "phase", daxpy_phase_name(phase));
    put_times(report, row, phase);
    put_bytes(report, row, phase, &gb_per_s);
    put_known(report, "page_size_bytes", memory->page_size_bytes);
    put_known(report, "numa_node", memory->numa_node);
    bench_put_text(report, "result", daxpy_state_name(row->state));
    bench_put_text(report, "why", row->reason[0] ? row->reason : memory->why);
    bench_put_real(report, "device_copy_gb_per_s", isnan(gb_per_s) ? NAN : copy_gb_per_s);
    bench_put_real(report, "share_of_device_copy", gb_per_s / copy_gb_per_s);
}

static void put_rows(struct bench_report *report, const struct daxpy_run *run,
                     const struct daxpy_row *row)
{
    for (size_t phase = 0; phase < DAXPY_PHASE_COUNT; phase++) {
        /* A variant without measurements has one row, its total. */
        if ((row->ns[phase].count != 0) ||
            ((phase == DAXPY_TOTAL) && (row->ns[DAXPY_RUN].count == 0))) {
            put_row(report, run, row, (enum daxpy_phase)phase);
        }
    }
}

static void put_note(void *context, const char *text)
{
    bench_report_note(context, "%s", text);
}

static bool write_report(const struct daxpy_run *run)
{
    struct bench_report report;
    bool good;

    bench_output_report(&run->plan->output, &report, "daxpy");
    bench_report_head(&report, "memspan", "%s", memspan_version());
    bench_report_head(&report, "compiler", "%s", run->plan->output.machine.compiler);
    bench_report_head(&report, "engine", "%s", daxpy_engine.title);
    bench_report_head(&report, "device", "%d: %s", run->plan->device, run->device_title);
    for (size_t i = 0; i < run->row_count; i++) {
        put_rows(&report, run, &run->rows[i]);
    }
    daxpy_make_notes(run, put_note, &report);
    good = bench_output_write(&run->plan->output, &report);
    bench_report_release(&report);
    return good;
}

/* Texts of the axes, and bars; sized for the largest plan. */
struct figure {
    char group_texts[CLI_COUNTS_MAX][32];
    const char *groups[CLI_COUNTS_MAX];
    char panel_texts[CLI_COUNTS_MAX][48];
    struct bench_plot_panel panels[CLI_COUNTS_MAX];
    struct bench_plot_bar bars[CLI_COUNTS_MAX][CLI_COUNTS_MAX * DAXPY_VARIANT_COUNT];
    const char *series[DAXPY_VARIANT_COUNT];
    size_t series_count;
    enum daxpy_variant variants[DAXPY_VARIANT_COUNT];
    char subtitle[320];
};

static struct bench_plot_bar make_bar(const struct daxpy_row *row)
{
    struct bench_plot_bar bar = {0};
    struct bench_summary summary;

    if ((row != NULL) && bench_samples_summarize(&row->ns[DAXPY_TOTAL], &summary)) {
        bar = (struct bench_plot_bar){true, summary.median / 1e6, summary.min / 1e6,
                                      summary.max / 1e6};
    }
    return bar;
}

static void fill_panel(struct figure *figure, const struct daxpy_run *run, size_t panel)
{
    size_t n = run->plan->sizes.values[panel];
    char count[32];

    (void)snprintf(figure->panel_texts[panel], sizeof(figure->panel_texts[panel]), "n = %s doubles",
                   daxpy_count_text(count, sizeof(count), n));
    figure->panels[panel].title = figure->panel_texts[panel];
    figure->panels[panel].bars  = figure->bars[panel];
    for (size_t g = 0; g < run->plan->repetitions.count; g++) {
        for (size_t s = 0; s < figure->series_count; s++) {
            figure->bars[panel][g * figure->series_count + s] = make_bar(
                daxpy_run_row(run, n, run->plan->repetitions.values[g], figure->variants[s]));
        }
    }
}

static bool write_figure(const struct daxpy_run *run)
{
    struct figure *figure  = calloc(1, sizeof(*figure));
    struct bench_plot plot = {.title   = "daxpy: total time by variant and repetitions",
                              .x_title = "repetitions of the kernel",
                              .y_title = "total time, ms (logarithmic; lower is better)"};
    bool good;

    if (figure == NULL) {
        cli_complain("not enough memory for the figure");
        return false;
    }
    for (size_t v = 0; v < DAXPY_VARIANT_COUNT; v++) {
        if (run->subjects[v].chosen) {
            figure->variants[figure->series_count] = (enum daxpy_variant)v;
            figure->series[figure->series_count++] = daxpy_variant_name((enum daxpy_variant)v);
        }
    }
    for (size_t g = 0; g < run->plan->repetitions.count; g++) {
        figure->groups[g] = daxpy_count_text(figure->group_texts[g], sizeof(figure->group_texts[g]),
                                             run->plan->repetitions.values[g]);
    }
    for (size_t p = 0; p < run->plan->sizes.count; p++) {
        fill_panel(figure, run, p);
    }
    (void)snprintf(figure->subtitle, sizeof(figure->subtitle), "device %d: %.150s; %.10s",
                   run->plan->device, run->device_title, run->plan->output.machine.date);
    plot.subtitle     = figure->subtitle;
    plot.groups       = figure->groups;
    plot.group_count  = run->plan->repetitions.count;
    plot.series       = figure->series;
    plot.series_count = figure->series_count;
    plot.panels       = figure->panels;
    plot.panel_count  = run->plan->sizes.count;
    good              = bench_plot_svg_write(&plot, run->plan->output.svg);
    free(figure);
    return good;
}

bool daxpy_write_files(const struct daxpy_run *run)
{
    const struct bench_output *output = &run->plan->output;
    bool good = ((output->csv == NULL) && (output->json == NULL)) || write_report(run);

    return ((output->svg == NULL) || write_figure(run)) && good;
}
