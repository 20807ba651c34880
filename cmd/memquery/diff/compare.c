/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.c: one walk over two views. */

#include "cmd/memquery/diff/diff.h"
#include <math.h>
#include <string.h>

/* Firmware and kernels reserve a little memory, and not the same at each boot. A memory module is
 * more than that. */
static const double size_tolerance = 0.005;

struct comparison {
    const struct diff_view *a;
    const struct diff_view *b;
    struct diff_list *list;
};

/* Two objects of one place. */
struct place {
    const char *what;
    json_t *a;
    json_t *b;
};

static void compare_objects(struct comparison *comparison, const struct place *place, bool is_list,
                            const char *noun);

static const char *reason_of(const json_t *object, const char *key)
{
    char name[96];
    const char *reason;

    snprintf(name, sizeof(name), "%s_reason", key);
    reason = json_string_value(json_object_get(object, name));
    return (reason != NULL) ? reason : "no reason given";
}

static struct difference *add(struct comparison *comparison, const char *what, const char *key)
{
    struct diff_list *list = comparison->list;
    struct difference *item;

    list->items = cli_grow(list->items, list->count, sizeof(list->items[0]));
    item        = &list->items[list->count++];
    *item       = (struct difference){.a_spread = -1, .b_spread = -1};
    snprintf(item->what, sizeof(item->what), "%s%s%s", what,
             ((what[0] != '\0') && (key[0] != '\0')) ? " " : "", key);
    snprintf(item->key, sizeof(item->key), "%s", key);
    cli_clean(item->what);
    return item;
}

static void add_values(struct comparison *comparison, const struct place *place, const char *key)
{
    struct difference *item = add(comparison, place->what, key);

    item->a        = json_object_get(place->a, key);
    item->b        = json_object_get(place->b, key);
    item->a_reason = reason_of(place->a, key);
    item->b_reason = reason_of(place->b, key);
}

/* ---- values ---- */

static bool is_size(const char *key)
{
    return (strcmp(key, "capacity_bytes") == 0) || (strcmp(key, "alloc_max_bytes") == 0);
}

static bool is_same(const struct place *place, const char *key)
{
    const json_t *a = json_object_get(place->a, key);
    const json_t *b = json_object_get(place->b, key);
    double left     = json_number_value(a);
    double right    = json_number_value(b);

    if (json_is_number(a) && json_is_number(b)) {
        return (left == right) ||
               (is_size(key) && (fabs(left - right) <= size_tolerance * fmax(left, right)));
    }
    if (json_is_null(a) && json_is_null(b)) {
        return strcmp(reason_of(place->a, key), reason_of(place->b, key)) == 0;
    }
    return json_equal(a, b);
}

/* Results of --measure have a spread beside them; what firmware reports has none. */
static bool is_measured(const struct place *place, const char *key)
{
    static const char *const keys[] = {
        "bandwidth_bytes_per_s", "latency_ns", "method", "measured_at", "source", "settled", "busy",
        "spread_percent",        NULL};
    size_t i;

    for (i = 0; (keys[i] != NULL) && (strcmp(keys[i], key) != 0); i++) {
    }
    return (keys[i] != NULL) && (json_object_get(place->a, "spread_percent") != NULL) &&
           (json_object_get(place->b, "spread_percent") != NULL);
}

/* Percent, from a hostile document. */
static int spread_of(const json_t *object)
{
    double spread = json_number_value(json_object_get(object, "spread_percent"));

    return (spread > 0) ? ((spread < 1000) ? (int)spread : 1000) : 0;
}

static bool is_busy(const json_t *object)
{
    return json_is_true(json_object_get(object, "busy"));
}

/* A memory of several spaces was measured once, and is one difference. */
static bool is_known(const struct comparison *comparison, const struct place *place,
                     const char *key)
{
    const char *memory = strstr(place->what, "resource ");

    for (size_t i = 0; (i < comparison->list->count) && (memory != NULL); i++) {
        const struct difference *item = &comparison->list->items[i];
        const char *other             = strstr(item->what, "resource ");

        if ((item->a_spread >= 0) && (other != NULL) && (strcmp(item->key, key) == 0) &&
            (strncmp(other, memory, strlen(memory)) == 0) && (other[strlen(memory)] == ' ')) {
            return true;
        }
    }
    return false;
}

/* Both figures are medians, each with the width of the middle half of its repetitions. */
static void compare_figures(struct comparison *comparison, const struct place *place,
                            const char *key)
{
    double a     = json_number_value(json_object_get(place->a, key));
    double b     = json_number_value(json_object_get(place->b, key));
    double noise = (fabs(a) * spread_of(place->a) + fabs(b) * spread_of(place->b)) / 100;
    struct difference *item;

    if (is_busy(place->a) || is_busy(place->b) || (fabs(a - b) <= noise) ||
        is_known(comparison, place, key)) {
        return;
    }
    add_values(comparison, place, key);
    item           = &comparison->list->items[comparison->list->count - 1];
    item->a_spread = spread_of(place->a);
    item->b_spread = spread_of(place->b);
}

static void compare_measured(struct comparison *comparison, const struct place *place,
                             const char *key)
{
    bool is_figure =
        (strcmp(key, "bandwidth_bytes_per_s") == 0) || (strcmp(key, "latency_ns") == 0);
    const json_t *a = json_object_get(place->a, key);
    const json_t *b = json_object_get(place->b, key);

    if (!comparison->a->measured || !comparison->b->measured) {
        return;
    }
    if (is_figure && json_is_number(a) && json_is_number(b)) {
        compare_figures(comparison, place, key);
    } else if ((is_figure || (strcmp(key, "method") == 0)) && !is_same(place, key)) {
        add_values(comparison, place, key);
    }
}

/* ---- objects ---- */

static bool is_reason(const json_t *object, const char *key)
{
    size_t length = strlen(key);
    char base[96];

    if ((length <= strlen("_reason")) ||
        (strcmp(key + length - strlen("_reason"), "_reason") != 0)) {
        return false;
    }
    snprintf(base, sizeof(base), "%.*s", (int)(length - strlen("_reason")), key);
    return json_object_get(object, base) != NULL;
}

/* An element of a list that only one document has. A text is its own value. */
static void add_alone(struct comparison *comparison, const struct place *place, const char *noun,
                      const char *id)
{
    json_t *a    = json_object_get(place->a, id);
    json_t *b    = json_object_get(place->b, id);
    bool is_text = json_is_string((a != NULL) ? a : b);
    char what[2 * DIFF_TEXT_MAX];
    struct difference *item;

    snprintf(what, sizeof(what), "%s%s%s%s%s", place->what, (place->what[0] != '\0') ? " " : "",
             noun, is_text ? "" : " ", is_text ? "" : id);
    item    = add(comparison, what, "");
    item->a = a;
    item->b = b;
}

static void compare_members(struct comparison *comparison, const struct place *place,
                            const char *key, const char *noun)
{
    struct place inner     = {place->what, json_object_get(place->a, key),
                              json_object_get(place->b, key)};
    const char *inner_noun = diff_view_noun(key);
    char what[2 * DIFF_TEXT_MAX];

    if (!json_is_object(inner.a) || !json_is_object(inner.b)) {
        if (is_measured(place, key)) {
            compare_measured(comparison, place, key);
        } else if (!is_same(place, key)) {
            add_values(comparison, place, key);
        }
        return;
    }
    if ((noun == NULL) && (inner_noun != NULL)) {
        compare_objects(comparison, &inner, true, inner_noun);
        return;
    }
    snprintf(what, sizeof(what), "%s%s%s%s%s", place->what, (place->what[0] != '\0') ? " " : "",
             (noun != NULL) ? noun : "", (noun != NULL) ? " " : "", key);
    inner.what = what;
    compare_objects(comparison, &inner, false, NULL);
}

/* Members of a list are elements with the @p noun; a key that one object alone has is not compared,
 * for an older memquery does not print it. */
static void compare_objects(struct comparison *comparison, const struct place *place, bool is_list,
                            const char *noun)
{
    const char *key;
    json_t *value;

    json_object_foreach(place->a, key, value)
    {
        if (json_object_get(place->b, key) != NULL) {
            if (is_list || !is_reason(place->a, key)) {
                compare_members(comparison, place, key, noun);
            }
        } else if (is_list) {
            add_alone(comparison, place, noun, key);
        }
    }
    json_object_foreach(place->b, key, value)
    {
        if (is_list && (json_object_get(place->a, key) == NULL)) {
            add_alone(comparison, place, noun, key);
        }
    }
}

void diff_compare(const struct diff_view *a, const struct diff_view *b, struct diff_list *list_p)
{
    struct comparison comparison = {a, b, list_p};
    struct place root            = {"", a->content, b->content};

    *list_p = (struct diff_list){0};
    compare_objects(&comparison, &root, false, NULL);
}
