/* SPDX-License-Identifier: BSD-3-Clause */
/* show.c: the figures in the table. */

#include "cmd/memquery/measure/measure.h"
#include <string.h>
#include <time.h>

const char *measure_method_name(enum measure_method method)
{
    static const char *const names[] = {"", "loads", "kernel", "copy", "fill"};

    return names[method];
}

struct measure_date measure_date(int64_t seconds)
{
    struct measure_date date = {""};
    time_t when              = (time_t)seconds;
    struct tm parts;

    if ((seconds > 0) && (gmtime_r(&when, &parts) != NULL)) {
        strftime(date.text, sizeof(date.text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    return date;
}

const char *measure_source(const struct measure_cell *cell)
{
    if ((cell == NULL) || (cell->state != MEASURE_DONE)) {
        return "";
    }
    return cell->full ? "measured now, full" : "measured now, quick";
}

const char *measure_reason(const struct measure_cell *cell, const struct snapshot *snapshot,
                           const struct resource *resource, size_t device)
{
    const char *obstacle = measure_obstacle(snapshot, resource, device);

    if (cell != NULL) {
        return (cell->bandwidth_reason[0] != '\0') ? cell->bandwidth_reason : cell->latency_reason;
    }
    if (obstacle != NULL) {
        return obstacle;
    }
    return (snapshot->figures == NULL) ? "not measured; --measure does"
                                       : "there are more figures than there is room for";
}

int measure_spread_percent(const struct measure_cell *cell)
{
    double spread = (cell->bandwidth_spread > cell->latency_spread) ? cell->bandwidth_spread
                                                                    : cell->latency_spread;

    return (spread > 9.99) ? 999 : (int)(100 * spread + 0.999);
}

/* ---- table ---- */

/* "12.3/95~4%": GB/s, ns and spread; a letter where the device did not load and store. */
static void cell_text(const struct measure_cell *cell, char *text, size_t size)
{
    text[0] = '\0';
    if ((cell == NULL) || (cell->state == MEASURE_TODO)) {
        cli_append(text, size, "?");
    } else if (cell->state == MEASURE_WAIVED) {
        cli_append(text, size, ".");
    } else if (cell->state == MEASURE_FAILED) {
        cli_append(text, size, "FAILED");
    } else {
        double rate = cell->bandwidth_bytes_per_s / 1e9;

        if (rate > 0) {
            cli_append(text, size, "%.*f", (rate < 9.995) ? 2 : ((rate < 99.95) ? 1 : 0), rate);
        } else {
            cli_append(text, size, "?");
        }
        if (cell->latency_ns > 0) {
            cli_append(text, size, "/%.*f", (cell->latency_ns < 9.95) ? 1 : 0, cell->latency_ns);
        } else {
            cli_append(text, size, "/?");
        }
        cli_append(text, size, "%s~%d%%%s",
                   (cell->method == MEASURE_COPY)   ? "c"
                   : (cell->method == MEASURE_FILL) ? "f"
                                                    : "",
                   measure_spread_percent(cell), cell->busy ? "!" : "");
    }
}

/* A row a memory, which may be in several spaces. */
static bool is_shown_before(const struct snapshot *snapshot, const struct resource *resource)
{
    for (size_t i = 0; i < snapshot->space_count; i++) {
        for (size_t j = 0; j < snapshot->spaces[i].resource_count; j++) {
            if (&snapshot->spaces[i].resources[j] == resource) {
                return false;
            }
            if (strcmp(snapshot->spaces[i].resources[j].info.name, resource->info.name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void print_rows(const struct measure_figures *figures, const struct snapshot *snapshot,
                       FILE *out)
{
    char *align = cli_calloc(snapshot->device_count + 3, 1);
    struct cli_table table;

    memset(align, 'r', snapshot->device_count + 2);
    memset(align, 'l', 2);
    cli_table_open(&table, align);
    cli_table_add(&table, "MEASURED");
    cli_table_add(&table, "KIND");
    for (size_t k = 0; k < snapshot->device_count; k++) {
        cli_table_add(&table, "%s", snapshot->devices[k].label);
    }
    for (size_t i = 0; i < snapshot->space_count; i++) {
        for (size_t j = 0; j < snapshot->spaces[i].resource_count; j++) {
            const struct resource *resource = &snapshot->spaces[i].resources[j];

            if (is_shown_before(snapshot, resource)) {
                continue;
            }
            cli_table_add(&table, "%s", resource->info.name);
            cli_table_add(&table, "%s", memspan_kind_name(resource->info.kind));
            for (size_t k = 0; k < snapshot->device_count; k++) {
                char text[64];

                cell_text(measure_cell_of(figures, snapshot, resource, k), text, sizeof(text));
                cli_table_add(&table, "%s",
                              (measure_obstacle(snapshot, resource, k) != NULL) ? "." : text);
            }
        }
    }
    cli_table_close(&table, out);
}

static const char *reason_of(const struct measure_cell *cell)
{
    return (cell->bandwidth_reason[0] != '\0') ? cell->bandwidth_reason : cell->latency_reason;
}

/* Each reason once, with all cells that it holds for; unreachable memory is left out. */
static void print_reasons(const struct measure_figures *figures, FILE *out)
{
    for (size_t i = 0; i < figures->count; i++) {
        const char *reason = reason_of(&figures->cells[i]);
        bool said          = (reason[0] == '\0') || (figures->cells[i].state == MEASURE_WAIVED);

        for (size_t j = 0; (j < i) && !said; j++) {
            said = (figures->cells[j].state != MEASURE_WAIVED) &&
                   (strcmp(reason_of(&figures->cells[j]), reason) == 0);
        }
        if (said) {
            continue;
        }
        fprintf(out, "not measured: %s:", reason);
        for (size_t j = i; j < figures->count; j++) {
            if (strcmp(reason_of(&figures->cells[j]), reason) == 0) {
                fprintf(out, " %s from %s%s", figures->cells[j].resource, figures->cells[j].device,
                        (figures->cells[j].bandwidth_reason[0] == '\0') ? " (ns)" : "");
            }
        }
        fputc('\n', out);
    }
}

void measure_dates(const struct measure_figures *figures, char *text, size_t size)
{
    int64_t first = 0;
    int64_t last  = 0;
    bool full     = false;
    size_t done   = 0;

    for (size_t i = 0; i < figures->count; i++) {
        const struct measure_cell *cell = &figures->cells[i];

        if (cell->state != MEASURE_DONE) {
            continue;
        }
        first = ((done == 0) || (cell->measured_at < first)) ? cell->measured_at : first;
        last  = (cell->measured_at > last) ? cell->measured_at : last;
        full  = cell->full;
        done++;
    }
    text[0] = '\0';
    if (done > 0) {
        snprintf(text, size, "measured (%s) %s%s%s", full ? "full" : "quick",
                 measure_date(first).text, (first == last) ? "" : " .. ",
                 (first == last) ? "" : measure_date(last).text);
    }
}

void measure_print(const struct measure_figures *figures, const struct snapshot *snapshot,
                   FILE *out)
{
    char dates[256];

    if (figures == NULL) {
        return;
    }
    print_rows(figures, snapshot, out);
    fprintf(out, "GB/s of three loads and a store / ns of dependent loads; c copies in and out / "
                 "ns of eight bytes; f fills; ~ spread of the repetitions; ! others used the "
                 "processors; . no way; ? not measured\n");
    measure_dates(figures, dates, sizeof(dates));
    fprintf(out, "%s%s", dates, (dates[0] == '\0') ? "" : "\n");
    print_reasons(figures, out);
    fputc('\n', out);
}
