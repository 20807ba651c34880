/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: the snapshot for people: plain ASCII, a screenful on a normal machine, no colour. */

#include "cmd/memquery/measure/measure.h"
#include "cmd/memquery/model/peer.h"
#include "cmd/memquery/model/report.h"
#include "cmd/memquery/output/grid.h"
#include "cmd/memquery/output/text.h"
#include "cmd/memquery/probe/share.h"
#include <stdlib.h>
#include <string.h>

static const char access_letters[] = {'.', 'c', 'r', 'P', 'R', 'L'};

static char access_letter(memspan_access_t access)
{
    return ((size_t)access < sizeof(access_letters)) ? access_letters[access] : '?';
}

/* ---- the first line ---- */

static void print_backends(const struct snapshot *snapshot, bool on, FILE *out)
{
    bool any = false;
    size_t i;

    for (i = 0; i < snapshot->backend_count; i++) {
        const struct backend_row *row = &snapshot->backends[i];

        if ((row->info.on != 0) == on) {
            fprintf(out, " %s%s", row->info.name, (row->culprit != NULL) ? "(FAILED)" : "");
            any = true;
        }
    }
    fprintf(out, "%s", any ? "" : " none");
}

static void print_head(const struct snapshot *snapshot, FILE *out)
{
    const memspan_device_info_t *host = &snapshot->devices[0].info;

    fprintf(out, "%s  host %zu NUMA node%s %s%s%s%s  devices %zu  backends:", snapshot->host_name,
            snapshot->node_count, (snapshot->node_count == 1) ? "" : "s",
            text_from_size(host->capacity_bytes).text,
            (host->capacity_source[0] == '\0') ? "" : " (", host->capacity_source,
            (host->capacity_source[0] == '\0') ? "" : ")", snapshot->device_count - 1);
    print_backends(snapshot, true, out);
    fprintf(out, " | off:");
    print_backends(snapshot, false, out);
    fprintf(out, "  (--why NAME)\n\n");
}

/* ---- devices ---- */

/* Every number of the same hardware: "0,2"; the host's two numbers. */
static void device_numbers(const struct snapshot *snapshot, size_t index, char *text, size_t size)
{
    size_t i;

    text[0] = '\0';
    for (i = 0; i < snapshot->device_count; i++) {
        if (snapshot->devices[i].same_as == snapshot->devices[index].same_as) {
            text_append(text, size, "%s%d", (text[0] == '\0') ? "" : ",",
                        snapshot->devices[i].info.number);
        }
    }
    if (index == 0) {
        text_append(text, size, ",%d", snapshot->host_number);
    }
}

static void print_devices(const struct snapshot *snapshot, FILE *out)
{
    static const char *const heads[] = {"DEV",      "omp", "backend", "pci",  "node", "GiB",
                                        "GiB free", "src", "ipc",     "rdma", "uid",  "name"};
    struct grid grid;
    size_t i;

    grid_open(&grid, "lllllrrlllll");
    for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        grid_add(&grid, "%s", heads[i]);
    }
    for (i = 0; i < snapshot->device_count; i++) {
        const struct device_row *row = &snapshot->devices[i];
        char text[256];

        grid_add(&grid, "%s", row->label);
        device_numbers(snapshot, i, text, sizeof(text));
        grid_add(&grid, "%s", text);
        snapshot_device_names(snapshot, i, text, sizeof(text));
        grid_add(&grid, "%s", text);
        grid_add(&grid, "%s", row->info.pci_address);
        if (row->info.numa_node < 0) {
            grid_add(&grid, "-");
        } else {
            grid_add(&grid, "%d", row->info.numa_node);
        }
        grid_add(&grid, "%s", text_from_gib(row->info.capacity_bytes).text);
        grid_add(&grid, "%s", text_from_gib(row->info.free_bytes).text);
        grid_add(&grid, "%s", row->info.capacity_source);
        grid_add(&grid, "%s", (i == 0) ? "" : share_state_name(row->ipc.state));
        grid_add(&grid, "%s", (i == 0) ? "" : share_state_name(row->rdma.state));
        grid_add(&grid, "%s", row->info.uid);
        grid_add(&grid, "%s", row->info.name);
    }
    grid_close(&grid, out);
    fputc('\n', out);
}

/* ---- nodes ---- */

static void add_speed(struct grid *grid, const char *format, uint64_t value, double scale)
{
    if (value == MEMSPAN_UNKNOWN) {
        grid_add(grid, "?");
    } else {
        grid_add(grid, format, (double)value * scale);
    }
}

static void print_nodes(const struct snapshot *snapshot, FILE *out)
{
    static const char *const heads[] = {"NODE", "kind", "GiB", "GiB free", "GB/s",
                                        "ns",   "src",  "PUs", "owner"};
    bool unknown                     = false;
    struct grid grid;
    size_t i;

    grid_open(&grid, "llrrrrlll");
    for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        grid_add(&grid, "%s", heads[i]);
    }
    for (i = 0; i < snapshot->node_count; i++) {
        const memspan_numa_node_info_t *node = &snapshot->nodes[i];

        grid_add(&grid, "node%d", node->os_index);
        grid_add(&grid, "%s", memspan_numa_node_kind_name(node->kind));
        grid_add(&grid, "%s", text_from_gib(node->capacity_bytes).text);
        grid_add(&grid, "%s", text_from_gib(node->free_bytes).text);
        add_speed(&grid, "%.1f", node->bandwidth_mib_per_s, 1048576e-9);
        add_speed(&grid, "%.0f", node->latency_ns, 1);
        grid_add(&grid, "%s", node->performance_source);
        grid_add(&grid, "%s", (node->pu_count == 0) ? "none" : node->pus);
        grid_add(&grid, "%s", node->owner);
        unknown = unknown || (node->bandwidth_mib_per_s == MEMSPAN_UNKNOWN) ||
                  (node->latency_ns == MEMSPAN_UNKNOWN);
    }
    grid_close(&grid, out);
    fprintf(out, "%s\n", unknown ? "? the firmware has no HMAT table that tells\n" : "");
}

/* ---- spaces ---- */

static void add_lane(struct grid *grid, const struct snapshot *snapshot, const char *space,
                     bool alone, const struct lane *lane)
{
    char home[48];
    bool quiet;
    size_t i;

    lane_home(snapshot, lane, home, sizeof(home));
    grid_add(grid, "%s", space);
    grid_add(grid, "%s", lane->info.name);
    grid_add(grid, "%s", memspan_kind_name(lane->info.kind));
    grid_add(grid, "%s", home);
    grid_add(grid, "%s", text_from_gib(lane->info.capacity_bytes).text);
    grid_add(grid, "%s", lane_capacity_source(snapshot, lane));
    for (i = 0; i < snapshot->device_count; i++) {
        grid_add(grid, "%c", access_letter(lane->reach[i].access));
    }
    grid_add(grid, "%s", memspan_coherence_name(lane->coherence));
    grid_add(grid, "%s", !lane->planned ? "?" : (lane->plan.migratable ? "yes" : "-"));
    grid_add(grid, "%s", !lane->planned ? "?" : (lane->plan.pinned ? "yes" : "-"));
    /* What serves a kind is said once, where the device stands alone. */
    quiet = (lane->note[0] == '\0') || ((lane->state == LANE_OK) && !alone);
    grid_add(grid, "%s%s%s", lane_state_name(lane->state), quiet ? "" : "  ",
             quiet ? "" : lane->note);
}

/* A space or kind that is not to be had: dashes, and why. */
static void add_off(struct grid *grid, const struct snapshot *snapshot, const char *space,
                    const char *name, const char *kinds, const char *why)
{
    size_t i;

    grid_add(grid, "%s", space);
    grid_add(grid, "%s", name);
    for (i = 0; i < 4; i++) {
        grid_add(grid, "-");
    }
    for (i = 0; i < snapshot->device_count; i++) {
        grid_add(grid, ".");
    }
    for (i = 0; i < 3; i++) {
        grid_add(grid, "-");
    }
    grid_add(grid, "OFF  %s%s%s", kinds, (kinds[0] == '\0') ? "" : ": ",
             (why[0] == '\0') ? "not offered" : why);
}

/* The kinds that the space's one device does not offer; those for one reason on one line. */
static void add_missing_kinds(struct grid *grid, const struct snapshot *snapshot,
                              const struct space_row *row)
{
    const memspan_device_info_t *info;
    unsigned missing;
    int index = ((row->info.device_count == 1) && !row->info.host)
                    ? snapshot_device_index(snapshot, row->info.devices[0])
                    : -1;
    int kind;

    if (index < 0) {
        return;
    }
    info    = &snapshot->devices[index].info;
    missing = ~info->kinds & ((1u << MEMSPAN_KIND_COUNT) - (1u << MEMSPAN_KIND_HOST_PINNED));
    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        char kinds[64] = "";
        char name[48];
        int other;

        for (other = kind; other < MEMSPAN_KIND_COUNT; other++) {
            if (((missing & (1u << other)) != 0) && ((missing & (1u << kind)) != 0) &&
                ((other == kind) || (strcmp(info->kind_note[kind], info->kind_note[other]) == 0))) {
                text_append(kinds, sizeof(kinds), "%s%s", (kinds[0] == '\0') ? "" : ", ",
                            memspan_kind_name((memspan_kind_t)other));
                missing &= (other == kind) ? ~0u : ~(1u << other);
            }
        }
        if (kinds[0] != '\0') {
            snprintf(name, sizeof(name), "%s%d", info->backend, info->ordinal);
            add_off(grid, snapshot, row->info.name, name, kinds, info->kind_note[kind]);
        }
    }
}

static void print_spaces(const struct snapshot *snapshot, FILE *out)
{
    static const char *const heads[] = {"SPACE", "RESOURCE", "KIND", "HOME", "GiB", "src"};
    static const char *const tails[] = {"COHER", "MIGR", "PIN", "STATE"};
    char *align                      = text_calloc(snapshot->device_count + 16, 1);
    struct grid grid;
    size_t i;
    size_t j;

    memcpy(align, "llllrl", 6);
    memset(align + 6, 'l', snapshot->device_count + 4);
    grid_open(&grid, align);
    for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        grid_add(&grid, "%s", heads[i]);
    }
    for (i = 0; i < snapshot->device_count; i++) {
        grid_add(&grid, "%s", snapshot->devices[i].label);
    }
    for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        grid_add(&grid, "%s", tails[i]);
    }
    for (i = 0; i < snapshot->space_count; i++) {
        const struct space_row *row = &snapshot->spaces[i];

        if (row->status != MEMSPAN_OK) {
            add_off(&grid, snapshot, row->info.name, "-", "", row->problem);
        }
        for (j = 0; j < row->lane_count;) {
            struct lane lane;

            j += lane_merge(snapshot, row, j, &lane);
            add_lane(&grid, snapshot, row->info.name,
                     !row->info.target || ((row->info.device_count == 1) && !row->info.host),
                     &lane);
        }
        add_missing_kinds(&grid, snapshot, row);
    }
    grid_close(&grid, out);
    fprintf(
        out,
        "ACCESS L local  R remote load/store  P by page fault  r after registering  c copy "
        "only  . none\n"
        "COHER  atomic (+a): all at once, atomics too  concurrent (+c): all at once  sync (+s): "
        "one side at a time\n");
    free(align);
}

/* ---- what is off, and warnings ---- */

static void print_off(const struct snapshot *snapshot, FILE *out)
{
    size_t i;

    for (i = 0; i < snapshot->backend_count; i++) {
        const struct backend_row *row = &snapshot->backends[i];

        if (row->culprit != NULL) {
            fprintf(out, "%s FAILED: %s\n", row->info.name, row->culprit->what);
        } else if (!row->info.on) {
            fprintf(out, "%s off: %s%s%s\n", row->info.name, row->info.reason,
                    (row->info.hint[0] == '\0') ? "" : "; remedy: ", row->info.hint);
        }
    }
}

static void print_warnings(const struct snapshot *snapshot, FILE *out)
{
    size_t i;

    for (i = 0; i < snapshot->warning_count; i++) {
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
    print_spaces(snapshot, out);
    fputc('\n', out);
    measure_print(snapshot->board, snapshot, out);
    if (snapshot->device_count > 2) {
        peer_print(snapshot, false, out);
        fputc('\n', out);
    }
    print_off(snapshot, out);
    print_warnings(snapshot, out);
}
