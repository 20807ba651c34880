/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c: --diff from two names of files to a table or a document. */

#include "cmd/memquery/diff/diff.h"
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

static bool ends_in(const char *key, const char *end)
{
    size_t length = strlen(key);

    return (length >= strlen(end)) && (strcmp(key + length - strlen(end), end) == 0);
}

static void format_number(const char *key, const json_t *value, bool exact, char *text, size_t size)
{
    double number = json_number_value(value);

    if (ends_in(key, "_bytes_per_s")) {
        snprintf(text, size, "%.*f GB/s", exact ? 9 : 1, number / 1e9);
    } else if (ends_in(key, "_ns")) {
        snprintf(text, size, "%.*f ns", exact ? 9 : 1, number);
    } else if (ends_in(key, "_bytes") && json_is_integer(value) && (number >= 0) && !exact) {
        snprintf(text, size, "%s", cli_size_text((uint64_t)json_integer_value(value)).text);
    } else if (json_is_integer(value)) {
        snprintf(text, size, "%lld", (long long)json_integer_value(value));
    } else {
        snprintf(text, size, "%.17g", number);
    }
}

/* The words of a table for a value, or for an element that is there. */
static void format_value(const struct difference *item, const json_t *value, const char *reason,
                         bool exact, char *text, size_t size)
{
    const json_t *name = json_object_get(value, "value");
    char *dump;

    name = json_is_string(name) ? name : json_object_get(value, "name");
    if (value == NULL) {
        snprintf(text, size, "absent");
    } else if (json_is_object(value)) {
        snprintf(text, size, "%s", json_is_string(name) ? json_string_value(name) : "present");
    } else if (json_is_null(value)) {
        snprintf(text, size, "unknown: %s", reason);
    } else if (json_is_string(value)) {
        snprintf(text, size, "%s", json_string_value(value));
    } else if (json_is_boolean(value)) {
        snprintf(text, size, "%s", json_is_true(value) ? "yes" : "no");
    } else if (json_is_number(value)) {
        format_number(item->key, value, exact, text, size);
    } else {
        dump = json_dumps(value, JSON_COMPACT);
        snprintf(text, size, "%s", (dump != NULL) ? dump : "?");
        free(dump);
    }
}

static void add_row(struct cli_table *table, const struct difference *item)
{
    char a[512];
    char b[512];

    format_value(item, item->a, item->a_reason, false, a, sizeof(a));
    format_value(item, item->b, item->b_reason, false, b, sizeof(b));
    if (strcmp(a, b) == 0) { /* rounded */
        format_value(item, item->a, item->a_reason, true, a, sizeof(a));
        format_value(item, item->b, item->b_reason, true, b, sizeof(b));
    }
    if (item->a_spread >= 0) {
        cli_append(a, sizeof(a), " ~%d%%", item->a_spread);
        cli_append(b, sizeof(b), " ~%d%%", item->b_spread);
    }
    cli_table_add(table, "%s", item->what);
    cli_table_add(table, "%s", a);
    cli_table_add(table, "%s", b);
}

static const char *version_of(const struct diff_view *view)
{
    const char *version = json_string_value(json_object_get(view->document, "memspan_version"));

    return (version != NULL) ? version : "?";
}

static void print_head(const char *letter, const struct diff_view *view, FILE *out)
{
    char text[512];

    snprintf(text, sizeof(text), "%s  %s: %s%sMemspan %s", letter, view->path, view->host,
             (view->host[0] != '\0') ? ", " : "", version_of(view));
    cli_clean(text);
    fprintf(out, "%s\n", text);
}

static void print_table(const struct diff_view *a, const struct diff_view *b,
                        const struct diff_list *list, FILE *out)
{
    struct cli_table table;

    print_head("A", a, out);
    print_head("B", b, out);
    if (list->count == 0) {
        fputs("no difference\n", out);
        return;
    }
    fputc('\n', out);
    cli_table_open(&table, "lll");
    cli_table_add_row(&table, (const char *const[]){"WHAT", "A", "B"});
    for (size_t i = 0; i < list->count; i++) {
        add_row(&table, &list->items[i]);
    }
    cli_table_close(&table, out);
}

/* ---- the document ---- */

static json_t *side_of(const struct diff_view *view)
{
    json_t *object = json_object();

    json_put_text(object, "file", view->path);
    json_put_text_or(object, "host_name", view->host, "the document has none");
    json_put_text(object, "memspan_version", version_of(view));
    return object;
}

static void put_value(json_t *object, const char *key, const json_t *value, const char *reason)
{
    if (value == NULL) {
        json_put_null(object, key, "absent");
    } else if (json_is_null(value)) {
        json_put_null(object, key, reason);
    } else if (json_is_object(value)) {
        json_put_text(object, key, "present");
    } else {
        json_put(object, key, json_deep_copy(value));
    }
}

static json_t *difference_object(const struct difference *item)
{
    static const char no_figure[] = "it is no measured figure";
    json_t *object                = json_object();

    json_put_text(object, "what", item->what);
    put_value(object, "a", item->a, item->a_reason);
    put_value(object, "b", item->b, item->b_reason);
    json_put_int_or(object, "a_spread_percent", item->a_spread, no_figure);
    json_put_int_or(object, "b_spread_percent", item->b_spread, no_figure);
    return object;
}

static void print_json(const struct diff_view *a, const struct diff_view *b,
                       const struct diff_list *list, FILE *out)
{
    json_t *document    = json_document();
    json_t *differences = json_array();

    for (size_t i = 0; i < list->count; i++) {
        json_array_append_new(differences, difference_object(&list->items[i]));
    }
    json_put(document, "a", side_of(a));
    json_put(document, "b", side_of(b));
    json_put_bool(document, "same", list->count == 0);
    json_put(document, "differences", differences);
    json_finish(document, out);
}

/* ---- both ---- */

/* Folded to the terminal's width. */
static void print(const struct diff_view *a, const struct diff_view *b,
                  const struct diff_list *list)
{
    char *text  = NULL;
    size_t size = 0;
    FILE *out   = open_memstream(&text, &size);

    if (out == NULL) {
        cli_complain("out of memory");
        exit(EXIT_PROBE);
    }
    print_table(a, b, list, out);
    fclose(out);
    cli_fold(stdout, text, size, cli_width(stdout));
    free(text);
}

static bool is_one_question(const struct diff_view *a, const struct diff_view *b)
{
    if (strcmp(a->question, b->question) == 0) {
        return true;
    }
    cli_complain("%s is an answer of %s, %s of %s: they cannot be compared", a->path, a->question,
                 b->path, b->question);
    return false;
}

static int compare(struct diff_view *a, struct diff_view *b, bool as_json)
{
    bool one_host         = strcmp(a->host, b->host) == 0;
    struct diff_list list = {0};
    int code              = EXIT_YES;

    if (!is_one_question(a, b) || !diff_match(a, b, one_host) || !diff_view_make(a, one_host) ||
        !diff_view_make(b, one_host)) {
        return EXIT_USAGE;
    }
    diff_compare(a, b, &list);
    if (as_json) {
        print_json(a, b, &list, stdout);
    } else {
        print(a, b, &list);
    }
    code = (list.count > 0) ? EXIT_ABSENT : EXIT_YES;
    free(list.items);
    return code;
}

int diff_report(const char *a_path, const char *b_path, bool as_json)
{
    struct diff_view a = {0};
    struct diff_view b = {0};
    int code           = EXIT_USAGE;

    if (diff_view_open(&a, a_path) && diff_view_open(&b, b_path)) {
        code = compare(&a, &b, as_json);
    }
    diff_view_close(&a);
    diff_view_close(&b);
    return code;
}
