/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_SVG_H
#define MEMQUERY_SVG_H

/* -o svg: a drawing of the machine. */

#include "cmd/memquery/model/snapshot.h"
#include <stdio.h>

void svg_print(const struct snapshot *snapshot, FILE *out);

#endif /* MEMQUERY_SVG_H */
