/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c: --plan, the memory of an allocator with such traits, and the reasons. Nothing is
 * allocated. */

#include "cmd/memquery/model/model.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- the question ---- */

static int set_base(struct plan *plan, const char *name)
{
    struct text_list names = {0};
    const char *known;
    memspan_space_h space;
    int code = EXIT_YES;

    for (size_t i = 0; (known = space_predefined(i, &space)) != NULL; i++) {
        if (strcmp(known, name) == 0) {
            plan->base = space;
            break;
        }
        text_list_add(&names, known);
    }
    if (known == NULL) {
        code = text_unknown("base space", name, &names);
    }
    free(names.items);
    return code;
}

static int add_every_device(struct plan *plan)
{
    int count = memspan_device_count();

    for (int i = 0; (i < count) && (plan->device_count < WORDS_DEVICES_MAX); i++) {
        if (memspan_device_at(i, &plan->devices[plan->device_count]) == MEMSPAN_OK) {
            plan->device_count++;
        }
    }
    return EXIT_YES;
}

int plan_add_word(struct plan *plan, const struct words *words, const struct word *word)
{
    if ((word->op != WORD_IS) && (word->op != WORD_ALONE)) {
        cli_complain("\"%s\" is compared, but traits are set: KEY=VALUE", word->key);
        return EXIT_USAGE;
    }
    if ((strcmp(word->key, "devices") == 0) && (word->op == WORD_IS)) {
        for (size_t i = 0; (i < word->device_count) && (plan->device_count < WORDS_DEVICES_MAX);
             i++) {
            plan->devices[plan->device_count++] = words->devices[word->device_first + i];
        }
        return word->every_device ? add_every_device(plan) : EXIT_YES;
    }
    if ((strcmp(word->key, "base") == 0) && (word->op == WORD_IS)) {
        return set_base(plan, word->value);
    }
    cli_append(plan->traits_text, sizeof(plan->traits_text), "%s%s%s%s",
               (plan->traits_text[0] == '\0') ? "" : ",", word->key,
               (word->op == WORD_IS) ? "=" : "", word->value);
    return EXIT_YES;
}

/* ---- the answer ---- */

/* A status as an exit code: malformed, or not available? */
static int code_of(memspan_status_t status)
{
    switch (status) {
    case MEMSPAN_ERR_INVALID:
    case MEMSPAN_ERR_CONFLICT:
    case MEMSPAN_ERR_CONFIG:
        return EXIT_USAGE;
    case MEMSPAN_ERR_DRIVER:
    case MEMSPAN_ERR_FORKED:
    case MEMSPAN_ERR_INTERNAL:
        return EXIT_PROBE;
    default:
        return EXIT_ABSENT;
    }
}

static int fail(struct plan *plan)
{
    const memspan_error_t *error = memspan_error_last();

    plan->status = error->status;
    snprintf(plan->hint, sizeof(plan->hint), "%s", error->hint);
    snapshot_error(plan->problem, sizeof(plan->problem));
    cli_clean(plan->hint);
    return code_of(plan->status);
}

/* The number after the last device means the host too, in OpenMP. In --plan a number means a
 * device: on a machine without devices it must not pass. */
static bool names_host_by_number(struct plan *plan)
{
    for (size_t i = 0; i < plan->device_count; i++) {
        if ((plan->devices[i] >= 0) && (plan->devices[i] == memspan_host_device())) {
            plan->status = MEMSPAN_ERR_NOT_FOUND;
            snprintf(plan->problem, sizeof(plan->problem),
                     "there is no device %d: that number means the host here", plan->devices[i]);
            snprintf(plan->hint, sizeof(plan->hint),
                     "say host for the host; memquery lists the devices and why a backend is off");
            return true;
        }
    }
    return false;
}

void plan_complain(const struct plan *plan)
{
    cli_complain("%s%s%s", plan->problem, (plan->hint[0] == '\0') ? "" : "; ", plan->hint);
}

int plan_make(struct plan *plan)
{
    plan->space = (plan->base == MEMSPAN_SPACE_NULL) ? MEMSPAN_SPACE_DEFAULT : plan->base;
    plan->info.struct_size = sizeof(plan->info);
    memspan_error_clear();
    if ((plan->traits_text[0] != '\0') &&
        (memspan_trait_parse(plan->traits_text, plan->traits, PLAN_TRAITS_MAX,
                             &plan->trait_count) != MEMSPAN_OK)) {
        return fail(plan);
    }
    if (names_host_by_number(plan)) {
        return EXIT_ABSENT;
    }
    if ((plan->device_count > 0) && (memspan_space_get(plan->devices, plan->device_count,
                                                       plan->base, &plan->space) != MEMSPAN_OK)) {
        return fail(plan);
    }
    if (memspan_allocator_plan(plan->space, plan->traits, plan->trait_count, &plan->info) !=
        MEMSPAN_OK) {
        return fail(plan);
    }
    cli_clean(plan->info.why);
    return plan->info.serves ? EXIT_YES : EXIT_CONDITIONAL;
}

/* ---- printing ---- */

static void name_device(int number, char *text, size_t size)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    if (number == MEMSPAN_HOST) {
        snprintf(text, size, "host");
    } else if (memspan_device_describe(number, &info) == MEMSPAN_OK) {
        cli_clean(info.name);
        snprintf(text, size, "device %d (%s:%d, %s)", number, info.backend, info.ordinal,
                 info.name);
    } else {
        snprintf(text, size, "device %d", number);
    }
}

/* The devices whose reach is shown: those of the list; otherwise the host alone. */
static size_t list_devices(const struct plan *plan, int *devices)
{
    size_t count = 0;

    for (size_t i = 0; i < plan->device_count; i++) {
        int number = (plan->devices[i] == memspan_host_device()) ? MEMSPAN_HOST : plan->devices[i];
        size_t j;

        for (j = 0; (j < count) && (devices[j] != number); j++) {
        }
        devices[j] = number;
        count += (j == count) ? 1 : 0;
    }
    if (count == 0) {
        devices[count++] = MEMSPAN_HOST;
    }
    return count;
}

static void add_line(struct cli_table *table, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add_line(struct cli_table *table, const char *key, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cli_table_add(table, "%s", key);
    cli_table_add(table, "%s", text);
}

static void add_reach(struct cli_table *table, const struct plan *plan)
{
    int devices[WORDS_DEVICES_MAX];
    size_t count = list_devices(plan, devices);

    for (size_t i = 0; i < count; i++) {
        memspan_reach_t reach = {MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
        char name[160];

        name_device(devices[i], name, sizeof(name));
        memspan_device_reach(plan->info.home, plan->info.kind_given, devices[i], &reach);
        add_line(table, (i == 0) ? "reach" : " ", "%s: %s, %s", name,
                 memspan_access_name(reach.access), memspan_coherence_name(reach.coherence));
    }
}

/* The notes of the home device's backend on the requested kind and the given one. */
static void add_notes(struct cli_table *table, const struct plan *plan)
{
    memspan_device_info_t home = {.struct_size = sizeof(home)};
    memspan_kind_t asked       = plan->info.kind_asked;
    memspan_kind_t given       = plan->info.kind_given;

    for (size_t i = 0; i < ((plan->device_count == 0) ? 1 : plan->device_count); i++) {
        int number = (plan->device_count == 0) ? MEMSPAN_HOST : plan->devices[i];

        if ((memspan_device_describe(number, &home) != MEMSPAN_OK) ||
            (home.number == MEMSPAN_HOST)) {
            continue;
        }
        if (home.kind_note[given][0] != '\0') {
            add_line(table, "note", "%s:%d %s: %s", home.backend, home.ordinal,
                     memspan_kind_name(given), home.kind_note[given]);
        }
        if ((asked != given) && (home.kind_note[asked][0] != '\0')) {
            add_line(table, "note", "%s:%d %s: %s", home.backend, home.ordinal,
                     memspan_kind_name(asked), home.kind_note[asked]);
        }
    }
}

static void add_given(struct cli_table *table, const struct plan *plan)
{
    const memspan_allocator_info_t *info = &plan->info;
    char name[160];

    add_line(table, "asked", "%s", memspan_kind_name(info->kind_asked));
    add_line(table, "given", "%s", memspan_kind_name(info->kind_given));
    add_line(table, "exact", "%s", info->exact ? "yes" : "no");
    add_line(table, "serves", "%s", info->serves ? "yes" : "no");
    name_device(info->home, name, sizeof(name));
    add_line(table, "home", "%s", name);
    name_device(info->resident_device, name, sizeof(name));
    if (info->numa_node >= 0) {
        add_line(table, "resident", "%s, node %d", name, info->numa_node);
    } else {
        add_line(table, "resident", "%s", name);
    }
    add_line(table, "page size", "%s",
             (info->page_size_bytes == 0) ? "the driver decides"
                                          : cli_size_text(info->page_size_bytes).text);
    add_line(table, "pinned", "%s", info->pinned ? "yes" : "no");
    if (info->shareable) {
        add_line(table, "shareable", "yes");
    }
    add_line(table, "migratable", "%s", info->migratable ? "yes" : "no");
    add_reach(table, plan);
    add_line(table, "why", "%s", (info->why[0] == '\0') ? "the library says nothing" : info->why);
    add_notes(table, plan);
}

static void print_text(const struct plan *plan, FILE *out)
{
    memspan_space_info_t space = {.struct_size = sizeof(space)};
    struct cli_table table;

    cli_table_open(&table, "ll");
    if ((plan->status == MEMSPAN_OK) &&
        (memspan_space_describe(plan->space, &space) == MEMSPAN_OK)) {
        add_line(&table, "space", "%s", space.name);
    }
    add_line(&table, "traits", "%s", plan->traits_text);
    if (plan->status == MEMSPAN_OK) {
        add_given(&table, plan);
    } else {
        add_line(&table, "given", "nothing (%s)", memspan_status_name(plan->status));
        add_line(&table, "why", "%s", plan->problem);
        add_line(&table, "remedy", "%s", plan->hint);
    }
    cli_table_close(&table, out);
}

static void print_json(const struct plan *plan, FILE *out)
{
    json_t *document = json_document();
    json_t *given    = json_object();
    json_t *reached  = json_array();
    int devices[WORDS_DEVICES_MAX];
    size_t count = list_devices(plan, devices);

    json_put_text(document, "traits", plan->traits_text);
    json_put_text(document, "status", memspan_status_name(plan->status));
    json_put_text_or(document, "problem", plan->problem, "there is none");
    json_put_text_or(document, "hint", plan->hint, "there is nothing to advise");
    if (plan->status != MEMSPAN_OK) {
        json_decref(given);
        json_put_null(document, "given", plan->problem);
        count = 0;
    } else {
        json_put_plan(given, &plan->info);
        json_put(document, "given", given);
    }
    for (size_t i = 0; i < count; i++) {
        memspan_reach_t reach = {MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};

        memspan_device_reach(plan->info.home, plan->info.kind_given, devices[i], &reach);
        json_array_append_new(reached, json_reach(devices[i], &reach));
    }
    json_put(document, "reach", reached);
    json_finish(document, out);
}

int report_plan(const struct request *request, FILE *out)
{
    static struct words words; /* too large for the stack */
    static struct plan plan;
    int code = words_parse(request->options->argument, &words);

    plan = (struct plan){0};
    for (size_t i = 0; (code == EXIT_YES) && (i < words.count); i++) {
        code = plan_add_word(&plan, &words, &words.list[i]);
    }
    if (code != EXIT_YES) {
        return code;
    }
    code = plan_make(&plan);
    if (code == EXIT_USAGE) {
        plan_complain(&plan);
    }
    if (request->options->format == FORMAT_JSON) {
        print_json(&plan, out);
    } else if (code != EXIT_USAGE) {
        print_text(&plan, out);
    }
    for (size_t i = 0; i < request->failure_count; i++) {
        cli_complain("%s FAILED: %s; it is not used here", request->failures[i].backend,
                     request->failures[i].what);
    }
    return ((request->failure_count > 0) && (code == EXIT_ABSENT)) ? EXIT_PROBE : code;
}
