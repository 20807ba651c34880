/* SPDX-License-Identifier: BSD-3-Clause */
/* The error record: complete, per thread, kept until cleared; and life after fork. */

#include "api.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(errors, .fini = in_order);

static void check_complete(void)
{
    const memspan_error_t *error = memspan_error_last();

    cr_assert_neq(error, NULL);
    cr_expect_neq(error->message, NULL);
    cr_expect_neq(error->hint, NULL);
    cr_expect_neq(error->backend, NULL);
    cr_expect_neq(error->call, NULL);
    cr_expect_neq(error->native_text, NULL);
    cr_expect_neq(memspan_error_text(), NULL);
}

Test(errors, a_record_is_there_from_the_start)
{
    check_complete();
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_OK);
    memspan_error_clear();
    check_complete();
}

Test(errors, message_and_hint)
{
    memspan_trait_t trait    = {MEMSPAN_TRAIT_ALIGNMENT, 48};
    memspan_allocator_h made = MEMSPAN_ALLOCATOR_NULL;

    cr_assert_eq(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &made),
                 MEMSPAN_ERR_INVALID);
    check_complete();
    cr_expect_neq(strstr(memspan_error_last()->message, "alignment"), NULL);
    cr_expect_neq(strstr(memspan_error_last()->message, "48"), NULL);
    cr_expect_neq(strstr(memspan_error_last()->hint, "power of two"), NULL);
    cr_expect_neq(strstr(memspan_error_text(), memspan_error_last()->message), NULL);
    cr_expect_neq(strstr(memspan_error_text(), "power of two"), NULL);
    cr_expect_eq(strchr(memspan_error_text(), '\n'), NULL, "one line");
}

Test(errors, success_does_not_clear)
{
    memspan_space_info_t info = {.struct_size = sizeof(info)};
    void *block;

    cr_assert_neq(memspan_device_synchronize(NO_DEVICE), MEMSPAN_OK);
    block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);
    DONE(memspan_free(block));
    DONE(memspan_space_describe(MEMSPAN_SPACE_DEFAULT, &info));
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NOT_FOUND);
    memspan_error_clear();
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_OK);
    cr_expect_str_empty(memspan_error_last()->message);
}

/* What the system said is kept: its call, its number, its words. */
Test(errors, native_words)
{
    memspan_trait_t trait    = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    memspan_allocator_h made = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &made));
    memspan_error_clear();
    cr_assert_eq(memspan_alloc(made, (size_t)1 << 46), NULL);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NO_MEMORY);
    cr_expect_str_not_empty(memspan_error_last()->call);
    cr_expect_neq(memspan_error_last()->native_code, 0);
    cr_expect_str_not_empty(memspan_error_last()->native_text);
    cr_expect_str_eq(memspan_error_last()->backend, "host");
    DONE(memspan_allocator_destroy(made));
}

static void *fail_in_thread(void *argument)
{
    int *ok = argument;

    *ok = (memspan_error_last()->status == MEMSPAN_OK);
    (void)memspan_free(&ok);
    *ok = *ok && (memspan_error_last()->status == MEMSPAN_ERR_NOT_FOUND);
    return NULL;
}

Test(errors, each_thread_has_its_own)
{
    pthread_t thread;
    char message[512];
    int ok = 0;

    cr_assert_neq(memspan_device_synchronize(NO_DEVICE), MEMSPAN_OK);
    snprintf(message, sizeof(message), "%s", memspan_error_last()->message);
    cr_assert_eq(pthread_create(&thread, NULL, fail_in_thread, &ok), 0);
    pthread_join(thread, NULL);
    cr_expect(ok);
    cr_expect_str_eq(memspan_error_last()->message, message);
}

/* A text that points into the record it replaces. */
Test(errors, records_made_from_records)
{
    int bad               = NO_DEVICE;
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    for (int i = 0; i < 10; i++) {
        cr_assert_neq(memspan_space_get(&bad, 1, MEMSPAN_SPACE_NULL, &space), MEMSPAN_OK);
        cr_expect_neq(strstr(memspan_error_text(), "12345"), NULL);
    }
}

static int child_status(pid_t child)
{
    int status = -1;

    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

/* Everything a program does with host memory goes on after fork, whatever other threads held. */
static void live_after_fork(void *inherited)
{
    void *block                   = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100000);
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_pointer_info_t info   = {.struct_size = sizeof(info)};
    void *second;

    if ((block == NULL) || (memspan_free(block) != MEMSPAN_OK)) {
        _exit(1);
    }
    if (memspan_pointer_describe(inherited, &info) != MEMSPAN_OK) {
        _exit(2);
    }
    if ((((char *)inherited)[10] != 5) || (memspan_free(inherited) != MEMSPAN_OK)) {
        _exit(3);
    }
    if (memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &allocator) != MEMSPAN_OK) {
        _exit(4);
    }
    second = memspan_calloc(allocator, 10, 10);
    if ((second == NULL) || (memspan_free(second) != MEMSPAN_OK) ||
        (memspan_allocator_destroy(allocator) != MEMSPAN_OK)) {
        _exit(5);
    }
    _exit((memspan_check() == MEMSPAN_OK) ? 0 : 6);
}

struct churn {
    _Atomic int stop;
};

static void *churn(void *argument)
{
    struct churn *c = argument;

    while (!c->stop) {
        void *blocks[16];
        memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

        for (size_t i = 0; i < 16; i++) {
            blocks[i] = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100 * (i + 1) * (i + 1));
        }
        for (size_t i = 0; i < 16; i++) {
            (void)memspan_free(blocks[i]);
        }
        if (memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &allocator) == MEMSPAN_OK) {
            (void)memspan_allocator_destroy(allocator);
        }
    }
    return NULL;
}

Test(errors, fork_while_threads_allocate, .timeout = 60)
{
    enum { THREADS = 2, FORKS = 20 };
    struct churn c = {0};
    pthread_t threads[THREADS];
    char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);

    cr_assert_neq(block, NULL);
    memset(block, 5, 100);
    for (int t = 0; t < THREADS; t++) {
        cr_assert_eq(pthread_create(&threads[t], NULL, churn, &c), 0);
    }
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        int status;

        if (child == 0) {
            alarm(20); /* a lock that is never released */
            live_after_fork(block);
        }
        status = child_status(child);
        cr_expect_eq(status, 0, "fork %d: status %x", i, status);
    }
    c.stop = 1;
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
    }
    cr_expect_eq(block[10], 5);
    DONE(memspan_free(block));
}

static int use_device_after_fork(int device)
{
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    void *block                   = NULL;

    if ((memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK) &&
        (memspan_allocator_create(space, NULL, 0, &allocator) == MEMSPAN_OK)) {
        block = memspan_alloc(allocator, 100);
    }
    if (block != NULL) {
        return 1; /* a driver's handles do not survive: this would be luck */
    }
    return (memspan_error_last()->status == MEMSPAN_ERR_FORKED) ? 0 : 2;
}

/* Drivers do not survive fork: said, not tried. */
Test(errors, devices_after_fork, .timeout = 60)
{
    int device            = 0;
    memspan_space_h space = MEMSPAN_SPACE_NULL;
    int status;
    pid_t child;

    if (memspan_device_at(0, &device) != MEMSPAN_OK) {
        cr_skip("there is no device");
    }
    DONE(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space));
    child = fork();
    if (child == 0) {
        alarm(20);
        _exit(use_device_after_fork(device));
    }
    status = child_status(child);
    cr_expect_eq(status, 0, "status %x (1: memory was given, 2: another error)", status);
}
