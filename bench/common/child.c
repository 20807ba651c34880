/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/child.h"
#include "bench/common/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SETTINGS_MAX = 4 };

/* Our environment with some variables set, or left out (a text that ends in '='). */
struct environment {
    char **variables; /* its own array of other people's texts */
    char *texts[SETTINGS_MAX];
    size_t text_count;
};

static bool is_set(const struct environment *environment, const char *variable)
{
    for (size_t i = 0; i < environment->text_count; i++) {
        size_t length = strcspn(environment->texts[i], "=") + 1;
        if (strncmp(environment->texts[i], variable, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool add_setting(struct environment *environment, const char *name, const char *value,
                        const char *rest)
{
    char **text_p = &environment->texts[environment->text_count];

    if (asprintf(text_p, "%s=%s%s%s", name, value, (rest == NULL) ? "" : ":",
                 (rest == NULL) ? "" : rest) < 0) {
        return false;
    }
    environment->text_count++;
    return true;
}

static void release_environment(struct environment *environment)
{
    for (size_t i = 0; i < environment->text_count; i++) {
        free(environment->texts[i]);
    }
    free(environment->variables);
}

static bool make_environment(struct environment *environment_p, const struct bench_command *command)
{
    size_t count = 0;
    size_t used  = 0;
    bool good;

    memset(environment_p, 0, sizeof(*environment_p));
    good = add_setting(environment_p, "LD_PRELOAD",
                       (command->preload == NULL) ? "" : command->preload, NULL);
    good = good && ((command->library_folder == NULL) ||
                    add_setting(environment_p, "LD_LIBRARY_PATH", command->library_folder,
                                getenv("LD_LIBRARY_PATH")));
    good =
        good && ((command->backend_path == NULL) ||
                 add_setting(environment_p, "MEMSPAN_BACKEND_PATH", command->backend_path, NULL));
    good = good && ((command->devices == NULL) ||
                    add_setting(environment_p, "MEMSPAN_DEVICES", command->devices, NULL));
    while (environ[count] != NULL) {
        count++;
    }
    environment_p->variables = calloc(count + SETTINGS_MAX + 1, sizeof(char *));
    if (!good || (environment_p->variables == NULL)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_set(environment_p, environ[i])) {
            environment_p->variables[used++] = environ[i];
        }
    }
    for (size_t i = 0; i < environment_p->text_count; i++) {
        const char *text = environment_p->texts[i];
        if (text[strlen(text) - 1] != '=') {
            environment_p->variables[used++] = environment_p->texts[i];
        }
    }
    return true;
}

/* Its two outputs. */
struct pipes {
    int ends[2][2]; /* [standard output, standard error][read, write] */
};

static void close_ends(struct pipes *pipes, int side)
{
    for (int i = 0; i < 2; i++) {
        if (pipes->ends[i][side] >= 0) {
            (void)close(pipes->ends[i][side]);
            pipes->ends[i][side] = -1;
        }
    }
}

/* The last of the processors that we may run on: the first is where interrupts mostly go. */
static void choose_one(const cpu_set_t *allowed, cpu_set_t *one_p)
{
    CPU_ZERO(one_p);
    for (int i = CPU_SETSIZE - 1; i >= 0; i--) {
        if (CPU_ISSET(i, allowed)) {
            CPU_SET(i, one_p);
            return;
        }
    }
}

static int spawn_as_we_are(const struct bench_command *command, char *const *variables,
                           const posix_spawn_file_actions_t *actions, pid_t *pid_p)
{
    const char *arguments[sizeof(command->arguments) / sizeof(command->arguments[0]) + 1];
    posix_spawnattr_t attributes;
    int error;

    arguments[0] = command->path;
    memcpy(arguments + 1, command->arguments, sizeof(command->arguments));
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        return error;
    }
    if (command->is_launcher) {
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    }
    error = posix_spawn(pid_p, command->path, actions, &attributes,
                        (char *const *)(uintptr_t)arguments, variables);
    (void)posix_spawnattr_destroy(&attributes);
    return error;
}

/* A child is born with its parent's processors. */
static int spawn_on_processors(const struct bench_command *command, char *const *variables,
                               const posix_spawn_file_actions_t *actions, pid_t *pid_p)
{
    cpu_set_t allowed;
    cpu_set_t one;
    int error;

    if (!command->one_processor) {
        return spawn_as_we_are(command, variables, actions, pid_p);
    }
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return errno;
    }
    choose_one(&allowed, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0) {
        return errno;
    }
    error = spawn_as_we_are(command, variables, actions, pid_p);
    (void)sched_setaffinity(0, sizeof(allowed), &allowed);
    return error;
}

static bool spawn(const struct bench_command *command, char *const *variables, struct pipes *pipes,
                  pid_t *pid_p)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0) {
        errno = error;
        return false;
    }
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int i = 0; (i < 2) && (error == 0); i++) {
        error = posix_spawn_file_actions_adddup2(&actions, pipes->ends[i][1], STDOUT_FILENO + i);
    }
    error = (error != 0) ? error : spawn_on_processors(command, variables, &actions, pid_p);
    (void)posix_spawn_file_actions_destroy(&actions);
    errno = error;
    return error == 0;
}

/* A launcher that is killed outright leaves its children behind: it gets a few seconds first. */
static void put_down(const struct bench_command *command, pid_t pid)
{
    const struct timespec moment = {0, 50000000};
    siginfo_t info               = {.si_pid = 0};

    if (command->is_launcher) {
        (void)kill(pid, SIGTERM);
        for (int i = 0; (i < 60) && (info.si_pid == 0); i++) {
            (void)nanosleep(&moment, NULL);
            (void)waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
        }
        (void)kill(-pid, SIGKILL);
    }
    (void)kill(pid, SIGKILL);
}

/* Reads both until they are closed. False when time is up. */
static bool collect(struct pipes *pipes, size_t timeout_s, char *buffers[2], const size_t rooms[2])
{
    int64_t end    = bench_clock_ns() + (int64_t)timeout_s * 1000000000;
    size_t used[2] = {0, 0};
    int open       = 2;

    while (open > 0) {
        struct pollfd polled[2] = {{pipes->ends[0][0], POLLIN, 0}, {pipes->ends[1][0], POLLIN, 0}};
        int64_t left_ms         = (end - bench_clock_ns()) / 1000000;
        char spare[512];

        if ((left_ms <= 0) || (poll(polled, 2, (int)left_ms) == 0)) {
            return false;
        }
        for (int i = 0; i < 2; i++) {
            size_t room = rooms[i] - 1 - used[i];
            ssize_t got;
            if (polled[i].revents == 0) {
                continue;
            }
            got = read(polled[i].fd, (room == 0) ? spare : buffers[i] + used[i],
                       (room == 0) ? sizeof(spare) : room);
            if (got <= 0) {
                (void)close(pipes->ends[i][0]);
                pipes->ends[i][0] = -1; /* poll passes over it */
                open--;
            } else if (room != 0) {
                used[i] += (size_t)got;
                buffers[i][used[i]] = '\0';
            }
        }
    }
    return true;
}

/* The first line of @p text, which is mostly the one that says what happened. */
static void first_line(const char *text, char *line, size_t line_size)
{
    (void)snprintf(line, line_size, "%s%.*s", (text[0] == '\0') ? "" : ": ",
                   (int)strcspn(text, "\n"), text);
}

static void judge(struct bench_child *child, int status, bool in_time, size_t timeout_s,
                  const char *messages)
{
    char line[112];

    first_line(messages, line, sizeof(line));
    child->good = in_time && WIFEXITED(status) && (WEXITSTATUS(status) == 0);
    if (!in_time) {
        (void)snprintf(child->failure, sizeof(child->failure), "ran past %zu s%s", timeout_s, line);
    } else if (WIFSIGNALED(status)) {
        (void)snprintf(child->failure, sizeof(child->failure), "ended by signal %d%s",
                       WTERMSIG(status), line);
    } else if (!child->good) {
        (void)snprintf(child->failure, sizeof(child->failure), "exit code %d%s",
                       WEXITSTATUS(status), line);
    }
}

bool bench_child_run(const struct bench_command *command, struct bench_child *child_p)
{
    struct pipes pipes    = {{{-1, -1}, {-1, -1}}};
    char messages[2048]   = "";
    char *buffers[2]      = {child_p->output, messages};
    const size_t rooms[2] = {sizeof(child_p->output), sizeof(messages)};
    int status            = 0;
    int64_t begin         = bench_clock_ns();
    struct environment environment;
    struct rusage usage;
    bool in_time;
    pid_t pid;

    memset(child_p, 0, sizeof(*child_p));
    if (!make_environment(&environment, command) || (pipe2(pipes.ends[0], O_CLOEXEC) != 0) ||
        (pipe2(pipes.ends[1], O_CLOEXEC) != 0) ||
        !spawn(command, environment.variables, &pipes, &pid)) {
        (void)snprintf(child_p->failure, sizeof(child_p->failure), "cannot be started: %s",
                       strerror(errno));
        goto done;
    }
    close_ends(&pipes, 1);
    in_time = collect(&pipes, command->timeout_s, buffers, rooms);
    if (!in_time) {
        put_down(command, pid);
    }
    while ((wait4(pid, &status, 0, &usage) < 0) && (errno == EINTR)) {
    }
    child_p->wall_ns = (double)(bench_clock_ns() - begin);
    child_p->cpu_ns  = 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                      1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    judge(child_p, status, in_time, command->timeout_s, messages);
done:
    close_ends(&pipes, 0);
    close_ends(&pipes, 1);
    release_environment(&environment);
    return child_p->good;
}
