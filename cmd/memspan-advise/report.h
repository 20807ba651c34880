/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_REPORT_H
#define CMD_ADVISE_REPORT_H

#include "cmd/memspan-advise/profile.h"
#include <stdio.h>

/* The table of the @p most largest sites, and a line for the others. */
void report_print(const struct profile *profile, size_t most, FILE *out);

/* The proposal as a file for MEMSPAN_PLACEMENT. */
void report_write(const struct profile *profile, FILE *out);

#endif /* CMD_ADVISE_REPORT_H */
