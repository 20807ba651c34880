/* SPDX-License-Identifier: BSD-3-Clause */
/* holds.c: nothing waits under a lock that others need: for a function that uses the library, for
 * calls on a queue that is closed, for the function that waits itself. A wrong wait never ends. */

#include "tests/queue/queue.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(queue_holds, .init = set_up, .fini = tear_down, .timeout = 20);

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

/* ---- functions that use the library while another thread waits for their queue ---- */

/* What a function does once the other thread waits, and what it uses. */
struct use {
    void (*act)(struct use *use);
    memspan_queue_h own;
    memspan_queue_h other;
    void *block;
    bool done;
};

static void use_library(void *argument)
{
    struct use *use = argument;

    pause_ms(50); /* without effect on the result: the wait below has begun by then */
    use->act(use);
    use->done = true;
}

static void open_and_close(struct use *use)
{
    (void)use;
    DONE(memspan_queue_close(open_on(0)));
}

static void allocate(struct use *use)
{
    void *block = memspan_alloc_on(allocator, BYTES, use->other);

    cr_assert_neq(block, NULL, "%s", memspan_error_text());
    DONE(memspan_free_on(block, use->other));
}

static void fork_here(struct use *use)
{
    pid_t child = fork();
    int status  = 1;

    (void)use;
    if (child == 0) {
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
}

/* How the program's thread waits for the queue: in each, the host does. */
enum wait { BY_QUEUE_WAIT, BY_FREE, BY_CLOSE, WAITS };

static void wait_for(struct use *use, enum wait how)
{
    memspan_queue_h host = open_on(MEMSPAN_HOST);

    switch (how) {
    case BY_QUEUE_WAIT:
        DONE(memspan_queue_wait(host, use->own));
        break;
    case BY_FREE:
        DONE(memspan_free_on(use->block, use->own));
        use->block = NULL;
        break;
    default:
        DONE(memspan_queue_close(use->own));
        break;
    }
    DONE(memspan_queue_close(host));
}

static void use_while_waited_for(void (*act)(struct use *use))
{
    enum wait how;

    for (how = BY_QUEUE_WAIT; how < WAITS; how++) {
        struct use use = {.act = act, .own = open_on(0), .other = open_on(0)};

        use.block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 64); /* a free of it waits */
        DONE(memspan_call_on(use.own, use_library, &use));
        wait_for(&use, how);
        cr_expect(use.done, "the host has not waited: %d", (int)how);
        DONE(memspan_free(use.block)); /* NULL: freed in the wait */
        DONE((how == BY_CLOSE) ? MEMSPAN_OK : memspan_queue_close(use.own));
        DONE(memspan_queue_close(use.other));
    }
}

Test(queue_holds, a_function_opens_a_queue)
{
    use_while_waited_for(open_and_close);
}

Test(queue_holds, a_function_allocates)
{
    use_while_waited_for(allocate);
}

Test(queue_holds, a_function_forks)
{
    use_while_waited_for(fork_here);
}

/* ---- functions that would wait for themselves ---- */

static void wait_for_own(struct use *use)
{
    REFUSED(memspan_queue_close(use->own), MEMSPAN_ERR_CONFLICT, "for that queue");
    REFUSED(memspan_queue_synchronize(use->own), MEMSPAN_ERR_CONFLICT, "for that queue");
    REFUSED(memspan_queue_wait(use->other, use->own), MEMSPAN_ERR_CONFLICT, "for that queue");
    DONE(memspan_free_on(use->block, use->own)); /* after the function */
}

Test(queue_holds, a_function_does_not_wait_for_its_queue)
{
    struct use use = {.act = wait_for_own, .own = open_on(0), .other = open_on(MEMSPAN_HOST)};

    use.block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 64);
    DONE(memspan_call_on(use.own, use_library, &use));
    DONE(memspan_queue_synchronize(use.own));
    cr_expect(use.done);
    DONE(memspan_queue_close(use.own));
    REFUSED(memspan_free(use.block), MEMSPAN_ERR_NOT_FOUND, "");
    DONE(memspan_queue_close(use.other));
}

/* Memory that another queue keeps is not waited for in a function: that queue may wait for it. */
static void allocate_on_host(struct use *use)
{
    void *block = memspan_alloc_on(allocator, BYTES, use->other);

    cr_expect_neq(block, NULL, "%s", memspan_error_text());
    cr_expect_neq(block, use->block);
    DONE(memspan_free(block));
}

static void await_word(void *argument)
{
    while (atomic_load((atomic_int *)argument) == 0) {
        pause_ms(1);
    }
}

Test(queue_holds, a_function_does_not_wait_for_memory)
{
    memspan_queue_h busy = open_on(0);
    struct use use       = {.act   = allocate_on_host,
                            .own   = open_on(0),
                            .other = open_on(MEMSPAN_HOST),
                            .block = memspan_alloc_on(allocator, BYTES, busy)};
    atomic_int word      = 0;

    DONE(memspan_call_on(busy, await_word, &word));
    DONE(memspan_free_on(use.block, busy));
    DONE(memspan_call_on(use.own, use_library, &use));
    DONE(memspan_queue_synchronize(use.own));
    cr_expect(use.done);
    atomic_store(&word, 1);
    DONE(memspan_queue_close(busy));
    DONE(memspan_queue_close(use.own));
    DONE(memspan_queue_close(use.other));
}

/* ---- closing beside calls ---- */

static _Atomic(memspan_queue_h) current;
static atomic_bool ends;

static void *use_current(void *argument)
{
    unsigned size = 1;

    (void)argument;
    while (!atomic_load(&ends)) {
        void *block;

        size  = size * 1103515245u + 12345u;
        block = memspan_alloc_on(allocator, 10000 + size % 100000, atomic_load(&current));
        if (block != NULL) {
            DONE(memspan_free(block));
        } else {
            cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_NOT_FOUND, "%s",
                         memspan_error_text());
        }
    }
    return NULL;
}

static void close_beside(int device)
{
    enum { THREADS = 3, CLOSES = 300 };
    pthread_t threads[THREADS];
    int i;

    atomic_store(&current, open_on(device));
    for (i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, use_current, NULL), 0);
    }
    for (i = 0; i < CLOSES; i++) {
        DONE(memspan_queue_close(atomic_exchange(&current, open_on(device))));
    }
    atomic_store(&ends, true);
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    DONE(memspan_queue_close(atomic_load(&current)));
}

Test(queue_holds, a_queue_closes_beside_allocations)
{
    close_beside(0);
}

Test(queue_holds, a_queue_of_the_host_closes_beside_allocations)
{
    close_beside(MEMSPAN_HOST);
}
