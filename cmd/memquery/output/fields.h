/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_FIELDS_H
#define MEMQUERY_FIELDS_H

/* The fields of everything that is printed. Keys and CSV columns are never renamed or removed,
 * and CSV columns are added at the end. */

#include "cmd/memquery/output/field.h"

extern const struct field_list fields_of_backend;  /* row: struct backend_row */
extern const struct field_list fields_of_device;   /* row: struct device_row; device */
extern const struct field_list fields_of_node;     /* row: memspan_numa_node_info_t */
extern const struct field_list fields_of_resource; /* row: struct resource; space */
extern const struct field_list fields_of_reach;    /* row: struct resource; space, device, cell */

/* The record of a resource as one device reaches it. */
struct record fields_reach(const struct snapshot *snapshot, const struct space_row *space,
                           const struct resource *resource, size_t device);

#endif /* MEMQUERY_FIELDS_H */
