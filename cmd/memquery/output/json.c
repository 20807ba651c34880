/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c: the rules of the schema over jansson. */

#include "cmd/memquery/output/output.h"
#include <stdlib.h>
#include <string.h>

void json_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        cli_complain("out of memory");
        exit(EXIT_PROBE);
    }
}

void json_put_text(json_t *object, const char *key, const char *text)
{
    char copy[1024];

    snprintf(copy, sizeof(copy), "%s", text);
    cli_clean(copy); /* drivers' texts need not be UTF-8, JSON must */
    json_put(object, key, json_string(copy));
}

void json_put_int(json_t *object, const char *key, long long value)
{
    json_put(object, key, json_integer(value));
}

void json_put_bool(json_t *object, const char *key, bool value)
{
    json_put(object, key, json_boolean(value));
}

void json_put_null(json_t *object, const char *key, const char *reason)
{
    char reason_key[96];

    snprintf(reason_key, sizeof(reason_key), "%s_reason", key);
    json_put(object, key, json_null());
    json_put_text(object, reason_key, (reason[0] == '\0') ? "not reported" : reason);
}

void json_put_text_or(json_t *object, const char *key, const char *text, const char *reason)
{
    if (text[0] == '\0') {
        json_put_null(object, key, reason);
    } else {
        json_put_text(object, key, text);
    }
}

void json_put_size_or(json_t *object, const char *key, uint64_t value, const char *reason)
{
    if (value == MEMSPAN_UNKNOWN) {
        json_put_null(object, key, reason);
    } else {
        json_put_int(object, key, (value > INT64_MAX) ? INT64_MAX : (long long)value);
    }
}

void json_put_int_or(json_t *object, const char *key, long long value, const char *reason)
{
    if (value < 0) {
        json_put_null(object, key, reason);
    } else {
        json_put_int(object, key, value);
    }
}

json_t *json_reach(int device, const memspan_reach_t *reach)
{
    json_t *object = json_object();

    json_put_int(object, "device", device);
    json_put_text(object, "access", memspan_access_name(reach->access));
    json_put_text(object, "coherence", memspan_coherence_name(reach->coherence));
    return object;
}

void json_put_plan(json_t *object, const memspan_allocator_info_t *info)
{
    json_put_text(object, "kind_asked", memspan_kind_name(info->kind_asked));
    json_put_text(object, "kind_given", memspan_kind_name(info->kind_given));
    json_put_bool(object, "exact", info->exact != 0);
    json_put_bool(object, "serves", info->serves != 0);
    json_put_int(object, "home", info->home);
    json_put_int(object, "resident_device", info->resident_device);
    json_put_int_or(object, "numa_node", info->numa_node, "wherever it is first touched");
    json_put_size_or(object, "page_size_bytes",
                     (info->page_size_bytes == 0) ? MEMSPAN_UNKNOWN : info->page_size_bytes,
                     "the driver decides");
    json_put_int(object, "align_bytes", (long long)info->align_bytes);
    json_put_size_or(object, "pool_size_bytes",
                     (info->pool_size_bytes == SIZE_MAX) ? MEMSPAN_UNKNOWN : info->pool_size_bytes,
                     "no limit of its own");
    json_put_bool(object, "pinned", info->pinned != 0);
    json_put_bool(object, "shareable", info->shareable != 0);
    json_put_bool(object, "migratable", info->migratable != 0);
    json_put_text_or(object, "why", info->why, "the library says nothing");
}

json_t *json_document(void)
{
    json_t *document = json_object();

    json_put_int(document, "schema", JSON_SCHEMA);
    json_put_text(document, "memspan_version", memspan_version());
    return document;
}

void json_finish(json_t *document, FILE *out)
{
    json_dumpf(document, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(document);
}
