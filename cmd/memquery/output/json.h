/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_JSON_H
#define MEMQUERY_JSON_H

/* The rules of the schema: an unknown value is null and has a sibling "<key>_reason"; no key is
 * left out; sizes are bytes, times nanoseconds. */

#include <jansson.h>
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdio.h>

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

/* A new object with what a device is promised: "access" and "coherence". */
json_t *json_reach(int device, const memspan_reach_t *reach);

/* The traits of an allocator as keys of @p object. */
void json_put_plan(json_t *object, const memspan_allocator_info_t *info);

/* Print the document and a newline, and release it. */
void json_finish(json_t *document, FILE *out);

#endif /* MEMQUERY_JSON_H */
