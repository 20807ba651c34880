/* SPDX-License-Identifier: BSD-3-Clause */
/* field.c: fields as JSON keys, CSV columns and table columns. */

#include "cmd/memquery/model/model.h"
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static void read_member(const struct field *field, const void *member, struct field_value *value)
{
    if (field->form == FIELD_TEXT) {
        value->text = member;
    } else if (field->form == FIELD_SIZE) {
        memcpy(&value->size, member, sizeof(value->size));
    } else {
        memcpy(&value->number, member, sizeof(value->number));
    }
}

static bool is_unknown(const struct field *field, const struct field_value *value)
{
    switch (field->form) {
    case FIELD_TEXT:
        return (value->reason != NULL) && (value->text[0] == '\0');
    case FIELD_INT:
        return (value->reason != NULL) && !field->measured && (value->number < 0);
    case FIELD_SIZE:
        return value->size == MEMSPAN_UNKNOWN;
    case FIELD_REAL:
        return value->real <= 0;
    case FIELD_BOOL:
    case FIELD_JSON:
        break;
    }
    return false;
}

static void read_field(const struct field *field, const struct record *record,
                       struct field_value *value_p)
{
    value_p->text    = "";
    value_p->shown   = NULL;
    value_p->reason  = field->measured ? record->reason : field->reason;
    value_p->unknown = field->measured && (record->cell == NULL);
    if (value_p->unknown) {
        return;
    }
    if (field->read != NULL) {
        field->read(record, value_p);
    } else {
        read_member(field, (const char *)record->row + field->offset, value_p);
    }
    value_p->unknown = value_p->unknown || is_unknown(field, value_p);
}

/* The value as text; a number times @p scale. */
static const char *format(const struct field *field, struct field_value *value, double scale)
{
    if (field->form == FIELD_TEXT) {
        return value->text;
    }
    if ((field->form == FIELD_INT) || (field->form == FIELD_BOOL)) {
        snprintf(value->buffer, sizeof(value->buffer), "%d", value->number);
    } else {
        double number = (field->form == FIELD_REAL) ? value->real : (double)value->size;

        snprintf(value->buffer, sizeof(value->buffer), "%.*f", field->digits, number * scale);
    }
    return value->buffer;
}

/* ---- JSON ---- */

static void put(json_t *object, const struct field *field, const struct field_value *value)
{
    if (value->unknown) {
        json_put_null(object, field->key, (value->reason != NULL) ? value->reason : "");
        return;
    }
    switch (field->form) {
    case FIELD_TEXT:
        json_put_text(object, field->key, value->text);
        break;
    case FIELD_INT:
        json_put_int(object, field->key, value->number);
        break;
    case FIELD_BOOL:
        json_put_bool(object, field->key, value->number != 0);
        break;
    case FIELD_SIZE:
        json_put_size_or(object, field->key, value->size, "");
        break;
    case FIELD_REAL:
        json_put(object, field->key, json_real(value->real));
        break;
    case FIELD_JSON:
        json_put(object, field->key, value->json);
        break;
    }
}

json_t *field_object(const struct field_list *list, const struct record *record)
{
    json_t *object = json_object();
    struct field_value value;

    for (size_t i = 0; i < list->count; i++) {
        if (list->fields[i].key != NULL) {
            read_field(&list->fields[i], record, &value);
            put(object, &list->fields[i], &value);
        }
    }
    return object;
}

/* ---- CSV ---- */

void field_csv_head(const struct field_list *list, FILE *out)
{
    const char *separator = "";

    for (size_t i = 0; i < list->count; i++) {
        if (list->fields[i].csv != NULL) {
            fprintf(out, "%s%s", separator, list->fields[i].csv);
            separator = ",";
        }
    }
    fputc('\n', out);
}

void field_csv_row(const struct field_list *list, const struct record *record, FILE *out)
{
    const char *separator = "";
    struct field_value value;

    for (size_t i = 0; i < list->count; i++) {
        if (list->fields[i].csv == NULL) {
            continue;
        }
        read_field(&list->fields[i], record, &value);
        fputs(separator, out);
        separator = ",";
        if (!value.unknown) {
            cli_put_csv(out, format(&list->fields[i], &value, 1));
        }
    }
    fputc('\n', out);
}

/* ---- tables ---- */

/* The field in that place of the table, or NULL behind the last. */
static const struct field *in_column(const struct field_list *list, int column)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->fields[i].column == column) {
            return &list->fields[i];
        }
    }
    return NULL;
}

void field_open(const struct field_list *list, const struct snapshot *snapshot,
                struct cli_table *table)
{
    size_t device_count = (snapshot != NULL) ? snapshot->device_count : 0;
    char *align         = cli_calloc(list->count + device_count + 1, 1);
    const struct field *field;

    for (int column = 1; (field = in_column(list, column)) != NULL; column++) {
        memset(align + strlen(align), (field->minor ? "LR" : "lr")[field->right],
               field->per_device ? device_count : 1);
    }
    cli_table_open(table, align);
    free(align);
    for (int column = 1; (field = in_column(list, column)) != NULL; column++) {
        if (!field->per_device) {
            cli_table_add(table, "%s", field->head);
            continue;
        }
        for (size_t i = 0; i < device_count; i++) {
            cli_table_add(table, "%s", snapshot->devices[i].label);
        }
    }
}

static const char *cell_text(const struct field *field, struct field_value *value)
{
    if (value->shown != NULL) {
        return value->shown;
    }
    if (value->unknown) {
        return ((field->form == FIELD_TEXT) || (field->form == FIELD_INT)) ? "-" : "?";
    }
    if (field->form == FIELD_BOOL) {
        return (value->number != 0) ? "yes" : "-";
    }
    if ((field->form == FIELD_SIZE) && (field->scale <= 0)) {
        snprintf(value->buffer, sizeof(value->buffer), "%s", cli_size_text(value->size).text);
        return value->buffer;
    }
    return format(field, value, field->scale);
}

static void add_cell(struct cli_table *table, const struct field *field,
                     const struct record *record)
{
    struct field_value value = {0};

    read_field(field, record, &value);
    cli_table_add(table, "%s", cell_text(field, &value));
}

void field_row(const struct field_list *list, const struct record *record, struct cli_table *table)
{
    const struct field *field;

    for (int column = 1; (field = in_column(list, column)) != NULL; column++) {
        struct record each = *record;

        if (!field->per_device) {
            add_cell(table, field, record);
            continue;
        }
        for (each.device = 0; each.device < record->snapshot->device_count; each.device++) {
            add_cell(table, field, &each);
        }
    }
}

void field_row_off(const struct field_list *list, const struct snapshot *snapshot,
                   const char *const first[2], const char *last, struct cli_table *table)
{
    const struct field *field;

    for (int column = 1; (field = in_column(list, column)) != NULL; column++) {
        if (column <= 2) {
            cli_table_add(table, "%s", first[column - 1]);
        } else if (field->per_device) {
            for (size_t i = 0; i < snapshot->device_count; i++) {
                cli_table_add(table, ".");
            }
        } else {
            cli_table_add(table, "%s", (in_column(list, column + 1) == NULL) ? last : "-");
        }
    }
}
