/* SPDX-License-Identifier: BSD-3-Clause */
/* daxpy's rows as CSV and JSON, a row a phase, and the paper's figure as SVG. */

#include "bench/common/plot_svg.h"
#include "bench/common/report.h"
#include "bench/daxpy/output.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMN_MAP(X)                                                                              \
    X(DATE, "date")                                                                                \
    X(MACHINE, "machine")                                                                          \
    X(ENGINE, "engine")                                                                            \
    X(DEVICE, "device")                                                                            \
    X(DEVICE_NAME, "device_name")                                                                  \
    X(VARIANT, "variant")                                                                          \
    X(ASKED, "kind_asked")                                                                         \
    X(GIVEN, "kind_given")                                                                         \
    X(N, "n")                                                                                      \
    X(REPETITIONS, "repetitions")                                                                  \
    X(PHASE, "phase")                                                                              \
    X(ROUNDS, "rounds")                                                                            \
    X(MIN, "min_ns")                                                                               \
    X(MEDIAN, "median_ns")                                                                         \
    X(P99, "p99_ns")                                                                               \
    X(MAX, "max_ns")                                                                               \
    X(MEAN, "mean_ns")                                                                             \
    X(STDDEV, "stddev_ns")                                                                         \
    X(CPU, "cpu_median_ns")                                                                        \
    X(FAULTS, "page_faults")                                                                       \
    X(COPIED, "copied_bytes")                                                                      \
    X(KERNEL, "kernel_bytes")                                                                      \
    X(RATE, "gb_per_s")                                                                            \
    X(PAGE, "page_size_bytes")                                                                     \
    X(NODE, "numa_node")                                                                           \
    X(RESULT, "result")                                                                            \
    X(WHY, "why")                                                                                  \
    X(COPY_RATE, "device_copy_gb_per_s")                                                           \
    X(COPY_SHARE, "share_of_device_copy")

enum column {
#define COLUMN_ENUM(symbol, name) COLUMN_##symbol,
    COLUMN_MAP(COLUMN_ENUM)
#undef COLUMN_ENUM
        COLUMN_COUNT
};

static const char *const column_names[] = {
#define COLUMN_NAME(symbol, name) name,
    COLUMN_MAP(COLUMN_NAME)
#undef COLUMN_NAME
};

static bool add_identity(struct bench_cell *cells, const struct daxpy_run *run,
                         const struct daxpy_row *row)
{
    const struct daxpy_memory *memory = &run->subjects[row->variant].memory;

    bench_cell_count(&cells[COLUMN_DEVICE], run->plan->device);
    bench_cell_count(&cells[COLUMN_N], (int64_t)row->n);
    bench_cell_count(&cells[COLUMN_REPETITIONS], (int64_t)row->repetitions);
    if (memory->page_size_bytes >= 0) {
        bench_cell_count(&cells[COLUMN_PAGE], memory->page_size_bytes);
    }
    if (memory->numa_node >= 0) {
        bench_cell_count(&cells[COLUMN_NODE], memory->numa_node);
    }
    return bench_cell_text(&cells[COLUMN_DATE], run->machine.date) &&
           bench_cell_text(&cells[COLUMN_MACHINE], run->machine.machine) &&
           bench_cell_text(&cells[COLUMN_ENGINE], daxpy_engine.name) &&
           bench_cell_text(&cells[COLUMN_DEVICE_NAME], run->device_title) &&
           bench_cell_text(&cells[COLUMN_VARIANT], daxpy_variant_name(row->variant)) &&
           bench_cell_text(&cells[COLUMN_ASKED], memory->asked[0] ? memory->asked : NULL) &&
           bench_cell_text(&cells[COLUMN_GIVEN], memory->given[0] ? memory->given : NULL) &&
           bench_cell_text(&cells[COLUMN_RESULT], daxpy_state_name(row->state)) &&
           bench_cell_text(&cells[COLUMN_WHY], row->reason[0] ? row->reason : memory->why);
}

static void add_times(struct bench_cell *cells, const struct daxpy_run *run,
                      const struct daxpy_row *row, enum daxpy_phase phase)
{
    double copy_gb_per_s = (row->variant == DAXPY_HOST) ? NAN : run->copy_gb_per_s;
    struct bench_summary summary;

    if (!bench_samples_summarize(&row->ns[phase], &summary)) {
        return;
    }
    bench_cell_count(&cells[COLUMN_ROUNDS], (int64_t)row->ns[phase].count);
    bench_cell_real(&cells[COLUMN_MIN], summary.min);
    bench_cell_real(&cells[COLUMN_MEDIAN], summary.median);
    bench_cell_real(&cells[COLUMN_P99], summary.p99);
    bench_cell_real(&cells[COLUMN_MAX], summary.max);
    bench_cell_real(&cells[COLUMN_MEAN], summary.mean);
    bench_cell_real(&cells[COLUMN_STDDEV], summary.stddev);
    bench_cell_real(&cells[COLUMN_CPU], bench_samples_median(&row->cpu_ns[phase]));
    bench_cell_real(&cells[COLUMN_FAULTS], bench_samples_median(&row->faults[phase]));
    if ((phase == DAXPY_RUN) || (phase == DAXPY_TOTAL)) {
        bench_cell_real(&cells[COLUMN_COPIED], daxpy_row_copied_bytes(row));
        bench_cell_real(&cells[COLUMN_KERNEL],
                        daxpy_row_kernel_bytes(row) * (double)row->repetitions);
    }
    if ((phase == DAXPY_FIRST) || (phase == DAXPY_STEADY)) {
        bench_cell_real(&cells[COLUMN_KERNEL], daxpy_row_kernel_bytes(row));
        bench_cell_real(&cells[COLUMN_RATE], daxpy_row_kernel_bytes(row) / summary.median);
        bench_cell_real(&cells[COLUMN_COPY_RATE], copy_gb_per_s);
        bench_cell_real(&cells[COLUMN_COPY_SHARE],
                        daxpy_row_kernel_bytes(row) / summary.median / copy_gb_per_s);
    }
}

static bool add_row(struct bench_report *report, const struct daxpy_run *run,
                    const struct daxpy_row *row)
{
    for (size_t phase = 0; phase < DAXPY_PHASE_COUNT; phase++) {
        bool measured = (row->ns[phase].count != 0);
        struct bench_cell *cells;

        /* A row that was not measured stands there once, as its total. */
        if (!measured && ((phase != DAXPY_TOTAL) || (row->ns[DAXPY_RUN].count != 0))) {
            continue;
        }
        cells = bench_report_row(report);
        if ((cells == NULL) || !add_identity(cells, run, row) ||
            !bench_cell_text(&cells[COLUMN_PHASE], daxpy_phase_name((enum daxpy_phase)phase))) {
            return false;
        }
        add_times(cells, run, row, (enum daxpy_phase)phase);
    }
    return true;
}

static void add_note(void *context, const char *text)
{
    (void)bench_report_note(context, "%s", text);
}

static bool add_head(struct bench_report *report, const struct daxpy_run *run)
{
    return bench_report_head(report, "command", "%s", run->command) &&
           bench_report_head(report, "date", "%s", run->machine.date) &&
           bench_report_head(report, "machine", "%s", run->machine.machine) &&
           bench_report_head(report, "load", "%.2f", run->machine.load) &&
           bench_report_head(report, "memspan", "%s", memspan_version()) &&
           bench_report_head(report, "compiler", "%s", run->machine.compiler) &&
           bench_report_head(report, "engine", "%s", daxpy_engine.title) &&
           bench_report_head(report, "device", "%d: %s", run->plan->device, run->device_title);
}

static struct bench_report *make_report(const struct daxpy_run *run)
{
    struct bench_report *report = bench_report_create("daxpy", column_names, COLUMN_COUNT);
    bool good                   = (report != NULL) && add_head(report, run);

    for (size_t i = 0; good && (i < run->row_count); i++) {
        good = add_row(report, run, &run->rows[i]);
    }
    if (!good) {
        fprintf(stderr, "not enough memory for the report\n");
        bench_report_destroy(report);
        return NULL;
    }
    daxpy_make_notes(run, add_note, report);
    return report;
}

static bool write_report(const struct daxpy_run *run)
{
    struct bench_report *report = make_report(run);
    bool good                   = (report != NULL);

    if (good && (run->plan->csv != NULL)) {
        good = bench_report_write_csv(report, run->plan->csv);
    }
    if ((report != NULL) && (run->plan->json != NULL)) {
        good = bench_report_write_json(report, run->plan->json) && good;
    }
    bench_report_destroy(report);
    return good;
}

/* Texts of the axes, and bars; sized for the largest plan. */
struct figure {
    char group_texts[BENCH_COUNTS_MAX][32];
    const char *groups[BENCH_COUNTS_MAX];
    char panel_texts[BENCH_COUNTS_MAX][48];
    struct bench_plot_panel panels[BENCH_COUNTS_MAX];
    struct bench_plot_bar bars[BENCH_COUNTS_MAX][BENCH_COUNTS_MAX * DAXPY_VARIANT_COUNT];
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
        fprintf(stderr, "not enough memory for the figure\n");
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
                   run->plan->device, run->device_title, run->machine.date);
    plot.subtitle     = figure->subtitle;
    plot.groups       = figure->groups;
    plot.group_count  = run->plan->repetitions.count;
    plot.series       = figure->series;
    plot.series_count = figure->series_count;
    plot.panels       = figure->panels;
    plot.panel_count  = run->plan->sizes.count;
    good              = bench_plot_svg_write(&plot, run->plan->svg);
    free(figure);
    return good;
}

bool daxpy_write_files(const struct daxpy_run *run)
{
    bool good = true;

    if ((run->plan->csv != NULL) || (run->plan->json != NULL)) {
        good = write_report(run);
    }
    if (run->plan->svg != NULL) {
        good = write_figure(run) && good;
    }
    return good;
}
