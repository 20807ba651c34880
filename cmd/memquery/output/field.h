/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_FIELD_H
#define MEMQUERY_FIELD_H

/* A field is one row of a table: the column of the text table, the key of the JSON object and
 * the column of the CSV file are made from it. */

#include "cmd/memquery/measure/measure.h"
#include "cmd/memquery/model/snapshot.h"
#include "cmd/memquery/output/grid.h"
#include "cmd/memquery/output/json.h"

/* What a field is read from. */
struct record {
    const struct snapshot *snapshot;
    const void *row;                 /* what field.offset counts from */
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
    const char *text; /* may be room */
    char room[512];
    int number;
    uint64_t size;
    double real;
    json_t *json;
    bool unknown;
    const char *reason; /* why it is unknown, where that differs between records */
    const char *shown;  /* what the table has instead; NULL: the value */
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
/* One that is an expression of the row: what becomes the text, number or size. */
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
void field_open(const struct field_list *list, const struct snapshot *snapshot, struct grid *grid);
void field_row(const struct field_list *list, const struct record *record, struct grid *grid);

/* A row of a table for something that is not there: the words of @p first, dashes (a dot for each
 * device), and @p last. */
void field_row_off(const struct field_list *list, const struct snapshot *snapshot,
                   const char *const first[2], const char *last, struct grid *grid);

#endif /* MEMQUERY_FIELD_H */
