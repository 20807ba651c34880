/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_DEVICE_H
#define MEMQUERY_DEVICE_H

/* Details of each device beyond its row in the table. */

#include "cmd/memquery/model/snapshot.h"
#include "cmd/memquery/output/json.h"

/* --devices: every capability with its source, every mode, and what a probe proved. */
void device_print(const struct snapshot *snapshot, FILE *out);

json_t *device_capability_sources(const memspan_device_info_t *info);
json_t *device_modes(const memspan_device_info_t *info);

#endif /* MEMQUERY_DEVICE_H */
