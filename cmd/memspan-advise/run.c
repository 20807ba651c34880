/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c: the libraries are named to the dynamic linker, the one that takes malloc's place first. */

#include "cmd/memspan-advise/run.h"
#include "cmd/common/environment.h"
#include "cmd/common/message.h"
#include <dlfcn.h>
#include <errno.h>
#include <memspan/memspan.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLED = 128, SETTING_BYTES = 8192 };

/* LD_PRELOAD=..., or false after a message. */
static bool preload_setting(char setting[SETTING_BYTES])
{
    const char *before = cli_environment(CLI_LD_PRELOAD);
    Dl_info library;
    char *folder = NULL;
    char advise[4200];

    if (dladdr((void *)(uintptr_t)memspan_version, &library) != 0) {
        folder = realpath(library.dli_fname, NULL);
    }
    if (folder == NULL) {
        cli_complain("libmemspan is not where it was loaded from: %s", strerror(errno));
        return false;
    }
    *strrchr(folder, '/') = '\0';
    (void)snprintf(advise, sizeof(advise), "%s/memspan/libmemspan-advise.so", folder);
    free(folder);
    if (access(advise, R_OK) != 0) {
        cli_complain("%s: %s", advise, strerror(errno));
        return false;
    }
    (void)snprintf(setting, SETTING_BYTES, "LD_PRELOAD=%s:%s%s%s", advise, library.dli_fname,
                   (before == NULL) ? "" : ":", (before == NULL) ? "" : before);
    return true;
}

int run_program(char *const *arguments, const char *folder, const char *placement)
{
    static const char *const dropped[] = {"LIBMEMSPAN_ADVISE=", "MEMSPAN_PLACEMENT=", NULL};
    char preload[SETTING_BYTES];
    char watch[SETTING_BYTES];
    char *settings[] = {preload, watch, NULL};
    char **environment;
    pid_t child;
    int status;
    int problem;

    if (!preload_setting(preload)) {
        return RUN_NOT_STARTED;
    }
    (void)snprintf(watch, sizeof(watch), "%s=%s",
                   (folder != NULL) ? "LIBMEMSPAN_ADVISE" : "MEMSPAN_PLACEMENT",
                   (folder != NULL) ? folder : placement);
    environment = cli_environment_make(NULL, dropped, settings);
    problem     = (environment == NULL)
                      ? ENOMEM
                      : posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environment);
    free(environment);
    if (problem != 0) {
        cli_complain("%s: %s", arguments[0], strerror(problem));
        return RUN_NOT_STARTED;
    }
    (void)signal(SIGINT, SIG_IGN); /* from the keyboard, it is the program's */
    (void)signal(SIGQUIT, SIG_IGN);
    while ((waitpid(child, &status, 0) < 0) && (errno == EINTR)) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status);
}
