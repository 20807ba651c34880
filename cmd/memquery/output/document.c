/* SPDX-License-Identifier: BSD-3-Clause */
/* document.c: the snapshot as JSON. The keys are the schema: they are added to, never renamed or
 * removed, under one schema number. The manual page lists them. */

#include "cmd/memquery/measure/measure.h"
#include "cmd/memquery/model/capability.h"
#include "cmd/memquery/model/peer.h"
#include "cmd/memquery/model/report.h"
#include "cmd/memquery/output/device.h"
#include "cmd/memquery/output/json.h"
#include "cmd/memquery/output/text.h"
#include "cmd/memquery/probe/share.h"
#include <string.h>

static json_t *backends_of(const struct snapshot *snapshot)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; i < snapshot->backend_count; i++) {
        const struct backend_row *row = &snapshot->backends[i];
        json_t *object                = json_object();

        json_put_text(object, "name", row->info.name);
        json_put_text(object, "title", row->info.title);
        json_put_text(object, "origin", row->info.origin);
        json_put_text(object, "state",
                      (row->culprit != NULL) ? "failed" : (row->info.on ? "on" : "off"));
        json_put_int(object, "device_count", row->info.device_count);
        json_put_text(object, "status", memspan_status_name(row->info.status));
        json_put_text(object, "reason",
                      (row->culprit != NULL) ? row->culprit->what : row->info.reason);
        json_put_text_or(object, "hint", row->info.hint, "nothing would help");
        json_put_text_or(object, "native", row->native, "no driver reported an error");
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *kinds_of(const memspan_device_info_t *info)
{
    json_t *object = json_object();
    int kind;

    for (kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
        json_t *entry = json_object();

        json_put_bool(entry, "offered", (info->kinds & (1u << kind)) != 0);
        json_put_bool(entry, "gain", (info->kinds & ~info->kinds_without_gain & (1u << kind)) != 0);
        json_put_text_or(entry, "note", info->kind_note[kind], "the backend says nothing");
        json_put(object, memspan_kind_name((memspan_kind_t)kind), entry);
    }
    return object;
}

static json_t *capabilities_of(const memspan_device_info_t *info)
{
    json_t *object = json_object();
    size_t i;

    for (i = 0; i < capability_count; i++) {
        json_put_bool(object, capabilities[i].name,
                      (info->capabilities & capabilities[i].bit) != 0);
    }
    return object;
}

/* Every number of the same hardware, the host's second one included. */
static json_t *numbers_of(const struct snapshot *snapshot, size_t index)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; i < snapshot->device_count; i++) {
        if (snapshot->devices[i].same_as == snapshot->devices[index].same_as) {
            json_array_append_new(array, json_integer(snapshot->devices[i].info.number));
        }
    }
    if (snapshot->devices[index].info.number == MEMSPAN_HOST) {
        json_array_append_new(array, json_integer(snapshot->host_number));
    }
    return array;
}

static json_t *device_of(const struct snapshot *snapshot, size_t index)
{
    const memspan_device_info_t *info = &snapshot->devices[index].info;
    const char *silent                = "the driver does not tell";
    json_t *object                    = json_object();

    json_put_int(object, "number", info->number);
    json_put(object, "numbers", numbers_of(snapshot, index));
    json_put_text(object, "label", snapshot->devices[index].label);
    json_put_text(object, "backend", info->backend);
    json_put_int(object, "ordinal", info->ordinal);
    json_put_text_or(object, "name", info->name, silent);
    json_put_text_or(object, "vendor", info->vendor, silent);
    json_put_text_or(object, "driver", info->driver, silent);
    json_put_text_or(object, "uid", info->uid, silent);
    json_put_text_or(object, "pci_address", info->pci_address,
                     "it is on no PCI bus, or the driver does not tell");
    json_put_int_or(object, "numa_node", info->numa_node, "near no node in particular");
    json_put_size_or(object, "capacity_bytes", info->capacity_bytes, silent);
    json_put_text_or(object, "capacity_source", info->capacity_source, silent);
    json_put_size_or(object, "free_bytes", info->free_bytes, silent);
    json_put_size_or(object, "alloc_max_bytes", info->alloc_max_bytes, silent);
    json_put_size_or(object, "page_size_bytes", info->page_size_bytes, silent);
    json_put(object, "kinds", kinds_of(info));
    json_put(object, "capabilities", capabilities_of(info));
    json_put(object, "capability_sources", device_capability_sources(info));
    json_put(object, "modes", device_modes(info));
    json_put(object, "sharing", share_json(&snapshot->devices[index]));
    return object;
}

static json_t *devices_of(const struct snapshot *snapshot)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; i < snapshot->device_count; i++) {
        json_array_append_new(array, device_of(snapshot, i));
    }
    return array;
}

static json_t *nodes_of(const struct snapshot *snapshot)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; i < snapshot->node_count; i++) {
        const memspan_numa_node_info_t *node = &snapshot->nodes[i];
        const char *silent =
            (node->note[0] != '\0') ? node->note : "the firmware has no HMAT table that tells";
        json_t *object = json_object();

        json_put_int(object, "os_index", node->os_index);
        json_put_int(object, "logical_index", node->logical_index);
        json_put_text(object, "kind", memspan_numa_node_kind_name(node->kind));
        json_put_size_or(object, "capacity_bytes", node->capacity_bytes, "the system is silent");
        json_put_size_or(object, "free_bytes", node->free_bytes, "the system is silent");
        json_put_size_or(object, "bandwidth_bytes_per_s",
                         (node->bandwidth_mib_per_s == MEMSPAN_UNKNOWN)
                             ? MEMSPAN_UNKNOWN
                             : (node->bandwidth_mib_per_s << 20),
                         silent);
        json_put_size_or(object, "latency_ns", node->latency_ns, silent);
        json_put_text_or(object, "performance_source", node->performance_source, silent);
        json_put_int(object, "pu_count", node->pu_count);
        json_put_text(object, "pus", node->pus);
        json_put_int(object, "bandwidth_rank", node->bandwidth_rank);
        json_put_int(object, "latency_rank", node->latency_rank);
        json_put_int(object, "capacity_rank", node->capacity_rank);
        json_put_text_or(object, "owner", node->owner, "no device owns it");
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *lane_of(const struct snapshot *snapshot, const struct lane *lane)
{
    json_t *object = json_object();
    json_t *access = json_array();
    char home[48];
    size_t i;

    lane_home(snapshot, lane, home, sizeof(home));
    json_put_text(object, "name", lane->info.name);
    json_put_text(object, "kind", memspan_kind_name(lane->info.kind));
    json_put_int(object, "home", lane->info.home);
    json_put_text(object, "home_label", home);
    json_put_int_or(object, "numa_node", lane->info.numa_node, "it is on no node");
    json_put_size_or(object, "capacity_bytes", lane->info.capacity_bytes, "nobody tells");
    json_put_text_or(object, "capacity_source", lane_capacity_source(snapshot, lane),
                     "nobody tells");
    json_put_size_or(object, "page_size_bytes",
                     (lane->info.page_size_bytes == 0) ? MEMSPAN_UNKNOWN
                                                       : lane->info.page_size_bytes,
                     "the driver decides");
    json_put_text(object, "coherence", memspan_coherence_name(lane->coherence));
    for (i = 0; i < snapshot->device_count; i++) {
        json_t *reach = json_reach(snapshot->devices[i].info.number, &lane->reach[i]);

        measure_put(reach, snapshot, lane, i);
        json_array_append_new(access, reach);
    }
    json_put(object, "reach", access);
    if (lane->planned) {
        json_put_bool(object, "migratable", lane->plan.migratable != 0);
        json_put_bool(object, "pinned", lane->plan.pinned != 0);
    } else {
        json_put_null(object, "migratable", lane->note);
        json_put_null(object, "pinned", lane->note);
    }
    json_put_text(object, "state", lane_state_name(lane->state));
    json_put_text(object, "note", lane->note);
    return object;
}

static json_t *space_devices(const struct space_row *row)
{
    json_t *array = json_array();
    size_t i;

    if (row->info.host || !row->info.target) {
        json_array_append_new(array, json_integer(MEMSPAN_HOST));
    }
    for (i = 0; (i < row->info.device_count) && (i < 32); i++) {
        json_array_append_new(array, json_integer(row->info.devices[i]));
    }
    return array;
}

static json_t *spaces_of(const struct snapshot *snapshot)
{
    json_t *array = json_array();
    size_t i;
    size_t j;

    for (i = 0; i < snapshot->space_count; i++) {
        const struct space_row *row = &snapshot->spaces[i];
        json_t *object              = json_object();
        json_t *lanes               = json_array();

        json_put_text(object, "name", row->info.name);
        json_put_bool(object, "target", row->info.target != 0);
        json_put(object, "devices", space_devices(row));
        json_put_text(object, "status", memspan_status_name(row->status));
        json_put_text_or(object, "problem", row->problem, "there is none");
        json_put_text_or(object, "note", row->info.note, "there is nothing to say");
        for (j = 0; j < row->lane_count; j++) {
            json_array_append_new(lanes, lane_of(snapshot, &row->lanes[j]));
        }
        json_put(object, "resources", lanes);
        json_array_append_new(array, object);
    }
    return array;
}

void json_print(const struct snapshot *snapshot, FILE *out)
{
    json_t *document = json_document();
    json_t *warnings = json_array();
    size_t i;

    json_put_text_or(document, "host_name", snapshot->host_name, "the system does not tell");
    json_put_int(document, "host_number", snapshot->host_number);
    json_put(document, "backends", backends_of(snapshot));
    json_put(document, "devices", devices_of(snapshot));
    json_put(document, "peers", peer_json(snapshot));
    json_put(document, "nodes", nodes_of(snapshot));
    json_put(document, "spaces", spaces_of(snapshot));
    json_put_size_or(document, "lock_limit_bytes", snapshot->lock_limit_bytes,
                     "there is none, or it does not bind this user");
    for (i = 0; i < snapshot->warning_count; i++) {
        json_array_append_new(warnings, json_string(snapshot->warnings[i]));
    }
    if ((snapshot->board != NULL) && (snapshot->board->cache_note[0] != '\0')) {
        json_array_append_new(warnings, json_string(snapshot->board->cache_note));
    }
    json_put(document, "warnings", warnings);
    json_finish(document, out);
}
