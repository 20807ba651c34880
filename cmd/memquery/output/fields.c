/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.c: the tables of fields. */

#include "cmd/memquery/measure/measure.h"
#include <string.h>

static const char silent[]        = "the driver does not tell";
static const char silent_system[] = "the system does not tell";

/* ---- backends ---- */

FIELD_READ_AS(read_backend_state, text, struct backend_row,
              (row->failure != NULL) ? "failed" : (row->info.on ? "on" : "off"))
FIELD_READ_AS(read_backend_status, text, struct backend_row, memspan_status_name(row->info.status))
FIELD_READ_AS(read_backend_reason, text, struct backend_row,
              (row->failure != NULL) ? row->failure->what : row->info.reason)

#define BACKEND(name) FIELD_AT(struct backend_row, name)
static const struct field backend_fields[] = {
    FIELD("name", TEXT, 0, NULL, BACKEND(info.name), NULL),
    FIELD("title", TEXT, 0, NULL, BACKEND(info.title), NULL),
    FIELD("origin", TEXT, 0, NULL, BACKEND(info.origin), NULL),
    FIELD("state", TEXT, 0, NULL, FIELD_BY(read_backend_state), NULL),
    FIELD("device_count", INT, 0, NULL, BACKEND(info.device_count), NULL),
    FIELD("status", TEXT, 0, NULL, FIELD_BY(read_backend_status), NULL),
    FIELD("reason", TEXT, 0, NULL, FIELD_BY(read_backend_reason), NULL),
    FIELD("hint", TEXT, 0, NULL, BACKEND(info.hint), "nothing would help"),
    FIELD("native", TEXT, 0, NULL, BACKEND(native), "no driver reported an error"),
};
const struct field_list fields_of_backend = FIELD_LIST(backend_fields);

/* ---- devices ---- */

/* Every number of the same hardware, the second one of the host included. */
FIELD_READ(read_numbers)
{
    const struct snapshot *snapshot = record->snapshot;

    value->json      = json_array();
    value->buffer[0] = '\0';
    for (size_t i = 0; i <= snapshot->device_count; i++) {
        bool is_host = (i == snapshot->device_count);
        int number   = is_host ? snapshot->host_number : snapshot->devices[i].info.number;

        if (is_host ? (record->device == 0)
                    : (snapshot->devices[i].same_as == snapshot->devices[record->device].same_as)) {
            json_array_append_new(value->json, json_integer(number));
            cli_append(value->buffer, sizeof(value->buffer), "%s%d",
                       (value->buffer[0] == '\0') ? "" : ",", number);
        }
    }
    value->shown = value->buffer;
}

FIELD_READ(read_names)
{
    snapshot_device_names(record->snapshot, record->device, value->buffer, sizeof(value->buffer));
    value->text = value->buffer;
}

FIELD_READ(read_kinds)
{
    const memspan_device_info_t *info = &record->snapshot->devices[record->device].info;

    value->json = json_object();
    for (int kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
        json_t *entry = json_object();

        json_put_bool(entry, "offered", (info->kinds & (1u << kind)) != 0);
        json_put_bool(entry, "gain", (info->kinds & ~info->kinds_without_gain & (1u << kind)) != 0);
        json_put_text_or(entry, "note", info->kind_note[kind], "the backend says nothing");
        json_put(value->json, memspan_kind_name((memspan_kind_t)kind), entry);
    }
}

FIELD_READ(read_capabilities)
{
    const memspan_device_info_t *info = &record->snapshot->devices[record->device].info;

    value->json = json_object();
    for (size_t i = 0; i < capability_count; i++) {
        json_put_bool(value->json, capabilities[i].name,
                      (info->capabilities & capabilities[i].bit) != 0);
    }
}

FIELD_READ_AS(read_capability_sources, json, struct device_row,
              device_capability_sources(&row->info))
FIELD_READ_AS(read_modes, json, struct device_row, device_modes(&row->info))
FIELD_READ_AS(read_sharing, json, struct device_row, share_json(row))
FIELD_READ_AS(read_ipc, text, struct device_row,
              (record->device == 0) ? "" : share_state_name(row->ipc.state))
FIELD_READ_AS(read_rdma, text, struct device_row,
              (record->device == 0) ? "" : share_state_name(row->rdma.state))

#define DEVICE(name) FIELD_AT(struct device_row, name)
static const struct field device_fields[] = {
    FIELD("number", INT, 0, NULL, DEVICE(info.number), NULL),
    FIELD("numbers", JSON, 2, "omp", FIELD_BY(read_numbers), NULL),
    FIELD("label", TEXT, 1, "DEV", DEVICE(label), NULL),
    FIELD(NULL, TEXT, 3, "backend", FIELD_BY(read_names), NULL),
    FIELD("backend", TEXT, 0, NULL, DEVICE(info.backend), NULL),
    FIELD("ordinal", INT, 0, NULL, DEVICE(info.ordinal), NULL),
    FIELD("name", TEXT, 12, "name", DEVICE(info.name), silent),
    FIELD("vendor", TEXT, 0, NULL, DEVICE(info.vendor), silent),
    FIELD("driver", TEXT, 0, NULL, DEVICE(info.driver), silent),
    FIELD("uid", TEXT, 11, "uid", FIELD_MINOR(DEVICE(info.uid)), silent),
    FIELD("pci_address", TEXT, 4, "pci", FIELD_MINOR(DEVICE(info.pci_address)),
          "it is on no PCI bus, or the driver does not tell"),
    FIELD("numa_node", INT, 5, "node", DEVICE(info.numa_node), "near no node in particular"),
    FIELD_QUANTITY("capacity_bytes", 6, "GiB", UNIT_GIB, DEVICE(info.capacity_bytes), silent),
    FIELD("capacity_source", TEXT, 8, "src", FIELD_MINOR(DEVICE(info.capacity_source)), silent),
    FIELD_QUANTITY("free_bytes", 7, "GiB free", UNIT_GIB, DEVICE(info.free_bytes), silent),
    FIELD("alloc_max_bytes", SIZE, 0, NULL, DEVICE(info.alloc_max_bytes), silent),
    FIELD("page_size_bytes", SIZE, 0, NULL, DEVICE(info.page_size_bytes), silent),
    FIELD("kinds", JSON, 0, NULL, FIELD_BY(read_kinds), NULL),
    FIELD("capabilities", JSON, 0, NULL, FIELD_BY(read_capabilities), NULL),
    FIELD("capability_sources", JSON, 0, NULL, FIELD_BY(read_capability_sources), NULL),
    FIELD("modes", JSON, 0, NULL, FIELD_BY(read_modes), NULL),
    FIELD("sharing", JSON, 0, NULL, FIELD_BY(read_sharing), NULL),
    FIELD(NULL, TEXT, 9, "ipc", FIELD_MINOR(FIELD_BY(read_ipc)), NULL),
    FIELD(NULL, TEXT, 10, "rdma", FIELD_MINOR(FIELD_BY(read_rdma)), NULL),
};
const struct field_list fields_of_device = FIELD_LIST(device_fields);

/* ---- NUMA nodes ---- */

static const char *node_reason(const memspan_numa_node_info_t *node)
{
    return (node->note[0] != '\0') ? node->note : "the firmware has no HMAT table that tells";
}

FIELD_READ(read_node_index)
{
    const memspan_numa_node_info_t *node = record->row;

    value->number = node->os_index;
    snprintf(value->buffer, sizeof(value->buffer), "node%d", node->os_index);
    value->shown = value->buffer;
}

FIELD_READ_AS(read_node_kind, text, memspan_numa_node_info_t,
              memspan_numa_node_kind_name(row->kind))

/* What was measured, where the firmware is silent: in the table, whose records have the cell. */
static uint64_t measured_size(double figure)
{
    return (figure > 0) ? (uint64_t)(figure + 0.5) : MEMSPAN_UNKNOWN;
}

FIELD_READ(read_node_bandwidth)
{
    const memspan_numa_node_info_t *node = record->row;
    bool unknown                         = (node->bandwidth_mib_per_s == MEMSPAN_UNKNOWN);

    value->size =
        unknown ? measured_size((record->cell == NULL) ? 0 : record->cell->bandwidth_bytes_per_s)
                : (node->bandwidth_mib_per_s << 20);
    value->reason = node_reason(node);
}

FIELD_READ(read_node_latency)
{
    const memspan_numa_node_info_t *node = record->row;

    value->size   = (node->latency_ns == MEMSPAN_UNKNOWN)
                        ? measured_size((record->cell == NULL) ? 0 : record->cell->latency_ns)
                        : node->latency_ns;
    value->reason = node_reason(node);
}

FIELD_READ(read_node_source)
{
    const memspan_numa_node_info_t *node = record->row;

    value->text   = (node->performance_source[0] != '\0') ? node->performance_source
                                                          : measure_source(record->cell);
    value->reason = node_reason(node);
}

FIELD_READ(read_node_pus)
{
    const memspan_numa_node_info_t *node = record->row;

    value->text  = node->pus;
    value->shown = (node->pu_count == 0) ? "none" : node->pus;
}

#define NODE(name) FIELD_AT(memspan_numa_node_info_t, name)
static const struct field node_fields[] = {
    FIELD("os_index", INT, 1, "NODE", FIELD_BY(read_node_index), NULL),
    FIELD("logical_index", INT, 0, NULL, NODE(logical_index), NULL),
    FIELD("kind", TEXT, 2, "kind", FIELD_BY(read_node_kind), NULL),
    FIELD_QUANTITY("capacity_bytes", 3, "GiB", UNIT_GIB, NODE(capacity_bytes),
                   "the system is silent"),
    FIELD_QUANTITY("free_bytes", 4, "GiB free", UNIT_GIB, NODE(free_bytes), "the system is silent"),
    FIELD_QUANTITY("bandwidth_bytes_per_s", 5, "GB/s", UNIT_GB, FIELD_BY(read_node_bandwidth),
                   NULL),
    FIELD_QUANTITY("latency_ns", 6, "ns", UNIT_ONE, FIELD_BY(read_node_latency), NULL),
    FIELD("performance_source", TEXT, 7, "src", FIELD_BY(read_node_source), NULL),
    FIELD("pu_count", INT, 0, NULL, NODE(pu_count), NULL),
    FIELD("pus", TEXT, 8, "PUs", FIELD_BY(read_node_pus), NULL),
    FIELD("bandwidth_rank", INT, 0, NULL, NODE(bandwidth_rank), NULL),
    FIELD("latency_rank", INT, 0, NULL, NODE(latency_rank), NULL),
    FIELD("capacity_rank", INT, 0, NULL, NODE(capacity_rank), NULL),
    FIELD("owner", TEXT, 9, "owner", NODE(owner), "no device owns it"),
    FIELD("side_cache_bytes", SIZE, 0, NULL, NODE(side_cache_bytes), NULL),
};
const struct field_list fields_of_node = FIELD_LIST(node_fields);

/* ---- memory that is no node ---- */

FIELD_READ_AS(read_memory_kind, text, memspan_memory_device_info_t,
              memspan_memory_device_kind_name(row->kind))
FIELD_READ_AS(read_align, size, memspan_memory_device_info_t,
              (row->align_bytes == 0) ? MEMSPAN_UNKNOWN : row->align_bytes)

FIELD_READ(read_persistent)
{
    const memspan_memory_device_info_t *device = record->row;

    value->number  = device->persistent;
    value->unknown = (device->persistent < 0);
}

/* The reason follows as a remark. */
FIELD_READ(read_usable)
{
    const memspan_memory_device_info_t *device = record->row;

    value->number = device->usable;
    snprintf(value->buffer, sizeof(value->buffer), "%s  %s", device->usable ? "yes" : "no",
             device->why);
    value->shown = value->buffer;
}

#define MEMORY(name) FIELD_AT(memspan_memory_device_info_t, name)
static const struct field memory_fields[] = {
    FIELD("name", TEXT, 1, "MEMORY", MEMORY(name), silent_system),
    FIELD("kind", TEXT, 2, "kind", FIELD_BY(read_memory_kind), NULL),
    FIELD("mode", TEXT, 3, "mode", MEMORY(mode), silent_system),
    FIELD("path", TEXT, 0, NULL, MEMORY(path), "no file stands for it"),
    FIELD_QUANTITY("capacity_bytes", 4, "GiB", UNIT_GIB, MEMORY(capacity_bytes), silent_system),
    FIELD("align_bytes", SIZE, 5, "align", FIELD_MINOR(FIELD_BY(read_align)), silent_system),
    FIELD("numa_node", INT, 6, "near", FIELD_MINOR(MEMORY(numa_node)),
          "near no node in particular"),
    FIELD("target_node", INT, 7, "node", FIELD_MINOR(MEMORY(target_node)),
          "it would be no node of its own"),
    FIELD("persistent", BOOL, 8, "pers", FIELD_MINOR(FIELD_BY(read_persistent)), silent_system),
    FIELD("usable", BOOL, 9, "USE", FIELD_BY(read_usable), NULL),
    FIELD("why", TEXT, 0, NULL, MEMORY(why), silent_system),
};
const struct field_list fields_of_memory_device = FIELD_LIST(memory_fields);

/* ---- resources ---- */

FIELD_READ_AS(read_kind, text, struct resource, memspan_kind_name(row->info.kind))

FIELD_READ(read_home)
{
    resource_home(record->snapshot, record->row, value->buffer, sizeof(value->buffer));
    value->text = value->buffer;
}

FIELD_READ(read_capacity_source)
{
    value->text = resource_capacity_source(record->snapshot, record->row);
}

FIELD_READ_AS(read_page_size, size, struct resource,
              (row->info.page_size_bytes == 0) ? MEMSPAN_UNKNOWN : row->info.page_size_bytes)
FIELD_READ_AS(read_weakest_coherence, text, struct resource, memspan_coherence_name(row->coherence))

FIELD_READ(read_reaches)
{
    value->json = json_array();
    for (size_t i = 0; i < record->snapshot->device_count; i++) {
        struct record reach = fields_reach(record->snapshot, record->space, record->row, i);

        json_array_append_new(value->json, field_object(&fields_of_reach, &reach));
    }
}

FIELD_READ(read_access_letter)
{
    static const char letters[]     = ".crPRL";
    const struct resource *resource = record->row;
    size_t access                   = (size_t)resource->reach[record->device].access;

    snprintf(value->buffer, sizeof(value->buffer), "%c",
             (access < sizeof(letters) - 1) ? letters[access] : '?');
    value->text = value->buffer;
}

FIELD_READ(read_migratable)
{
    const struct resource *resource = record->row;

    value->number  = resource->plan.migratable;
    value->unknown = !resource->planned;
    value->reason  = resource->note;
}

FIELD_READ(read_pinned)
{
    const struct resource *resource = record->row;

    value->number  = resource->plan.pinned;
    value->unknown = !resource->planned;
    value->reason  = resource->note;
}

FIELD_READ(read_state)
{
    const struct resource *resource  = record->row;
    const memspan_space_info_t *info = &record->space->info;
    bool alone                       = !info->target || ((info->device_count == 1) && !info->host);

    value->text = resource_state_name(resource->state);
    /* The note on a kind is printed once, where the device stands alone. */
    if ((resource->note[0] != '\0') && ((resource->state != RESOURCE_OK) || alone)) {
        snprintf(value->buffer, sizeof(value->buffer), "%s  %s", value->text, resource->note);
        value->shown = value->buffer;
    }
}

FIELD_READ(read_space_name)
{
    value->text = record->space->info.name;
}

#define RESOURCE(name) FIELD_AT(struct resource, name)
static const struct field resource_fields[] = {
    FIELD(NULL, TEXT, 1, "SPACE", FIELD_BY(read_space_name), NULL),
    FIELD("name", TEXT, 2, "RESOURCE", RESOURCE(info.name), NULL),
    FIELD("kind", TEXT, 3, "KIND", FIELD_MINOR(FIELD_BY(read_kind)), NULL),
    FIELD("home", INT, 0, NULL, RESOURCE(info.home), NULL),
    FIELD("home_label", TEXT, 4, "HOME", FIELD_MINOR(FIELD_BY(read_home)), NULL),
    FIELD("numa_node", INT, 0, NULL, RESOURCE(info.numa_node), "it is on no node"),
    FIELD_QUANTITY("capacity_bytes", 5, "GiB", UNIT_GIB, RESOURCE(info.capacity_bytes),
                   "not reported"),
    FIELD("capacity_source", TEXT, 6, "src", FIELD_MINOR(FIELD_BY(read_capacity_source)),
          "not reported"),
    FIELD("page_size_bytes", SIZE, 0, NULL, FIELD_BY(read_page_size), "the driver decides"),
    FIELD("coherence", TEXT, 8, "COHER", FIELD_BY(read_weakest_coherence), NULL),
    FIELD("reach", JSON, 0, NULL, FIELD_BY(read_reaches), NULL),
    FIELD(NULL, TEXT, 7, NULL, FIELD_EACH_DEVICE(read_access_letter), NULL),
    FIELD("migratable", BOOL, 9, "MIGR", FIELD_MINOR(FIELD_BY(read_migratable)), NULL),
    FIELD("pinned", BOOL, 10, "PIN", FIELD_MINOR(FIELD_BY(read_pinned)), NULL),
    FIELD("state", TEXT, 11, "STATE", FIELD_BY(read_state), NULL),
    FIELD("note", TEXT, 0, NULL, RESOURCE(note), NULL),
};
const struct field_list fields_of_resource = FIELD_LIST(resource_fields);

/* ---- reach: a resource from a device ---- */

struct record fields_reach(const struct snapshot *snapshot, const struct space_row *space,
                           const struct resource *resource, size_t device)
{
    const struct measure_cell *cell =
        measure_cell_of(snapshot->figures, snapshot, resource, device);
    bool done = (cell != NULL) && (cell->state == MEASURE_DONE);

    return (struct record){.snapshot = snapshot,
                           .row      = resource,
                           .space    = space,
                           .device   = device,
                           .cell     = done ? cell : NULL,
                           .reason   = measure_reason(cell, snapshot, resource, device)};
}

FIELD_READ(read_device_number)
{
    value->number = record->snapshot->devices[record->device].info.number;
}

FIELD_READ(read_device_name)
{
    const memspan_device_info_t *info = &record->snapshot->devices[record->device].info;

    snprintf(value->buffer, sizeof(value->buffer), "%s:%d", info->backend, info->ordinal);
    value->text = value->buffer;
}

FIELD_READ_AS(read_access, text, struct resource,
              memspan_access_name(row->reach[record->device].access))
FIELD_READ_AS(read_coherence, text, struct resource,
              memspan_coherence_name(row->reach[record->device].coherence))

static const char *figure_reason(const char *reason)
{
    return (reason[0] != '\0') ? reason : "it could not be measured";
}

FIELD_READ(read_bandwidth)
{
    value->real   = record->cell->bandwidth_bytes_per_s;
    value->reason = figure_reason(record->cell->bandwidth_reason);
}

FIELD_READ(read_latency)
{
    value->real   = record->cell->latency_ns;
    value->reason = figure_reason(record->cell->latency_reason);
}

FIELD_READ(read_measured_at)
{
    snprintf(value->buffer, sizeof(value->buffer), "%s",
             measure_date(record->cell->measured_at).text);
    value->text = value->buffer;
}

FIELD_READ(read_reason)
{
    value->text = record->reason;
}

FIELD_READ_CELL(read_method, text, measure_method_name(cell->method))
FIELD_READ_CELL(read_source, text, measure_source(cell))
FIELD_READ_CELL(read_spread, number, measure_spread_percent(cell))
FIELD_READ_CELL(read_settled, number, cell->settled)
FIELD_READ_CELL(read_busy, number, cell->busy)

static const struct field reach_fields[] = {
    FIELD_CSV(NULL, "space", TEXT, FIELD_BY(read_space_name)),
    FIELD_CSV(NULL, "resource", TEXT, RESOURCE(info.name)),
    FIELD_CSV(NULL, "kind", TEXT, FIELD_BY(read_kind)),
    FIELD_CSV(NULL, "home", TEXT, FIELD_BY(read_home)),
    FIELD_CSV("device", "device", INT, FIELD_BY(read_device_number)),
    FIELD_CSV(NULL, "device_name", TEXT, FIELD_BY(read_device_name)),
    FIELD_CSV("access", "access", TEXT, FIELD_BY(read_access)),
    FIELD_CSV("coherence", "coherence", TEXT, FIELD_BY(read_coherence)),
    FIELD_MEASURED("bandwidth_bytes_per_s", REAL, FIELD_BY(read_bandwidth)),
    FIELD_MEASURED("latency_ns", REAL, FIELD_BY_DIGITS(read_latency, 1)),
    FIELD_MEASURED("method", TEXT, FIELD_BY(read_method)),
    FIELD_MEASURED("measured_at", TEXT, FIELD_BY(read_measured_at)),
    FIELD_MEASURED("source", TEXT, FIELD_BY(read_source)),
    FIELD_CSV(NULL, "reason", TEXT, FIELD_BY(read_reason)),
    FIELD_MEASURED("spread_percent", INT, FIELD_BY(read_spread)),
    FIELD_MEASURED("settled", BOOL, FIELD_BY(read_settled)),
    FIELD_MEASURED("busy", BOOL, FIELD_BY(read_busy)),
};
const struct field_list fields_of_reach = FIELD_LIST(reach_fields);
