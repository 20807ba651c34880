/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_SHARE_H
#define MEMQUERY_SHARE_H

/* Can device memory be shared with another process and with a network card? Found by allocating
 * one granule, sharing it, and moving data, not from what a driver claims. */

#include "cmd/memquery/model/snapshot.h"
#include "cmd/memquery/output/json.h"

/* Start the second process; this one must not have opened a driver yet. */
void share_start_helper(double timeout_s);

/* Fill the sharing of all devices: by a test with --probe=full, otherwise without any
 * allocation. */
void share_take_all(struct snapshot *snapshot, const struct options *options);

/* "proved", "failed", "partly", "claimed", "no" */
const char *share_state_name(enum share_state state);

/* The results of the probe, a line for each method. */
void share_print(const struct device_row *row, FILE *out);

json_t *share_json(const struct device_row *row);

#endif /* MEMQUERY_SHARE_H */
