/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c: the figures that can be taken, and the children that take them.
 *
 * A child measures one cell after another in shared memory. A child that finds a cell begun but
 * not finished gives that cell up: the child before it ended there. A driver that crashes in one
 * memory costs one figure. Drivers that do not even start are the affair of probe/probe.c. */

#include "cmd/memquery/measure/measure.h"
#include "cmd/common/clock.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ATTEMPTS = 8 };

static const double quick_s      = 2;    /* all cells together */
static const double full_cell_s  = 1;    /* each */
static const double share        = 0.75; /* of the time limit; later no cell is begun */
static const int64_t least_ns    = 3000000;
static const int64_t most_ns     = 150000000;
static const int64_t ns_a_second = 1000000000;

struct measure_cell *measure_figures_cell(struct measure_figures *figures, const char *resource,
                                          const char *device)
{
    struct measure_cell *cell;

    for (size_t i = 0; i < figures->count; i++) {
        cell = &figures->cells[i];
        if ((strcmp(cell->resource, resource) == 0) && (strcmp(cell->device, device) == 0)) {
            return cell;
        }
    }
    if (figures->count == MEASURE_CELLS_MAX) {
        return NULL;
    }
    cell = &figures->cells[figures->count];
    snprintf(cell->resource, sizeof(cell->resource), "%s", resource);
    snprintf(cell->device, sizeof(cell->device), "%s", device);
    figures->count++;
    return cell;
}

static void name_device(const struct device_row *device, char *text, size_t size)
{
    snprintf(text, size, "%s:%d", device->info.backend, device->info.ordinal);
}

const struct measure_cell *measure_cell_of(const struct measure_figures *figures,
                                           const struct snapshot *snapshot,
                                           const struct resource *resource, size_t device)
{
    char name[32];

    if (figures == NULL) {
        return NULL;
    }
    name_device(&snapshot->devices[device], name, sizeof(name));
    for (size_t i = 0; i < figures->count; i++) {
        if ((strcmp(figures->cells[i].resource, resource->info.name) == 0) &&
            (strcmp(figures->cells[i].device, name) == 0)) {
            return &figures->cells[i];
        }
    }
    return NULL;
}

const struct measure_cell *measure_cell_of_node(const struct measure_figures *figures,
                                                const struct snapshot *snapshot, int os_index)
{
    struct resource node = {0};

    snprintf(node.info.name, sizeof(node.info.name), "node%d", os_index);
    return measure_cell_of(figures, snapshot, &node, 0);
}

const char *measure_obstacle(const struct snapshot *snapshot, const struct resource *resource,
                             size_t device)
{
    const struct device_row *row = &snapshot->devices[device];
    bool runs =
        (row->info.number == MEMSPAN_HOST) || ((row->info.capabilities & MEMSPAN_CAN_KERNELS) != 0);
    bool own =
        (resource->info.kind == MEMSPAN_KIND_DEVICE) && (resource->info.home == row->info.number);

    if (!resource->planned || (resource->state == RESOURCE_OFF)) {
        return "the memory cannot be allocated";
    }
    switch (resource->reach[device].access) {
    case MEMSPAN_ACCESS_NONE:
        return "the device does not reach it";
    case MEMSPAN_ACCESS_REGISTER:
        return "reached only once it is imported into the device's driver";
    case MEMSPAN_ACCESS_COPY:
        return NULL;
    case MEMSPAN_ACCESS_FAULT:
    case MEMSPAN_ACCESS_REMOTE:
    case MEMSPAN_ACCESS_LOCAL:
    default:
        return (runs || own) ? NULL : "the device has no built-in kernels";
    }
}

/* ---- in the child ---- */

/* The terminal on standard error, -1 where it is none: what the child writes there is kept until
 * its end. */
static int terminal = -1;

static void show_progress(const struct measure_figures *figures, const struct measure_cell *cell)
{
    size_t todo = 0;

    for (size_t i = 0; i < figures->count; i++) {
        todo += (figures->cells[i].state == MEASURE_TODO) ? 1 : 0;
    }
    if (terminal >= 0) {
        dprintf(terminal, "\rmemquery: measuring %s from %s, %zu left\033[K", cell->resource,
                cell->device, todo);
    }
}

struct work {
    const struct options *options;
    const struct snapshot *snapshot;
    struct measure_figures *figures;
    int64_t deadline_ns;
    int64_t budget_ns;
};

/* Is it the first usable resource with memory of its name? */
static bool is_first(const struct snapshot *snapshot, const struct resource *resource)
{
    if (!resource->planned || (resource->state == RESOURCE_OFF)) {
        return false;
    }
    for (size_t i = 0; i < snapshot->space_count; i++) {
        for (size_t j = 0; j < snapshot->spaces[i].resource_count; j++) {
            const struct resource *other = &snapshot->spaces[i].resources[j];

            if (other == resource) {
                return true;
            }
            if (other->planned && (other->state != RESOURCE_OFF) &&
                (strcmp(other->info.name, resource->info.name) == 0)) {
                return false;
            }
        }
    }
    return true;
}

static void measure_one(const struct work *work, struct measure_memory *memory,
                        const struct resource *resource, size_t device, struct measure_cell *cell)
{
    const struct measure_figures *figures = work->figures;

    struct measure_busy busy;

    __atomic_store_n(&work->figures->running, (int)(cell - figures->cells), __ATOMIC_SEQ_CST);
    cell->settled = true;
    show_progress(figures, cell);
    measure_busy_begin(&busy);
    measure_memory_use(memory, &work->snapshot->devices[device], &resource->reach[device], cell);
    if (cell->state == MEASURE_DONE) {
        cell->measured_at = (int64_t)time(NULL);
        cell->full        = work->options->measure.full;
        cell->busy        = measure_busy_end(&busy, cell->method == MEASURE_LOADS);
    }
    __atomic_store_n(&work->figures->running, -1, __ATOMIC_SEQ_CST);
}

/* Allocation may crash as well: then the first cell of that memory is given up. */
static void measure_resource(const struct work *work, const struct space_row *row,
                             const struct resource *resource)
{
    struct measure_memory memory = {0};
    bool open                    = false;
    char name[32];

    for (size_t i = 0; i < work->snapshot->device_count; i++) {
        struct measure_cell *cell;

        name_device(&work->snapshot->devices[i], name, sizeof(name));
        cell = measure_figures_cell(work->figures, resource->info.name, name);
        if ((cell == NULL) || (cell->state != MEASURE_TODO)) {
            continue;
        }
        if (cli_clock_ns() > work->deadline_ns) {
            break;
        }
        if (!open) {
            __atomic_store_n(&work->figures->running, (int)(cell - work->figures->cells),
                             __ATOMIC_SEQ_CST);
            measure_memory_open(&memory, work->snapshot, row, resource, work->options->measure.full,
                                work->budget_ns);
            open = true;
        }
        measure_one(work, &memory, resource, i, cell);
    }
    if (open) {
        measure_memory_close(&memory);
    }
}

static void waive(struct measure_cell *cell, const char *obstacle)
{
    if (obstacle != NULL) {
        cell->state = MEASURE_WAIVED;
        snprintf(cell->bandwidth_reason, sizeof(cell->bandwidth_reason), "%s", obstacle);
        snprintf(cell->latency_reason, sizeof(cell->latency_reason), "%s", obstacle);
    }
}

static void list_cells(const struct work *work)
{
    for (size_t i = 0; i < work->snapshot->space_count; i++) {
        for (size_t j = 0; j < work->snapshot->spaces[i].resource_count; j++) {
            const struct resource *resource = &work->snapshot->spaces[i].resources[j];

            for (size_t k = 0;
                 is_first(work->snapshot, resource) && (k < work->snapshot->device_count); k++) {
                struct measure_cell *cell;
                char name[32];

                name_device(&work->snapshot->devices[k], name, sizeof(name));
                cell = measure_figures_cell(work->figures, resource->info.name, name);
                if ((cell != NULL) && (cell->state == MEASURE_TODO)) {
                    waive(cell, measure_obstacle(work->snapshot, resource, k));
                }
            }
        }
    }
}

/* Quick: all cells share the time. */
static int64_t budget_of(const struct work *work)
{
    int64_t ns   = (int64_t)(full_cell_s * 1e9);
    size_t count = 0;

    if (work->options->measure.full) {
        return ns;
    }
    for (size_t i = 0; i < work->figures->count; i++) {
        count += (work->figures->cells[i].state == MEASURE_TODO) ? 1 : 0;
    }
    ns = (int64_t)(quick_s * 1e9) / (2 * (int64_t)((count == 0) ? 1 : count));
    return (ns < least_ns) ? least_ns : ((ns > most_ns) ? most_ns : ns);
}

static void give_up_cell(struct measure_figures *figures)
{
    struct measure_cell *cell;

    if ((figures->running < 0) || ((size_t)figures->running >= figures->count)) {
        return;
    }
    cell         = &figures->cells[figures->running];
    cell->state  = MEASURE_FAILED;
    cell->method = MEASURE_NOTHING;
    snprintf(
        cell->bandwidth_reason, sizeof(cell->bandwidth_reason),
        "the driver crashed while this was measured, or the time was up (--timeout gives more)");
    strcpy(cell->latency_reason, cell->bandwidth_reason);
    cell->bandwidth_bytes_per_s = 0;
    cell->latency_ns            = 0;
    figures->failures++;
    figures->running = -1;
}

static int measure_all(const struct request *request, FILE *out)
{
    const struct options *options = request->options;
    struct options modest         = *options;
    struct request plain          = *request;
    struct snapshot snapshot;
    struct work work = {
        .options = options, .snapshot = &snapshot, .figures = options->measure.figures};

    (void)out;
    work.deadline_ns = cli_clock_ns() + (int64_t)(options->timeout_s * share * (double)ns_a_second);
    give_up_cell(work.figures);
    modest.probe  = (modest.probe == PROBE_FULL) ? PROBE_SAFE : modest.probe;
    plain.options = &modest;
    snapshot_take(&snapshot, &plain);
    list_cells(&work);
    work.budget_ns = budget_of(&work);
    for (size_t i = 0; i < snapshot.space_count; i++) {
        for (size_t j = 0; j < snapshot.spaces[i].resource_count; j++) {
            if (is_first(&snapshot, &snapshot.spaces[i].resources[j])) {
                measure_resource(&work, &snapshot.spaces[i], &snapshot.spaces[i].resources[j]);
            }
        }
    }
    snapshot_free(&snapshot);
    return EXIT_YES;
}

/* ---- in the parent ---- */

static void explain_missing(struct measure_figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) {
        struct measure_cell *cell = &figures->cells[i];

        if (cell->state != MEASURE_TODO) {
            continue;
        }
        snprintf(cell->bandwidth_reason, sizeof(cell->bandwidth_reason),
                 "the time limit was near (--timeout gives more)");
        strcpy(cell->latency_reason, cell->bandwidth_reason);
    }
}

int measure_run(struct options *options)
{
    struct measure_figures *figures = mmap(NULL, sizeof(*figures), PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int failures;
    int code = EXIT_YES;

    if (figures == MAP_FAILED) {
        cli_complain("out of memory for measured figures");
        return EXIT_PROBE;
    }
    figures->running         = -1;
    options->measure.figures = figures;
    if (isatty(STDERR_FILENO) != 0) {
        terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        failures = figures->failures;
        code     = probe_answer(options, measure_all);
        if ((code == EXIT_YES) && (figures->failures == failures)) {
            break;
        }
        give_up_cell(figures);
        if (figures->failures == failures) {
            break; /* not the measurement fails: the answer names the backend */
        }
    }
    if (terminal >= 0) {
        dprintf(terminal, "\r\033[K");
        close(terminal);
        terminal = -1;
    }
    explain_missing(figures);
    return (figures->failures > 0) ? EXIT_PROBE : code;
}
