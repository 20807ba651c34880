/* SPDX-License-Identifier: BSD-3-Clause */
/* Every end of a child: its output, its description, and that no process of it remains. */

#include "cmd/common/cli.h"
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli_result run_shell(const char *script, double limit_s, double grace_s)
{
    char *const arguments[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
    char *const settings[]  = {"SET=yes", NULL};
    char **environment      = cli_environment_make(NULL, (const char *[]){"HOME=", NULL}, settings);
    struct cli_result result;

    cli_child_run(&(struct cli_child){.path        = "/bin/sh",
                                      .arguments   = arguments,
                                      .environment = environment,
                                      .limit_s     = limit_s,
                                      .grace_s     = grace_s},
                  &result);
    free(environment);
    return result;
}

static void expect_text(struct cli_result *result, const char *expected)
{
    char text[128];

    cr_assert_str_eq(cli_result_text(result, text, sizeof(text)), expected);
    cli_result_free(result);
}

Test(child, program)
{
    struct cli_result result = run_shell("echo $SET${HOME-unset}; echo no >&2; exit 3", 10, 0);

    cr_assert_eq(result.end, CLI_EXITED);
    cr_assert_eq(result.code, 3);
    cr_assert_str_eq(result.out.data, "yesunset\n");
    cr_assert_str_eq(result.error.data, "no\n");
    cr_assert_gt(result.wall_s, 0);
    cr_assert_lt(result.wall_s, 10);
    expect_text(&result, "exited with status 3");
}

Test(child, ends)
{
    struct cli_result result = run_shell("kill -9 $$", 10, 0);

    expect_text(&result, "killed by signal 9 (Killed)");
    result = run_shell("sleep 60", 0.1, 0);
    cr_assert_eq(result.end, CLI_TIMED_OUT);
    expect_text(&result, "ran past its limit of 0.1 s");
    result = run_shell("trap 'echo asked; exit 0' TERM; sleep 60 & wait", 0.3, 10);
    cr_assert_eq(result.end, CLI_TIMED_OUT, "it is too late all the same");
    cr_assert_str_eq(result.out.data, "asked\n", "its time to clean up");
    cli_result_free(&result);
    cli_child_run(&(struct cli_child){.path      = "/nonesuch",
                                      .arguments = (char *const[]){"nonesuch", NULL},
                                      .limit_s   = 1},
                  &result);
    cr_assert_eq(result.end, CLI_NOT_STARTED);
    expect_text(&result, "cannot be started: No such file or directory");
}

/* A zombie counts as ended: its new parent reaps it. */
static bool runs(pid_t pid)
{
    char path[64];
    char state = 'Z';
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if ((file == NULL) || (fscanf(file, "%*d %*s %c", &state) != 1)) {
        state = 'Z';
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return state != 'Z';
}

Test(child, leaves_nothing)
{
    struct cli_result result = run_shell("sleep 60 & echo $!", 10, 0);
    pid_t left               = atoi(result.out.data);

    for (int i = 0; (i < 500) && runs(left); i++) {
        usleep(10000);
    }
    cr_assert_not(runs(left), "it outlived the leader of its group");
    cli_result_free(&result);
}

static int answer(void *context, FILE *out)
{
    fprintf(stdout, "a driver's words");
    fprintf(out, "%s", (const char *)context);
    return 5;
}

static int leave(void *context, FILE *out)
{
    (void)context;
    fprintf(out, "half of it");
    exit(0);
}

Test(child, function)
{
    struct cli_result result;

    cli_child_run(&(struct cli_child){.work = answer, .context = "all of it", .limit_s = 10},
                  &result);
    cr_assert_eq(result.end, CLI_EXITED);
    cr_assert_eq(result.code, 5);
    cr_assert_str_eq(result.out.data, "all of it");
    cr_assert_str_eq(result.error.data, "a driver's words");
    cli_result_free(&result);
    cli_child_run(&(struct cli_child){.work = leave, .limit_s = 10}, &result);
    cr_assert_eq(result.end, CLI_LEFT);
    cr_assert_null(result.out.data, "half an answer is none");
    cli_result_free(&result);
}
