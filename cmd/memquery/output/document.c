/* SPDX-License-Identifier: BSD-3-Clause */
/* document.c: the snapshot as JSON. Objects of one row each are tables of fields (fields.c). */

#include "cmd/memquery/model/model.h"

/* One object for each of @p count rows of @p size_bytes. */
static json_t *array_of(const struct field_list *list, const struct snapshot *snapshot,
                        const void *rows, size_t count, size_t size_bytes)
{
    struct record record = {.snapshot = snapshot, .row = rows};
    json_t *array        = json_array();

    for (; record.device < count; record.device++) {
        json_array_append_new(array, field_object(list, &record));
        record.row = (const char *)record.row + size_bytes;
    }
    return array;
}

static json_t *space_devices(const struct space_row *row)
{
    json_t *array = json_array();

    if (row->info.host || !row->info.target) {
        json_array_append_new(array, json_integer(MEMSPAN_HOST));
    }
    for (size_t i = 0; (i < row->info.device_count) && (i < 32); i++) {
        json_array_append_new(array, json_integer(row->info.devices[i]));
    }
    return array;
}

static json_t *spaces_of(const struct snapshot *snapshot)
{
    json_t *array = json_array();

    for (size_t i = 0; i < snapshot->space_count; i++) {
        const struct space_row *row = &snapshot->spaces[i];
        json_t *object              = json_object();
        json_t *resources           = json_array();

        json_put_text(object, "name", row->info.name);
        json_put_bool(object, "target", row->info.target != 0);
        json_put_bool(object, "alias", row->info.alias != 0);
        json_put(object, "devices", space_devices(row));
        json_put_text(object, "status", memspan_status_name(row->status));
        json_put_text_or(object, "problem", row->problem, "there is none");
        json_put_text_or(object, "note", row->info.note, "there is nothing to say");
        for (size_t j = 0; j < row->resource_count; j++) {
            struct record record = {.snapshot = snapshot, .row = &row->resources[j], .space = row};

            json_array_append_new(resources, field_object(&fields_of_resource, &record));
        }
        json_put(object, "resources", resources);
        json_array_append_new(array, object);
    }
    return array;
}

void json_print(const struct snapshot *snapshot, FILE *out)
{
    json_t *document = json_document();
    json_t *warnings = json_array();

    json_put_text_or(document, "host_name", snapshot->host_name, "the system does not tell");
    json_put_int(document, "host_number", snapshot->host_number);
    json_put(document, "backends",
             array_of(&fields_of_backend, snapshot, snapshot->backends, snapshot->backend_count,
                      sizeof(snapshot->backends[0])));
    json_put(document, "devices",
             array_of(&fields_of_device, snapshot, snapshot->devices, snapshot->device_count,
                      sizeof(snapshot->devices[0])));
    json_put(document, "peers", peer_json(snapshot));
    json_put(document, "nodes",
             array_of(&fields_of_node, snapshot, snapshot->nodes, snapshot->node_count,
                      sizeof(snapshot->nodes[0])));
    json_put(document, "memory_devices",
             array_of(&fields_of_memory_device, snapshot, snapshot->memory_devices,
                      snapshot->memory_device_count, sizeof(snapshot->memory_devices[0])));
    json_put(document, "spaces", spaces_of(snapshot));
    json_put_size_or(document, "lock_limit_bytes", snapshot->lock_limit_bytes,
                     "there is none, or it does not bind this user");
    for (size_t i = 0; i < snapshot->warning_count; i++) {
        json_array_append_new(warnings, json_string(snapshot->warnings[i]));
    }
    json_put(document, "warnings", warnings);
    json_put(document, "variables", config_set(snapshot->request));
    json_finish(document, out);
}
