/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c: the libraries are named to the dynamic linker, the one that takes malloc's place first. */

#include "cmd/common/cli.h"
#include "cmd/memspan-advise/advise.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <memspan/memspan.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLED = 128, SETTING_BYTES = 8192, PATH_BYTES = 4096 };

/* LD_PRELOAD=..., or false after a message. */
static bool preload_setting(char setting[SETTING_BYTES])
{
    const char *before = cli_environment(CLI_LD_PRELOAD);
    char *library      = NULL;
    Dl_info facts;
    char advise[4200];

    if (dladdr((void *)(uintptr_t)memspan_version, &facts) != 0) {
        library = realpath(facts.dli_fname, NULL);
    }
    if (library == NULL) {
        cli_complain("libmemspan is not where it was loaded from: %s", strerror(errno));
        return false;
    }
    (void)snprintf(advise, sizeof(advise), "%.*s/memspan/libmemspan-advise.so",
                   (int)(strrchr(library, '/') - library), library);
    if ((access(advise, R_OK) != 0) || (strpbrk(advise, " :") != NULL)) {
        cli_complain("%s: %s", advise,
                     (access(advise, R_OK) != 0)
                         ? strerror(errno)
                         : "LD_PRELOAD cannot name a path with a blank or colon");
        free(library);
        return false;
    }
    (void)snprintf(setting, SETTING_BYTES, "LD_PRELOAD=%s:%s%s%s", advise, library,
                   (before == NULL) ? "" : ":", (before == NULL) ? "" : before);
    free(library);
    return true;
}

/* The program, which signals that are for it are passed on to. */
static volatile pid_t child;

static void pass_on(int number)
{
    (void)kill(child, number);
}

/* From the keyboard, signals are the program's too; a batch system sends them to this process. */
static void leave_signals_to_child(void)
{
    static const int passed[]     = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    const struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    struct sigaction before;

    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond ulimit -f is an error, which is reported */
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        if ((sigaction(passed[i], NULL, &before) == 0) && (before.sa_handler != SIG_IGN)) {
            (void)sigaction(passed[i], &action, NULL);
        }
    }
}

/* ---- programs that load no library ---- */

/* As posix_spawnp() finds it; false: it will say why. */
static bool find_program(const char *name, char path[PATH_BYTES])
{
    const char *folders = cli_environment(CLI_PATH);

    if (strchr(name, '/') != NULL) {
        return snprintf(path, PATH_BYTES, "%s", name) < PATH_BYTES;
    }
    folders = (folders == NULL) ? "/bin:/usr/bin" : folders;
    while (*folders != '\0') {
        int length = (int)strcspn(folders, ":");

        (void)snprintf(path, PATH_BYTES, "%.*s%s%s", length, folders, (length > 0) ? "/" : "",
                       name);
        if (access(path, X_OK) == 0) {
            return true;
        }
        folders += length + ((folders[length] == ':') ? 1 : 0);
    }
    return false;
}

/* A program of this processor that names no dynamic linker. */
static bool is_static(const char *path)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) part;
    FILE *file  = fopen(path, "re");
    bool is_elf = (file != NULL) && (fread(&header, sizeof(header), 1, file) == 1) &&
                  (memcmp(header.e_ident, ELFMAG, SELFMAG) == 0) &&
                  (header.e_phentsize == sizeof(part));
    bool dynamic = false;

    for (size_t i = 0; is_elf && (i < header.e_phnum); i++) {
        is_elf = (fseek(file, (long)(header.e_phoff + i * sizeof(part)), SEEK_SET) == 0) &&
                 (fread(&part, sizeof(part), 1, file) == 1);
        dynamic = dynamic || (is_elf && (part.p_type == PT_INTERP));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_elf && !dynamic;
}

/* False after a message: the program would run, and nothing be seen. */
static bool loads_libraries(const char *name)
{
    char path[PATH_BYTES];
    struct stat facts;

    if (!find_program(name, path) || (stat(path, &facts) != 0) || !S_ISREG(facts.st_mode)) {
        return true;
    }
    if ((((facts.st_mode & S_ISUID) != 0) && (facts.st_uid != getuid())) ||
        (((facts.st_mode & S_ISGID) != 0) && ((facts.st_mode & S_IXGRP) != 0) &&
         (facts.st_gid != getgid()))) {
        cli_complain("%s is not started: it gets the rights of another user or group, and the "
                     "dynamic linker loads no library for it",
                     path);
        return false;
    }
    if (is_static(path)) {
        cli_complain("%s is not started: it is linked statically, and loads no library", path);
        return false;
    }
    return true;
}

/* ---- the run ---- */

int run_program(char *const *arguments, const char *folder, const char *placement)
{
    static const char *const dropped[] = {
        "LIBMEMSPAN_ADVISE=", "LIBMEMSPAN_ADVISE_FILTERS=", "MEMSPAN_PLACEMENT=", NULL};
    char preload[SETTING_BYTES];
    char watch[SETTING_BYTES];
    char filters[48];
    char *settings[] = {preload, watch, filters, NULL};
    char **environment;
    pid_t made;
    int status;
    int problem;

    if (!loads_libraries(arguments[0]) || !preload_setting(preload)) {
        return RUN_NOT_STARTED;
    }
    (void)snprintf(watch, sizeof(watch), "%s=%s",
                   (folder != NULL) ? "LIBMEMSPAN_ADVISE" : "MEMSPAN_PLACEMENT",
                   (folder != NULL) ? folder : placement);
    (void)snprintf(filters, sizeof(filters), "LIBMEMSPAN_ADVISE_FILTERS=%d", cli_filter_count());
    environment = cli_environment_make(NULL, dropped, settings);
    problem     = (environment == NULL)
                      ? ENOMEM
                      : posix_spawnp(&made, arguments[0], NULL, NULL, arguments, environment);
    free(environment);
    if (problem != 0) {
        cli_complain("%s: %s", arguments[0], strerror(problem));
        return RUN_NOT_STARTED;
    }
    child = made;
    leave_signals_to_child();
    while ((waitpid(child, &status, 0) < 0) && (errno == EINTR)) {
    }
    if (WIFEXITED(status)) {
        return WEXITSTATUS(status);
    }
    cli_complain("%s was %s", arguments[0], cli_status_text(status, watch, sizeof(watch)));
    return KILLED + WTERMSIG(status);
}
