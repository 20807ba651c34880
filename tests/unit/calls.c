/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of another library while the process ends: each case is a process of its own. */

#include "core/base/calls.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RIGHT = 3, WRONG = 4, CALL_US = 50000, LIMIT_S = 1 /* less than the wait for a call */ };

static struct msp_calls calls;
static struct msp_calls others;
static atomic_bool is_in_call;
static atomic_bool has_left;

static int status_of(void (*end)(void))
{
    int status  = 0;
    pid_t child = fork();

    if (child == 0) {
        end();
        exit(RIGHT);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

static void expect_right(void (*end)(void))
{
    int status = status_of(end);

    cr_expect(WIFEXITED(status) && (WEXITSTATUS(status) == RIGHT), "%x", (unsigned)status);
}

/* Registered first, it runs last, as a driver's destructor does. */
static void judge(void)
{
    if (msp_calls_begin(&calls) || (atomic_load(&is_in_call) && !atomic_load(&has_left))) {
        _exit(WRONG);
    }
}

static void *call_for_a_while(void *unused)
{
    (void)msp_calls_begin(&calls);
    atomic_store(&is_in_call, true);
    usleep(CALL_US);
    atomic_store(&has_left, true);
    msp_calls_end(&calls);
    return unused;
}

static void start_call(void *(*body)(void *))
{
    pthread_t thread;

    atexit(judge);
    msp_calls_watch_exit(&calls);
    (void)pthread_create(&thread, NULL, body, NULL);
    (void)pthread_detach(thread);
    while (!atomic_load(&is_in_call)) {
        usleep(100);
    }
}

static void beside_a_call(void)
{
    start_call(call_for_a_while);
}

Test(calls, exit_waits_for_a_call_and_lets_no_other_begin)
{
    expect_right(beside_a_call);
}

/* The second call begins after exit has. */
static void *start_and_wait(void *unused)
{
    (void)msp_calls_hold(&calls);
    atomic_store(&is_in_call, true);
    usleep(CALL_US);
    if (!msp_calls_begin(&calls)) {
        _exit(WRONG);
    }
    msp_calls_end(&calls);
    atomic_store(&has_left, true);
    msp_calls_release(&calls);
    return unused;
}

static void beside_held_calls(void)
{
    start_call(start_and_wait);
}

Test(calls, exit_waits_for_the_last_of_held_calls)
{
    expect_right(beside_held_calls);
}

static void in_a_call(void)
{
    alarm(LIMIT_S);
    msp_calls_watch_exit(&calls);
    (void)msp_calls_begin(&calls);
}

Test(calls, exit_in_a_call_does_not_wait_for_itself)
{
    expect_right(in_a_call);
}

static void beside_a_call_in_another(void)
{
    start_call(call_for_a_while);
    msp_calls_watch_exit(&others);
    (void)msp_calls_begin(&others);
}

Test(calls, exit_in_a_call_of_another_library_waits)
{
    expect_right(beside_a_call_in_another);
}

static void *call_for_ever(void *unused)
{
    (void)msp_calls_begin(&calls);
    atomic_store(&is_in_call, true);
    for (;;) {
        pause();
    }
    return unused;
}

/* No handler of fork runs, but the thread sanitizer's, whose own threads may hold its locks. */
static pid_t fork_unseen(void)
{
#ifdef __SANITIZE_THREAD__
    return fork();
#else
    return _Fork();
#endif
}

static void forked_beside_a_call(void)
{
    int status = 0;
    pid_t child;

    start_call(call_for_ever);
    child = fork_unseen();
    if (child == 0) {
        atomic_store(&is_in_call, false);
        alarm(LIMIT_S);
        exit(RIGHT);
    }
    (void)waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : WRONG);
}

Test(calls, a_child_does_not_wait_for_threads_of_its_parent)
{
    expect_right(forked_beside_a_call);
}

/* In a child of a process in which a call never ends. */
static void in_child_beside_a_call(void (*then)(void))
{
    int status = 0;
    pid_t child;

    start_call(call_for_ever);
    (void)msp_calls_begin(&calls);
    child = fork();
    if (child == 0) {
        atomic_store(&is_in_call, false);
        msp_calls_end(&calls);
        then();
        exit(RIGHT);
    }
    (void)waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : WRONG);
}

static void watch_again(void)
{
    alarm(LIMIT_S);
    msp_calls_watch_exit(&calls);
}

static void forked_and_watched(void)
{
    in_child_beside_a_call(watch_again);
}

Test(calls, a_child_that_calls_does_not_wait_for_its_parent)
{
    expect_right(forked_and_watched);
}

static void forked_and_called(void)
{
    in_child_beside_a_call(beside_a_call);
}

Test(calls, a_child_waits_for_threads_of_its_own)
{
#ifdef __SANITIZE_THREAD__
    cr_skip_test("no threads in a child of a process with threads, under the thread sanitizer");
#endif
    expect_right(forked_and_called);
}
