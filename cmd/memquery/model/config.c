/* SPDX-License-Identifier: BSD-3-Clause */
/* config.c: --config, every environment variable and the problems of the environment. */

#include "cmd/memquery/model/report.h"
#include "cmd/memquery/output/json.h"
#include "cmd/memquery/output/text.h"
#include <string.h>

/* Values of free form are checked when they are first read. */
static void read_all(void)
{
    static const memspan_trait_t place = {MEMSPAN_TRAIT_PREFERRED_PLACE, 0};
    memspan_allocator_info_t info      = {.struct_size = sizeof(info)};

    memspan_device_count();
    memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, &place, 1, &info);
    memspan_allocator_describe(MEMSPAN_ALLOCATOR_NULL, &info);
}

/* After a failure MEMSPAN_BACKENDS is set by memquery: show the user's value. */
static void restore(const struct request *request, memspan_option_info_t *info)
{
    if ((request->failure_count == 0) || (strcmp(info->name, "MEMSPAN_BACKENDS") != 0)) {
        return;
    }
    info->value  = (request->user_backends == NULL) ? info->fallback : request->user_backends;
    info->source = (request->user_backends == NULL) ? "default" : "environment";
}

static void print_text(const memspan_option_info_t *info, FILE *out)
{
    fprintf(out, "%s=%s\n    %s\n    source %s, form %s, default %s\n", info->name, info->value,
            info->help, info->source, info->form,
            (info->fallback[0] == '\0') ? "(none)" : info->fallback);
    if (info->problem[0] != '\0') {
        fprintf(out, "    PROBLEM: %s\n", info->problem);
    }
}

static json_t *variable_of(const memspan_option_info_t *info)
{
    json_t *object = json_object();

    json_put_text(object, "name", info->name);
    json_put_text(object, "value", info->value);
    json_put_text(object, "source", info->source);
    json_put_text(object, "form", info->form);
    json_put_text(object, "default", info->fallback);
    json_put_text(object, "help", info->help);
    json_put_text_or(object, "problem", info->problem, "there is none");
    return object;
}

int report_config(const struct request *request, FILE *out)
{
    json_t *variables = json_array();
    json_t *problems  = json_array();
    const char *problem;
    int count;
    int i;

    read_all();
    count = memspan_option_count();
    for (i = 0; i < count; i++) {
        memspan_option_info_t info = {.struct_size = sizeof(info)};

        if (memspan_option_describe(i, &info) != MEMSPAN_OK) {
            continue;
        }
        restore(request, &info);
        json_array_append_new(variables, variable_of(&info));
        if (request->options->format != FORMAT_JSON) {
            print_text(&info, out);
        }
    }
    for (i = 0; (problem = memspan_option_problem(i)) != NULL; i++) {
        char text[512];

        snprintf(text, sizeof(text), "%s", problem);
        text_clean(text);
        json_array_append_new(problems, json_string(text));
        if (request->options->format != FORMAT_JSON) {
            fprintf(out, "problem: %s\n", text);
        }
    }
    if (request->options->format == FORMAT_JSON) {
        json_t *document = json_document();

        json_put(document, "variables", variables);
        json_put(document, "problems", problems);
        json_finish(document, out);
    } else {
        json_decref(variables);
        json_decref(problems);
    }
    return (i > 0) ? EXIT_USAGE : EXIT_YES;
}
