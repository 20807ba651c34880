/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.c: the only place where programs read the environment. */

#include "cmd/common/cli.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    const char *programs;
    const char *help;
} variables[] = {
#define VARIABLE_ROW(name, programs, help) {#name, programs, help},
    CLI_ENVIRONMENT_MAP(VARIABLE_ROW)
#undef VARIABLE_ROW
};

const char *cli_environment(enum cli_variable variable)
{
    return secure_getenv(variables[variable].name);
}

void cli_environment_print(void)
{
    const char *title = "\nEnvironment:\n";

    for (size_t i = 0; i < CLI_VARIABLE_COUNT; i++) {
        if ((variables[i].help[0] != '\0') && (strstr(variables[i].programs, cli_name) != NULL)) {
            printf("%s  %-16s %s\n", title, variables[i].name, variables[i].help);
            title = "";
        }
    }
}

static size_t count_of(char *const *list)
{
    size_t count = 0;

    while ((list != NULL) && (list[count] != NULL)) {
        count++;
    }
    return count;
}

static bool is_dropped(const char *variable, const char *const *dropped)
{
    for (; (dropped != NULL) && (*dropped != NULL); dropped++) {
        if (strncmp(variable, *dropped, strlen(*dropped)) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_set(const char *variable, char *const *settings)
{
    size_t length = strcspn(variable, "=") + 1;

    for (; (settings != NULL) && (*settings != NULL); settings++) {
        if (strncmp(*settings, variable, length) == 0) {
            return true;
        }
    }
    return false;
}

char **cli_environment_make(char *const *base, const char *const *dropped, char *const *settings)
{
    char **made;
    size_t count = 0;

    base = (base != NULL) ? base : environ;
    made = calloc(count_of(base) + count_of(settings) + 1, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    for (; *base != NULL; base++) {
        if (!is_dropped(*base, dropped) && !is_set(*base, settings)) {
            made[count++] = *base;
        }
    }
    for (; (settings != NULL) && (*settings != NULL); settings++) {
        made[count++] = *settings;
    }
    return made;
}
