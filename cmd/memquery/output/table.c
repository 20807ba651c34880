/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: the snapshot as text: plain ASCII, a screenful on a normal machine. */

#include "cmd/memquery/measure/measure.h"
#include <string.h>

/* ---- the first line ---- */

static void print_backends(const struct snapshot *snapshot, bool on, FILE *out)
{
    bool any = false;

    for (size_t i = 0; i < snapshot->backend_count; i++) {
        const struct backend_row *row = &snapshot->backends[i];

        if ((row->info.on != 0) == on) {
            fprintf(out, " %s%s", row->info.name, (row->failure != NULL) ? "(FAILED)" : "");
            any = true;
        }
    }
    fprintf(out, "%s", any ? "" : " none");
}

static void print_head(const struct snapshot *snapshot, FILE *out)
{
    const memspan_device_info_t *host = &snapshot->devices[0].info;

    fprintf(out, "%s  host %zu NUMA node%s %s%s%s%s  devices %zu\nbackends:", snapshot->host_name,
            snapshot->node_count, (snapshot->node_count == 1) ? "" : "s",
            cli_size_text(host->capacity_bytes).text,
            (host->capacity_source[0] == '\0') ? "" : " (", host->capacity_source,
            (host->capacity_source[0] == '\0') ? "" : ")", snapshot->device_count - 1);
    print_backends(snapshot, true, out);
    fprintf(out, " | off:");
    print_backends(snapshot, false, out);
    fprintf(out, "  (--why NAME)\n\n");
}

/* ---- devices ---- */

static void print_devices(const struct snapshot *snapshot, FILE *out)
{
    struct record record = {.snapshot = snapshot};
    struct cli_table table;

    field_open(&fields_of_device, snapshot, &table);
    for (; record.device < snapshot->device_count; record.device++) {
        record.row = &snapshot->devices[record.device];
        field_row(&fields_of_device, &record, &table);
    }
    cli_table_close(&table, out);
    fputc('\n', out);
}

/* ---- nodes ---- */

/* The speed of memory behind a cache depends on the data, and no space can choose the cache. */
static void print_side_caches(const struct snapshot *snapshot, FILE *out)
{
    for (size_t i = 0; i < snapshot->node_count; i++) {
        const memspan_numa_node_info_t *node = &snapshot->nodes[i];

        if (node->side_cache_bytes > 0) {
            fprintf(out,
                    "node%d has a memory-side cache of %s: its speed depends on whether the data "
                    "fits there, and no space can choose that memory\n",
                    node->os_index, cli_size_text(node->side_cache_bytes).text);
        }
    }
}

static void print_nodes(const struct snapshot *snapshot, FILE *out)
{
    bool unknown = false;
    struct cli_table table;

    field_open(&fields_of_node, snapshot, &table);
    for (size_t i = 0; i < snapshot->node_count; i++) {
        const memspan_numa_node_info_t *node = &snapshot->nodes[i];
        struct record record                 = {
                            .snapshot = snapshot,
                            .row      = node,
                            .cell     = measure_cell_of_node(snapshot->figures, snapshot, node->os_index)};

        field_row(&fields_of_node, &record, &table);
        unknown = unknown || ((measure_source(record.cell)[0] == '\0') &&
                              ((node->bandwidth_mib_per_s == MEMSPAN_UNKNOWN) ||
                               (node->latency_ns == MEMSPAN_UNKNOWN)));
    }
    cli_table_close(&table, out);
    fputs(unknown ? "? the firmware has no HMAT table that tells\n" : "", out);
    print_side_caches(snapshot, out);
    fputc('\n', out);
}

static void print_memory_devices(const struct snapshot *snapshot, FILE *out)
{
    struct record record = {.snapshot = snapshot};
    struct cli_table table;

    if (snapshot->memory_device_count == 0) {
        return;
    }
    field_open(&fields_of_memory_device, snapshot, &table);
    for (size_t i = 0; i < snapshot->memory_device_count; i++) {
        record.row = &snapshot->memory_devices[i];
        field_row(&fields_of_memory_device, &record, &table);
    }
    cli_table_close(&table, out);
    fputc('\n', out);
}

/* ---- spaces ---- */

/* A space or kind that is not available: dashes, and the reason. */
static void add_off(struct cli_table *table, const struct snapshot *snapshot, const char *space,
                    const char *name, const char *kinds, const char *why)
{
    char last[700];

    snprintf(last, sizeof(last), "OFF  %s%s%s", kinds, (kinds[0] == '\0') ? "" : ": ",
             (why[0] == '\0') ? "not offered" : why);
    field_row_off(&fields_of_resource, snapshot, (const char *const[]){space, name}, last, table);
}

/* The kinds that the only device of a space does not offer; those with one reason on one line. */
static void add_missing_kinds(struct cli_table *table, const struct snapshot *snapshot,
                              const struct space_row *row)
{
    const memspan_device_info_t *info;
    unsigned missing;
    int index = ((row->info.device_count == 1) && !row->info.host)
                    ? snapshot_device_index(snapshot, row->info.devices[0])
                    : -1;

    if (index < 0) {
        return;
    }
    info    = &snapshot->devices[index].info;
    missing = ~info->kinds & ((1u << MEMSPAN_KIND_COUNT) - (1u << MEMSPAN_KIND_HOST_PINNED));
    for (int kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        char kinds[64] = "";
        char name[48];

        for (int other = kind; other < MEMSPAN_KIND_COUNT; other++) {
            if (((missing & (1u << other)) != 0) && ((missing & (1u << kind)) != 0) &&
                ((other == kind) || (strcmp(info->kind_note[kind], info->kind_note[other]) == 0))) {
                cli_append(kinds, sizeof(kinds), "%s%s", (kinds[0] == '\0') ? "" : ", ",
                           memspan_kind_name((memspan_kind_t)other));
                missing &= (other == kind) ? ~0u : ~(1u << other);
            }
        }
        if (kinds[0] != '\0') {
            snprintf(name, sizeof(name), "%s%d", info->backend, info->ordinal);
            add_off(table, snapshot, row->info.name, name, kinds, info->kind_note[kind]);
        }
    }
}

static void print_spaces(const struct snapshot *snapshot, FILE *out)
{
    struct cli_table table;

    field_open(&fields_of_resource, snapshot, &table);
    for (size_t i = 0; i < snapshot->space_count; i++) {
        const struct space_row *row = &snapshot->spaces[i];

        if (row->status != MEMSPAN_OK) {
            add_off(&table, snapshot, row->info.name, "-", "", row->problem);
        }
        for (size_t j = 0; j < row->resource_count;) {
            struct resource resource;
            struct record record = {.snapshot = snapshot, .row = &resource, .space = row};

            j += resource_merge(snapshot, row, j, &resource);
            field_row(&fields_of_resource, &record, &table);
        }
        add_missing_kinds(&table, snapshot, row);
    }
    cli_table_close(&table, out);
    fputs("ACCESS L local  R remote load/store  P page fault  r registered  c copy  . none\n"
          "COHER  sync (+s): in turn  concurrent (+c): at once  atomic (+a): atomics too\n"
          "MIGR   pages may move  PIN locked  omp the number in OpenMP's calls\n"
          "STATE  ALIAS of another space  COND on a condition  OFF not to be had\n",
          out);
}

/* ---- backends that are off, and warnings ---- */

static void print_off(const struct snapshot *snapshot, FILE *out)
{
    for (size_t i = 0; i < snapshot->backend_count; i++) {
        const struct backend_row *row = &snapshot->backends[i];

        if (row->failure != NULL) {
            fprintf(out, "%s FAILED: %s\n", row->info.name, row->failure->what);
        } else if (!row->info.on) {
            fprintf(out, "%s off: %s%s%s\n", row->info.name, row->info.reason,
                    (row->info.hint[0] == '\0') ? "" : "; remedy: ", row->info.hint);
        }
    }
}

static void print_warnings(const struct snapshot *snapshot, FILE *out)
{
    for (size_t i = 0; i < snapshot->warning_count; i++) {
        fprintf(out, "warning: %s\n", snapshot->warnings[i]);
    }
}

void table_print(const struct snapshot *snapshot, FILE *out)
{
    if (snapshot->device_count == 0) {
        print_off(snapshot, out);
        print_warnings(snapshot, out);
        return;
    }
    print_head(snapshot, out);
    print_devices(snapshot, out);
    print_nodes(snapshot, out);
    print_memory_devices(snapshot, out);
    print_spaces(snapshot, out);
    fputc('\n', out);
    measure_print(snapshot->figures, snapshot, out);
    if (snapshot->device_count > 2) {
        peer_print(snapshot, false, out);
        fputc('\n', out);
    }
    print_off(snapshot, out);
    print_warnings(snapshot, out);
}
