/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: capabilities with their source, and modes with the way to turn them on. */

#include "cmd/memquery/model/model.h"

static const char silent[] = "the backend says nothing";

static const char *on_word(int on)
{
    return (on < 0) ? "?" : ((on > 0) ? "on" : "off");
}

static void print_capabilities(const memspan_device_info_t *info, FILE *out)
{
    struct cli_table table;

    cli_table_open(&table, "llll");
    for (size_t i = 0; i < capability_count; i++) {
        const char *note = info->capability_note[__builtin_ctz(capabilities[i].bit)];

        cli_table_add(&table, " ");
        cli_table_add(&table, "%s", capabilities[i].name);
        cli_table_add(&table, "%s",
                      ((info->capabilities & capabilities[i].bit) != 0) ? "yes" : "no");
        cli_table_add(&table, "%s", (note[0] == '\0') ? silent : note);
    }
    cli_table_close(&table, out);
}

static void print_modes(const memspan_device_info_t *info, FILE *out)
{
    for (size_t i = 0; (i < MEMSPAN_MODE_ROOM) && (info->modes[i].name[0] != '\0'); i++) {
        const memspan_device_mode_t *mode = &info->modes[i];

        fprintf(out, "  mode %s: %s (%s)\n", mode->name, on_word(mode->on), mode->source);
        if (mode->remedy[0] != '\0') {
            fprintf(out, "    remedy: %s\n", mode->remedy);
        }
    }
}

void device_print(const struct snapshot *snapshot, FILE *out)
{
    for (size_t i = 0; i < snapshot->device_count; i++) {
        const struct device_row *row = &snapshot->devices[i];

        fprintf(out, "%s%s %s:%d, %s\n", (i == 0) ? "" : "\n", row->label, row->info.backend,
                row->info.ordinal, row->info.name);
        print_capabilities(&row->info, out);
        print_modes(&row->info, out);
        if (row->info.number != MEMSPAN_HOST) {
            share_print(row, out);
        }
    }
}

json_t *device_capability_sources(const memspan_device_info_t *info)
{
    json_t *object = json_object();

    for (size_t i = 0; i < capability_count; i++) {
        json_put_text_or(object, capabilities[i].name,
                         info->capability_note[__builtin_ctz(capabilities[i].bit)], silent);
    }
    return object;
}

json_t *device_modes(const memspan_device_info_t *info)
{
    json_t *array = json_array();

    for (size_t i = 0; (i < MEMSPAN_MODE_ROOM) && (info->modes[i].name[0] != '\0'); i++) {
        const memspan_device_mode_t *mode = &info->modes[i];
        json_t *object                    = json_object();

        json_put_text(object, "name", mode->name);
        if (mode->on < 0) {
            json_put_null(object, "on", "not reported");
        } else {
            json_put_bool(object, "on", mode->on > 0);
        }
        json_put_text_or(object, "source", mode->source, silent);
        json_put_text_or(object, "remedy", mode->remedy, "it is on, or nothing is needed");
        json_array_append_new(array, object);
    }
    return array;
}
