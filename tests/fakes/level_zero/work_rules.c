/* SPDX-License-Identifier: BSD-3-Clause */
/* work_rules.c: the order of commands, who waits for whom, kernels, and two drivers. */

#include "core/base/error.h"
#include "tests/fakes/level_zero/pretended.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_level_zero;

static memspan_kernel_call_t call_of(memspan_kernel_t kernel, size_t count, void *address)
{
    return (memspan_kernel_call_t){.struct_size = sizeof(memspan_kernel_call_t),
                                   .kernel      = kernel,
                                   .count       = count,
                                   .a           = 2.5,
                                   .x           = address,
                                   .y           = address,
                                   .z           = address};
}

TestSuite(level_zero_work, .init = pretended_find, .timeout = 60);

/* The driver does what it is not told to do in order the other way round. */
Test(level_zero_work, commands_keep_their_order)
{
    memspan_kernel_call_t call;
    unsigned char bytes[800];
    unsigned char got[800];
    double number;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    memset(bytes, 3, sizeof(bytes));
    call = call_of(MEMSPAN_KERNEL_FILL, 50, block.address);
    OK(table->copy(state, 0, NULL, block.address, bytes, sizeof(bytes)));
    OK(table->fill(state, 0, NULL, block.address, 7, 600));
    OK(table->launch(state, 0, NULL, &call));
    pretended_read(state, 0, got, block.address, sizeof(got));
    memcpy(&number, got + 392, sizeof(number));
    cr_assert((number == 2.5) && (got[400] == 7) && (got[599] == 7) && (got[600] == 3));
    pretended_end(state, 0, &block);
}

Test(level_zero_work, giving_back_waits_for_every_queue)
{
    void *queues[2];
    memspan_kernel_call_t call;
    int i;
    void *state           = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    call = call_of(MEMSPAN_KERNEL_FILL, 50, block.address);
    for (i = 0; i < 2; i++) {
        OK(table->queue_create(state, i, &queues[i]));
        OK(table->launch(state, i, queues[i], &call));
    }
    pretended_give_back(state, 0, &block);
    for (i = 0; i < 2; i++) {
        OK(table->queue_destroy(state, i, queues[i]));
    }
    pretended_close(state);
}

Test(level_zero_work, closing_waits_too)
{
    memspan_kernel_call_t call;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_HOST_PINNED);

    pretended_give_back(state, 0, &block);
    call = call_of(MEMSPAN_KERNEL_SUM, 0, NULL);
    (void)call;
    OK(table->synchronize(state, 0, NULL));
    cr_assert_eq(pretended.calls("zeCommandListCreateImmediate"), 0u, "no queue was needed");
    pretended_close(state);
}

/* ---- threads ---- */

enum { THREADS = 12, ROUNDS = 40 };

struct worker {
    void *state;
    char *address;
    bool good;
};

/* Each has bytes of its own, and all have one queue. */
static void *work(void *opaque)
{
    struct worker *w = opaque;
    int i;

    w->good = true;
    for (i = 0; w->good && (i < ROUNDS); i++) {
        char got = 0;
        w->good =
            (table->fill(w->state, 0, NULL, w->address, (unsigned char)i, 64) == MEMSPAN_OK) &&
            (table->copy(w->state, 0, NULL, &got, w->address + 63, 1) == MEMSPAN_OK) &&
            (table->synchronize(w->state, 0, NULL) == MEMSPAN_OK) && (got == (char)i);
    }
    return NULL;
}

Test(level_zero_work, threads_wait_for_one_queue)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    int i;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    for (i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){state, (char *)block.address + 64 * i, false};
        cr_assert_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_assert(workers[i].good, "thread %d", i);
    }
    cr_assert_leq(pretended.calls("zeEventCreate"), (unsigned)THREADS);
    pretended_end(state, 0, &block);
}

/* Events whose wait failed may still be signalled. */
Test(level_zero_work, waiting_that_always_fails_ends)
{
    int i;
    void *state           = PRETENDED_OPEN("FAIL_CALL=zeEventHostSynchronize");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    OK(table->fill(state, 0, NULL, block.address, 1, 64));
    for (i = 0; i < 16; i++) {
        cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_ERR_DRIVER);
    }
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_ERR_DRIVER);
    cr_assert_not_null(strstr(pretended_log(), "are kept"));
    pretended_close(state);
}

/* ---- a queue that is destroyed during a wait for it ---- */

static struct {
    lz_result_t (*wait)(lz_event_h, uint64_t);
    pthread_t waiter;
    sem_t held;
    sem_t go_on;
    void *state;
    void *queue;
    memspan_status_t waited;
    memspan_status_t destroyed;
    atomic_bool done;
} one;

/* The waiter is stopped on its way to the driver, its event in its hands. */
static lz_result_t wait_late(lz_event_h event, uint64_t timeout_ns)
{
    if (pthread_equal(pthread_self(), one.waiter)) {
        sem_post(&one.held);
        sem_wait(&one.go_on);
    }
    return one.wait(event, timeout_ns);
}

static void *wait_for_all(void *unused)
{
    one.waiter = pthread_self();
    one.waited = table->synchronize(one.state, 0, NULL);
    return unused;
}

static void *destroy_queue(void *unused)
{
    one.destroyed = table->queue_destroy(one.state, 0, one.queue);
    atomic_store(&one.done, true);
    return unused;
}

Test(level_zero_work, a_queue_stays_during_a_wait_for_it)
{
    memspan_kernel_call_t call;
    memspan_block_t block;
    pthread_t waiter;
    pthread_t destroyer;
    int i;

    one.state = PRETENDED_OPEN("DEVICES=1");
    sem_init(&one.held, 0, 0);
    sem_init(&one.go_on, 0, 0);
    one.wait = ((struct lz_state *)one.state)->ze.zeEventHostSynchronize;
    ((struct lz_state *)one.state)->ze.zeEventHostSynchronize = wait_late;
    block = pretended_take(one.state, 0, MEMSPAN_KIND_MANAGED);
    call  = call_of(MEMSPAN_KERNEL_FILL, 50, block.address);
    OK(table->queue_create(one.state, 0, &one.queue));
    OK(table->launch(one.state, 0, one.queue, &call));
    cr_assert_eq(pthread_create(&waiter, NULL, wait_for_all, NULL), 0);
    sem_wait(&one.held);
    cr_assert_eq(pthread_create(&destroyer, NULL, destroy_queue, NULL), 0);
    for (i = 0; (i < 100) && !atomic_load(&one.done); i++) {
        usleep(1000); /* the time that a wrong destroy has */
    }
    cr_assert_not(atomic_load(&one.done),
                  "the queue was destroyed with an event that is waited for");
    sem_post(&one.go_on);
    pthread_join(waiter, NULL);
    pthread_join(destroyer, NULL);
    OK(one.waited);
    OK(one.destroyed);
    pretended_end(one.state, 0, &block);
}

/* ---- kernels ---- */

/* With handles of its own the loader loses the log of a compilation that failed. */
Test(level_zero_work, compiler_words_reach_the_record)
{
    bool wrapped = getenv("ZE_ENABLE_LOADER_INTERCEPT") != NULL;
    memspan_kernel_call_t call;
    void *state           = PRETENDED_OPEN("FAIL_CALL=zeModuleCreate", "FAIL_CODE=0x70000004");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    call = call_of(MEMSPAN_KERNEL_FILL, 50, block.address);
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->native_text, "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE");
    cr_assert(wrapped || (strstr(memspan_error_last()->message, "pretended words") != NULL));
    cr_assert_null(strstr(memspan_error_last()->message, "\n"));
    pretended_give_back(state, 0, &block);
    if (wrapped) {
        table->close(state);
    } else {
        pretended_close(state);
    }
}

Test(level_zero_work, a_kernel_is_compiled_once)
{
    memspan_kernel_call_t call;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    call   = call_of(MEMSPAN_KERNEL_FILL, 50, block.address);
    call.x = (void *)16; /* not its argument, and nowhere */
    OK(table->launch(state, 0, NULL, &call));
    OK(table->launch(state, 0, NULL, &call));
    cr_assert_eq(pretended.calls("zeModuleCreate"), 1u);
    call.kernel = (memspan_kernel_t)MEMSPAN_KERNEL_COMBINE_LAST;
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_UNSUPPORTED);
    call.kernel = MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_AND, MEMSPAN_ELEMENT_F32);
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 0, &block);
}

/* Intel's Arc has none: what needs none of it runs there. */
Test(level_zero_work, kernels_without_double_precision)
{
    static const memspan_kernel_t needing[] = {
        MEMSPAN_KERNEL_DAXPY, MEMSPAN_KERNEL_SUM,
        MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_MAX, MEMSPAN_ELEMENT_F64),
        MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_SUM, MEMSPAN_ELEMENT_C64)};
    static const memspan_kernel_t others[] = {
        MEMSPAN_KERNEL_FILL, MEMSPAN_KERNEL_CHASE, MEMSPAN_KERNEL_ADD_ATOMIC,
        MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_MAX, MEMSPAN_ELEMENT_F32),
        MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_XOR, MEMSPAN_ELEMENT_U64)};
    memspan_kernel_call_t call;
    size_t i;
    void *state           = PRETENDED_OPEN("LACKS=fp64");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    for (i = 0; i < sizeof(needing) / sizeof(needing[0]); i++) {
        call = call_of(needing[i], 1, block.address);
        cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_UNSUPPORTED);
        cr_assert_not_null(strstr(memspan_error_text(), "double precision"));
        cr_assert_not_null(strstr(memspan_error_last()->hint, "IGC_EnableDPEmulation"));
    }
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        call = call_of(others[i], (others[i] == MEMSPAN_KERNEL_CHASE) ? 0 : 1, block.address);
        OK(table->launch(state, 0, NULL, &call));
        OK(table->synchronize(state, 0, NULL));
    }
    pretended_end(state, 0, &block);
}

Test(level_zero_work, sums_of_every_size)
{
    static const size_t counts[] = {0, 1, 100, 128, 129, 6144, 6145, 40000};
    enum { MOST = 40000 };
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, (MOST + 1) * sizeof(double));
    memspan_block_t block;
    double *values;
    void *state = PRETENDED_OPEN("DEVICES=1");

    OK(table->alloc(state, 0, &request, &block));
    values = block.address;
    for (size_t i = 0; i < MOST; i++) {
        values[i + 1] = (double)(i % 10 + 1);
    }
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        memspan_kernel_call_t call = call_of(MEMSPAN_KERNEL_SUM, counts[c], values);
        double wanted              = 0;
        for (size_t i = 0; i < counts[c]; i++) {
            wanted += (double)(i % 10 + 1);
        }
        call.x = values + 1;
        OK(table->launch(state, 0, NULL, &call));
        OK(table->synchronize(state, 0, NULL));
        cr_assert_eq(values[0], wanted, "%zu: %g, not %g", counts[c], values[0], wanted);
    }
    pretended_end(state, 0, &block);
}

/* The end of a list that leads out of the device's reach. */
Test(level_zero_work, a_broken_kernel_loses_the_device)
{
    static uint64_t nowhere;
    memspan_kernel_call_t call;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_HOST_PINNED);

    *(void **)block.address = &nowhere;
    call                    = call_of(MEMSPAN_KERNEL_CHASE, 2, block.address);
    OK(table->launch(state, 0, NULL, &call));
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->native_text, "ZE_RESULT_ERROR_DEVICE_LOST");
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_ERR_DRIVER);
    pretended_close(state);
}

/* ---- two drivers ---- */

Test(level_zero_work, drivers_share_host_memory)
{
    enum { SIZE = 9 << 20 };
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, SIZE);
    unsigned char *bytes      = malloc(SIZE);
    memspan_block_t blocks[2];
    int i;
    void *state = PRETENDED_OPEN("DRIVERS=2", "DEVICES=1");

    cr_assert_eq(table->device_count(state), 2);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_COPY);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_HOST_PINNED, 1).access, MEMSPAN_ACCESS_COPY);
    for (i = 0; i < 2; i++) {
        OK(table->alloc(state, i, &request, &blocks[i]));
    }
    for (i = 0; i < SIZE; i++) {
        bytes[i] = (unsigned char)(i * 7 + (i >> 9));
    }
    for (i = 0; i < 2; i++) {
        int other = 1 - i;
        OK(table->copy(state, i, NULL, blocks[i].address, bytes, SIZE));
        OK(table->copy(state, i, NULL, blocks[other].address, blocks[i].address, SIZE));
        memset(bytes, 0, SIZE);
        pretended_read(state, other, bytes, blocks[other].address, SIZE);
        cr_assert((bytes[1] == 7) &&
                  (bytes[SIZE - 1] == (unsigned char)((SIZE - 1) * 7 + ((SIZE - 1) >> 9))));
    }
    cr_assert_eq(table->prefetch(state, 0, NULL, blocks[0].address, 4096, 1),
                 MEMSPAN_ERR_UNSUPPORTED);
    for (i = 0; i < 2; i++) {
        pretended_give_back(state, i, &blocks[i]);
    }
    pretended_close(state);
    free(bytes);
}

/* What goes through host memory keeps its place among the commands of its queue. */
Test(level_zero_work, a_copy_between_drivers_comes_after_what_was_queued)
{
    unsigned char got[64];
    memspan_block_t blocks[2];
    void *queue = NULL;
    int i;
    void *state = PRETENDED_OPEN("DRIVERS=2", "DEVICES=1");

    for (i = 0; i < 2; i++) {
        blocks[i] = pretended_take(state, i, MEMSPAN_KIND_DEVICE);
    }
    OK(table->queue_create(state, 0, &queue));
    OK(table->fill(state, 0, queue, blocks[0].address, 7, sizeof(got)));
    OK(table->copy(state, 0, queue, blocks[1].address, blocks[0].address, sizeof(got)));
    OK(table->synchronize(state, 0, queue));
    pretended_read(state, 1, got, blocks[1].address, sizeof(got));
    cr_assert((got[0] == 7) && (got[sizeof(got) - 1] == 7), "%#x", got[0]);
    OK(table->queue_destroy(state, 0, queue));
    for (i = 0; i < 2; i++) {
        pretended_give_back(state, i, &blocks[i]);
    }
    pretended_close(state);
}
