/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.c: the sentences under daxpy's tables. */

#include "bench/daxpy/daxpy.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct notes {
    const struct bench_run *run;
    bench_note_fn emit;
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
        const struct daxpy_subject *subject = &daxpy.subjects[i];
        const char *name                    = daxpy_variant_names[i];
        if ((notes->run->chosen & (1u << i)) == 0) {
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
        double warm_up_ns = daxpy.subjects[i].warm_up_ns;
        if ((warm_up_ns > 0) &&
            ((worst == DAXPY_VARIANT_COUNT) || (warm_up_ns > daxpy.subjects[worst].warm_up_ns))) {
            worst = i;
        }
    }
    if (worst < DAXPY_VARIANT_COUNT) {
        note(notes,
             "warm-up, in no row: the longest first kernel took %s (%s): with its build or load",
             bench_time_text(daxpy.subjects[worst].warm_up_ns).text, daxpy_variant_names[worst]);
    }
}

static struct daxpy_place place_of(size_t size, size_t repetitions, size_t variant)
{
    return (struct daxpy_place){(unsigned)size, repetitions, (enum daxpy_variant)variant};
}

/* Page faults in every repetition cost more than the copies. */
static void note_faults(const struct notes *notes)
{
    size_t rows = daxpy.repetitions.count * DAXPY_VARIANT_COUNT;

    for (size_t i = 0; i < daxpy.sizes.count * rows; i++) {
        struct daxpy_place place =
            place_of(i / rows, i % rows / DAXPY_VARIANT_COUNT, i % DAXPY_VARIANT_COUNT);
        size_t repetitions = daxpy.repetitions.values[place.repetitions];
        double faults      = bench_samples_median(&daxpy_cell(place)->faults[DAXPY_STEADY]);

        if ((repetitions < 10) || !(faults >= 64)) {
            continue;
        }
        note(notes,
             "%s, n = %s, %zu repetitions: %.0f page faults a repetition: memory is taken from the "
             "system and returned each time, at a cost besides the copies",
             daxpy_variant_names[place.variant],
             daxpy_count_text(daxpy.sizes.values[place.size]).text, repetitions, faults);
    }
}

static void note_ratio(const struct notes *notes, struct daxpy_place naive,
                       struct daxpy_place shared)
{
    double total =
        daxpy_ns(notes->run, naive, DAXPY_TOTAL) / daxpy_ns(notes->run, shared, DAXPY_TOTAL);
    double in_run =
        daxpy_ns(notes->run, naive, DAXPY_RUN) / daxpy_ns(notes->run, shared, DAXPY_RUN);

    if (!isnan(total)) {
        note(notes,
             "memory from a target memory space (%s) vs %s at %zu repetitions, n = %s: %.1f x in "
             "total, %.1f x in the run (the paper: 5x at 100, on a GPU)",
             daxpy_variant_names[shared.variant], daxpy_engine.naive,
             daxpy.repetitions.values[shared.repetitions],
             daxpy_count_text(daxpy.sizes.values[shared.size]).text, total, in_run);
    }
}

/* From 1 repetition to 10, in percent; NAN where one was not measured. */
static double growth(const struct notes *notes, size_t size, enum daxpy_variant variant)
{
    double one = NAN;
    double ten = NAN;

    for (size_t r = 0; r < daxpy.repetitions.count; r++) {
        double ns = daxpy_ns(notes->run, place_of(size, r, variant), DAXPY_TOTAL);

        one = (daxpy.repetitions.values[r] == 1) ? ns : one;
        ten = (daxpy.repetitions.values[r] == 10) ? ns : ten;
    }
    return (ten / one - 1) * 100;
}

static void note_growth(const struct notes *notes, size_t size, enum daxpy_variant variant)
{
    double naive  = growth(notes, size, DAXPY_NAIVE);
    double shared = growth(notes, size, variant);

    if (!isnan(naive) && !isnan(shared)) {
        note(notes,
             "    1 -> 10 repetitions, total: %+.0f %% (naive: %+.0f %%; the paper: 7 %% and 250 "
             "%%)",
             shared, naive);
    }
}

/* The memory rate of each variant, as a share of the device's copies within its own memory. */
static void note_share(const struct notes *notes, size_t size, size_t repetitions)
{
    char text[512] = "";

    for (size_t v = DAXPY_HOST + 1; v < DAXPY_VARIANT_COUNT; v++) {
        struct daxpy_place place = place_of(size, repetitions, v);
        double ns                = daxpy_repetition_ns(notes->run, place);

        if (!isnan(ns)) {
            cli_append(text, sizeof(text), "%s %s %.3g %%", (text[0] == '\0') ? "" : ",",
                       daxpy_variant_names[v],
                       100 * daxpy_kernel_bytes(place) / ns / daxpy.copy_gb_per_s);
        }
    }
    note(notes, "    n = %s, a repetition of %zu:%s",
         daxpy_count_text(daxpy.sizes.values[size]).text, daxpy.repetitions.values[repetitions],
         text);
}

static void note_shares(const struct notes *notes)
{
    if (isnan(daxpy.copy_gb_per_s)) {
        return;
    }
    note(notes, "the device copies within its own memory at %.4g GB/s, read and written; of that",
         daxpy.copy_gb_per_s);
    for (size_t s = 0; s < daxpy.sizes.count; s++) {
        for (size_t r = 0; r < daxpy.repetitions.count; r++) {
            note_share(notes, s, r);
        }
    }
}

static void note_comparison(const struct notes *notes)
{
    static const enum daxpy_variant shared[] = {DAXPY_MANAGED, DAXPY_COHERENT, DAXPY_HOST_PINNED};

    for (size_t s = 0; s < daxpy.sizes.count; s++) {
        for (size_t v = 0; v < sizeof(shared) / sizeof(shared[0]); v++) {
            for (size_t r = 0; r < daxpy.repetitions.count; r++) {
                note_ratio(notes, place_of(s, r, DAXPY_NAIVE), place_of(s, r, shared[v]));
            }
            note_growth(notes, s, shared[v]);
        }
    }
}

/* What is wrong or failed: each reason once. */
static void note_reasons(const struct notes *notes)
{
    size_t rows      = daxpy.repetitions.count * DAXPY_VARIANT_COUNT;
    const char *last = "";

    for (size_t i = 0; i < daxpy.sizes.count * rows; i++) {
        struct daxpy_place place =
            place_of(i / rows, i % rows / DAXPY_VARIANT_COUNT, i % DAXPY_VARIANT_COUNT);
        const struct daxpy_cell *cell = daxpy_cell(place);

        if (((cell->state == DAXPY_WRONG) || (cell->state == DAXPY_FAILED)) &&
            (strcmp(cell->reason, last) != 0)) {
            note(notes, "%s: %s, n = %zu, %zu repetitions: %s", daxpy_state_names[cell->state],
                 daxpy_variant_names[place.variant], daxpy.sizes.values[place.size],
                 daxpy.repetitions.values[place.repetitions], cell->reason);
            last = cell->reason;
        }
    }
}

void daxpy_make_notes(const struct bench_run *run, bench_note_fn emit, void *context)
{
    struct notes notes = {run, emit, context};
    char text[DAXPY_TEXT_SIZE];

    note_memory(&notes);
    if ((daxpy_engine.remark != NULL) && daxpy_engine.remark(daxpy.device, text, sizeof(text))) {
        note(&notes, "%s", text);
    }
    note_warm_up(&notes);
    note_faults(&notes);
    note_shares(&notes);
    note_comparison(&notes);
    note_reasons(&notes);
}
