/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: functions of the host in the order of a queue, memspan_call_on(). */

#include "tests/queue/queue.h"
#include <stdlib.h>
#include <time.h>

TestSuite(queue_calls, .init = set_up, .fini = tear_down);

struct call {
    const unsigned char *seen;
    unsigned char *writes;
    unsigned char found;
    memspan_queue_h other; /* work for it, or MEMSPAN_QUEUE_NULL */
};

static void look_and_write(void *argument)
{
    struct call *call           = argument;
    const struct timespec pause = {0, 2000000};

    call->found = call->seen[BYTES - 1];
    nanosleep(&pause, NULL);
    memset(call->writes, call->found + 1, BYTES);
    if (call->other != MEMSPAN_QUEUE_NULL) {
        DONE(memspan_copy_on(call->other, call->writes, call->seen, 1));
        DONE(memspan_queue_synchronize(call->other));
    }
}

/* After the fill before it, and before the copy after it. */
static void call_in_order(bool is_later)
{
    memspan_queue_h queue  = open_on(0);
    memspan_queue_h other  = open_on(0);
    unsigned char *block   = memspan_alloc_on(allocator, BYTES, queue);
    unsigned char *written = calloc(1, BYTES);
    unsigned char *copy    = malloc(BYTES);
    struct call call       = {.seen = block, .writes = written, .other = other};
    const uint64_t after   = is_later ? 0 : 20;
    uint64_t waited_ns;
    int i;

    for (i = 0; i < 20; i++) {
        DONE(memspan_fill_on(queue, block, (unsigned char)i, BYTES));
        waited_ns = info_of(queue).waited_ns;
        DONE(memspan_call_on(queue, look_and_write, &call));
        cr_expect_eq(info_of(queue).waited_ns == waited_ns, is_later);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        DONE(memspan_copy_on(queue, copy, written, BYTES));
        DONE(memspan_queue_synchronize(queue));
        cr_expect_eq(call.found, i, "the call came before the fill: %d", call.found);
        cr_expect_eq(copy[BYTES - 1], i + 1, "the copy came before the call: %d", copy[BYTES - 1]);
    }
    cr_expect_eq(info_of(queue).called_count, 20);
    cr_expect_eq(info_of(queue).called_after_wait, after);
    DONE(memspan_free_on(block, queue));
    DONE(memspan_queue_close(other));
    DONE(memspan_queue_close(queue));
    free(copy);
    free(written);
}

Test(queue_calls, a_function_is_called_in_order)
{
    call_in_order(true);
}

static void set_up_without_holds(void)
{
    setenv("LATE_HOLDS", "0", 1);
    set_up();
}

TestSuite(queue_calls_without_holds, .init = set_up_without_holds, .fini = tear_down);

Test(queue_calls_without_holds, a_function_is_called_in_order)
{
    call_in_order(false);
}

/* Opening and closing take the locks that the closing of its queue takes. */
static void count(void *argument)
{
    DONE(memspan_queue_close(open_on(0)));
    (*(int *)argument)++;
}

/* Those that were called before it is closed. */
Test(queue_calls, closing_waits_for_functions)
{
    memspan_queue_h queue = open_on(0);
    int called            = 0;
    int i;

    for (i = 0; i < 50; i++) {
        DONE(memspan_call_on(queue, count, &called));
    }
    DONE(memspan_queue_close(queue));
    cr_expect_eq(called, 50);
    REFUSED(memspan_call_on(queue, count, &called), MEMSPAN_ERR_NOT_FOUND, "no queue");
    queue = open_on(0);
    REFUSED(memspan_call_on(queue, NULL, NULL), MEMSPAN_ERR_INVALID, "no function");
    DONE(memspan_queue_close(queue));
}

static void wait_for_word(void *argument)
{
    while (__atomic_load_n((int *)argument, __ATOMIC_ACQUIRE) == 0) {
        const struct timespec pause = {0, 100000};

        nanosleep(&pause, NULL);
    }
}

static void store_word(void *argument)
{
    __atomic_store_n((int *)argument, 1, __ATOMIC_RELEASE);
}

/* A function that waits does not keep those of other queues. */
Test(queue_calls, functions_of_two_queues_run_at_once)
{
    memspan_queue_h one = open_on(0);
    memspan_queue_h two = open_on(0);
    int word            = 0;

    DONE(memspan_call_on(one, wait_for_word, &word));
    DONE(memspan_call_on(two, store_word, &word));
    DONE(memspan_queue_synchronize(one));
    DONE(memspan_queue_close(one));
    DONE(memspan_queue_close(two));
}

/* ---- functions that follow each other ---- */

struct number {
    int *next;
    int own;
    bool in_order;
};

static void take_number(void *argument)
{
    struct number *number = argument;

    number->in_order = (number->own == (*number->next)++);
}

/* The first waits, so that the others find it there. */
Test(queue_calls, functions_in_a_row_share_a_hold)
{
    enum { COUNT = 100 };
    memspan_queue_h queue = open_on(0);
    struct number numbers[COUNT];
    int word = 0, next = 0, i;
    unsigned before;

    DONE(memspan_call_on(queue, wait_for_word, &word));
    before = calls();
    for (i = 0; i < COUNT; i++) {
        numbers[i] = (struct number){.next = &next, .own = i};
        DONE(memspan_call_on(queue, take_number, &numbers[i]));
    }
    cr_expect_lt(calls() - before, COUNT / 2, "the driver was called %u times", calls() - before);
    store_word(&word);
    DONE(memspan_queue_synchronize(queue));
    for (i = 0; i < COUNT; i++) {
        cr_expect(numbers[i].in_order, "function %d", i);
    }
    cr_expect_eq(info_of(queue).called_count, COUNT + 1);
    DONE(memspan_queue_close(queue));
}

/* A fill between two functions is between them. */
Test(queue_calls, work_between_functions_stays_there)
{
    memspan_queue_h queue = open_on(0);
    unsigned char *block  = memspan_alloc_on(allocator, BYTES, queue);
    unsigned char *sink   = calloc(1, BYTES);
    struct call call      = {.seen = block, .writes = sink, .other = MEMSPAN_QUEUE_NULL};
    int word              = 0;

    DONE(memspan_fill_on(queue, block, 1, BYTES));
    DONE(memspan_call_on(queue, wait_for_word, &word));
    DONE(memspan_fill_on(queue, block, 2, BYTES));
    DONE(memspan_call_on(queue, look_and_write, &call));
    store_word(&word);
    DONE(memspan_queue_synchronize(queue));
    cr_expect_eq(call.found, 2);
    DONE(memspan_free_on(block, queue));
    DONE(memspan_queue_close(queue));
    free(sink);
}

/* Work that waits for the first function does not wait for the second, which waits for it. The
 * allocator has no other memory than the block that the first function may use. */
Test(queue_calls, an_event_between_functions, .timeout = 10)
{
    memspan_queue_h one = open_on(0);
    memspan_queue_h two = open_on(0);
    void *block         = memspan_alloc_on(allocator, (size_t)6 * BYTES, one);
    int first = 0, second = 0;

    DONE(memspan_call_on(one, wait_for_word, &first));
    DONE(memspan_free_on(block, one));
    cr_assert_eq(memspan_alloc_on(allocator, (size_t)6 * BYTES, two), block);
    DONE(memspan_call_on(two, store_word, &second));
    DONE(memspan_call_on(one, wait_for_word, &second));
    store_word(&first);
    DONE(memspan_queue_synchronize(one));
    DONE(memspan_free_on(block, two));
    DONE(memspan_queue_close(one));
    DONE(memspan_queue_close(two));
}
