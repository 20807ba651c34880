/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of daxpy. */

#include "bench/daxpy/daxpy.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *daxpy_count_text(char *text, size_t text_size, size_t count)
{
    if ((count != 0) && (count % (1024 * 1024) == 0)) {
        (void)snprintf(text, text_size, "%zu Mi", count / (1024 * 1024));
    } else if ((count != 0) && (count % 1024 == 0)) {
        (void)snprintf(text, text_size, "%zu Ki", count / 1024);
    } else {
        (void)snprintf(text, text_size, "%zu", count);
    }
    return text;
}

void daxpy_print_head(const struct daxpy_run *run)
{
    const struct bench_output *output = &run->plan->output;
    char title[128];

    (void)snprintf(title, sizeof(title), "daxpy: z[i] += a * x[i] + y[i], doubles, by %s",
                   daxpy_engine.title);
    bench_output_head(output, title);
    fprintf(output->text, "# software memspan %s, %s\n", memspan_version(),
            output->machine.compiler);
    fprintf(output->text, "# device   %d: %s\n", run->plan->device, run->device_title);
    fprintf(output->text,
            "# rounds   %zu, interleaved; medians of wall-clock time; warm-up not included\n",
            run->plan->rounds);
    fprintf(output->text,
            "# columns  run: copies and repetitions. total: allocate, fill, run and free. steady:\n"
            "#          a repetition after the first. copied: by the program, within run (powers\n"
            "#          of 1024). GB/s: 32 bytes an element a repetition (10^9 bytes).\n"
            "#          of copy: that as a share of the device's copies within its own memory.\n");
    (void)fflush(output->text);
}

static void add_row(struct cli_table *table, const struct daxpy_run *run,
                    const struct daxpy_row *row)
{
    static const enum daxpy_phase phases[] = {DAXPY_ALLOCATE, DAXPY_FILL, DAXPY_FIRST,
                                              DAXPY_STEADY,   DAXPY_RUN,  DAXPY_TOTAL};
    const struct daxpy_memory *memory      = &run->subjects[row->variant].memory;
    double repetition_ns                   = daxpy_row_repetition_ns(row);
    double share                           = daxpy_row_copy_share(run, row);

    cli_table_add(table, "%s", daxpy_variant_name(row->variant));
    cli_table_add(table, "%s", memory->asked);
    cli_table_add(table, "%s", memory->given);
    if (row->state == DAXPY_WAIVED) {
        cli_table_add(table, "all");
    } else {
        cli_table_add(table, "%zu", row->repetitions);
    }
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        cli_table_add(table, "%s", bench_time_text(bench_samples_median(&row->ns[phases[i]])).text);
    }
    if (isnan(repetition_ns)) {
        cli_table_add(table, "-");
        cli_table_add(table, "-");
    } else {
        cli_table_add(table, "%s", cli_size_text((uint64_t)daxpy_row_copied_bytes(row)).text);
        cli_table_add(table, "%.3g", daxpy_row_kernel_bytes(row) / repetition_ns);
    }
    if (isnan(share)) {
        cli_table_add(table, "-");
    } else {
        cli_table_add(table, "%.0f %%", 100 * share);
    }
    cli_table_add(table, "%s", daxpy_state_name(row->state));
}

void daxpy_print_size(const struct daxpy_run *run, size_t n)
{
    static const char *const heads[] = {"variant", "asked",     "given",      "reps",  "allocate",
                                        "fill",    "first use", "steady/rep", "run",   "total",
                                        "copied",  "GB/s",      "of copy",    "result"};
    struct cli_table table;
    char count[32];

    fprintf(run->plan->output.text, "\nn = %s doubles, 3 arrays of %s\n",
            daxpy_count_text(count, sizeof(count), n), cli_size_text(n * sizeof(double)).text);
    cli_table_open(&table, "lllrrrrrrrrrrl");
    cli_table_add_row(&table, heads);
    for (size_t i = 0; i < run->row_count; i++) {
        const struct daxpy_row *row = &run->rows[i];
        bool again =
            (row->state == DAXPY_WAIVED) && (row->repetitions != run->plan->repetitions.values[0]);
        if ((row->n == n) && !again) { /* a waived variant has one line */
            add_row(&table, run, row);
        }
    }
    cli_table_close_parts(&table, run->plan->output.text);
    (void)fflush(run->plan->output.text);
}

/* The rows that are wrong or failed: each reason once. */
static void print_reasons(const struct daxpy_run *run)
{
    const char *last = "";

    for (size_t i = 0; i < run->row_count; i++) {
        const struct daxpy_row *row = &run->rows[i];
        bool listed                 = (row->state == DAXPY_WRONG) || (row->state == DAXPY_FAILED);
        if (listed && (strcmp(row->reason, last) != 0)) {
            fprintf(run->plan->output.text, "%s: %s, n = %zu, %zu repetitions: %s\n",
                    daxpy_state_name(row->state), daxpy_variant_name(row->variant), row->n,
                    row->repetitions, row->reason);
            last = row->reason;
        }
    }
}

static void print_note(void *context, const char *text)
{
    fprintf(context, "%s\n", text);
}

void daxpy_print_foot(const struct daxpy_run *run)
{
    fprintf(run->plan->output.text, "\n");
    daxpy_make_notes(run, print_note, run->plan->output.text);
    print_reasons(run);
    (void)fflush(run->plan->output.text);
}
