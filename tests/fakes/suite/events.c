/* SPDX-License-Identifier: BSD-3-Clause */
/* events.c: what all backends with events do alike: a queue that waits for another's work, on
 * drivers that do work as late as they may. */

#include "tests/fakes/suite/pretended.h"

enum { BEFORE = 1, FIRST = 7, SECOND = 9 };

static const memspan_backend_t *table;
static void *state;
static void *queues[2];
static int where; /* the device of the second queue */
static memspan_block_t source;
static memspan_block_t target;

static void find(void)
{
    pretended_find();
    table = pretended.table;
}

static void fill(void *queue, const memspan_block_t *block, int byte)
{
    OK(table->fill(state, 0, queue, block->address, (unsigned char)byte, PRETENDED_BYTES));
}

/* Two blocks of device 0 that are filled, a queue of it, and one of device @p other. */
static void begin(int other)
{
    state  = PRETENDED_OPEN("DEVICES=2", "APART=1");
    where  = other;
    source = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    target = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    OK(table->queue_create(state, 0, &queues[0]));
    OK(table->queue_create(state, other, &queues[1]));
    fill(queues[0], &source, BEFORE);
    fill(queues[0], &target, BEFORE);
    OK(table->synchronize(state, 0, queues[0]));
}

static void copy(void)
{
    OK(table->copy(state, where, queues[1], target.address, source.address, PRETENDED_BYTES));
    OK(table->synchronize(state, where, queues[1]));
}

static void check_copied(int byte)
{
    unsigned char bytes[PRETENDED_BYTES];

    pretended_read(state, 0, bytes, target.address, sizeof(bytes));
    cr_assert((bytes[0] == byte) && (bytes[PRETENDED_BYTES - 1] == byte), "%d was copied, not %d",
              bytes[0], byte);
}

static void end(void)
{
    OK(table->queue_destroy(state, where, queues[1]));
    if (queues[0] != NULL) {
        OK(table->queue_destroy(state, 0, queues[0]));
    }
    pretended_give_back(state, 0, &source);
    pretended_end(state, 0, &target);
}

static bool is_done(void *event)
{
    int done = -1;

    OK(table->event_done(state, 0, event, &done));
    cr_assert((done == 0) || (done == 1));
    return done != 0;
}

TestSuite(events, .init = find, .timeout = 60);

/* That the driver is late: without it nothing is shown. */
Test(events, without_an_event_a_queue_does_not_wait)
{
    begin(0);
    fill(queues[0], &source, FIRST);
    copy();
    check_copied(BEFORE);
    end();
}

static void check_wait(int other)
{
    void *event = NULL;

    begin(other);
    fill(queues[0], &source, FIRST);
    OK(table->event_record(state, 0, queues[0], &event));
    cr_assert_not_null(event);
    OK(table->event_wait(state, other, queues[1], event));
    cr_assert(!is_done(event));
    copy();
    check_copied(FIRST);
    cr_assert(is_done(event));
    OK(table->event_destroy(state, 0, event));
    end();
}

Test(events, a_queue_waits_for_another)
{
    check_wait(0);
}

Test(events, a_queue_waits_for_one_of_another_device)
{
    check_wait(1);
}

/* A queue waits for the work of the recording before its wait. */
Test(events, an_event_is_recorded_again)
{
    void *event = NULL;
    void *first;

    begin(0);
    fill(queues[0], &source, FIRST);
    OK(table->event_record(state, 0, queues[0], &event));
    OK(table->event_wait(state, 0, queues[1], event));
    fill(queues[0], &source, SECOND);
    first = event;
    OK(table->event_record(state, 0, queues[0], &event));
    cr_assert_eq(event, first);
    copy();
    cr_assert(!is_done(event), "the second fill is not done");
    check_copied(FIRST);
    OK(table->event_wait(state, 0, queues[1], event));
    copy();
    check_copied(SECOND);
    cr_assert(is_done(event));
    OK(table->event_destroy(state, 0, event));
    end();
}

Test(events, an_event_is_destroyed_while_a_queue_waits_for_it)
{
    void *event = NULL;

    begin(0);
    fill(queues[0], &source, FIRST);
    OK(table->event_record(state, 0, queues[0], &event));
    OK(table->event_wait(state, 0, queues[1], event));
    OK(table->event_destroy(state, 0, event));
    OK(table->event_destroy(state, 0, NULL));
    copy();
    check_copied(FIRST);
    end();
}

Test(events, an_event_outlives_its_queue)
{
    void *event = NULL;

    begin(0);
    fill(queues[0], &source, FIRST);
    OK(table->event_record(state, 0, queues[0], &event));
    OK(table->queue_destroy(state, 0, queues[0]));
    queues[0] = NULL;
    cr_assert(is_done(event));
    OK(table->event_wait(state, 0, queues[1], event));
    copy();
    check_copied(FIRST);
    OK(table->event_destroy(state, 0, event));
    end();
}

/* Without work, and on the device's own queue. */
Test(events, an_idle_queue_has_events)
{
    void *event = NULL;

    begin(0);
    OK(table->event_record(state, 0, NULL, &event));
    OK(table->event_wait(state, 0, queues[1], event));
    OK(table->synchronize(state, 0, queues[1]));
    OK(table->synchronize(state, 0, NULL));
    cr_assert(is_done(event));
    OK(table->event_destroy(state, 0, event));
    end();
}

Test(events, a_queue_of_no_type_of_this_driver)
{
    void *queue = NULL;

    begin(0);
    memspan_error_clear();
    cr_assert_eq(table->queue_adopt(state, 0, MEMSPAN_QUEUE_OWN, NULL, &queue),
                 MEMSPAN_ERR_UNSUPPORTED);
    OK(memspan_error_last()->status);
    cr_assert_null(queue);
    end();
}
