/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c: every driver call fails once, in turn, while the backend does all that it can do;
 * then each call fails always; then the device is lost at every call in turn. Nothing may be left,
 * no rule broken, the thread's context is the one it was, and a record or the log names the call.
 */

#include "core/base/error.h"
#include "tests/fakes/cuda/pretended.h"
#include "tests/fakes/suite/steps.h"
#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_cuda;

static void share(void *state)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    char token[512];
    int shared;

    for (shared = 0; shared < 2; shared++) {
        memspan_block_t block;
        memspan_block_t opened;
        size_t size     = sizeof(token);
        uint64_t offset = 0;
        int fd          = -1;

        request.flags = shared ? (unsigned)MEMSPAN_REQUEST_SHARED : 0u;
        if (!steps_fine(table->alloc(state, 0, &request, &block))) {
            continue;
        }
        if (steps_fine(table->ipc_export(state, 0, &block, token, &size)) &&
            (table->ipc_import(state, 0, token, size, &opened) == MEMSPAN_OK)) {
            /* Mapped memory may be opened by its own process, the driver's handles may not. */
            steps_fine(table->ipc_close(state, 0, &opened));
        } else {
            steps_look();
        }
        if (((struct cuda_state *)state)->cu.cuMemGetHandleForAddressRange != NULL &&
            steps_fine(table->dmabuf_export(state, 0, block.address, 4096, &fd, &offset))) {
            close(fd);
        }
        steps_fine(table->free(state, 0, &block));
    }
}

/* The program's managed memory, sent to a device. */
static void ask_about_others(void *state)
{
    memspan_pointer_facts_t facts;
    struct gpu_visit visit;
    cuda_address_t theirs = 0;

    if (!steps_fine(gpu_enter(state, 0, GPU_TO_WORK, &visit))) {
        return;
    }
    if (driver.cu.cuMemAllocManaged(&theirs, 4096, CUDA_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS) {
        steps_fine(table->pointer_describe(state, (void *)(uintptr_t)theirs, &facts));
        steps.named = (driver.cu.cuMemFree_v2(theirs) != CUDA_SUCCESS) || steps.named;
    } else {
        steps.named = true; /* the test's own call failed, and this is the test */
    }
    gpu_leave(&visit);
}

static void work(void)
{
    int node                   = 0;
    void *state                = NULL;
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    int kind;

    if (!steps_fine(pretended_try_open(&state))) {
        return;
    }
    steps_fine(table->device_describe(state, 1, &info));
    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        memspan_request_t request = pretended_ask((memspan_kind_t)kind, PRETENDED_BYTES);
        if ((info.kinds & (1u << kind)) == 0) {
            continue;
        }
        request.resident_ordinal = 1;
        request.align_bytes      = 1 << 16;
        steps_work_on(state, 1, &request, 2000);
        if (kind == MEMSPAN_KIND_HOST_PINNED) {
            request.nodes      = &node;
            request.node_count = 1;
            steps_work_on(state, 0, &request, 2000);
        }
    }
    steps_fine(table->device_describe(state, 0, &info));
    share(state);
    steps_import(state);
    ask_about_others(state);
    table->close(state);
}

/* The program has a context of its own on the thread, and finds it as it was. */
static void work_in_context(cuda_context_t *before_p, cuda_context_t *after_p)
{
    cuda_context_t popped = NULL;

    *before_p = *after_p = NULL;
    if ((driver.cu.cuInit(0) != CUDA_SUCCESS) ||
        (driver.cu.cuDevicePrimaryCtxRetain(before_p, 1) != CUDA_SUCCESS)) {
        work();
        return;
    }
    if (driver.cu.cuCtxPushCurrent_v2(*before_p) != CUDA_SUCCESS) {
        *before_p = NULL;
    }
    work();
    driver.current(after_p);
    if (*before_p != NULL) {
        driver.cu.cuCtxPopCurrent_v2(&popped);
        if (popped == NULL) {
            driver.cu.cuCtxPopCurrent_v2(&popped);
        }
    }
    if (driver.cu.cuDevicePrimaryCtxRelease_v2 != NULL) {
        driver.cu.cuDevicePrimaryCtxRelease_v2(1);
    }
}

TestSuite(cuda_failures, .init = pretended_find, .timeout = 60);

Test(cuda_failures, of_each_call_today)
{
    steps_fail_each("FAKE_CUDA_FAIL_AT", "FAKE_CUDA_ATTRIBUTES=", NULL, work);
}

Test(cuda_failures, of_each_call_with_all_host_memory_in_reach)
{
    steps_fail_each("FAKE_CUDA_FAIL_AT", "FAKE_CUDA_ATTRIBUTES=88=1,100=1,86=1", NULL, work);
}

Test(cuda_failures, of_each_call_without_faults)
{
    steps_fail_each("FAKE_CUDA_FAIL_AT", "FAKE_CUDA_ATTRIBUTES=89=0", NULL, work);
}

Test(cuda_failures, the_caller_keeps_its_context)
{
    cuda_context_t before;
    cuda_context_t after;
    char setting[64];
    int at;

    for (at = 0; at < 4000; at++) {
        snprintf(setting, sizeof(setting), "FAKE_CUDA_FAIL_AT=%d", at);
        PRETENDED(setting, "FAKE_CUDA_ATTRIBUTES=");
        work_in_context(&before, &after);
        cr_assert_eq(before, after, "call %d, %s: another context", at, pretended.failed_call());
        cr_assert_eq(driver.depth(), 0);
        if ((at > 0) && (pretended.failed_call()[0] == '\0')) {
            break;
        }
    }
    cr_assert_gt(at, 100);
}

Test(cuda_failures, of_a_call_for_ever)
{
    static const char *const names[] = {
#define NAME(name, older, optional, arguments) #name,
        CUDA_CALL_MAP(NAME)
#undef NAME
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char setting[96];
        char *suffix;

        /* Without this one no context can be left. */
        if (strcmp(names[i], "cuCtxPopCurrent_v2") == 0) {
            continue;
        }
        snprintf(setting, sizeof(setting), "FAKE_CUDA_FAIL_CALL=%s", names[i]);
        suffix = strstr(setting, "_v2");
        if ((suffix != NULL) && (strstr(setting, "Advise") == NULL) &&
            (strstr(setting, "Prefetch") == NULL)) {
            *suffix = '\0';
        }
        PRETENDED(setting);
        steps_begin();
        work();
        steps_check_rest(names[i], 0);
        cr_assert((pretended.failed_call()[0] == '\0') || steps_told(pretended.failed_call()),
                  "%s: not named", names[i]);
    }
}

Test(cuda_failures, the_device_is_lost)
{
    steps_lose_at_each("FAKE_CUDA_LOST_AT", 600, work);
    PRETENDED("FAKE_CUDA_LOST_AT=60");
    steps_begin();
    work();
    cr_assert_gt(steps.failures, 5);
    cr_assert_eq(memspan_error_last()->native_code, 719);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_DRIVER);
    cr_assert_not_null(strstr(memspan_error_last()->native_text, "CUDA_ERROR_LAUNCH_FAILED"));
    cr_assert_not_null(strstr(memspan_error_last()->hint, "every later call"));
}

/* ---- a driver that does not start ---- */

Test(cuda_failures, at_the_start)
{
    void *state = NULL;

    steps_check_start("FAKE_CUDA_FAIL_CALL=cuInit", "FAKE_CUDA_FAIL_CODE=100", MEMSPAN_ERR_OFF,
                      "cuInit", "CUDA_ERROR_NO_DEVICE");
    cr_assert_str_not_empty(memspan_error_last()->hint);
    steps_check_start("FAKE_CUDA_FAIL_CALL=cuInit", "FAKE_CUDA_FAIL_CODE=34", MEMSPAN_ERR_OFF,
                      "cuInit", "CUDA_ERROR_STUB_LIBRARY");
    steps_check_start("FAKE_CUDA_FAIL_CALL=cuInit", "FAKE_CUDA_FAIL_CODE=803", MEMSPAN_ERR_OFF,
                      "cuInit", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
    steps_check_start("FAKE_CUDA_FAIL_CALL=cuInit", "FAKE_CUDA_FAIL_CODE=999", MEMSPAN_ERR_DRIVER,
                      "cuInit", "CUDA_ERROR_UNKNOWN");
    steps_check_start("FAKE_CUDA_FAIL_CALL=cuInit", "FAKE_CUDA_FAIL_CODE=4711", MEMSPAN_ERR_DRIVER,
                      "cuInit", "unknown answer");
    PRETENDED("FAKE_CUDA_DEVICES=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
}
