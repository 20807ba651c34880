/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c: every driver call fails once, in turn, while the backend does all that it can do;
 * then each call fails always; then the device is lost at every call in turn. Nothing may be left,
 * no rule broken, nothing refused by the validation layer, and somebody is told which call it was.
 */

#include "core/base/error.h"
#include "tests/fakes/level_zero/pretended.h"
#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const memspan_backend_t *const table = &memspan_backend_level_zero;

/* One run: whether anything failed, and whether a record names the call that was made to. */
static int failures;
static bool named;
/* An answer that was not made up by the test: the validation layer's, or the fake's displeasure. */
static long complaint;

static bool fine(memspan_status_t status)
{
    long code = memspan_error_last()->native_code;

    if (status == MEMSPAN_OK) {
        return true;
    }
    failures++;
    named = named || (strcmp(memspan_error_last()->call, pretended.failed_call()) == 0);
    if ((code >= ZE_RESULT_ERROR_INVALID_ARGUMENT) &&
        (code <= ZE_RESULT_ERROR_OVERLAPPING_REGIONS)) {
        complaint = code;
    }
    return false;
}

static void run_kernels(void *state, int ordinal, void *queue, void *address)
{
    static const memspan_kernel_t kernels[] = {
        MEMSPAN_KERNEL_DAXPY, MEMSPAN_KERNEL_SUM, MEMSPAN_KERNEL_ADD_ATOMIC,
        MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_MAX, MEMSPAN_ELEMENT_S16)};
    size_t i;

    for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                      .kernel      = kernels[i],
                                      .count       = 200,
                                      .x           = address,
                                      .y           = address,
                                      .z           = address};
        fine(table->launch(state, ordinal, queue, &call));
    }
}

static bool is_one_driver(const struct lz_state *state)
{
    return state->driver_count == 1;
}

static void work_on(void *state, int ordinal, memspan_kind_t kind)
{
    memspan_request_t request = pretended_ask(kind, PRETENDED_BYTES);
    double values[67]         = {1, 2, 3};
    memspan_pointer_facts_t facts;
    memspan_block_t block;
    void *queue = NULL;

    request.resident_ordinal = ordinal;
    request.align_bytes      = 1 << 16;
    if (!fine(table->alloc(state, ordinal, &request, &block))) {
        return;
    }
    fine(table->queue_create(state, ordinal, &queue));
    fine(table->copy(state, ordinal, NULL, block.address, values, sizeof(values)));
    fine(table->fill(state, ordinal, queue, block.address, 0, 513));
    run_kernels(state, ordinal, NULL, block.address);
    run_kernels(state, ordinal, queue, block.address);
    if (kind == MEMSPAN_KIND_MANAGED) {
        fine(table->prefetch(state, ordinal, queue, block.address, 4096, ordinal));
        if (is_one_driver(state)) {
            fine(table->prefetch(state, ordinal, queue, block.address, 4096, 0));
        }
    }
    fine(table->synchronize(state, ordinal, queue));
    fine(table->synchronize(state, ordinal, NULL));
    /* Of our own it says nothing; that is no failure of the driver. */
    if (table->pointer_describe(state, block.address, &facts) != MEMSPAN_ERR_NOT_FOUND) {
        fine(memspan_error_last()->status);
    }
    fine(table->copy(state, ordinal, NULL, values, block.address, sizeof(values)));
    fine(table->synchronize(state, ordinal, NULL));
    if (queue != NULL) {
        fine(table->queue_destroy(state, ordinal, queue));
    }
    fine(table->free(state, ordinal, &block));
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
    if (!fine(table->alloc(state, 0, &request, &block))) {
        return;
    }
    if (fine(table->ipc_export(state, 0, &block, token, &size)) &&
        fine(table->ipc_import(state, 0, token, size, &opened))) {
        fine(table->ipc_close(state, 0, &opened));
    }
    /* Where the allocation was made to fail once, it is memory that cannot be exported. */
    if (((struct lz_block *)block.cookie)->exportable &&
        fine(table->dmabuf_export(state, 0, block.address, 4096, &fd, &offset))) {
        close(fd);
    }
    fine(table->free(state, 0, &block));
}

static void import(void *state)
{
    void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *address[2];
    void *cookie[2];
    bool done[2];
    int i;

    for (i = 0; i < 2; i++) {
        done[i] = lz_import_can(&((struct lz_state *)state)->devices[i]) &&
                  fine(table->import(state, i, pages, 4096, &address[i], &cookie[i]));
    }
    for (i = 0; i < 2; i++) {
        if (done[i]) {
            fine(table->release(state, i, pages, 4096, cookie[i]));
        }
    }
    munmap(pages, 4096);
}

static void ask_about_others(void *state)
{
    void *theirs = pretended.foreign(LZ_MEMORY_TYPE_SHARED, 4096);
    memspan_pointer_facts_t facts;

    fine(table->pointer_describe(state, theirs, &facts));
    pretended.foreign_free(theirs);
}

/* From one device's own memory to the other's. */
static void copy_across(void *state)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t blocks[2];
    bool got[2];
    int i;

    for (i = 0; i < 2; i++) {
        got[i] = fine(table->alloc(state, i, &request, &blocks[i]));
    }
    if (got[0] && got[1]) {
        fine(table->copy(state, 1, NULL, blocks[1].address, blocks[0].address, PRETENDED_BYTES));
    }
    for (i = 0; i < 2; i++) {
        if (got[i]) {
            fine(table->free(state, i, &blocks[i]));
        }
    }
}

static void work(void)
{
    void *state                = NULL;
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    int kind;

    if (!fine(pretended_try_open(&state))) {
        return;
    }
    if (((struct lz_state *)state)->device_count < 2) {
        table->close(state); /* a question about the second one failed, and was logged */
        return;
    }
    fine(table->device_describe(state, 1, &info));
    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        if ((info.kinds & (1u << kind)) != 0) {
            work_on(state, 1, (memspan_kind_t)kind);
        }
    }
    if ((info.kinds & (1u << MEMSPAN_KIND_DEVICE)) != 0) {
        copy_across(state);
        share(state);
    }
    import(state);
    ask_about_others(state);
    table->close(state);
}

static bool is_told(const char *call)
{
    return named || (strstr(pretended_log(), call) != NULL);
}

static void check_rest(const char *what, int at)
{
    cr_assert_str_empty(pretended.violation(), "%s %d, %s: %s", what, at, pretended.failed_call(),
                        pretended.violation());
    cr_assert_eq(pretended.live(), 0, "%s %d, %s: %d objects are left", what, at,
                 pretended.failed_call(), pretended.live());
    cr_assert_eq(complaint, 0, "%s %d, %s: %#lx was answered", what, at, pretended.failed_call(),
                 (unsigned long)complaint);
}

static void run(void)
{
    failures  = 0;
    complaint = 0;
    named     = false;
    work();
}

static void fail_each(const char *machine, const char *more)
{
    char setting[64];
    int at;

    for (at = 1; at < 4000; at++) {
        snprintf(setting, sizeof(setting), "FAKE_ZE_FAIL_AT=%d", at);
        PRETENDED(setting, machine, more);
        run();
        check_rest("call", at);
        if (pretended.failed_call()[0] == '\0') {
            break;
        }
        cr_assert(is_told(pretended.failed_call()), "call %d, %s: not named (%s; log: %s)", at,
                  pretended.failed_call(), (failures > 0) ? memspan_error_text() : "no failure",
                  pretended_log());
    }
    cr_assert_eq(failures, 0, "without a failure all works: %s", memspan_error_text());
    cr_assert_gt(at, 100);
    cr_assert_lt(at, 4000);
}

/* A loader with handles of its own never asks a driver again that once failed to start. */
static void find_or_skip(void)
{
    if (getenv("ZE_ENABLE_LOADER_INTERCEPT") != NULL) {
        cr_skip_test("the loader wraps handles");
    }
    pretended_find();
}

TestSuite(level_zero_failures, .init = find_or_skip, .timeout = 60);

Test(level_zero_failures, of_each_call)
{
    fail_each("FAKE_ZE_DEVICES=2", "FAKE_ZE_IMPORT=intel");
}

Test(level_zero_failures, of_each_call_with_all_at_once)
{
    fail_each("FAKE_ZE_ACCESS=f,f,f,f,0", "FAKE_ZE_IMPORT=memmap");
}

Test(level_zero_failures, of_each_call_without_alignment)
{
    fail_each("FAKE_ZE_LACKS=alignment,dmabuf", "FAKE_ZE_ACCESS=f,f,f,f,f");
}

Test(level_zero_failures, of_each_call_of_two_drivers)
{
    fail_each("FAKE_ZE_DRIVERS=2", "FAKE_ZE_DEVICES=1");
}

Test(level_zero_failures, of_each_call_with_tiles)
{
    fail_each("FAKE_ZE_TILES=2", "MEMSPAN_LEVEL_ZERO_TILES=each");
}

Test(level_zero_failures, of_a_call_for_ever)
{
    static const char *const names[] = {
#define NAME(name, optional, arguments) #name,
        LZ_CALL_MAP(NAME)
#undef NAME
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char setting[96];

        snprintf(setting, sizeof(setting), "FAKE_ZE_FAIL_CALL=%s", names[i]);
        PRETENDED(setting);
        run();
        check_rest(names[i], 0);
        cr_assert((pretended.failed_call()[0] == '\0') || is_told(pretended.failed_call()),
                  "%s: not named", names[i]);
    }
}

Test(level_zero_failures, the_device_is_lost)
{
    char setting[64];
    int at;

    for (at = 1; at < 500; at++) {
        snprintf(setting, sizeof(setting), "FAKE_ZE_LOST_AT=%d", at);
        PRETENDED(setting);
        run();
        check_rest("lost at", at);
    }
    PRETENDED("FAKE_ZE_LOST_AT=90");
    run();
    cr_assert_gt(failures, 5);
    cr_assert_eq(memspan_error_last()->native_code, 0x70000001);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->native_text, "ZE_RESULT_ERROR_DEVICE_LOST");
    cr_assert_not_null(strstr(memspan_error_last()->hint, "every later call"));
}

/* ---- a driver that does not start ---- */

static void check_start(const char *setting, memspan_status_t wanted, const char *words)
{
    void *state = NULL;

    PRETENDED("FAKE_ZE_FAIL_CALL=zeInit", setting);
    cr_assert_eq(pretended_try_open(&state), wanted, "%s", memspan_error_text());
    cr_assert_str_eq(memspan_error_last()->call, "zeInit");
    cr_assert_str_eq(memspan_error_last()->native_text, words);
    cr_assert_eq(pretended.live(), 0);
}

Test(level_zero_failures, at_the_start)
{
    void *state = NULL;

    check_start("FAKE_ZE_FAIL_CODE=0x78000001", MEMSPAN_ERR_OFF, "ZE_RESULT_ERROR_UNINITIALIZED");
    cr_assert_str_not_empty(memspan_error_last()->hint);
    check_start("FAKE_ZE_FAIL_CODE=0x70020000", MEMSPAN_ERR_OFF,
                "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE");
    check_start("FAKE_ZE_FAIL_CODE=0x70010000", MEMSPAN_ERR_PERMISSION,
                "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS");
    cr_assert_not_null(strstr(memspan_error_last()->hint, "render"));
    check_start("FAKE_ZE_FAIL_CODE=4711", MEMSPAN_ERR_DRIVER, "unknown answer");
    PRETENDED("FAKE_ZE_DEVICES=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    PRETENDED("FAKE_ZE_DRIVERS=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    PRETENDED("FAKE_ZE_TYPE=5"); /* neural processors only */
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    cr_assert_eq(pretended.live(), 0);
}
