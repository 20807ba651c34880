/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_CSV_H
#define MEMQUERY_CSV_H

/* -o csv: how each device reaches each memory, and measured figures. */

#include "cmd/memquery/model/snapshot.h"
#include <stdio.h>

/* A head, and a row for each space, resource and device. */
void csv_print(const struct snapshot *snapshot, FILE *out);

#endif /* MEMQUERY_CSV_H */
