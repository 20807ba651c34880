/* SPDX-License-Identifier: BSD-3-Clause */
/* The sentences under daxpy's table. */

#include "bench/daxpy/daxpy.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct notes {
    const struct daxpy_run *run;
    daxpy_note_fn emit;
    void *context;
};

__attribute__((format(printf, 2, 3))) static void note(const struct notes *notes,
                                                       const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    notes->emit(notes->context, text);
}

static void note_memory(const struct notes *notes)
{
    for (size_t i = 0; i < DAXPY_VARIANT_COUNT; i++) {
        const struct daxpy_subject *subject = &notes->run->subjects[i];
        const char *name                    = daxpy_variant_name((enum daxpy_variant)i);
        if (!subject->chosen) {
            continue;
        }
        if (subject->state == DAXPY_WAIVED) {
            note(notes, "%s: waived: %s", name, subject->reason);
        } else if (subject->state == DAXPY_VERIFIED) {
            note(notes, "%s: asked %s, given %s: %s", name, subject->memory.asked,
                 subject->memory.given, subject->memory.why);
        }
    }
}

static void note_warm_up(const struct notes *notes)
{
    size_t worst = DAXPY_VARIANT_COUNT;

    for (size_t i = 0; i < DAXPY_VARIANT_COUNT; i++) {
        double warm_up_ns = notes->run->subjects[i].warm_up_ns;
        if (!isnan(warm_up_ns) && ((worst == DAXPY_VARIANT_COUNT) ||
                                   (warm_up_ns > notes->run->subjects[worst].warm_up_ns))) {
            worst = i;
        }
    }
    if (worst < DAXPY_VARIANT_COUNT) {
        note(notes,
             "warm-up, in no row: the longest first kernel took %s (%s): with its build or "
             "load",
             bench_time_text(notes->run->subjects[worst].warm_up_ns).text,
             daxpy_variant_name((enum daxpy_variant)worst));
    }
}

/* Page faults in every repetition cost more than the copies. */
static void note_faults(const struct notes *notes)
{
    for (size_t i = 0; i < notes->run->row_count; i++) {
        const struct daxpy_row *row = &notes->run->rows[i];
        double faults               = bench_samples_median(&row->faults[DAXPY_STEADY]);
        char count[32];
        if ((row->repetitions < 10) || !(faults >= 64)) {
            continue;
        }
        note(notes,
             "%s, n = %s, %zu repetitions: %.0f page faults a repetition: memory is taken from the "
             "system and returned each time, at a cost besides the copies",
             daxpy_variant_name(row->variant), daxpy_count_text(count, sizeof(count), row->n),
             row->repetitions, faults);
    }
}

/* Median of a phase, or NAN where the row is not there or has not run. */
static double phase_ns(const struct notes *notes, size_t n, size_t repetitions,
                       enum daxpy_variant variant, enum daxpy_phase phase)
{
    const struct daxpy_row *row = daxpy_run_row(notes->run, n, repetitions, variant);

    if ((row == NULL) || ((row->state != DAXPY_VERIFIED) && (row->state != DAXPY_UNVERIFIED))) {
        return NAN;
    }
    return bench_samples_median(&row->ns[phase]);
}

static void note_ratio(const struct notes *notes, size_t n, size_t repetitions,
                       enum daxpy_variant variant)
{
    double total_naive = phase_ns(notes, n, repetitions, DAXPY_NAIVE, DAXPY_TOTAL);
    double total       = phase_ns(notes, n, repetitions, variant, DAXPY_TOTAL);
    double run_naive   = phase_ns(notes, n, repetitions, DAXPY_NAIVE, DAXPY_RUN);
    double run         = phase_ns(notes, n, repetitions, variant, DAXPY_RUN);
    char count[32];

    if (isnan(total_naive) || isnan(total)) {
        return;
    }
    note(notes,
         "memory from a target memory space (%s) vs %s at %zu repetitions, n = %s: %.1f x in "
         "total, %.1f x in the run (the paper: 5x at 100, on a GPU)",
         daxpy_variant_name(variant), daxpy_engine.naive, repetitions,
         daxpy_count_text(count, sizeof(count), n), total_naive / total, run_naive / run);
}

static void note_growth(const struct notes *notes, size_t n, enum daxpy_variant variant)
{
    double naive_1  = phase_ns(notes, n, 1, DAXPY_NAIVE, DAXPY_TOTAL);
    double naive_10 = phase_ns(notes, n, 10, DAXPY_NAIVE, DAXPY_TOTAL);
    double total_1  = phase_ns(notes, n, 1, variant, DAXPY_TOTAL);
    double total_10 = phase_ns(notes, n, 10, variant, DAXPY_TOTAL);

    if (isnan(naive_1) || isnan(naive_10) || isnan(total_1) || isnan(total_10)) {
        return;
    }
    note(notes,
         "    1 -> 10 repetitions, total: %+.0f %% (naive: %+.0f %%; the paper: 7 %% and 250 %%)",
         (total_10 / total_1 - 1) * 100, (naive_10 / naive_1 - 1) * 100);
}

/* The memory rate of each variant, as a share of the device's copies within its own memory. */
static void note_share(const struct notes *notes, size_t n, size_t repetitions)
{
    char text[512];
    char count[32];
    size_t used = 0;

    text[0] = '\0';
    for (int v = DAXPY_HOST + 1; (v < DAXPY_VARIANT_COUNT) && (used < sizeof(text)); v++) {
        const struct daxpy_row *row =
            daxpy_run_row(notes->run, n, repetitions, (enum daxpy_variant)v);
        double ns = (row == NULL) ? NAN : daxpy_row_repetition_ns(row);
        if (!isnan(ns)) {
            used += (size_t)snprintf(
                text + used, sizeof(text) - used, "%s %s %.3g %%", (used == 0) ? "" : ",",
                daxpy_variant_name((enum daxpy_variant)v),
                100 * daxpy_row_kernel_bytes(row) / ns / notes->run->copy_gb_per_s);
        }
    }
    note(notes, "    n = %s, a repetition of %zu:%s", daxpy_count_text(count, sizeof(count), n),
         repetitions, text);
}

static void note_shares(const struct notes *notes)
{
    const struct daxpy_plan *plan = notes->run->plan;

    if (isnan(notes->run->copy_gb_per_s)) {
        return;
    }
    note(notes, "the device copies within its own memory at %.4g GB/s, read and written; of that",
         notes->run->copy_gb_per_s);
    for (size_t i = 0; i < plan->sizes.count; i++) {
        for (size_t r = 0; r < plan->repetitions.count; r++) {
            note_share(notes, plan->sizes.values[i], plan->repetitions.values[r]);
        }
    }
}

static void note_comparison(const struct notes *notes)
{
    static const enum daxpy_variant shared[] = {DAXPY_MANAGED, DAXPY_COHERENT, DAXPY_HOST_PINNED};
    const struct daxpy_plan *plan            = notes->run->plan;

    for (size_t i = 0; i < plan->sizes.count; i++) {
        for (size_t v = 0; v < sizeof(shared) / sizeof(shared[0]); v++) {
            for (size_t r = 0; r < plan->repetitions.count; r++) {
                note_ratio(notes, plan->sizes.values[i], plan->repetitions.values[r], shared[v]);
            }
            note_growth(notes, plan->sizes.values[i], shared[v]);
        }
    }
}

void daxpy_make_notes(const struct daxpy_run *run, daxpy_note_fn emit, void *context)
{
    struct notes notes = {run, emit, context};
    char text[DAXPY_TEXT_SIZE];

    note_memory(&notes);
    if (daxpy_engine.remark(run->plan->device, text, sizeof(text))) {
        note(&notes, "%s", text);
    }
    note_warm_up(&notes);
    note_faults(&notes);
    note_shares(&notes);
    note_comparison(&notes);
}
