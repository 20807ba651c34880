/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.c: the snapshot as CSV. */

#include "cmd/memquery/model/model.h"

void csv_print(const struct snapshot *snapshot, FILE *out)
{
    field_csv_head(&fields_of_reach, out);
    for (size_t i = 0; i < snapshot->space_count; i++) {
        const struct space_row *row = &snapshot->spaces[i];

        for (size_t j = 0; j < row->resource_count; j++) {
            for (size_t k = 0; k < snapshot->device_count; k++) {
                struct record record = fields_reach(snapshot, row, &row->resources[j], k);

                field_csv_row(&fields_of_reach, &record, out);
            }
        }
    }
}
