/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/bench.h"
#include "cmd/common/cli.h"
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 16, SETTINGS_MAX = 4, GRACE_S = 3 };

/* The last of our processors: the first one takes most interrupts. False: it is not known. */
static bool choose_one(cpu_set_t *one_p)
{
    cpu_set_t allowed;

    CPU_ZERO(one_p);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return false;
    }
    for (int i = CPU_SETSIZE - 1; i >= 0; i--) {
        if (CPU_ISSET(i, &allowed)) {
            CPU_SET(i, one_p);
            return true;
        }
    }
    return false;
}

static char **make_environment(const struct bench_command *command)
{
    static const char *const dropped[]     = {"LD_PRELOAD=", NULL};
    const char *settings[SETTINGS_MAX + 1] = {NULL};
    size_t count                           = 0;

    for (size_t i = 0; i < SETTINGS_MAX; i++) {
        if (command->settings[i][0] != '\0') {
            settings[count++] = command->settings[i];
        }
    }
    return cli_environment_make(NULL, dropped, (char *const *)(uintptr_t)settings);
}

static void take_result(struct bench_child *child, const struct cli_result *result)
{
    const char *error = (result->error.data == NULL) ? "" : result->error.data;
    char text[128];

    child->good    = (result->end == CLI_EXITED) && (result->code == 0);
    child->cpu_ns  = 1e9 * result->cpu_s;
    child->wall_ns = 1e9 * result->wall_s;
    if (result->out.data != NULL) {
        (void)snprintf(child->output, sizeof(child->output), "%s", result->out.data);
    }
    if (!child->good) {
        (void)snprintf(child->failure, sizeof(child->failure), "%s%s%.*s",
                       cli_result_text(result, text, sizeof(text)), (error[0] == '\0') ? "" : ": ",
                       (int)strcspn(error, "\n"), error);
    }
}

bool bench_child_run(const struct bench_command *command, struct bench_child *child_p)
{
    const char *arguments[ARGUMENTS_MAX + 2] = {command->path};
    struct cli_child child                   = {.path      = command->path,
                                                .arguments = (char *const *)(uintptr_t)arguments,
                                                .limit_s   = (double)command->timeout_s,
                                                .grace_s   = command->is_launcher ? GRACE_S : 0};
    char **environment                       = make_environment(command);
    struct cli_result result;
    cpu_set_t one;

    memset(child_p, 0, sizeof(*child_p));
    if (environment == NULL) {
        (void)snprintf(child_p->failure, sizeof(child_p->failure), "cannot be started: no memory");
        return false;
    }
    memcpy(arguments + 1, command->arguments, sizeof(command->arguments));
    child.environment = environment;
    child.processors  = (command->one_processor && choose_one(&one)) ? &one : NULL;
    cli_child_run(&child, &result);
    take_result(child_p, &result);
    cli_result_free(&result);
    free(environment);
    return child_p->good;
}

void bench_child_field(const struct bench_child *child, const char *key, char *value,
                       size_t value_size)
{
    size_t length = strlen(key);

    for (const char *line = child->output; line != NULL; line = strchr(line, '\n')) {
        line += (*line == '\n');
        if ((strncmp(line, key, length) == 0) && (line[length] == ' ')) {
            (void)snprintf(value, value_size, "%.*s", (int)strcspn(line + length + 1, "\n"),
                           line + length + 1);
            return;
        }
    }
}
