/* SPDX-License-Identifier: BSD-3-Clause */
/* lifetime.c: what others do to contexts, streams and the driver while the backend holds them: a
 * program that captures, that resets a device, that wakes one; a driver that ends first. */

#include "core/base/error.h"
#include "tests/fakes/cuda/pretended.h"
#include "tests/fakes/suite/gpu_rules.h"
#include <string.h>
#include <sys/mman.h>

static const memspan_backend_t *const table = &msp_backend_cuda;

static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_HOST_PINNED,
                                       MEMSPAN_KIND_MANAGED};
enum { KINDS = 3 };

static bool is_old(void)
{
    return driver.cu.cuMemCreate == NULL;
}

TestSuite(cuda_lifetime, .init = pretended_find, .timeout = 60);

/* ---- captures ---- */

/* It cannot be waited for: memory that may be in use stays. */
Test(cuda_lifetime, mapped_memory_stays_while_a_stream_is_captured)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, 2 << 20);
    memspan_block_t block;
    void *state;

    if (is_old()) {
        cr_skip_test("an old driver");
    }
    state                   = PRETENDED_OPEN("DEVICES=1");
    request.page_size_bytes = 2 << 20;
    OK(table->alloc(state, 0, &request, &block));
    gpu_program.capture(true);
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_ERR_DRIVER);
    cr_assert_not_null(strstr(memspan_error_last()->hint, "captured"));
    cr_assert_eq(pretended.calls("cuMemUnmap"), 0u);
    gpu_program.capture(false);
    table->close(state);
    cr_assert_str_empty(pretended.violation(), "%s", pretended.violation());
}

/* ---- the end of the process ---- */

Test(cuda_lifetime, a_driver_that_has_ended_is_asked_once)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, PRETENDED_BYTES);
    void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memspan_block_t blocks[KINDS];
    memspan_block_t coherent;
    void *queue = NULL;
    unsigned pushed;
    void *cookie;
    void *seen;
    int i;
    void *state = PRETENDED_OPEN("ATTRIBUTES=88=1");

    for (i = 0; i < KINDS; i++) {
        blocks[i] = pretended_take(state, 0, kinds[i]);
    }
    OK(table->alloc(state, 0, &request, &coherent));
    OK(table->queue_create(state, 0, &queue));
    OK(table->import(state, 0, pages, 4096, &seen, &cookie));
    memspan_error_clear();
    driver.end();
    pushed = pretended.calls("cuCtxPushCurrent");
    for (i = 0; i < KINDS; i++) {
        pretended_give_back(state, 0, &blocks[i]);
    }
    pretended_give_back(state, 0, &coherent);
    OK(table->release(state, 0, pages, 4096, cookie));
    OK(table->queue_destroy(state, 0, queue));
    cr_assert_leq(pretended.calls("cuCtxPushCurrent"), pushed + 1);
    cr_assert_eq(pretended.calls("cuMemFree") + pretended.calls("cuMemFreeHost"), 0u);
    OK(memspan_error_last()->status);
    cr_assert_null(strstr(pretended_log(), "DEINITIALIZED"), "%s", pretended_log());
    pretended_close(state);
    munmap(pages, 4096);
}

/* ---- resets ---- */

static void check_reset(bool woken_by_others)
{
    memspan_block_t others;
    cuda_context_t theirs;
    void *event_again     = NULL;
    void *event           = NULL;
    void *queue           = NULL;
    int done              = 0;
    void *state           = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    others = pretended_take(state, 1, MEMSPAN_KIND_DEVICE);
    OK(table->queue_create(state, 0, &queue));
    OK(pretended_launch_fill(state, 0, NULL, block.address));
    OK(table->synchronize(state, 0, NULL));
    OK(table->event_record(state, 0, NULL, &event));
    OK(table->event_record(state, 0, NULL, &event_again));
    driver.reset_device(0);
    if (woken_by_others) {
        cr_assert_eq(driver.cu.cuDevicePrimaryCtxRetain(&theirs, 0), CUDA_SUCCESS);
    }
    /* Another device's queue finds out as well. */
    OK(table->event_wait(state, 1, NULL, event));
    OK(table->event_done(state, 0, event, &done));
    cr_assert_eq(done, 1, "its work went with the reset");
    OK(table->event_destroy(state, 0, event));
    cr_assert_eq(pretended.calls("cuStreamWaitEvent") + pretended.calls("cuEventQuery") +
                     pretended.calls("cuEventDestroy"),
                 0u, "its handle may have another owner");
    pretended_give_back(state, 0, &block);
    cr_assert_eq(pretended.calls("cuMemFree"), 0u, "its address may have another owner");
    cr_assert_not_null(strstr(pretended_log(), "was reset by the program"));
    cr_assert_eq(pretended_launch_fill(state, 0, queue, others.address), MEMSPAN_ERR_NOT_FOUND);
    OK(table->queue_destroy(state, 0, queue));
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    OK(pretended_launch_fill(state, 0, NULL, block.address));
    OK(table->event_record(state, 0, NULL, &event_again));
    OK(table->synchronize(state, 0, NULL));
    OK(table->event_destroy(state, 0, event_again));
    cr_assert_eq(pretended.calls("cuEventDestroy"), 1u);
    OK(pretended_launch_fill(state, 1, NULL, block.address));
    cr_assert_eq(table->synchronize(state, 1, NULL), MEMSPAN_OK, "peers are to be enabled again");
    pretended_give_back(state, 0, &block);
    pretended_give_back(state, 1, &others);
    table->close(state);
    cr_assert_str_empty(pretended.violation(), "%s", pretended.violation());
    cr_assert_eq(pretended.live(), woken_by_others ? 2 : 1, "%d: references of before the reset",
                 pretended.live());
}

Test(cuda_lifetime, a_device_that_the_program_resets_goes_on)
{
    check_reset(false);
}

/* The handle may be the same again, and nothing that was made with it is. */
Test(cuda_lifetime, a_device_that_was_reset_and_used_again_is_noticed)
{
    if (driver.cu.cuCtxGetId == NULL) {
        cr_skip_test("an old driver does not number contexts");
    }
    check_reset(true);
}

/* ---- peers ---- */

/* A device that the program wakes by other means than ours has access all the same. */
Test(cuda_lifetime, the_devices_of_a_space_are_connected_before_its_memory_is_taken)
{
    unsigned calls;
    void *state = PRETENDED_OPEN("DEVICES=3");

    OK(table->connect(state, 0, MEMSPAN_KIND_MANAGED, 1));
    cr_assert_eq(pretended.calls("cuDevicePrimaryCtxRetain"), 0u, "faults need no connection");
    OK(table->connect(state, 0, MEMSPAN_KIND_DEVICE, 1));
    cr_assert_eq(pretended.calls("cuDevicePrimaryCtxRetain"), 2u);
    cr_assert_geq(pretended.calls("cuCtxEnablePeerAccess"), 1u);
    calls = pretended.calls("cuCtxPushCurrent");
    OK(table->connect(state, 0, MEMSPAN_KIND_DEVICE, 1));
    cr_assert_eq(pretended.calls("cuCtxPushCurrent"), calls, "once is enough");
    cr_assert_eq(table->connect(state, 0, MEMSPAN_KIND_DEVICE, 7), MEMSPAN_ERR_NOT_FOUND);
    pretended_close(state);
    state = PRETENDED_OPEN("LIES=peer");
    cr_assert_eq(table->connect(state, 0, MEMSPAN_KIND_DEVICE, 1), MEMSPAN_ERR_UNSUPPORTED);
    pretended_close(state);
}

/* ---- questions without a context ---- */

Test(cuda_lifetime, a_driver_without_a_context_knows_no_pointer)
{
    static const char *const codes[] = {"FAIL_CODE=201", "FAIL_CODE=3"};
    memspan_pointer_facts_t facts;
    int on_stack = 0;
    void *state;
    int i;

    for (i = 0; i < 2; i++) {
        state = PRETENDED_OPEN("FAIL_CALL=cuPointerGetAttributes", codes[i]);
        cr_assert_eq(table->pointer_describe(state, &on_stack, &facts), MEMSPAN_ERR_NOT_FOUND);
        pretended_close(state);
    }
}
