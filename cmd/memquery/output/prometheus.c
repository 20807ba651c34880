/* SPDX-License-Identifier: BSD-3-Clause */
/* prometheus.c: --format prometheus: the snapshot as metrics in the text exposition format 0.0.4,
 * for the textfile collector of node_exporter. A row of the table is a metric; all its samples
 * stand together, each with other labels. Names have base units (bytes, seconds); what is unknown
 * has no sample. */

#include "cmd/memquery/measure/measure.h"
#include <inttypes.h>
#include <string.h>

/* The output, and the metric that is printed. */
struct exposition {
    const struct snapshot *snapshot;
    const char *name;
    FILE *out;
    bool labelled; /* the sample has a label already */
};

/* ---- samples ---- */

static void begin(struct exposition *to)
{
    fputs(to->name, to->out);
    to->labelled = false;
}

/* In labels a backslash, a quote and a line feed are escaped; other bytes must be UTF-8. */
static void label(struct exposition *to, const char *key, const char *value)
{
    fprintf(to->out, "%c%s=\"", to->labelled ? ',' : '{', key);
    for (; *value != '\0'; value++) {
        unsigned char byte = (unsigned char)*value;

        if ((byte == '\\') || (byte == '"')) {
            fprintf(to->out, "\\%c", byte);
        } else if (byte == '\n') {
            fputs("\\n", to->out);
        } else {
            fputc(((byte < ' ') || (byte > '~')) ? '?' : byte, to->out);
        }
    }
    fputc('"', to->out);
    to->labelled = true;
}

static void end_count(struct exposition *to, uint64_t value)
{
    fprintf(to->out, "%s %" PRIu64 "\n", to->labelled ? "}" : "", value);
}

static void end_real(struct exposition *to, double value)
{
    fprintf(to->out, "%s %.9g\n", to->labelled ? "}" : "", value);
}

/* ---- the machine, and backends ---- */

static void put_version(struct exposition *to)
{
    begin(to);
    label(to, "version", memspan_version());
    end_count(to, 1);
}

static void put_success(struct exposition *to)
{
    begin(to);
    end_count(to, (to->snapshot->request->failure_count > 0) ? 0 : 1);
}

static void put_lock_limit(struct exposition *to)
{
    if (to->snapshot->lock_limit_bytes != MEMSPAN_UNKNOWN) {
        begin(to);
        end_count(to, to->snapshot->lock_limit_bytes);
    }
}

static void put_warnings(struct exposition *to)
{
    begin(to);
    end_count(to, to->snapshot->warning_count);
}

static void put_backend(struct exposition *to, size_t i, uint64_t value)
{
    begin(to);
    label(to, "backend", to->snapshot->backends[i].info.name);
    end_count(to, value);
}

static void put_backend_on(struct exposition *to)
{
    for (size_t i = 0; i < to->snapshot->backend_count; i++) {
        put_backend(to, i, (to->snapshot->backends[i].info.on != 0) ? 1 : 0);
    }
}

static void put_backend_failed(struct exposition *to)
{
    for (size_t i = 0; i < to->snapshot->backend_count; i++) {
        put_backend(to, i, (to->snapshot->backends[i].failure != NULL) ? 1 : 0);
    }
}

/* ---- devices ---- */

static void label_device(struct exposition *to, const memspan_device_info_t *info)
{
    char name[64];

    snprintf(name, sizeof(name), "%s:%d", info->backend, info->ordinal);
    label(to, "device", name);
}

static void put_devices(struct exposition *to)
{
    for (size_t i = 0; i < to->snapshot->device_count; i++) {
        const memspan_device_info_t *info = &to->snapshot->devices[i].info;

        begin(to);
        label_device(to, info);
        label(to, "number", text_from_int(info->number).text);
        label(to, "name", info->name);
        label(to, "vendor", info->vendor);
        label(to, "driver", info->driver);
        label(to, "uid", info->uid);
        label(to, "pci_address", info->pci_address);
        end_count(to, 1);
    }
}

static void put_device_size(struct exposition *to, size_t offset)
{
    for (size_t i = 0; i < to->snapshot->device_count; i++) {
        const memspan_device_info_t *info = &to->snapshot->devices[i].info;
        uint64_t value;

        memcpy(&value, (const char *)info + offset, sizeof(value));
        if (value != MEMSPAN_UNKNOWN) {
            begin(to);
            label_device(to, info);
            end_count(to, value);
        }
    }
}

static void put_device_memory(struct exposition *to)
{
    put_device_size(to, offsetof(memspan_device_info_t, capacity_bytes));
}

static void put_device_free(struct exposition *to)
{
    put_device_size(to, offsetof(memspan_device_info_t, free_bytes));
}

static void put_device_kinds(struct exposition *to)
{
    for (size_t i = 0; i < to->snapshot->device_count; i++) {
        const memspan_device_info_t *info = &to->snapshot->devices[i].info;

        for (int kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
            begin(to);
            label_device(to, info);
            label(to, "kind", memspan_kind_name((memspan_kind_t)kind));
            end_count(to, (info->kinds >> kind) & 1);
        }
    }
}

static void put_device_capabilities(struct exposition *to)
{
    for (size_t i = 0; i < to->snapshot->device_count; i++) {
        const memspan_device_info_t *info = &to->snapshot->devices[i].info;

        for (size_t j = 0; j < capability_count; j++) {
            begin(to);
            label_device(to, info);
            label(to, "capability", capabilities[j].name);
            end_count(to, ((info->capabilities & capabilities[j].bit) != 0) ? 1 : 0);
        }
    }
}

/* ---- NUMA nodes ---- */

static void put_node_size(struct exposition *to, size_t offset, double scale)
{
    for (size_t i = 0; i < to->snapshot->node_count; i++) {
        const memspan_numa_node_info_t *node = &to->snapshot->nodes[i];
        uint64_t value;

        memcpy(&value, (const char *)node + offset, sizeof(value));
        if (value == MEMSPAN_UNKNOWN) {
            continue;
        }
        begin(to);
        label(to, "node", text_from_int(node->os_index).text);
        label(to, "kind", memspan_numa_node_kind_name(node->kind));
        if (scale >= 1) {
            end_count(to, value * (uint64_t)scale);
        } else {
            end_real(to, (double)value * scale);
        }
    }
}

static void put_node_memory(struct exposition *to)
{
    put_node_size(to, offsetof(memspan_numa_node_info_t, capacity_bytes), 1);
}

static void put_node_free(struct exposition *to)
{
    put_node_size(to, offsetof(memspan_numa_node_info_t, free_bytes), 1);
}

static void put_node_bandwidth(struct exposition *to)
{
    put_node_size(to, offsetof(memspan_numa_node_info_t, bandwidth_mib_per_s), 1 << 20);
}

static void put_node_latency(struct exposition *to)
{
    put_node_size(to, offsetof(memspan_numa_node_info_t, latency_ns), 1e-9);
}

static void put_node_cache(struct exposition *to)
{
    put_node_size(to, offsetof(memspan_numa_node_info_t, side_cache_bytes), 1);
}

/* ---- memory ---- */

static void put_spaces(struct exposition *to)
{
    for (size_t i = 0; i < to->snapshot->space_count; i++) {
        const struct space_row *row = &to->snapshot->spaces[i];

        begin(to);
        label(to, "space", row->info.name);
        end_count(to, (row->status == MEMSPAN_OK) ? 1 : 0);
    }
}

/* The resource at @p j of space @p i, unless an earlier space has it too. */
static const struct resource *first_of(const struct snapshot *snapshot, size_t i, size_t j)
{
    const struct resource *resource = &snapshot->spaces[i].resources[j];

    for (size_t k = 0; k <= i; k++) {
        size_t count = (k == i) ? j : snapshot->spaces[k].resource_count;

        for (size_t l = 0; l < count; l++) {
            if (strcmp(snapshot->spaces[k].resources[l].info.name, resource->info.name) == 0) {
                return NULL;
            }
        }
    }
    return resource;
}

typedef void (*resource_fn)(struct exposition *to, const struct resource *resource);

static void for_each_resource(struct exposition *to, resource_fn put)
{
    for (size_t i = 0; i < to->snapshot->space_count; i++) {
        for (size_t j = 0; j < to->snapshot->spaces[i].resource_count; j++) {
            const struct resource *resource = first_of(to->snapshot, i, j);

            if (resource != NULL) {
                put(to, resource);
            }
        }
    }
}

static void begin_memory(struct exposition *to, const struct resource *resource)
{
    begin(to);
    label(to, "memory", resource->info.name);
    label(to, "kind", memspan_kind_name(resource->info.kind));
}

static void put_capacity(struct exposition *to, const struct resource *resource)
{
    if (resource->info.capacity_bytes != MEMSPAN_UNKNOWN) {
        begin_memory(to, resource);
        end_count(to, resource->info.capacity_bytes);
    }
}

static void put_memory(struct exposition *to)
{
    for_each_resource(to, put_capacity);
}

static void put_accesses(struct exposition *to, const struct resource *resource)
{
    for (size_t i = 0; i < to->snapshot->device_count; i++) {
        begin_memory(to, resource);
        label_device(to, &to->snapshot->devices[i].info);
        label(to, "access", memspan_access_name(resource->reach[i].access));
        label(to, "coherence", memspan_coherence_name(resource->reach[i].coherence));
        end_count(to, 1);
    }
}

static void put_access(struct exposition *to)
{
    for_each_resource(to, put_accesses);
}

/* ---- results of --measure ---- */

enum figure { FIGURE_BANDWIDTH, FIGURE_LATENCY, FIGURE_SPREAD, FIGURE_BUSY };

static void put_figures(struct exposition *to, const struct resource *resource, enum figure figure)
{
    for (size_t i = 0; i < to->snapshot->device_count; i++) {
        const struct measure_cell *cell =
            measure_cell_of(to->snapshot->figures, to->snapshot, resource, i);
        double value;

        if ((cell == NULL) || (cell->state != MEASURE_DONE)) {
            continue;
        }
        value = (figure == FIGURE_BANDWIDTH) ? cell->bandwidth_bytes_per_s
                : (figure == FIGURE_LATENCY) ? cell->latency_ns / 1e9
                : (figure == FIGURE_SPREAD)  ? measure_spread_percent(cell) / 100.0
                                             : (cell->busy ? 1 : 0);
        if ((value > 0) || (figure >= FIGURE_SPREAD)) {
            begin_memory(to, resource);
            label_device(to, &to->snapshot->devices[i].info);
            label(to, "method", measure_method_name(cell->method));
            end_real(to, value);
        }
    }
}

static void put_bandwidths(struct exposition *to, const struct resource *resource)
{
    put_figures(to, resource, FIGURE_BANDWIDTH);
}

static void put_latencies(struct exposition *to, const struct resource *resource)
{
    put_figures(to, resource, FIGURE_LATENCY);
}

static void put_spreads(struct exposition *to, const struct resource *resource)
{
    put_figures(to, resource, FIGURE_SPREAD);
}

static void put_busy_figures(struct exposition *to, const struct resource *resource)
{
    put_figures(to, resource, FIGURE_BUSY);
}

static void put_bandwidth(struct exposition *to)
{
    for_each_resource(to, put_bandwidths);
}

static void put_latency(struct exposition *to)
{
    for_each_resource(to, put_latencies);
}

static void put_spread(struct exposition *to)
{
    for_each_resource(to, put_spreads);
}

static void put_busy(struct exposition *to)
{
    for_each_resource(to, put_busy_figures);
}

/* ---- all of them ---- */

static const struct metric {
    const char *name;
    const char *help;
    void (*put)(struct exposition *to);
} metrics[] = {
    {"memspan_info", "Version of libmemspan.", put_version},
    {"memspan_probe_success", "1 where no driver failed while it was probed.", put_success},
    {"memspan_locked_memory_limit_bytes", "Limit on locked memory of this user.", put_lock_limit},
    {"memspan_warnings", "Warnings of memquery.", put_warnings},
    {"memspan_backend_on", "1 where the backend is on.", put_backend_on},
    {"memspan_backend_failed", "1 where its driver failed while it was probed.",
     put_backend_failed},
    {"memspan_device_info", "A device, the host among them.", put_devices},
    {"memspan_device_memory_bytes", "Memory of a device.", put_device_memory},
    {"memspan_device_memory_free_bytes", "Free memory of a device.", put_device_free},
    {"memspan_device_kind", "1 where the device offers that kind of memory.", put_device_kinds},
    {"memspan_device_capability", "1 where the device has that capability.",
     put_device_capabilities},
    {"memspan_numa_node_memory_bytes", "Memory of a NUMA node.", put_node_memory},
    {"memspan_numa_node_memory_free_bytes", "Free memory of a NUMA node.", put_node_free},
    {"memspan_numa_node_bandwidth_bytes_per_second", "Bandwidth by the firmware (HMAT).",
     put_node_bandwidth},
    {"memspan_numa_node_side_cache_bytes", "Memory-side cache in front of a NUMA node; 0: none.",
     put_node_cache},
    {"memspan_numa_node_latency_seconds", "Latency by the firmware (HMAT).", put_node_latency},
    {"memspan_space_available", "1 where the memory space exists.", put_spaces},
    {"memspan_memory_bytes", "Size of a memory of a space.", put_memory},
    {"memspan_memory_access", "How a device reaches a memory.", put_access},
    {"memspan_memory_bandwidth_bytes_per_second", "Measured bandwidth.", put_bandwidth},
    {"memspan_memory_latency_seconds", "Measured latency of dependent loads.", put_latency},
    {"memspan_memory_spread_ratio", "Larger spread of the measured figures.", put_spread},
    {"memspan_memory_busy", "1 where other work used the processors during the measurement.",
     put_busy},
};

void prometheus_print(const struct snapshot *snapshot, FILE *out)
{
    struct exposition to = {.snapshot = snapshot, .out = out};

    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        to.name = metrics[i].name;
        fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", to.name, metrics[i].help, to.name);
        metrics[i].put(&to);
    }
}
