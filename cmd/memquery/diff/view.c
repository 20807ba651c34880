/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c: a document from a file, checked, with its lists as objects by identity. A row of the
 * table of lists has what identifies an element and which of its keys are not compared: those that
 * repeat the identity, and volatile ones. */

#include "cmd/memquery/diff/diff.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool complain(const struct diff_view *view, const char *key, const char *what)
{
    char where[DIFF_TEXT_MAX] = "";

    cli_append(where, sizeof(where), "%s", view->where);
    cli_append(where, sizeof(where), "%s%s", ((where[0] != '\0') && (key[0] != '\0')) ? "." : "",
               key);
    cli_clean(where);
    cli_complain("%s: %s %s", view->path, (where[0] != '\0') ? where : "the document", what);
    return false;
}

/* ---- the file ---- */

static char *read_file(const char *path, size_t *size_p)
{
    FILE *file = fopen(path, "re");
    char *text = cli_calloc(DIFF_FILE_MOST_BYTES + 1, 1);

    if (file != NULL) {
        *size_p = fread(text, 1, DIFF_FILE_MOST_BYTES + 1, file);
    }
    if ((file == NULL) || ferror(file)) {
        cli_complain("cannot read \"%s\": %s", path, strerror(errno));
    } else if (*size_p > DIFF_FILE_MOST_BYTES) {
        cli_complain("%s: larger than %s, which no answer of memquery is", path,
                     cli_size_text(DIFF_FILE_MOST_BYTES).text);
    } else {
        fclose(file);
        return text;
    }
    if (file != NULL) {
        fclose(file);
    }
    free(text);
    return NULL;
}

static json_t *parse(const char *path, const char *text, size_t size)
{
    json_error_t error;
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);

    if (document == NULL) {
        cli_clean(error.text);
        cli_complain("%s:%d:%d: %s", path, error.line, error.column, error.text);
    }
    return document;
}

static bool check_kind(struct diff_view *view)
{
    static const char *const kinds[][2] = {{"spaces", "memquery"},
                                           {"variables", "memquery --config"},
                                           {"partitions", "memquery --shmem"}};
    int schema;

    if (!json_is_object(view->document)) {
        return complain(view, "", "is no JSON object");
    }
    if (!diff_view_int(view, view->document, "schema", &schema)) {
        return false;
    }
    if (schema != JSON_SCHEMA) {
        return complain(view, "schema", "is not 1, the only one that this memquery knows");
    }
    for (size_t i = 0; (view->question == NULL) && (i < sizeof(kinds) / sizeof(kinds[0])); i++) {
        if (json_object_get(view->document, kinds[i][0]) != NULL) {
            view->question = kinds[i][1];
        }
    }
    if (view->question == NULL) {
        return complain(view, "", "is no answer of memquery, memquery --config or --shmem");
    }
    return (json_object_get(view->document, "host_name") == NULL) ||
           diff_view_text(view, view->document, "host_name", true, &view->host);
}

bool diff_view_open(struct diff_view *view, const char *path)
{
    size_t size = 0;
    char *text  = read_file(path, &size);

    *view = (struct diff_view){.path = path, .host = ""};
    if (text != NULL) {
        view->document = parse(path, text, size);
    }
    free(text);
    return (view->document != NULL) && check_kind(view);
}

void diff_view_close(struct diff_view *view)
{
    json_decref(view->content);
    json_decref(view->labels);
    json_decref(view->alone);
    json_decref(view->document);
}

/* ---- members ---- */

bool diff_view_text(const struct diff_view *view, const json_t *object, const char *key,
                    bool nullable, const char **text_p)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_string(value)) {
        *text_p = json_string_value(value);
        return true;
    }
    if (nullable && json_is_null(value)) {
        *text_p = "";
        return true;
    }
    return complain(view, key, (value == NULL) ? "is missing" : "is not a text");
}

bool diff_view_int(const struct diff_view *view, const json_t *object, const char *key,
                   int *value_p)
{
    const json_t *value = json_object_get(object, key);
    json_int_t number   = json_integer_value(value);

    if (!json_is_integer(value) || (number < INT_MIN) || (number > INT_MAX)) {
        return complain(view, key, (value == NULL) ? "is missing" : "is not a number of this kind");
    }
    *value_p = (int)number;
    return true;
}

/* ---- identities ---- */

/* IDENTITY_NONE: it depends on a device that the other document lacks, and goes with it. */
enum identity { IDENTITY_MADE, IDENTITY_NONE, IDENTITY_BROKEN };

struct element {
    const struct diff_view *view;
    const json_t *value;
    char id[2 * DIFF_TEXT_MAX];
};

static const char *label_of(const struct diff_view *view, json_int_t number)
{
    return json_string_value(json_object_get(view->labels, text_from_int(number).text));
}

static enum identity identify_name(struct element *element)
{
    const char *name;

    if (!diff_view_text(element->view, element->value, "name", false, &name)) {
        return IDENTITY_BROKEN;
    }
    snprintf(element->id, sizeof(element->id), "%s", name);
    return IDENTITY_MADE;
}

static enum identity identify_text(struct element *element)
{
    if (!json_is_string(element->value)) {
        complain(element->view, "", "is not a text");
        return IDENTITY_BROKEN;
    }
    snprintf(element->id, sizeof(element->id), "%s", json_string_value(element->value));
    return IDENTITY_MADE;
}

static enum identity identify_number(struct element *element, const char *key, const char *format)
{
    int number;

    if (!diff_view_int(element->view, element->value, key, &number)) {
        return IDENTITY_BROKEN;
    }
    snprintf(element->id, sizeof(element->id), "%s%d", format, number);
    return IDENTITY_MADE;
}

static enum identity identify_node(struct element *element)
{
    return identify_number(element, "os_index", "node");
}

/* Regions of NVDIMMs and of CXL devices may have one name. */
static enum identity identify_memory(struct element *element)
{
    const char *kind;
    const char *name;

    if (!diff_view_text(element->view, element->value, "kind", false, &kind) ||
        !diff_view_text(element->view, element->value, "name", false, &name)) {
        return IDENTITY_BROKEN;
    }
    snprintf(element->id, sizeof(element->id), "%s %s", kind, name);
    return IDENTITY_MADE;
}

static enum identity identify_partition(struct element *element)
{
    return identify_number(element, "id", "");
}

static enum identity identify_kernels(struct element *element)
{
    return identify_number(element, "device", "");
}

/* Append the label of the device in @p key. */
static enum identity add_label(struct element *element, const char *key, const char *before)
{
    const char *label;
    int number;

    if (!diff_view_int(element->view, element->value, key, &number)) {
        return IDENTITY_BROKEN;
    }
    label = label_of(element->view, number);
    if (label == NULL) {
        return IDENTITY_NONE;
    }
    cli_append(element->id, sizeof(element->id), "%s%s", before, label);
    return IDENTITY_MADE;
}

/* Also one that is in this document alone. */
static enum identity identify_device(struct element *element)
{
    enum identity made = add_label(element, "number", "");
    int number;

    if ((made == IDENTITY_NONE) &&
        diff_view_int(element->view, element->value, "number", &number)) {
        snprintf(
            element->id, sizeof(element->id), "%s",
            json_string_value(json_object_get(element->view->alone, text_from_int(number).text)));
        made = IDENTITY_MADE;
    }
    return made;
}

static enum identity identify_reach(struct element *element)
{
    return add_label(element, "device", "");
}

static enum identity identify_peer(struct element *element)
{
    enum identity made = add_label(element, "home", "");

    return (made == IDENTITY_MADE) ? add_label(element, "device", " from ") : made;
}

static enum identity identify_resource(struct element *element)
{
    const json_t *node = json_object_get(element->value, "numa_node");
    const char *kind;

    if (!diff_view_text(element->view, element->value, "kind", false, &kind)) {
        return IDENTITY_BROKEN;
    }
    snprintf(element->id, sizeof(element->id), "%s", kind);
    if (json_is_integer(node)) {
        cli_append(element->id, sizeof(element->id), " node%s",
                   text_from_int(json_integer_value(node)).text);
    }
    return add_label(element, "home", " of ");
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A predefined space by its name; one of devices by their labels, in one order. */
static enum identity identify_space(struct element *element)
{
    const json_t *devices = json_object_get(element->value, "devices");
    const char *labels[64];
    size_t count = json_array_size(devices);

    if (!json_is_true(json_object_get(element->value, "target"))) {
        return identify_name(element);
    }
    if (!json_is_array(devices) || (count > sizeof(labels) / sizeof(labels[0]))) {
        complain(element->view, "devices", "is not a list of at most 64 devices");
        return IDENTITY_BROKEN;
    }
    for (size_t i = 0; i < count; i++) {
        labels[i] = label_of(element->view, json_integer_value(json_array_get(devices, i)));
        if (labels[i] == NULL) {
            return IDENTITY_NONE;
        }
    }
    qsort(labels, count, sizeof(labels[0]), compare_texts);
    for (size_t i = 0; i < count; i++) {
        cli_append(element->id, sizeof(element->id), "%s%s", (i == 0) ? "{" : ",", labels[i]);
    }
    cli_append(element->id, sizeof(element->id), "}");
    return IDENTITY_MADE;
}

static const struct list {
    const char *key;
    int depth; /* where the key is a list: 1 the document, 3 and 5 elements of lists */
    const char *noun;
    const char *ignored; /* keys of its elements, between blanks */
    enum identity (*identify)(struct element *element);
} lists[] = {
    {"backends", 1, "backend", " name ", identify_name},
    {"devices", 1, "device", " label numbers free_bytes ", identify_device},
    {"peers", 1, "memory of", " home device ", identify_peer},
    {"nodes", 1, "NUMA", " os_index free_bytes ", identify_node},
    {"memory_devices", 1, "memory", " name kind ", identify_memory},
    {"spaces", 1, "space", " name devices target ", identify_space},
    {"resources", 3, "resource", " name kind home home_label numa_node ", identify_resource},
    {"reach", 5, "from", " device ", identify_reach},
    {"modes", 3, "mode", " name ", identify_name},
    {"variables", 1, "variable", " name help form ", identify_name},
    {"partitions", 1, "partition", " id ", identify_partition},
    {"transports", 1, "transport", " name ", identify_name},
    {"kernel_reach", 1, "kernels of", " device ", identify_kernels},
    {"warnings", 1, "warning", "", identify_text},
    {"problems", 1, "problem", "", identify_text},
};

/* @p depth 0: any. */
static const struct list *list_of(const char *key, int depth)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if ((strcmp(lists[i].key, key) == 0) && ((depth == 0) || (depth == lists[i].depth))) {
            return &lists[i];
        }
    }
    return NULL;
}

const char *diff_view_noun(const char *key)
{
    const struct list *list = list_of(key, 0);

    return (list != NULL) ? list->noun : NULL;
}

/* ---- the view ---- */

/* A key of @p ignored, or the reason beside one. */
static bool is_ignored(const char *ignored, const char *key)
{
    size_t length = strlen(key);
    char word[DIFF_TEXT_MAX];

    if ((length > strlen("_reason")) &&
        (strcmp(key + length - strlen("_reason"), "_reason") == 0)) {
        length -= strlen("_reason");
    }
    snprintf(word, sizeof(word), " %.*s ", (int)((length < 200) ? length : 200), key);
    return strstr(ignored, word) != NULL;
}

static json_t *make(struct diff_view *view, const char *key, json_t *value, const char *ignored,
                    int depth);

static json_t *make_object(struct diff_view *view, json_t *value, const char *ignored, int depth)
{
    json_t *object = json_object();
    size_t mark    = strlen(view->where);
    const char *key;
    json_t *member;

    json_object_foreach(value, key, member)
    {
        json_t *made;

        if (is_ignored(ignored, key)) {
            continue;
        }
        cli_append(view->where, sizeof(view->where), "%s%s", (mark == 0) ? "" : ".", key);
        made = make(view, key, member, "", depth + 1);
        if (made == NULL) {
            json_decref(object);
            return NULL;
        }
        json_put(object, key, made);
        view->where[mark] = '\0';
    }
    view->measured = view->measured || (json_object_get(value, "spread_percent") != NULL &&
                                        json_is_string(json_object_get(value, "measured_at")));
    return object;
}

/* Add one element; false after a message. */
static bool add_element(struct diff_view *view, const struct list *list, json_t *value,
                        json_t *object, int depth)
{
    struct element element = {.view = view, .value = value};
    enum identity identity;
    json_t *made;

    if (!json_is_object(value) && (list->identify != identify_text)) {
        return complain(view, "", "is no object");
    }
    identity = list->identify(&element);
    if (identity != IDENTITY_MADE) {
        return identity == IDENTITY_NONE;
    }
    cli_clean(element.id);
    if (json_object_get(object, element.id) != NULL) {
        return complain(view, "", "is there twice");
    }
    made = make(view, "", value, list->ignored, depth + 1);
    if (made != NULL) {
        json_put(object, element.id, made);
    }
    return made != NULL;
}

static json_t *make_list(struct diff_view *view, const struct list *list, json_t *value, int depth)
{
    json_t *object = json_object();
    size_t mark    = strlen(view->where);
    json_t *element;
    size_t i;

    if (!json_is_array(value)) {
        complain(view, "", "is not a list");
        json_decref(object);
        return NULL;
    }
    json_array_foreach(value, i, element)
    {
        cli_append(view->where, sizeof(view->where), "[%zu]", i);
        if (!add_element(view, list, element, object, depth)) {
            json_decref(object);
            return NULL;
        }
        view->where[mark] = '\0';
    }
    return object;
}

/* The value for the view; NULL after a message. */
static json_t *make(struct diff_view *view, const char *key, json_t *value, const char *ignored,
                    int depth)
{
    const struct list *list = (depth > 0) ? list_of(key, depth) : NULL;

    if (depth > DIFF_DEPTH_MOST) {
        complain(view, "", "is nested deeper than any answer of memquery");
        return NULL;
    }
    if (list != NULL) {
        return make_list(view, list, value, depth);
    }
    return json_is_object(value) ? make_object(view, value, ignored, depth) : json_incref(value);
}

bool diff_view_make(struct diff_view *view, bool one_host)
{
    json_t *devices;
    const char *label;
    json_t *device;

    view->where[0] = '\0';
    view->content  = make(view, "", view->document, " host_name host_number ", 0);
    if (view->content == NULL) {
        return false;
    }
    /* Two hosts have never the same hardware: its identity is none of its properties. */
    devices = json_object_get(view->content, "devices");
    json_object_foreach(devices, label, device)
    {
        if (!one_host) {
            json_object_del(device, "uid");
            json_object_del(device, "uid_reason");
        }
    }
    return true;
}
