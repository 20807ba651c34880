/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_FILE_H
#define MEMSPAN_BENCH_FILE_H

/* Output files: "-" is standard output; a file is whole or it is not there. */

#include <stdbool.h>
#include <stdio.h>

/* True where a file could be opened for writing: asked before a long run, not after it. False after
 * saying why on standard error. Makes nothing. */
bool bench_file_may_write(const char *path);

/* True for "-". */
bool bench_file_is_output(const char *path);

/* NULL after saying why on standard error. */
FILE *bench_file_open(const char *path);

/* Close; where something could not be written, say so and remove the file. */
bool bench_file_close(FILE *file, const char *path);

#endif /* MEMSPAN_BENCH_FILE_H */
