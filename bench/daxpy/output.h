/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_DAXPY_OUTPUT_H
#define MEMSPAN_BENCH_DAXPY_OUTPUT_H

/* What the parts of daxpy's output share. */

#include "bench/daxpy/daxpy.h"

/* "10 Mi", "256 Ki", "1000". Returns @p text. */
const char *daxpy_count_text(char *text, size_t text_size, size_t count);

/* The sentences under the table, one by one: what was given and why, what was waived and why, and
 * how the variants compare. The same ones are printed and written into the JSON file. */
typedef void (*daxpy_note_fn)(void *context, const char *text);
void daxpy_make_notes(const struct daxpy_run *run, daxpy_note_fn emit, void *context);

#endif /* MEMSPAN_BENCH_DAXPY_OUTPUT_H */
