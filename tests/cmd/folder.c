/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders for temporary files, and processes that end at the wrong time. */

#include "cmd/common/cli.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 60000 };

/* Shared with the processes of a test. */
static struct shared {
    char path[64];
    pid_t killed; /* once the folder is made; 0: none */
} * shared;

char *__real_mkdtemp(char *path);
char *__wrap_mkdtemp(char *path);

char *__wrap_mkdtemp(char *path)
{
    char *made = __real_mkdtemp(path);

    if (shared != NULL) {
        (void)snprintf(shared->path, sizeof(shared->path), "%s", path);
        if (shared->killed != 0) {
            (void)kill(shared->killed, SIGKILL);
            while (getppid() == shared->killed) {
                (void)usleep(1000); /* until its files are closed */
            }
        }
    }
    return made;
}

static bool is_there(void)
{
    return access(shared->path, F_OK) == 0;
}

static void expect_gone(void)
{
    for (int ms = 0; (ms < LIMIT_MS) && is_there(); ms += 10) {
        (void)usleep(10000);
    }
    cr_expect(!is_there(), "%s", shared->path);
}

static void share(void)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(shared != MAP_FAILED);
}

static int make_in_child(bool is_killed)
{
    pid_t child = fork();
    int status  = 0;

    if (child == 0) {
        char path[] = "/tmp/cmd-folder-XXXXXX";

        shared->killed = is_killed ? getpid() : 0;
        _exit((cli_folder_make(path) && is_there()) ? 3 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

Test(folder, goes_with_the_process)
{
    int status;

    share();
    status = make_in_child(false);
    cr_expect(WIFEXITED(status) && (WEXITSTATUS(status) == 3), "%x", (unsigned)status);
    expect_gone();
}

Test(folder, goes_with_a_process_that_is_killed_as_it_is_made)
{
    int status;

    share();
    status = make_in_child(true);
    cr_expect(WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL), "%x", (unsigned)status);
    cr_expect_eq(shared->path[0], '/');
    expect_gone();
}

Test(folder, its_contents_go_too)
{
    char path[]     = "/tmp/cmd-folder-XXXXXX";
    char template[] = "/no/such/folder-XXXXXX";
    char in_it[64];

    cr_assert(cli_folder_make(path), "%d", errno);
    (void)snprintf(in_it, sizeof(in_it), "%s/folder", path);
    cr_assert_eq(mkdir(in_it, S_IRWXU), 0);
    cli_folder_remove(path);
    cr_expect_neq(access(path, F_OK), 0);
    cr_expect(!cli_folder_make(template));
    cr_expect_eq(errno, ENOENT);
}
