/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_SHARE_H
#define MEMQUERY_SHARE_H

/* Whether device memory can really be given to another process and to a network card: found by
 * allocating one granule, sharing it, and moving data, never from what a driver claims. */

#include "cmd/memquery/model/snapshot.h"
#include "cmd/memquery/output/json.h"

/* In a process that has opened no driver yet: start the one that will be the other process. */
void share_start_helper(double timeout_s);

/* Fill the sharing of all devices; with --probe=full, by trying. Without it nothing is allocated.
 */
void share_take_all(struct snapshot *snapshot, const struct options *options);

/* "proved", "failed", "partly", "claimed", "no" */
const char *share_state_name(enum share_state state);

/* What a probe proved, a line for each way. */
void share_print(const struct device_row *row, FILE *out);

json_t *share_json(const struct device_row *row);

#endif /* MEMQUERY_SHARE_H */
