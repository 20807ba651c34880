/* SPDX-License-Identifier: BSD-3-Clause */
/* lists.c: command lists of the program, and events that are used again. */

#include "core/base/error.h"
#include "tests/fakes/level_zero/pretended.h"
#include <string.h>

static const memspan_backend_t *const table = &msp_backend_level_zero;

TestSuite(level_zero_lists, .init = pretended_find, .timeout = 60);

/* ---- what the program makes ---- */

static struct {
    lz_context_h context;
    lz_list_h list;
} theirs;

static lz_list_h make_list(const struct lz_state *state, int ordinal)
{
    const struct lz_device *device = lz_device(state->gpu.devices[ordinal]);
    lz_queue_desc_t desc           = {.stype   = LZ_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                      .ordinal = device->facts.queue_group,
                                      .mode    = LZ_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    lz_list_h list                 = NULL;

    cr_assert_eq(
        state->ze.zeCommandListCreateImmediate(theirs.context, device->handle, &desc, &list),
        ZE_RESULT_SUCCESS);
    return list;
}

static void make(const struct lz_state *state)
{
    lz_context_desc_t desc = {.stype = LZ_STRUCTURE_TYPE_CONTEXT_DESC};

    cr_assert_eq(state->ze.zeContextCreate(lz_device(state->gpu.devices[0])->driver->handle, &desc,
                                           &theirs.context),
                 ZE_RESULT_SUCCESS);
    theirs.list = make_list(state, 0);
}

static void drop(const struct lz_state *state)
{
    cr_assert_eq(state->ze.zeCommandListDestroy(theirs.list), ZE_RESULT_SUCCESS);
    cr_assert_eq(state->ze.zeContextDestroy(theirs.context), ZE_RESULT_SUCCESS);
}

static void *adopt(void *state, lz_list_h list)
{
    void *queue = NULL;

    OK(table->queue_adopt(state, 0, MEMSPAN_QUEUE_LEVEL_ZERO, list, &queue));
    cr_assert_not_null(queue);
    return queue;
}

static void refuse(void *state, lz_list_h list, memspan_status_t status, const char *words)
{
    void *queue = NULL;

    cr_assert_eq(table->queue_adopt(state, 0, MEMSPAN_QUEUE_LEVEL_ZERO, list, &queue), status);
    cr_assert_not_null(strstr(memspan_error_text(), words), "%s", memspan_error_text());
    cr_assert_null(queue);
}

static bool is_done(void *state, void *event)
{
    int done = -1;

    OK(table->event_done(state, 0, event, &done));
    return done == 1;
}

/* ---- adoption ---- */

Test(level_zero_lists, a_list_of_the_program_is_a_queue)
{
    unsigned char bytes[PRETENDED_BYTES];
    void *event           = NULL;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    void *queue;

    make(state);
    queue = adopt(state, theirs.list);
    OK(table->fill(state, 0, queue, block.address, 7, PRETENDED_BYTES));
    OK(table->event_record(state, 0, queue, &event));
    OK(table->queue_destroy(state, 0, queue));
    cr_assert(!is_done(state, event), "a list that is not ours was waited for");
    cr_assert_eq(pretended.calls("zeCommandListDestroy"), 0u);
    queue = adopt(state, theirs.list);
    OK(table->synchronize(state, 0, queue));
    cr_assert(is_done(state, event));
    pretended_read(state, 0, bytes, block.address, sizeof(bytes));
    cr_assert_eq(bytes[PRETENDED_BYTES - 1], 7);
    drop(state);
    OK(table->queue_destroy(state, 0, queue));
    cr_assert(is_done(state, event), "its list is gone");
    OK(table->event_destroy(state, 0, event));
    pretended_end(state, 0, &block);
}

/* No barrier follows the program's commands: ours begin with one. */
Test(level_zero_lists, commands_of_the_program_come_first)
{
    static const unsigned char pattern = 5;
    unsigned char bytes[PRETENDED_BYTES];
    void *event            = NULL;
    struct lz_state *state = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block  = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    void *queue;

    make(state);
    queue = adopt(state, theirs.list);
    cr_assert_eq(state->ze.zeCommandListAppendMemoryFill(theirs.list, block.address, &pattern, 1,
                                                         PRETENDED_BYTES, NULL, 0, NULL),
                 ZE_RESULT_SUCCESS);
    OK(table->fill(state, 0, queue, block.address, 7, 64));
    cr_assert_eq(state->ze.zeCommandListAppendMemoryFill(theirs.list, (char *)block.address + 32,
                                                         &pattern, 1, 32, NULL, 0, NULL),
                 ZE_RESULT_SUCCESS);
    OK(table->event_record(state, 0, queue, &event));
    OK(table->synchronize(state, 0, queue));
    cr_assert(is_done(state, event));
    pretended_read(state, 0, bytes, block.address, sizeof(bytes));
    cr_assert((bytes[0] == 7) && (bytes[31] == 7), "ours were done before the program's");
    cr_assert((bytes[32] == 5) && (bytes[64] == 5), "the program's were done before ours");
    OK(table->event_destroy(state, 0, event));
    OK(table->queue_destroy(state, 0, queue));
    drop(state);
    pretended_end(state, 0, &block);
}

/* A queue of ours and the program's list, both ways. */
Test(level_zero_lists, lists_of_two_contexts_wait_for_each_other)
{
    unsigned char bytes[PRETENDED_BYTES];
    void *event            = NULL;
    void *back             = NULL;
    void *state            = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t source = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    memspan_block_t target = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    void *own              = NULL;
    void *queue;

    make(state);
    queue = adopt(state, theirs.list);
    OK(table->queue_create(state, 0, &own));
    OK(table->fill(state, 0, own, source.address, 7, PRETENDED_BYTES));
    OK(table->event_record(state, 0, own, &event));
    OK(table->event_wait(state, 0, queue, event));
    OK(table->copy(state, 0, queue, target.address, source.address, PRETENDED_BYTES));
    OK(table->event_record(state, 0, queue, &back));
    OK(table->event_wait(state, 0, own, back));
    OK(table->fill(state, 0, own, source.address, 9, PRETENDED_BYTES));
    OK(table->synchronize(state, 0, own));
    pretended_read(state, 0, bytes, target.address, sizeof(bytes));
    cr_assert_eq(bytes[PRETENDED_BYTES - 1], 7);
    OK(table->event_destroy(state, 0, event));
    OK(table->event_destroy(state, 0, back));
    OK(table->queue_destroy(state, 0, queue));
    OK(table->queue_destroy(state, 0, own));
    drop(state);
    pretended_give_back(state, 0, &source);
    pretended_end(state, 0, &target);
}

/* The memory for partial sums is ours, and no other wait ends its use. */
Test(level_zero_lists, a_sum_ends_before_its_scratch)
{
    enum { COUNT = 1 << 16 };
    memspan_request_t request  = pretended_ask(MEMSPAN_KIND_DEVICE, COUNT * sizeof(double));
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_SUM, .count = COUNT};
    void *state = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block;
    void *queue;

    make(state);
    OK(table->alloc(state, 0, &request, &block));
    queue  = adopt(state, theirs.list);
    call.x = call.z = block.address;
    OK(table->launch(state, 0, queue, &call));
    OK(table->queue_destroy(state, 0, queue));
    drop(state);
    pretended_end(state, 0, &block);
}

/* ---- lists that are refused ---- */

static lz_result_t is_regular(lz_list_h list, uint8_t *immediate)
{
    (void)list;
    *immediate = 0;
    return ZE_RESULT_SUCCESS;
}

/* The answers of newer loaders are the test's. */
static lz_device_h other;

static lz_result_t is_of_other(lz_list_h list, lz_device_h *device)
{
    (void)list;
    *device = other;
    return ZE_RESULT_SUCCESS;
}

Test(level_zero_lists, lists_that_are_no_queue)
{
    struct lz_state *state = PRETENDED_OPEN("DEVICES=2");

    make(state);
    refuse(state, NULL, MEMSPAN_ERR_INVALID, "NULL");
    state->ze.zeCommandListIsImmediate = is_regular;
    refuse(state, theirs.list, MEMSPAN_ERR_INVALID, "not immediate");
    state->ze.zeCommandListIsImmediate     = NULL;
    state->ze.zeCommandListGetDeviceHandle = is_of_other;
    other                                  = lz_device(state->gpu.devices[1])->handle;
    refuse(state, theirs.list, MEMSPAN_ERR_INVALID, "another device");
    other = lz_device(state->gpu.devices[0])->handle;
    OK(table->queue_destroy(state, 0, adopt(state, theirs.list)));
    drop(state);
    pretended_close(state);
}

Test(level_zero_lists, a_driver_that_takes_events_of_one_context)
{
    void *state = PRETENDED_OPEN("DEVICES=1", "LACKS=contexts");

    make(state);
    refuse(state, theirs.list, MEMSPAN_ERR_DRIVER, "takes no event");
    drop(state);
    pretended_close(state);
}

/* ---- events ---- */

/* However often a queue is waited for, and though nothing is destroyed before the end. */
Test(level_zero_lists, events_are_used_again)
{
    enum { ROUNDS = 1000 };
    void *event = NULL;
    void *own   = NULL;
    void *state = PRETENDED_OPEN("DEVICES=1");
    int i;

    OK(table->queue_create(state, 0, &own));
    for (i = 0; i < ROUNDS; i++) {
        OK(table->event_record(state, 0, own, &event));
        OK(table->event_wait(state, 0, NULL, event));
        if (i % 8 == 7) {
            OK(table->synchronize(state, 0, NULL));
        }
    }
    cr_assert_leq(pretended.calls("zeEventCreate"), 80u, "%u", pretended.calls("zeEventCreate"));
    cr_assert_eq(pretended.calls("zeEventDestroy"), 0u);
    OK(table->event_destroy(state, 0, event));
    OK(table->queue_destroy(state, 0, own));
    pretended_close(state);
}

/* More events than a pool has, all of them pending. */
Test(level_zero_lists, pools_are_added)
{
    enum { COUNT = 150 };
    void *events[COUNT] = {NULL};
    void *state         = PRETENDED_OPEN("DEVICES=1");
    int i;

    for (i = 0; i < COUNT; i++) {
        OK(table->event_record(state, 0, NULL, &events[i]));
    }
    cr_assert_eq(pretended.calls("zeEventPoolCreate"), 3u);
    OK(table->synchronize(state, 0, NULL));
    for (i = 0; i < COUNT; i++) {
        cr_assert(is_done(state, events[i]));
        OK(table->event_destroy(state, 0, events[i]));
    }
    pretended_close(state);
}

Test(level_zero_lists, another_driver_cannot_wait)
{
    void *event = NULL;
    void *state = PRETENDED_OPEN("DRIVERS=2", "DEVICES=1");

    OK(table->event_record(state, 0, NULL, &event));
    memspan_error_clear();
    cr_assert_eq(table->event_wait(state, 1, NULL, event), MEMSPAN_ERR_UNSUPPORTED);
    OK(memspan_error_last()->status);
    OK(table->event_destroy(state, 0, event));
    pretended_close(state);
}

/* A question that fails is no answer about the work; a device that is lost does none any more. */
Test(level_zero_lists, a_query_that_fails)
{
    void *event = NULL;
    int done    = -1;
    void *state = PRETENDED_OPEN("DEVICES=1", "FAIL_CALL=zeEventQueryStatus");

    OK(table->event_record(state, 0, NULL, &event));
    cr_assert_eq(table->event_done(state, 0, event, &done), MEMSPAN_ERR_DRIVER);
    cr_assert_eq(done, -1);
    OK(table->event_destroy(state, 0, event));
    pretended_close(state);
    state = PRETENDED_OPEN("DEVICES=1", "FAIL_CALL=zeEventQueryStatus", "FAIL_CODE=0x70000001");
    event = NULL;
    OK(table->event_record(state, 0, NULL, &event));
    OK(table->event_done(state, 0, event, &done));
    cr_assert_eq(done, 1);
    OK(table->event_destroy(state, 0, event));
    pretended_close(state);
}
