/* SPDX-License-Identifier: BSD-3-Clause */
/* forks.c: children of a PE have its variables as they were, whatever the PE and its neighbour
 * write afterwards, few pages or many, with and without space for a copy. They are no PEs, by
 * whichever call they are forked. */

#include "tests/shmem/check.h"
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 4096, SMALL_PAGES = 16 };

static _Alignas(PAGE) char large[PAGES][PAGE];      /* more than a child copies by itself */
static _Alignas(PAGE) char sparse[2 * PAGES][PAGE]; /* every second page is touched */
static char small[SMALL_PAGES][PAGE];
static long variable = 1;

static int go[2]; /* a byte lets a child look at its variables */

/* The thread sanitizer dies in a child that starts a thread, the one that reports why the child
 * ends. */
#if defined(__SANITIZE_THREAD__)
static const bool reports_in_child = false;
#else
static const bool reports_in_child = true;
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true; /* it needs all addresses */
#else
static const bool is_sanitized     = false;
#endif

/* The thread sanitizer gives its own code to a process that ends inside a call of a library that it
 * does not see: fork(), whose handlers end such children. */
static bool ended_with(int status, int code)
{
#if defined(__SANITIZE_THREAD__)
    code = (WEXITSTATUS(status) == 66) ? 66 : code;
#endif
    return WIFEXITED(status) && (WEXITSTATUS(status) == code);
}

static void fill(char value)
{
    int i;

    for (i = 0; i < PAGES; i++) {
        large[i][i % PAGE]      = value;
        sparse[2 * i][i % PAGE] = value;
    }
    for (i = 0; i < SMALL_PAGES; i++) {
        small[i][0] = value;
    }
}

static bool is_filled(char value)
{
    bool is = true;
    int i;

    for (i = 0; i < PAGES; i++) {
        is = is && (large[i][i % PAGE] == value) && (sparse[2 * i][i % PAGE] == value) &&
             (sparse[(2 * i) + 1][0] == 0);
    }
    for (i = 0; i < SMALL_PAGES; i++) {
        is = is && (small[i][0] == value);
    }
    return is;
}

static int status_of(pid_t child)
{
    int status = -1;

    CHECK(child > 0 && waitpid(child, &status, 0) == child, "fork: %s", strerror(errno));
    return status;
}

/* The child looks after this PE and its neighbour have written. */
static void child_keeps_values(char value)
{
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    char byte;
    pid_t child;

    fill(value);
    shmem_barrier_all();
    child = fork();
    if (child == 0) {
        bool is = (read(go[0], &byte, 1) == 1) && is_filled(value);

        fill((char)(value + 2));
        _exit((is && is_filled((char)(value + 2))) ? 0 : 1);
    }
    fill((char)(value + 1));
    sparse[1][0] = 1; /* of no contents before */
    shmem_barrier_all();
    shmem_char_p(&large[PAGES - 1][(PAGES - 1) % PAGE], 'n', next);
    shmem_char_p(&small[1][0], 'n', next);
    shmem_barrier_all();
    CHECK(write(go[1], "x", 1) == 1, "a pipe");
    CHECK(status_of(child) == 0, "the child's variables are not its own");
    CHECK(large[0][0] == value + 1 && small[1][0] == 'n', "the child's writes are seen");
    sparse[1][0] = 0;
}

static long status_kib(const char *name)
{
    char line[128];
    long kib   = -1;
    FILE *file = fopen("/proc/self/status", "r");

    while ((file != NULL) && (fgets(line, sizeof line, file) != NULL)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            kib = atol(line + strlen(name));
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib;
}

/* No second copy: fork() has never had so much memory before. */
static void executing_is_free(void)
{
    long before;
    pid_t child;

    fill('a');
    before = status_kib("VmHWM:");
    child  = fork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    CHECK(status_of(child) == 0, "a program");
    CHECK(status_kib("VmHWM:") - before < (long)sizeof large / 1024 / 2, "%ld KiB more",
          status_kib("VmHWM:") - before);
}

static void change_is_private(const char *when)
{
    pid_t child;

    variable = 2;
    child    = fork();
    if (child == 0) {
        variable = 99;
        _exit(0);
    }
    if ((status_of(child) != 0) || (variable != 2)) {
        fprintf(stderr, "%s: %ld\n", when, variable);
        exit(1);
    }
}

/* As much as @p name of the status has, and a little more than a thread. */
static void limit_to(int resource, const char *name, struct rlimit *before)
{
    struct rlimit limit;

    CHECK(getrlimit(resource, before) == 0, "getrlimit");
    limit          = *before;
    limit.rlim_cur = ((rlim_t)status_kib(name) << 10) + ((rlim_t)16 << 20);
    CHECK(is_sanitized || setrlimit(resource, &limit) == 0, "setrlimit");
}

/* Without descriptors the child cannot wait for its copy: it ends, and this PE's data is whole. */
static void refusal_is_loud(void)
{
    struct rlimit before;
    struct rlimit none;
    int lines[2];
    char text[512];
    ssize_t length;
    pid_t child;
    int status;

    CHECK(pipe(lines) == 0 && getrlimit(RLIMIT_NOFILE, &before) == 0, "a pipe");
    none          = before;
    none.rlim_cur = 3;
    variable      = 2;
    fflush(NULL);
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
    CHECK(dup2(2, 0) == 0 && dup2(lines[1], 2) == 2, "dup2");
    child = fork();
    if (child == 0) {
        variable = 99;
        _exit(0);
    }
    CHECK(dup2(0, 2) == 2 && setrlimit(RLIMIT_NOFILE, &before) == 0, "dup2");
    close(lines[1]);
    status = status_of(child);
    CHECK(ended_with(status, 127) && variable == 2, "status %#x, value %ld", (unsigned)status,
          variable);
    length       = read(lines[0], text, sizeof text - 1);
    text[length] = '\0';
    CHECK(strstr(text, "a child of fork() ends: its copy of the variables") != NULL, "%s", text);
    close(lines[0]);
}

enum act { PUT, SYNC, FINALIZE, RETURN, ACTS };

static void do_act(enum act act)
{
    switch (act) {
    case PUT:
        shmem_long_p(&variable, 99, shmem_n_pes() - 1);
        break;
    case SYNC:
        shmem_team_sync(SHMEM_TEAM_WORLD);
        break;
    case FINALIZE:
        shmem_finalize();
        break;
    default:
        break;
    }
}

/* Its calls end it with a message; its end is none of the job. */
static void child_is_no_pe(bool calls_handlers, enum act act)
{
    char text[512] = "";
    int lines[2];
    int status;
    pid_t child;

    CHECK(pipe(lines) == 0, "a pipe");
    fflush(NULL);
    child = calls_handlers ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        dup2(lines[1], 2);
        do_act(act);
        exit(0);
    }
    close(lines[1]);
    status = status_of(child);
    CHECK(ended_with(status, (act == RETURN) ? 0 : 1), "act %d: %x", act, (unsigned)status);
    CHECK(read(lines[0], text, sizeof text - 1) >= 0, "a pipe");
    CHECK((act == RETURN) || (strstr(text, "was forked from a PE and is none itself") != NULL),
          "act %d: \"%s\"", act, text);
    close(lines[0]);
}

int main(void)
{
    struct rlimit before;
    int act;

    (void)alarm(100); /* a child that waits for the job */
    if (pipe(go) != 0) {
        return 1;
    }
    shmem_init();
    executing_is_free();
    child_keeps_values('a');
    child_keeps_values('k');
    refusal_is_loud();
    for (act = 0; reports_in_child && (act < ACTS); act++) {
        child_is_no_pe(true, (enum act)act);
        child_is_no_pe(false, (enum act)act);
    }
    shmem_barrier_all();
    CHECK(variable == 2, "a child's put was taken: %ld", variable);
    memset(sparse, 0, sizeof sparse); /* one run of pages again, for which no copy has addresses */
    limit_to(RLIMIT_AS, "VmSize:", &before);
    change_is_private("with few addresses");
    if (setrlimit(RLIMIT_AS, &before) != 0) {
        return 1;
    }
    limit_to(RLIMIT_DATA, "VmData:", &before);
    shmem_finalize();
    if (setrlimit(RLIMIT_DATA, &before) != 0) {
        return 1;
    }
    change_is_private("after shmem_finalize without memory for a copy");
    return 0;
}
