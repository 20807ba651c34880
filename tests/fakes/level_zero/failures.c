/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c: every driver call fails once, in turn, while the backend does all that it can do;
 * then each call fails always; then the device is lost at every call in turn. Nothing may be left,
 * no rule broken, nothing refused by the validation layer, and a record or the log names the call.
 */

#include "core/base/error.h"
#include "tests/fakes/level_zero/pretended.h"
#include "tests/fakes/suite/steps.h"
#include <stdlib.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_level_zero;

/* An answer that was not made up by the test: the validation layer's, or the fake's displeasure. */
static long complaint;

static void note_complaint(void)
{
    long code = memspan_error_last()->native_code;

    if ((code >= ZE_RESULT_ERROR_INVALID_ARGUMENT) &&
        (code <= ZE_RESULT_ERROR_OVERLAPPING_REGIONS)) {
        complaint = code;
    }
}

/* Managed memory goes to other devices of the same driver. */
static void move_across(void *state)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, PRETENDED_BYTES);
    memspan_block_t block;

    if ((((struct lz_state *)state)->driver_count == 1) &&
        steps_fine(table->alloc(state, 1, &request, &block))) {
        steps_fine(table->prefetch(state, 1, NULL, block.address, 4096, 0));
        steps_fine(table->free(state, 1, &block));
    }
}

static void share(void *state)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    char token[512];
    size_t size     = sizeof(token);
    uint64_t offset = 0;
    int fd          = -1;
    memspan_block_t block;
    memspan_block_t opened;

    request.flags = MEMSPAN_REQUEST_SHARED;
    if (!steps_fine(table->alloc(state, 0, &request, &block))) {
        return;
    }
    if (steps_fine(table->ipc_export(state, 0, &block, token, &size)) &&
        steps_fine(table->ipc_import(state, 0, token, size, &opened))) {
        steps_fine(table->ipc_close(state, 0, &opened));
    }
    /* Where the allocation was made to fail once, it is memory that cannot be exported. */
    if (((struct lz_block *)block.cookie)->exportable &&
        steps_fine(table->dmabuf_export(state, 0, block.address, 4096, &fd, &offset))) {
        close(fd);
    }
    steps_fine(table->free(state, 0, &block));
}

static void ask_about_others(void *state)
{
    void *theirs = driver.foreign(LZ_MEMORY_TYPE_SHARED, 4096);
    memspan_pointer_facts_t facts;

    steps_fine(table->pointer_describe(state, theirs, &facts));
    driver.foreign_free(theirs);
}

/* From one device's own memory to the other's. */
static void copy_across(void *state)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t blocks[2];
    bool got[2];
    int i;

    for (i = 0; i < 2; i++) {
        got[i] = steps_fine(table->alloc(state, i, &request, &blocks[i]));
    }
    if (got[0] && got[1]) {
        steps_fine(
            table->copy(state, 1, NULL, blocks[1].address, blocks[0].address, PRETENDED_BYTES));
    }
    for (i = 0; i < 2; i++) {
        if (got[i]) {
            steps_fine(table->free(state, i, &blocks[i]));
        }
    }
}

/* A queue of ours, and a list of the program's. */
static void order(struct lz_state *state)
{
    const struct lz_device *device = lz_device(state->gpu.devices[0]);
    lz_context_desc_t context_desc = {.stype = LZ_STRUCTURE_TYPE_CONTEXT_DESC};
    lz_queue_desc_t desc           = {.stype   = LZ_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                      .ordinal = device->facts.queue_group,
                                      .mode    = LZ_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    lz_context_h context           = NULL;
    lz_list_h list                 = NULL;
    void *queue                    = NULL;

    steps_events(state, 0, NULL);
    steps_own(state->ze.zeContextCreate(device->driver->handle, &context_desc, &context) ==
              ZE_RESULT_SUCCESS);
    if (context == NULL) {
        return;
    }
    steps_own(state->ze.zeCommandListCreateImmediate(context, device->handle, &desc, &list) ==
              ZE_RESULT_SUCCESS);
    if ((list != NULL) &&
        steps_fine(table->queue_adopt(state, 0, MEMSPAN_QUEUE_LEVEL_ZERO, list, &queue))) {
        steps_events(state, 0, queue);
        steps_fine(table->synchronize(state, 0, queue));
        steps_fine(table->queue_destroy(state, 0, queue));
        steps_fine(table->synchronize(state, 0, NULL));
    }
    if (list != NULL) {
        steps_own(state->ze.zeCommandListDestroy(list) == ZE_RESULT_SUCCESS);
    }
    steps_own(state->ze.zeContextDestroy(context) == ZE_RESULT_SUCCESS);
}

static void work(void)
{
    void *state                = NULL;
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    if (!steps_fine(pretended_try_open(&state))) {
        return;
    }
    if (table->device_count(state) < 2) {
        table->close(state); /* a question about the second one failed, and was logged */
        return;
    }
    steps_all_kinds(state, 200, false);
    steps_fine(table->device_describe(state, 1, &info));
    if ((info.kinds & (1u << MEMSPAN_KIND_MANAGED)) != 0) {
        move_across(state);
    }
    if ((info.kinds & (1u << MEMSPAN_KIND_DEVICE)) != 0) {
        copy_across(state);
        share(state);
    }
    steps_import(state);
    order(state);
    ask_about_others(state);
    table->close(state);
}

static void run(void)
{
    complaint = 0;
    work();
    cr_assert_eq(complaint, 0, "%s: %#lx was answered", pretended.failed_call(),
                 (unsigned long)complaint);
}

/* A loader with handles of its own never asks a driver again that once failed to start. */
static void find_or_skip(void)
{
    if (getenv("ZE_ENABLE_LOADER_INTERCEPT") != NULL) {
        cr_skip_test("the loader wraps handles");
    }
    pretended_find();
    pretended.failed = note_complaint;
}

TestSuite(level_zero_failures, .init = find_or_skip, .timeout = 60);

Test(level_zero_failures, of_each_call)
{
    steps_fail_each("DEVICES=2", "IMPORT=intel", run);
}

Test(level_zero_failures, of_each_call_with_all_at_once)
{
    steps_fail_each("ACCESS=f,f,f,f,0", "IMPORT=memmap", run);
}

Test(level_zero_failures, of_each_call_without_alignment)
{
    steps_fail_each("LACKS=alignment,dmabuf", "ACCESS=f,f,f,f,f", run);
}

Test(level_zero_failures, of_each_call_of_two_drivers)
{
    steps_fail_each("DRIVERS=2", "DEVICES=1", run);
}

Test(level_zero_failures, of_each_call_with_tiles)
{
    steps_fail_each("TILES=2", "MEMSPAN_LEVEL_ZERO_TILES=each", run);
}

Test(level_zero_failures, of_a_call_for_ever)
{
    static const char *const names[] = {
#define NAME(name, optional, arguments) #name,
        LZ_CALL_MAP(NAME)
#undef NAME
    };

    steps_fail_always(names, sizeof(names) / sizeof(names[0]), "", run);
}

Test(level_zero_failures, the_device_is_lost)
{
    steps_lose(500, 90, 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST", run);
}

/* ---- a driver that does not start ---- */

Test(level_zero_failures, at_the_start)
{
    void *state = NULL;

    /* Current loaders ask zeInit() once for a process: level_zero_off.* has its answers. */
    steps_check_start("zeContextCreate", "0x78000001", MEMSPAN_ERR_OFF,
                      "ZE_RESULT_ERROR_UNINITIALIZED", "");
    cr_assert_str_not_empty(memspan_error_last()->hint);
    steps_check_start("zeContextCreate", "0x70020000", MEMSPAN_ERR_OFF,
                      "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE", "");
    steps_check_start("zeContextCreate", "0x70010000", MEMSPAN_ERR_PERMISSION,
                      "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS", "render");
    steps_check_start("zeContextCreate", "4711", MEMSPAN_ERR_DRIVER, "unknown answer", "");
    PRETENDED("DEVICES=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    PRETENDED("DRIVERS=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    PRETENDED("TYPE=5"); /* neural processors only */
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    cr_assert_eq(pretended.live(), 0);
}
