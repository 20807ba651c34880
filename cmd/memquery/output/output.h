/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_OUTPUT_H
#define MEMQUERY_OUTPUT_H

#include "cmd/common/cli.h"
#include <jansson.h>
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of the model and of the measurements. */
struct snapshot;
struct space_row;
struct resource;
struct measure_cell;

/* text.c: numbers as text, name lists with suggestions. */

/* Exit codes, as in the manual page. */
enum exit_code {
    EXIT_YES    = 0, /* printed; the requested memory is available */
    EXIT_ABSENT = 1, /* it is not available */
    EXIT_USAGE  = 2, /* malformed command line */
    EXIT_PROBE  = 3, /* a driver crashed or did not answer */
    EXIT_CONDITIONAL =
        4,           /* available as an alias, under a condition, or without all of the traits */
    EXIT_UNKNOWN = 5 /* the deciding quantity is unknown */
};

/* The number in decimal. */
struct cli_size text_from_int(long long value);

/* In GiB with one digit after the point, without the unit. */
struct cli_size text_from_gib(uint64_t size_bytes);

/* A decimal integer with an optional sign, without trailing text. */
bool text_to_int(const char *text, int *value_p);

/* A list of names, for suggestions. */
struct text_list {
    const char **items;
    size_t count;
};
void text_list_add(struct text_list *list, const char *item);
bool text_list_has(const struct text_list *list, const char *item);

/* Report an unknown @p what, with the nearest of @p list; returns EXIT_USAGE. */
int text_unknown(const char *what, const char *word, const struct text_list *list);

/* json.c: the rules of the schema: an unknown value is null and has a sibling "<key>_reason"; no
 * key is left out; sizes are bytes, times nanoseconds. */

enum { JSON_SCHEMA = 1 };

/* A new document with "schema" and "memspan_version" set. */
json_t *json_document(void);

void json_put(json_t *object, const char *key, json_t *value); /* takes over value */
void json_put_text(json_t *object, const char *key, const char *text);
void json_put_int(json_t *object, const char *key, long long value);
void json_put_bool(json_t *object, const char *key, bool value);
void json_put_null(json_t *object, const char *key, const char *reason);

/* The text; null with @p reason when it is empty. */
void json_put_text_or(json_t *object, const char *key, const char *text, const char *reason);
/* The bytes; null with @p reason when they are MEMSPAN_UNKNOWN. */
void json_put_size_or(json_t *object, const char *key, uint64_t value, const char *reason);
/* The number; null with @p reason when it is negative. */
void json_put_int_or(json_t *object, const char *key, long long value, const char *reason);

/* A new object with the promises to a device: "access" and "coherence". */
json_t *json_reach(int device, const memspan_reach_t *reach);

/* The traits of an allocator as keys of @p object. */
void json_put_plan(json_t *object, const memspan_allocator_info_t *info);

/* Print the document and a newline, and release it. */
void json_finish(json_t *document, FILE *out);

/* field.c: a field is one row of a table: the column of the text table, the key of the JSON object
 * and the column of the CSV file are made from it. */

/* The record that a field is read from. */
struct record {
    const struct snapshot *snapshot;
    const void *row;                 /* the base of field.offset */
    const struct space_row *space;   /* of a resource, and of a reach */
    size_t device;                   /* index; of a device, and of a reach */
    const struct measure_cell *cell; /* of a reach; NULL: not measured */
    const char *reason;              /* of a reach: why a figure is missing */
};

enum field_form {
    FIELD_TEXT, /* char[]; unknown: "" */
    FIELD_INT,  /* int; unknown: negative, where there is a reason for that */
    FIELD_BOOL, /* int */
    FIELD_SIZE, /* uint64_t; unknown: MEMSPAN_UNKNOWN */
    FIELD_REAL, /* double; unknown: 0 */
    FIELD_JSON  /* an object or array, in JSON alone */
};

struct field_value {
    const char *text; /* may be space */
    char buffer[512];
    int number;
    uint64_t size;
    double real;
    json_t *json;
    bool unknown;
    const char *reason; /* why it is unknown, where that differs between records */
    const char *shown;  /* the table's text instead; NULL: the value */
};

struct field {
    const char *key;  /* of JSON; NULL: not there */
    const char *csv;  /* of CSV; NULL: not there */
    const char *head; /* of the table; NULL: not there, or the devices' labels */
    int column;       /* its place in the table, from 1; 0: not there */
    bool right;       /* the column's alignment */
    bool minor;       /* left out on narrow terminals */
    bool measured;    /* unknown where record.cell is NULL; read() is not called then */
    bool per_device;  /* the column stands for one a device */
    enum field_form form;
    int digits;   /* after the point */
    double scale; /* of a size in the table; 0: with the unit that suits it */
    size_t offset;
    const char *reason; /* why it is unknown; NULL: it never is */
    void (*read)(const struct record *record, struct field_value *value_p); /* NULL: offset */
};

/* A row: the key of JSON, the form, the place and head of the column (0, NULL: none), the source
 * (FIELD_AT, FIELD_BY, FIELD_EACH_DEVICE), and why a value is unknown (NULL: it never is). */
#define FIELD(name, kind, at, title, source, why)                                                  \
    {                                                                                              \
        .key = (name), .form = FIELD_##kind, .column = (at), .head = (title), source,              \
        .reason = (why)                                                                            \
    }
/* A size, with the unit of the column. */
#define FIELD_QUANTITY(name, at, title, unit, source, why)                                         \
    {                                                                                              \
        .key = (name), .form = FIELD_SIZE, .column = (at), .head = (title), .right = true, unit,   \
        source, .reason = (why)                                                                    \
    }
/* A key (NULL: none) that is a column of CSV. */
#define FIELD_CSV(name, heading, kind, source)                                                     \
    {                                                                                              \
        .key = (name), .csv = (heading), .form = FIELD_##kind, source                              \
    }

/* A key and column of CSV that only a measured reach has. */
#define FIELD_MEASURED(name, kind, source)                                                         \
    {                                                                                              \
        .key = (name), .csv = (name), .form = FIELD_##kind, .measured = true, source               \
    }

#define UNIT_AUTO .scale = 0
#define UNIT_ONE  .scale = 1
#define UNIT_GB   .scale = 1e-9, .digits = 1
#define UNIT_GIB  .scale = 1.0 / (1 << 30), .digits = 1

#define FIELD_AT(type, name)              .offset = offsetof(type, name)
#define FIELD_BY(function)                .read = (function)
#define FIELD_BY_DIGITS(function, number) .read = (function), .digits = (number)
/* The field that is read so is left out of the table on narrow terminals. */
#define FIELD_MINOR(...)            .minor = true, __VA_ARGS__
#define FIELD_EACH_DEVICE(function) .read = (function), .per_device = true

#define FIELD_READ(name) static void name(const struct record *record, struct field_value *value)
/* One that is an expression of the row, which becomes the text, number or size. */
#define FIELD_READ_AS(name, member, type, expression)                                              \
    FIELD_READ(name)                                                                               \
    {                                                                                              \
        const type *row = record->row;                                                             \
        value->member   = (expression);                                                            \
    }
#define FIELD_READ_CELL(name, member, expression)                                                  \
    FIELD_READ(name)                                                                               \
    {                                                                                              \
        const struct measure_cell *cell = record->cell;                                            \
        value->member                   = (expression);                                            \
    }
#define FIELD_LIST(rows)                                                                           \
    {                                                                                              \
        (rows), sizeof(rows) / sizeof((rows)[0])                                                   \
    }

struct field_list {
    const struct field *fields;
    size_t count;
};

/* One object with every key. */
json_t *field_object(const struct field_list *list, const struct record *record);

/* The lines of a CSV file: RFC 4180 with a line feed at the end. Unknown fields are empty. */
void field_csv_head(const struct field_list *list, FILE *out);
void field_csv_row(const struct field_list *list, const struct record *record, FILE *out);

/* A text table: its heads, then a row a record. The snapshot may be NULL where no field is
 * per_device. */
void field_open(const struct field_list *list, const struct snapshot *snapshot,
                struct cli_table *table);
void field_row(const struct field_list *list, const struct record *record, struct cli_table *table);

/* A row of a table for something that is not there: the words of @p first, dashes (a dot for each
 * device), and @p last. */
void field_row_off(const struct field_list *list, const struct snapshot *snapshot,
                   const char *const first[2], const char *last, struct cli_table *table);

/* fields.c: the fields of everything that is printed. Keys and CSV columns are never renamed or
 * removed, and CSV columns are added at the end. */

extern const struct field_list fields_of_backend;       /* row: struct backend_row */
extern const struct field_list fields_of_device;        /* row: struct device_row; device */
extern const struct field_list fields_of_node;          /* row: memspan_numa_node_info_t */
extern const struct field_list fields_of_memory_device; /* row: memspan_memory_device_info_t */
extern const struct field_list fields_of_resource;      /* row: struct resource; space */
extern const struct field_list fields_of_reach; /* row: struct resource; space, device, cell */

/* The record of a resource as one device reaches it. */
struct record fields_reach(const struct snapshot *snapshot, const struct space_row *space,
                           const struct resource *resource, size_t device);

/* device.c: details of each device beyond its row in the table. */

/* --devices: every capability with its source, every mode, and the results of probes. */
void device_print(const struct snapshot *snapshot, FILE *out);

json_t *device_capability_sources(const memspan_device_info_t *info);
json_t *device_modes(const memspan_device_info_t *info);

/* csv.c: -o csv: how each device reaches each memory, and measured figures. */

/* A head, and a row for each space, resource and device. */
void csv_print(const struct snapshot *snapshot, FILE *out);

/* table.c, document.c: the snapshot as text and as JSON. */
void table_print(const struct snapshot *snapshot, FILE *out);
void json_print(const struct snapshot *snapshot, FILE *out);

/* prometheus.c: -o prometheus: metrics as text. */
void prometheus_print(const struct snapshot *snapshot, FILE *out);

/* svg.c: -o svg: a drawing of the machine. */

void svg_print(const struct snapshot *snapshot, FILE *out);

#endif /* MEMQUERY_OUTPUT_H */
