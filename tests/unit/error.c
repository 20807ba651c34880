/* SPDX-License-Identifier: BSD-3-Clause */
/* core/base/error.c: each thread's record is allocated when it is needed and freed when the thread
 * ends; without memory the first thread has the reserve, others the status and a line in the log.
 */

#include "core/base/error.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_LEAST = 1900, THREADS = 20, LIVE_MAX = 64 };

void *__real_malloc(size_t size);
void __real_free(void *pointer);

static atomic_bool refusing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *live[LIVE_MAX]; /* records that malloc() gave */
static int live_count;
static int given_count;

/* Only records are refused and counted: what Criterion and the C library allocate is theirs. */
static bool is_record(size_t size)
{
    return (size >= RECORD_LEAST) && (size <= RECORD_LEAST + 600);
}

void *__wrap_malloc(size_t size)
{
    void *pointer;

    if (!is_record(size)) {
        return __real_malloc(size);
    }
    pointer = atomic_load(&refusing) ? NULL : __real_malloc(size);
    pthread_mutex_lock(&lock);
    if ((pointer != NULL) && (live_count < LIVE_MAX)) {
        live[live_count++] = pointer;
        given_count++;
    }
    pthread_mutex_unlock(&lock);
    return pointer;
}

void __wrap_free(void *pointer)
{
    int i;

    pthread_mutex_lock(&lock);
    for (i = 0; i < live_count; i++) {
        if (live[i] == pointer) {
            live[i] = live[--live_count];
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    __real_free(pointer);
}

static void *fail_once(void *argument)
{
    memspan_error(MEMSPAN_ERR_LIMIT, "argument %d", *(int *)argument);
    msp_error_hint("use %d", 1);
    return (strcmp(memspan_error_last()->message, "argument 7") == 0) ? argument : NULL;
}

static void run(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    void *result = NULL;

    cr_assert(pthread_create(&thread, NULL, function, argument) == 0);
    cr_assert(pthread_join(thread, &result) == 0);
    cr_assert(result == argument);
}

Test(error, is_freed_when_its_thread_ends)
{
    int number = 7;
    int before;
    int i;

    fail_once(&number);
    before = live_count;
    cr_assert(before == 1);
    for (i = 0; i < THREADS; i++) {
        run(fail_once, &number);
    }
    cr_assert(given_count == before + THREADS);
    cr_assert(live_count == before, "%d records are left", live_count - before);
}

static void fail_at_the_end(void *argument)
{
    (void)fail_once(argument);
}

static void *set_late_destructor(void *argument)
{
    static pthread_key_t key;

    (void)fail_once(argument);
    (void)pthread_key_create(&key, fail_at_the_end); /* after the record's own */
    (void)pthread_setspecific(key, argument);
    return argument;
}

Test(error, of_a_destructor_is_freed_too)
{
    int number = 7;
    int i;

    for (i = 0; i < THREADS; i++) {
        run(set_late_destructor, &number);
    }
    cr_assert(given_count == 2 * THREADS, "%d", given_count);
    cr_assert(live_count == 0, "%d records are left", live_count);
}

Test(error, needs_no_memory_in_one_thread)
{
    int number = 7;

    atomic_store(&refusing, true);
    cr_assert(memspan_error_last()->status == MEMSPAN_OK);
    cr_assert(fail_once(&number) == &number);
    cr_assert(strcmp(memspan_error_text(), "argument 7; use 1") == 0, "%s", memspan_error_text());
    msp_error_limit(64, 32, 8);
    cr_assert(strstr(memspan_error_text(), "64 bytes do not fit") != NULL);
    memspan_error_clear();
    cr_assert(memspan_error_last()->status == MEMSPAN_OK);
    cr_assert(given_count == 0);
}

/* Without a record, while the main thread has the reserve. */
static void *fail_bare(void *argument)
{
    struct msp_error_saved saved;

    memspan_error(MEMSPAN_ERR_NOT_FOUND, "the words of %d", *(int *)argument);
    if ((msp_error_hint("h") != MEMSPAN_ERR_NOT_FOUND) ||
        (memspan_error_last()->status != MEMSPAN_ERR_NOT_FOUND) ||
        (memspan_error_last()->message[0] == '\0') || (memspan_error_last()->hint[0] == '\0') ||
        (memspan_error_text()[0] == '\0')) {
        return NULL;
    }
    msp_error_save(&saved);
    msp_error_limit(64, 32, 8);
    if (memspan_error_last()->status != MEMSPAN_ERR_LIMIT) {
        return NULL;
    }
    msp_error_restore(&saved);
    if (memspan_error_last()->status != MEMSPAN_ERR_NOT_FOUND) {
        return NULL;
    }
    memspan_error_clear();
    return (memspan_error_last()->status == MEMSPAN_OK) ? argument : NULL;
}

Test(error, without_memory_is_in_the_log)
{
    int number = 7;
    int pipe_ends[2];
    char text[4096];
    int saved = dup(STDERR_FILENO);
    ssize_t n;

    atomic_store(&refusing, true);
    (void)fail_once(&number); /* has the reserve */
    cr_assert(pipe(pipe_ends) == 0);
    dup2(pipe_ends[1], STDERR_FILENO);
    run(fail_bare, &number);
    dup2(saved, STDERR_FILENO);
    n = read(pipe_ends[0], text, sizeof(text) - 1);
    cr_assert(n > 0);
    text[n] = '\0';
    cr_assert(strstr(text, "the words of 7") != NULL, "%s", text);
    cr_assert(strstr(text, "64 bytes do not fit") != NULL, "%s", text);
    cr_assert(strcmp(memspan_error_last()->message, "argument 7") == 0);
}

Test(error, gives_the_reserve_back)
{
    int number = 7;

    atomic_store(&refusing, true);
    run(fail_once, &number);
    run(fail_once, &number);
}
