/* SPDX-License-Identifier: BSD-3-Clause */
/* events.c: command queues of the program, and events of several platforms and versions. */

#include "core/base/error.h"
#include "tests/fakes/opencl/pretended.h"
#include <string.h>

static const memspan_backend_t *const table = &msp_backend_opencl;

enum { OUT_OF_ORDER = 1 };

TestSuite(pretended_events, .init = pretended_find, .timeout = 30);

/* What the program makes, on the devices of the first platform from @p first to @p last. */
static cl_context make_context(const struct opencl_state *state, int first, int last)
{
    cl_device_id ids[2];
    cl_int code = 0;
    int i;

    for (i = first; i <= last; i++) {
        ids[i - first] = state->devices[i]->id;
    }
    return state->cl.clCreateContext(NULL, (cl_uint)(last - first + 1), ids, NULL, NULL, &code);
}

static cl_command_queue make_queue(const struct opencl_state *state, cl_context context,
                                   int ordinal, cl_bitfield properties)
{
    cl_int code = 0;

    return state->cl.clCreateCommandQueue(context, state->devices[ordinal]->id, properties, &code);
}

static void *adopt(struct opencl_state *state, cl_command_queue handle)
{
    void *queue = NULL;

    OK(table->queue_adopt(state, 0, MEMSPAN_QUEUE_OPENCL, handle, &queue));
    cr_assert_not_null(queue);
    return queue;
}

static void refuse(struct opencl_state *state, cl_command_queue handle, const char *words)
{
    void *queue = NULL;

    cr_assert_eq(table->queue_adopt(state, 0, MEMSPAN_QUEUE_OPENCL, handle, &queue),
                 MEMSPAN_ERR_INVALID);
    cr_assert_not_null(strstr(memspan_error_text(), words), "%s", memspan_error_text());
    cr_assert_null(queue);
}

static bool is_done(struct opencl_state *state, void *event)
{
    int done = -1;

    OK(table->event_done(state, 0, event, &done));
    return done == 1;
}

Test(pretended_events, a_queue_of_the_program)
{
    unsigned char bytes[PRETENDED_BYTES];
    struct opencl_state *state = PRETENDED_OPEN("DEVICES=2", "APART=1");
    cl_context context         = make_context(state, 0, 1);
    cl_command_queue handle    = make_queue(state, context, 0, 0);
    void *queue                = adopt(state, handle);
    void *event                = NULL;
    memspan_block_t block;

    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    OK(table->fill(state, 0, queue, block.address, 7, PRETENDED_BYTES));
    OK(table->event_record(state, 0, queue, &event));
    OK(table->queue_destroy(state, 0, queue));
    cr_assert(!is_done(state, event), "a queue that is not ours was waited for");
    queue = adopt(state, handle);
    OK(table->synchronize(state, 0, queue));
    cr_assert(is_done(state, event));
    cr_assert_eq(state->cl.clReleaseCommandQueue(handle), OPENCL_SUCCESS);
    cr_assert_eq(state->cl.clReleaseContext(context), OPENCL_SUCCESS);
    OK(table->fill(state, 0, queue, block.address, 8, PRETENDED_BYTES));
    OK(table->synchronize(state, 0, queue));
    pretended_read(state, 0, bytes, block.address, sizeof(bytes));
    cr_assert_eq(bytes[PRETENDED_BYTES - 1], 8);
    OK(table->queue_destroy(state, 0, queue));
    OK(table->event_destroy(state, 0, event));
    pretended_end(state, 0, &block);
}

/* Its commands are not counted: it may always have some. */
Test(pretended_events, commands_of_the_program_are_waited_for)
{
    static const char pattern  = 5;
    struct opencl_state *state = PRETENDED_OPEN("DEVICES=1", "APART=1");
    cl_context context         = make_context(state, 0, 0);
    cl_command_queue handle    = make_queue(state, context, 0, 0);
    void *queue                = adopt(state, handle);
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_COHERENT);
    void *event                = NULL;

    cr_assert_eq(
        state->cl.clEnqueueSVMMemFill(handle, block.address, &pattern, 1, 64, 0, NULL, NULL),
        OPENCL_SUCCESS);
    OK(table->event_record(state, 0, queue, &event));
    cr_assert(!is_done(state, event));
    OK(table->synchronize(state, 0, queue));
    cr_assert_eq(((char *)block.address)[63], 5);
    cr_assert(is_done(state, event));
    OK(table->event_destroy(state, 0, event));
    OK(table->queue_destroy(state, 0, queue));
    (void)state->cl.clReleaseCommandQueue(handle);
    (void)state->cl.clReleaseContext(context);
    pretended_end(state, 0, &block);
}

Test(pretended_events, queues_that_are_refused)
{
    struct opencl_state *state = PRETENDED_OPEN("DEVICES=2", "APART=1");
    cl_context contexts[2]     = {make_context(state, 0, 0), make_context(state, 0, 1)};
    cl_command_queue handles[] = {
        make_queue(state, contexts[0], 0, 0), make_queue(state, contexts[1], 0, OUT_OF_ORDER),
        make_queue(state, contexts[1], 1, 0), make_queue(state, contexts[1], 0, 0)};
    memspan_block_t block;
    int i;

    refuse(state, NULL, "NULL");
    refuse(state, handles[0], "of another context");
    refuse(state, handles[1], "any order");
    refuse(state, handles[2], "of another device");
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    refuse(state, handles[3], "of another context");
    for (i = 0; i < 4; i++) {
        (void)state->cl.clReleaseCommandQueue(handles[i]);
    }
    for (i = 0; i < 2; i++) {
        (void)state->cl.clReleaseContext(contexts[i]);
    }
    pretended_end(state, 0, &block);
}

Test(pretended_events, another_platform_cannot_wait)
{
    struct opencl_state *state = PRETENDED_OPEN("PLATFORMS=2", "APART=1");
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    void *event                = NULL;

    OK(table->fill(state, 0, NULL, block.address, 7, PRETENDED_BYTES));
    OK(table->event_record(state, 0, NULL, &event));
    memspan_error_clear();
    cr_assert_eq(table->event_wait(state, 1, NULL, event), MEMSPAN_ERR_UNSUPPORTED);
    OK(memspan_error_last()->status);
    OK(table->event_destroy(state, 0, event));
    pretended_end(state, 0, &block);
}

/* What is complete costs no marker and no barrier. */
Test(pretended_events, an_idle_queue_costs_no_command)
{
    struct opencl_state *state = PRETENDED_OPEN("DEVICES=1", "APART=1");
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    void *event                = NULL;
    void *queue                = NULL;

    OK(table->queue_create(state, 0, &queue));
    OK(table->event_record(state, 0, queue, &event));
    cr_assert(is_done(state, event));
    OK(table->event_wait(state, 0, NULL, event));
    cr_assert_eq(pretended.calls("clEnqueueMarkerWithWaitList") +
                     pretended.calls("clEnqueueBarrierWithWaitList") + pretended.calls("clFinish"),
                 0u);
    OK(table->event_destroy(state, 0, event));
    OK(table->queue_destroy(state, 0, queue));
    pretended_end(state, 0, &block);
}

/* OpenCL 1.1 has another call for it, and no barrier that waits for events. */
Test(pretended_events, an_old_version_has_events_for_the_host)
{
    struct opencl_state *state = PRETENDED_OPEN("VERSION=OpenCL 1.1", "SVM=0");
    cl_context context         = make_context(state, 0, 0);
    cl_command_queue handle    = make_queue(state, context, 0, 0);
    void *queue                = adopt(state, handle);
    void *event                = NULL;

    OK(table->event_record(state, 0, queue, &event));
    cr_assert_eq(pretended.calls("clEnqueueMarker"), 1u);
    cr_assert(!is_done(state, event));
    cr_assert_eq(table->event_wait(state, 0, queue, event), MEMSPAN_ERR_UNSUPPORTED);
    OK(table->synchronize(state, 0, queue));
    cr_assert(is_done(state, event));
    OK(table->event_destroy(state, 0, event));
    OK(table->queue_destroy(state, 0, queue));
    (void)state->cl.clReleaseCommandQueue(handle);
    (void)state->cl.clReleaseContext(context);
    pretended_close(state);
}
