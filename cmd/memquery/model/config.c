/* SPDX-License-Identifier: BSD-3-Clause */
/* config.c: --config, every environment variable and the problems of the environment. */

#include "cmd/memquery/model/model.h"
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

static void add_set(json_t *variables, const memspan_option_info_t *info)
{
    if (strcmp(info->source, "default") != 0) {
        json_array_append_new(variables, variable_of(info));
    }
}

json_t *config_set(const struct request *request)
{
    memspan_option_info_t info;
    json_t *variables = json_array();

    for (int i = 0; i < memspan_option_count(); i++) {
        info = (memspan_option_info_t){.struct_size = sizeof(info)};
        if (memspan_option_describe(i, &info) != MEMSPAN_OK) {
            continue;
        }
        restore(request, &info);
        add_set(variables, &info);
    }
    for (int j = 0; shmem_variable(j, &info); j++) {
        add_set(variables, &info);
    }
    return variables;
}

struct answer {
    const struct request *request;
    FILE *out;
    json_t *variables;
    json_t *problems;
};

static void add_variable(struct answer *answer, const memspan_option_info_t *info)
{
    json_array_append_new(answer->variables, variable_of(info));
    if (answer->request->options->format != FORMAT_JSON) {
        print_text(info, answer->out);
    }
}

static void add_problem(struct answer *answer, const char *problem)
{
    char text[512];

    snprintf(text, sizeof(text), "%s", problem);
    cli_clean(text);
    json_array_append_new(answer->problems, json_string(text));
}

/* The variables are printed already, unless the answer is JSON. */
static void print_answer(struct answer *answer)
{
    if (answer->request->options->format == FORMAT_JSON) {
        json_t *document = json_document();

        json_put(document, "variables", answer->variables);
        json_put(document, "problems", answer->problems);
        json_finish(document, answer->out);
        return;
    }
    for (size_t i = 0; i < json_array_size(answer->problems); i++) {
        fprintf(answer->out, "problem: %s\n",
                json_string_value(json_array_get(answer->problems, i)));
    }
    json_decref(answer->variables);
    json_decref(answer->problems);
}

int report_config(const struct request *request, FILE *out)
{
    struct answer answer = {request, out, json_array(), json_array()};
    memspan_option_info_t info;
    const char *problem;
    size_t problem_count;

    read_all();
    for (int i = 0; i < memspan_option_count(); i++) {
        info = (memspan_option_info_t){.struct_size = sizeof(info)};
        if (memspan_option_describe(i, &info) == MEMSPAN_OK) {
            restore(request, &info);
            add_variable(&answer, &info);
        }
    }
    for (int i = 0; shmem_variable(i, &info); i++) {
        add_variable(&answer, &info);
        if (info.problem[0] != '\0') {
            add_problem(&answer, info.problem);
        }
    }
    for (int i = 0; (problem = memspan_option_problem(i)) != NULL; i++) {
        add_problem(&answer, problem);
    }
    problem_count = json_array_size(answer.problems);
    print_answer(&answer);
    return (problem_count > 0) ? EXIT_USAGE : EXIT_YES;
}
