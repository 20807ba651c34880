/* SPDX-License-Identifier: BSD-3-Clause */
/* ends.c: the ways in which a program may end. */

#include "ends.h"
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS = 3, LATE_US = 20000, BYTES = 50000 };

typedef void *body(void *);

static void start(body *thread_body)
{
    pthread_t thread;

    if ((pthread_create(&thread, NULL, thread_body, NULL) != 0) || (pthread_detach(thread) != 0)) {
        abort();
    }
}

/* Until it has run for a while, or for ever. */
static int wait_for_exit(void)
{
    for (;;) {
        pause();
    }
}

/* ---- the main thread ---- */

static int by_return(void)
{
    return STATUS;
}

static int by_exit(void)
{
    exit(STATUS);
}

static int by_quick_exit(void)
{
    fflush(stdout);
    quick_exit(STATUS);
}

static void free_quickly(void)
{
    memory_turn();
}

static int by_quick_exit_with_handler(void)
{
    at_quick_exit(free_quickly);
    return by_quick_exit();
}

static int by_raw_exit(void)
{
    fflush(stdout);
    _exit(STATUS);
}

static int by_abort(void)
{
    fflush(stdout);
    abort();
}

static int by_terminate(void)
{
    fflush(stdout);
    raise(SIGTERM);
    return 0;
}

static void exit_by_signal(int number)
{
    (void)number;
    exit(STATUS);
}

static int by_handler(void)
{
    signal(SIGTERM, exit_by_signal);
    raise(SIGTERM);
    return 0;
}

static int in_team(void)
{
#pragma omp parallel num_threads(3)
    {
        memory_turn();
#pragma omp masked
        exit(STATUS);
    }
    return 0;
}

/* ---- threads ---- */

static void *exit_here(void *unused)
{
    memory_turn();
    exit(STATUS);
    return unused;
}

static int in_joined_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, exit_here, NULL);
    pthread_join(thread, NULL);
    return 0;
}

static int in_detached_thread(void)
{
    start(exit_here);
    return wait_for_exit();
}

static void *turn_once(void *unused)
{
    memory_turn();
    return unused;
}

static void *turn_late(void *unused)
{
    usleep(LATE_US);
    memory_turn();
    return unused;
}

static int after_threads(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, turn_once, NULL);
    pthread_join(thread, NULL);
    return STATUS;
}

static int before_threads(void)
{
    start(turn_late);
    return STATUS;
}

static void *exit_late(void *unused)
{
    usleep(LATE_US);
    return exit_here(unused);
}

static int without_main(void)
{
    start(exit_late);
    pthread_exit(NULL);
}

static int by_last_thread(void)
{
    start(exit_here);
    start(turn_late);
    pthread_exit(NULL);
}

static void *work(void *unused)
{
    for (;;) {
        memory_turn();
    }
    return unused;
}

static int beside_work(void)
{
    start(work);
    start(work);
    usleep(LATE_US / 4);
    return STATUS;
}

static void *copy(void *unused)
{
    void *block = memory_take(BYTES);

    for (;;) {
        memory_copy(block);
    }
    return unused;
}

static int beside_copies(void)
{
    start(copy);
    start(copy);
    usleep(LATE_US / 4);
    return STATUS;
}

static int beside_work_in_thread(void)
{
    start(work);
    return in_detached_thread();
}

static int after_cancelling(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, turn_late, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    return STATUS;
}

/* ---- destructors ---- */

static void *saved[3];

static int with_saved(void)
{
    size_t i;

    for (i = 0; i < 3; i++) {
        saved[i] = memory_take((i == 0) ? 200 : BYTES * 10 * i);
    }
    return STATUS;
}

static void give_saved(void)
{
    size_t i;

    for (i = 0; i < 3; i++) {
        memory_copy(saved[i]);
        memory_give(saved[i]);
        saved[i] = NULL;
    }
}

static void register_early(void)
{
    atexit(give_saved);
}

static int by_late_handler(void)
{
    atexit(give_saved);
    return with_saved();
}

static body *in_destructor;

__attribute__((destructor)) static void at_the_end(void)
{
    pthread_t thread;

    if (in_destructor == NULL) {
        return;
    }
    in_destructor(NULL);
    pthread_create(&thread, NULL, in_destructor, NULL);
    pthread_join(thread, NULL);
}

static void *give_and_turn(void *unused)
{
    give_saved();
    memory_turn();
    return unused;
}

static int by_destructor(void)
{
    in_destructor = give_and_turn;
    return with_saved();
}

static pthread_key_t key;

static void give_value(void *block)
{
    memory_give(block);
    memory_turn();
}

static void *keep_value(void *unused)
{
    pthread_key_create(&key, give_value);
    pthread_setspecific(key, memory_take(BYTES));
    return unused;
}

static int after_thread_data(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, keep_value, NULL);
    pthread_join(thread, NULL);
    return STATUS;
}

static int with_thread_data_at_exit(void)
{
    in_destructor = keep_value;
    return STATUS;
}

static int with_thread_data_in_main(void)
{
    keep_value(NULL);
    start(exit_late);
    pthread_exit(NULL);
}

/* ---- processes ---- */

static void use_host_memory(void)
{
    char *block = memory_take_of_host(BYTES);

    block[0] = 1;
    memory_give(block);
}

static int after_child(int (*child_ends)(void))
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        use_host_memory();
        return child_ends();
    }
    if ((waitpid(child, &status, 0) != child) || !WIFEXITED(status) ||
        (WEXITSTATUS(status) != STATUS)) {
        return 50;
    }
    usleep(LATE_US);
    memory_turn();
    return STATUS;
}

static int after_child_that_returns(void)
{
    return after_child(by_return);
}

static int after_child_that_exits(void)
{
    return after_child(by_exit);
}

static int after_child_that_leaves(void)
{
    return after_child(by_raw_exit);
}

static int before_child(void)
{
    fflush(stdout);
    if (fork() == 0) {
        usleep(LATE_US);
        use_host_memory();
    }
    return STATUS;
}

static int after_spawn(void)
{
    char *arguments[] = {(char *)"true", NULL};
    char *none[]      = {NULL};
    pid_t child       = 0;

    if (posix_spawnp(&child, "true", NULL, NULL, arguments, none) != 0) {
        return 51;
    }
    waitpid(child, NULL, 0);
    return STATUS;
}

static int after_system(void)
{
    return (system("true") == 0) ? STATUS : 52;
}

static int after_pipe(void)
{
    FILE *pipe = popen("true", "r");

    return ((pipe != NULL) && (pclose(pipe) == 0)) ? STATUS : 53;
}

static int by_exec(void)
{
    fflush(stdout);
    execlp("sh", "sh", "-c", "exit 3", (char *)NULL);
    return 54;
}

const struct end ends[] = {
    {"return", NULL, by_return, STATUS},
    {"exit", NULL, by_exit, STATUS},
    {"quick_exit", NULL, by_quick_exit, STATUS},
    {"quick_exit-handler", NULL, by_quick_exit_with_handler, STATUS},
    {"_exit", NULL, by_raw_exit, STATUS},
    {"abort", NULL, by_abort, -SIGABRT},
    {"SIGTERM", NULL, by_terminate, -SIGTERM},
    {"handler-of-SIGTERM", NULL, by_handler, STATUS},
    {"exit-in-team", NULL, in_team, STATUS},
    {"exit-in-joined-thread", NULL, in_joined_thread, STATUS},
    {"exit-in-detached-thread", NULL, in_detached_thread, STATUS},
    {"after-threads", NULL, after_threads, STATUS},
    {"before-threads", NULL, before_threads, STATUS},
    {"exit-without-main", NULL, without_main, STATUS},
    {"exit-beside-late-thread", NULL, by_last_thread, STATUS},
    {"beside-work", NULL, beside_work, STATUS},
    {"beside-copies", NULL, beside_copies, STATUS},
    {"beside-work-in-thread", NULL, beside_work_in_thread, STATUS},
    {"after-cancelling", NULL, after_cancelling, STATUS},
    {"early-handler", register_early, with_saved, STATUS},
    {"late-handler", NULL, by_late_handler, STATUS},
    {"destructor", NULL, by_destructor, STATUS},
    {"thread-data", NULL, after_thread_data, STATUS},
    {"thread-data-in-destructor", NULL, with_thread_data_at_exit, STATUS},
    {"thread-data-of-main", NULL, with_thread_data_in_main, STATUS},
    {"child-returns", NULL, after_child_that_returns, STATUS},
    {"child-exits", NULL, after_child_that_exits, STATUS},
    {"child-_exits", NULL, after_child_that_leaves, STATUS},
    {"child-is-later", NULL, before_child, STATUS},
    {"posix_spawn", NULL, after_spawn, STATUS},
    {"system", NULL, after_system, STATUS},
    {"popen", NULL, after_pipe, STATUS},
    {"exec", NULL, by_exec, STATUS},
    {NULL, NULL, NULL, 0},
};
