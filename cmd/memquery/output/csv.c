/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.c: RFC 4180 with a line feed at the end of a line. Fields that nothing is known of are empty;
 * the last one says why. Columns are added at the end, never renamed or removed. */

#include "cmd/memquery/output/csv.h"
#include "cmd/memquery/measure/measure.h"
#include <string.h>

static void put_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\n\r") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_measured(const struct snapshot *snapshot, const struct lane *lane, size_t device,
                         FILE *out)
{
    const struct measure_cell *cell = measure_cell_of(snapshot->board, snapshot, lane, device);
    bool done                       = (cell != NULL) && (cell->state == MEASURE_DONE);

    fputc(',', out);
    if (done && (cell->bandwidth_bytes_per_s > 0)) {
        fprintf(out, "%.0f", cell->bandwidth_bytes_per_s);
    }
    fputc(',', out);
    if (done && (cell->latency_ns > 0)) {
        fprintf(out, "%.1f", cell->latency_ns);
    }
    fprintf(out, ",%s,%s,", done ? measure_method_name(cell->method) : "",
            done ? measure_date(cell->measured_at).text : "");
    put_text(out, measure_source(cell));
    fputc(',', out);
    put_text(out, measure_reason(cell, snapshot, lane, device));
    if (done) {
        fprintf(out, ",%d,%d,%d", measure_spread_percent(cell), cell->settled, cell->busy);
    } else {
        fputs(",,,", out);
    }
}

static void put_row(const struct snapshot *snapshot, const struct space_row *row,
                    const struct lane *lane, size_t device, FILE *out)
{
    const struct device_row *from = &snapshot->devices[device];
    char home[48];

    lane_home(snapshot, lane, home, sizeof(home));
    put_text(out, row->info.name);
    fputc(',', out);
    put_text(out, lane->info.name);
    fprintf(out, ",%s,%s,%d,%s:%d,%s,%s", memspan_kind_name(lane->info.kind), home,
            from->info.number, from->info.backend, from->info.ordinal,
            memspan_access_name(lane->reach[device].access),
            memspan_coherence_name(lane->reach[device].coherence));
    put_measured(snapshot, lane, device, out);
    fputc('\n', out);
}

void csv_print(const struct snapshot *snapshot, FILE *out)
{
    size_t i;
    size_t j;
    size_t k;

    fputs("space,resource,kind,home,device,device_name,access,coherence,bandwidth_bytes_per_s,"
          "latency_ns,method,measured_at,source,reason,spread_percent,settled,busy\n",
          out);
    for (i = 0; i < snapshot->space_count; i++) {
        for (j = 0; j < snapshot->spaces[i].lane_count; j++) {
            for (k = 0; k < snapshot->device_count; k++) {
                put_row(snapshot, &snapshot->spaces[i], &snapshot->spaces[i].lanes[j], k, out);
            }
        }
    }
}
