/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c: ends [LIBRARY]: every end in every state, each in a process of its own, LIBRARY
 * preloaded; ends END STATE: one of them. What is printed must arrive, and the status must be
 * right: 0 then; 77 without a device. MEMSPAN_TEST_HALF=0 or 1: every other one. */

#include "ends.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 20000, SKIPPED = 77 };

static const char words[]              = "the result is 42\n";
static const char *const state_names[] = {"kept", "freed", "decayed"};

/* ---- one ---- */

static int run_one(const char *name, const char *state)
{
    const struct end *e;
    int s;

    for (e = ends; (e->name != NULL) && (strcmp(e->name, name) != 0); e++) {
    }
    for (s = 0; (s < STATE_COUNT) && (strcmp(state_names[s], state) != 0); s++) {
    }
    if ((e->name == NULL) || (s == STATE_COUNT)) {
        return 2;
    }
    if (e->prepare != NULL) {
        e->prepare();
    }
    memory_use((enum state)s);
    fputs(words, stdout);
    return e->end();
}

/* ---- all ---- */

struct outcome {
    char text[256];
    int status; /* -n: signal n */
    int late;
};

static void start(const char *self, const char *library, const char *name, const char *state,
                  int out)
{
    setpgid(0, 0); /* with its children, which may hang too */
    dup2(out, STDOUT_FILENO);
    if (library != NULL) {
        setenv("LD_PRELOAD", library, 1);
    }
    execl(self, self, name, state, (char *)NULL);
    _exit(127);
}

/* Until the process and its children have closed their end. */
static void read_all(int in, struct outcome *o)
{
    struct pollfd fd = {.fd = in, .events = POLLIN};
    size_t used      = 0;
    ssize_t n        = 1;

    while (n > 0) {
        if (poll(&fd, 1, LIMIT_MS) == 0) {
            o->late = 1;
            return;
        }
        n = read(in, o->text + used, sizeof(o->text) - 1 - used);
        used += (n > 0) ? (size_t)n : 0;
        o->text[used] = '\0';
    }
}

static struct outcome run(const char *library, const char *name, const char *state)
{
    struct outcome o = {.status = -1};
    int ends_of_pipe[2];
    int status = 0;
    pid_t child;

    if (pipe(ends_of_pipe) != 0) {
        return o;
    }
    child = fork();
    if (child == 0) {
        close(ends_of_pipe[0]);
        start("/proc/self/exe", library, name, state, ends_of_pipe[1]);
    }
    close(ends_of_pipe[1]);
    read_all(ends_of_pipe[0], &o);
    close(ends_of_pipe[0]);
    if (o.late) {
        kill(-child, SIGKILL);
    }
    waitpid(child, &status, 0);
    o.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return o;
}

static int run_all(const char *library)
{
    const char *half = getenv("MEMSPAN_TEST_HALF");
    int number       = 0;
    int failures     = 0;
    int count        = 0;
    const struct end *e;
    int s;

    for (e = ends; e->name != NULL; e++) {
        for (s = 0; s < STATE_COUNT; s++, number++) {
            struct outcome o;

            if ((half != NULL) && (number % 2 != half[0] - '0')) {
                continue;
            }
            count++;
            o = run(library, e->name, state_names[s]);
            if ((o.status == e->status) && (strcmp(o.text, words) == 0)) {
                continue;
            }
            if (o.status == SKIPPED) {
                fputs(o.text, stdout);
                return SKIPPED;
            }
            failures++;
            printf("%s, %s: status %d, not %d%s; printed \"%s\"\n", e->name, state_names[s],
                   o.status, e->status, o.late ? ", after the time limit" : "", o.text);
        }
    }
    printf("%d of %d ends are right\n", count - failures, count);
    return (failures == 0) ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        return run_one(argv[1], argv[2]);
    }
    return run_all((argc > 1) ? argv[1] : NULL);
}
