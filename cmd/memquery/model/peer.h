/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_PEER_H
#define MEMQUERY_PEER_H

/* How each device reaches the own memory of the others, and the source of that. */

#include "cmd/memquery/model/snapshot.h"
#include "cmd/memquery/output/json.h"

/* Query every pair of devices, the host among them. */
void peer_take_all(struct snapshot *snapshot);

/* How devices[from] reaches the own memory of devices[home]. */
const struct peer *peer_of(const struct snapshot *snapshot, size_t home, size_t from);

/* The matrix; with @p sources each source once below it, with its pairs. */
void peer_print(const struct snapshot *snapshot, bool sources, FILE *out);

/* One object a pair. */
json_t *peer_json(const struct snapshot *snapshot);

#endif /* MEMQUERY_PEER_H */
