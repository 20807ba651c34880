/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_events.c: events and streams of the program, of CUDA and HIP. */

#include "core/base/error.h"
#include "tests/fakes/suite/gpu_rules.h"
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { CAPTURED = 900 };

static const memspan_backend_t *table;

static void find(void)
{
    pretended_find();
    table = pretended.table;
}

/* A stream that the program makes on a device. */
static void *make_stream(void *state, int ordinal)
{
    void *stream = NULL;
    struct gpu_visit visit;

    OK(gpu_enter(state, ordinal, GPU_TO_WORK, &visit));
    cr_assert_eq(gpu_program.make_stream(&stream), 0);
    gpu_leave(&visit);
    return stream;
}

static void drop_stream(void *state, int ordinal, void *stream)
{
    struct gpu_visit visit;

    OK(gpu_enter(state, ordinal, GPU_TO_WORK, &visit));
    cr_assert_eq(gpu_program.drop_stream(stream), 0);
    gpu_leave(&visit);
}

static void *adopt(void *state, int ordinal, void *stream)
{
    void *queue = NULL;

    OK(table->queue_adopt(state, ordinal, gpu_program.queue_type, stream, &queue));
    cr_assert_not_null(queue);
    return queue;
}

static bool is_done(void *state, void *event)
{
    int done = -1;

    OK(table->event_done(state, 0, event, &done));
    return done == 1;
}

TestSuite(gpu_events, .init = find, .timeout = 60);

struct releaser {
    void *state;
    void *queue;
    const unsigned char *early; /* was there before the release */
    unsigned char seen;
};

static void *release_later(void *argument)
{
    struct releaser *r          = argument;
    const struct timespec pause = {0, 20000000};

    nanosleep(&pause, NULL);
    r->seen = *r->early;
    OK(table->queue_release(r->state, 0, r->queue));
    return NULL;
}

/* Work after a hold waits for its release, which another thread makes. */
Test(gpu_events, a_held_stream_waits_for_the_host)
{
    void *state            = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block  = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    memspan_block_t pinned = pretended_take(state, 0, MEMSPAN_KIND_HOST_PINNED);
    struct releaser r      = {.state = state, .early = pinned.address};
    unsigned char *on_host = pinned.address;
    pthread_t thread;
    int i;

    OK(table->queue_create(state, 0, &r.queue));
    OK(table->fill(state, 0, NULL, block.address, 7, PRETENDED_BYTES));
    OK(table->synchronize(state, 0, NULL));
    for (i = 0; i < 3; i++) {
        *on_host = 0;
        if (table->queue_hold(state, 0, r.queue) == MEMSPAN_ERR_UNSUPPORTED) {
            continue; /* an old driver */
        }
        OK(table->copy(state, 0, r.queue, on_host, block.address, 1));
        cr_assert_eq(pthread_create(&thread, NULL, release_later, &r), 0);
        OK(table->synchronize(state, 0, r.queue));
        cr_assert_eq(pthread_join(thread, NULL), 0);
        cr_assert_eq(r.seen, 0, "the copy was made before the release");
        cr_assert_eq(*on_host, 7);
    }
    OK(table->queue_destroy(state, 0, r.queue));
    pretended_give_back(state, 0, &pinned);
    pretended_end(state, 0, &block);
}

Test(gpu_events, a_stream_of_the_program_is_a_queue)
{
    unsigned char bytes[PRETENDED_BYTES];
    void *event = NULL;
    void *stream;
    void *queue;
    unsigned dropped;
    void *state           = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    stream = make_stream(state, 0);
    queue  = adopt(state, 0, stream);
    OK(table->fill(state, 0, queue, block.address, 7, PRETENDED_BYTES));
    OK(table->event_record(state, 0, queue, &event));
    dropped = pretended.calls(gpu_names.drop_stream);
    OK(table->queue_destroy(state, 0, queue));
    cr_assert(!is_done(state, event), "a queue that is not ours was waited for");
    cr_assert_eq(pretended.calls(gpu_names.drop_stream), dropped);
    queue = adopt(state, 0, stream);
    OK(table->synchronize(state, 0, queue));
    cr_assert(is_done(state, event));
    pretended_read(state, 0, bytes, block.address, sizeof(bytes));
    cr_assert_eq(bytes[PRETENDED_BYTES - 1], 7);
    drop_stream(state, 0, stream);
    OK(table->queue_destroy(state, 0, queue));
    cr_assert(is_done(state, event), "its stream is gone");
    OK(table->event_destroy(state, 0, event));
    pretended_end(state, 0, &block);
}

Test(gpu_events, streams_that_are_no_queue_of_a_device)
{
    void *queue = NULL;
    void *stream;
    void *state = PRETENDED_OPEN("DEVICES=2");

    cr_assert_eq(table->queue_adopt(state, 0, gpu_program.queue_type, (void *)2, &queue),
                 MEMSPAN_ERR_INVALID, "each thread has another");
    OK(table->queue_destroy(state, 0, adopt(state, 0, NULL)));
    stream = make_stream(state, 1);
    if (gpu_program.knows_owners) {
        cr_assert_eq(table->queue_adopt(state, 0, gpu_program.queue_type, stream, &queue),
                     MEMSPAN_ERR_INVALID);
        cr_assert_not_null(strstr(memspan_error_text(), "of another context or device"));
    }
    cr_assert_null(queue);
    OK(table->queue_destroy(state, 1, adopt(state, 1, stream)));
    drop_stream(state, 1, stream);
    pretended_close(state);
}

/* The legacy default stream: only streams that are not blocking, as ours, do not wait for it. */
Test(gpu_events, the_default_stream_waits_for_blocking_streams)
{
    enum { BLOCKING, NOT_BLOCKING, QUEUES };
    unsigned char bytes[PRETENDED_BYTES];
    void *streams[QUEUES];
    void *queues[QUEUES];
    void *event = NULL;
    struct gpu_visit visit;
    int i;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    void *legacy          = adopt(state, 0, NULL);

    OK(gpu_enter(state, 0, GPU_TO_WORK, &visit));
    cr_assert_eq(gpu_program.make_blocking_stream(&streams[BLOCKING]), 0);
    cr_assert_eq(gpu_program.make_stream(&streams[NOT_BLOCKING]), 0);
    gpu_leave(&visit);
    for (i = 0; i < QUEUES; i++) {
        queues[i] = adopt(state, 0, streams[i]);
    }
    OK(table->fill(state, 0, queues[NOT_BLOCKING], block.address, 1, 8));
    OK(table->event_record(state, 0, queues[NOT_BLOCKING], &event));
    OK(table->fill(state, 0, queues[BLOCKING], (char *)block.address + 8, 2, 8));
    OK(table->copy(state, 0, legacy, (char *)block.address + 16, (char *)block.address + 8, 8));
    OK(table->synchronize(state, 0, legacy));
    cr_assert(!is_done(state, event));
    OK(table->fill(state, 0, legacy, (char *)block.address + 8, 3, 8));
    OK(table->copy(state, 0, queues[BLOCKING], (char *)block.address + 24,
                   (char *)block.address + 8, 8));
    OK(table->synchronize(state, 0, queues[BLOCKING]));
    OK(table->synchronize(state, 0, queues[NOT_BLOCKING]));
    pretended_read(state, 0, bytes, block.address, sizeof(bytes));
    cr_assert(bytes[16] == 2 && bytes[24] == 3, "%d %d", bytes[16], bytes[24]);
    OK(table->event_destroy(state, 0, event));
    for (i = 0; i < QUEUES; i++) {
        OK(table->queue_destroy(state, 0, queues[i]));
        drop_stream(state, 0, streams[i]);
    }
    OK(table->queue_destroy(state, 0, legacy));
    pretended_end(state, 0, &block);
}

/* The memory for partial sums is the backend's. Work may use it when the queue is closed, which
 * does not wait: it goes back behind the next block, for which the driver waits. */
Test(gpu_events, a_stream_of_the_program_keeps_nothing_of_ours)
{
    enum { COUNT = 1 << 16 };
    memspan_request_t request  = pretended_ask(MEMSPAN_KIND_DEVICE, COUNT * sizeof(double));
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_SUM, .count = COUNT};
    memspan_block_t block;
    void *stream;
    void *queue;
    void *state = PRETENDED_OPEN("DEVICES=1");

    OK(table->alloc(state, 0, &request, &block));
    stream = make_stream(state, 0);
    queue  = adopt(state, 0, stream);
    call.x = call.z = block.address;
    OK(table->launch(state, 0, queue, &call));
    OK(table->queue_destroy(state, 0, queue));
    OK(table->free(state, 0, &block));
    drop_stream(state, 0, stream);
    pretended_close(state);
}

/* CUDA, without concurrent access: the host uses attached memory while another stream works. */
Test(gpu_events, managed_memory_is_attached_to_a_stream)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = MEMSPAN_KERNEL_FILL,
                                  .count       = PRETENDED_BYTES / sizeof(double)};
    void *queues[2];
    memspan_block_t blocks[2];
    memspan_status_t status;
    int i;
    void *state = PRETENDED_OPEN("DEVICES=1", "ATTRIBUTES=89=0");

    for (i = 0; i < 2; i++) {
        blocks[i] = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);
        OK(table->queue_create(state, 0, &queues[i]));
    }
    status = table->attach(state, 0, queues[0], &blocks[0]);
    if (gpu_program.has_attach) {
        OK(status);
        call.z = blocks[1].address;
        OK(table->launch(state, 0, queues[1], &call));
        *(volatile char *)blocks[0].address = 1; /* the other stream works */
        OK(table->synchronize(state, 0, queues[1]));
        call.z = blocks[0].address;
        OK(table->launch(state, 0, queues[0], &call));
        OK(table->synchronize(state, 0, queues[0]));
        OK(table->attach(state, 0, NULL, &blocks[0]));
        OK(table->launch(state, 0, queues[1], &call));
        OK(table->synchronize(state, 0, queues[1]));
    } else {
        cr_assert_eq(status, MEMSPAN_ERR_UNSUPPORTED);
    }
    OK(table->queue_destroy(state, 0, queues[0]));
    OK(table->queue_destroy(state, 0, queues[1]));
    pretended_give_back(state, 0, &blocks[0]);
    pretended_end(state, 0, &blocks[1]);
}

/* An event in a capture is a node of the graph, and no end of work. */
Test(gpu_events, a_stream_that_is_captured_has_no_events)
{
    void *event = NULL;
    void *none  = NULL;
    void *stream;
    void *queue;
    void *state = PRETENDED_OPEN("DEVICES=1");

    stream = make_stream(state, 0);
    queue  = adopt(state, 0, stream);
    OK(table->event_record(state, 0, queue, &event));
    OK(table->synchronize(state, 0, queue));
    gpu_program.capture(true);
    if (gpu_program.knows_owners) {
        cr_assert_eq(table->event_record(state, 0, queue, &none), MEMSPAN_ERR_DRIVER);
        cr_assert_eq(memspan_error_last()->native_code, CAPTURED);
        cr_assert_null(none);
    }
    if (gpu_program.exchange_capture_mode != NULL) {
        cr_assert(is_done(state, event), "what the event ends is not captured");
        cr_assert(gpu_program.capture(false), "the program's graph is invalid");
    }
    gpu_program.capture(false);
    OK(table->event_destroy(state, 0, event));
    OK(table->queue_destroy(state, 0, queue));
    drop_stream(state, 0, stream);
    pretended_close(state);
}

/* What failed is over. */
Test(gpu_events, work_that_failed_is_done)
{
    static char host_page[4096];
    void *event = NULL;
    void *queue = NULL;
    void *state = PRETENDED_OPEN("DEVICES=1");

    OK(table->queue_create(state, 0, &queue));
    OK(pretended_launch_fill(state, 0, queue, host_page));
    OK(table->event_record(state, 0, queue, &event));
    cr_assert(!is_done(state, event));
    cr_assert_eq(table->synchronize(state, 0, queue), MEMSPAN_ERR_DRIVER);
    memspan_error_clear();
    cr_assert(is_done(state, event));
    OK(memspan_error_last()->status);
    OK(table->event_destroy(state, 0, event));
    (void)table->queue_destroy(state, 0, queue);
    pretended_close(state);
}

/* The answer to a wrong call is none about the work. */
Test(gpu_events, a_query_that_is_refused_is_no_answer)
{
    static const char *const codes[] = {"FAIL_CODE=1", "FAIL_CODE=400", "FAIL_CODE=201",
                                        "FAIL_CODE=907"};
    char call[64]                    = "FAIL_CALL=";
    size_t i;

    strcat(call, gpu_names.query_event);
    for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        void *event = NULL;
        int done    = -1;
        void *state = PRETENDED_OPEN("DEVICES=1", call, codes[i]);
        OK(table->event_record(state, 0, NULL, &event));
        cr_assert_eq(table->event_done(state, 0, event, &done), MEMSPAN_ERR_DRIVER, "%s", codes[i]);
        cr_assert_eq(done, -1);
        OK(table->synchronize(state, 0, NULL));
        OK(table->event_destroy(state, 0, event));
        pretended_close(state);
    }
}
