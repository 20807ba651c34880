/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c: every driver call fails once, in turn, while the backend does all that it can do;
 * then each call fails always; then the devices are lost at every call in turn. Nothing may be
 * left, no rule broken, the thread's device is the one it was and its last error none of ours, and
 * a record or the log names the call. */

#include "core/base/error.h"
#include "tests/fakes/hip/pretended.h"
#include "tests/fakes/suite/steps.h"
#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_hip;

static void share(void *state)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    char token[512];
    memspan_block_t block;
    memspan_block_t opened;
    size_t size     = sizeof(token);
    uint64_t offset = 0;
    int fd          = -1;

    if (!steps_fine(table->alloc(state, 1, &request, &block))) {
        return;
    }
    if (steps_fine(table->ipc_export(state, 1, &block, token, &size))) {
        /* A process does not open its own. */
        cr_assert_neq(table->ipc_import(state, 1, token, size, &opened), MEMSPAN_OK);
        steps_look();
    }
    if (table->dmabuf_export(state, 1, block.address, 4096, &fd, &offset) == MEMSPAN_OK) {
        close(fd);
    } else {
        /* What failed when the backend was opened is a missing capability now. */
        steps_fine(memspan_error_last()->status);
    }
    steps_fine(table->free(state, 1, &block));
}

/* The program's managed memory. */
static void ask_about_others(void *state)
{
    memspan_pointer_facts_t facts;
    void *theirs = NULL;

    if (driver.hip.hipMallocManaged(&theirs, 4096, HIP_MEM_ATTACH_GLOBAL) != HIP_SUCCESS) {
        (void)driver.hip.hipGetLastError();
        steps.named = steps.named || (strcmp("hipMallocManaged", pretended.failed_call()) == 0);
        return;
    }
    steps_fine(table->pointer_describe(state, theirs, &facts));
    if (driver.hip.hipFree(theirs) != HIP_SUCCESS) {
        (void)driver.hip.hipGetLastError();
        steps.named = steps.named || (strcmp("hipFree", pretended.failed_call()) == 0);
    }
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
    share(state);
    steps_import(state);
    if ((info.kinds & (1u << MEMSPAN_KIND_MANAGED)) != 0) {
        ask_about_others(state);
    }
    table->close(state);
}

TestSuite(hip_failures, .init = pretended_find, .timeout = 60);

Test(hip_failures, of_each_call)
{
    steps_fail_each("FAKE_HIP_FAIL_AT", "FAKE_HIP_ATTRIBUTES=", NULL, work);
}

Test(hip_failures, of_each_call_with_xnack)
{
    steps_fail_each("FAKE_HIP_FAIL_AT", "FAKE_HIP_ATTRIBUTES=65=1", NULL, work);
}

Test(hip_failures, of_each_call_behind_a_large_bar)
{
    steps_fail_each("FAKE_HIP_FAIL_AT", "FAKE_HIP_ATTRIBUTES=10011=1", NULL, work);
}

Test(hip_failures, of_each_call_without_concurrent_access)
{
    steps_fail_each("FAKE_HIP_FAIL_AT", "FAKE_HIP_ATTRIBUTES=9=0", NULL, work);
}

Test(hip_failures, of_a_call_for_ever)
{
    static const char *const names[] = {
#define NAME(name, optional, result, arguments) #name,
        HIP_CALL_MAP(NAME) HIP_COMPILER_MAP(NAME) HIP_HSA_MAP(NAME)
#undef NAME
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char setting[96];
        snprintf(setting, sizeof(setting), "FAKE_HIP_FAIL_CALL=%s", names[i]);
        PRETENDED(setting);
        steps_begin();
        work();
        steps_check_rest(names[i], 0);
        cr_assert((pretended.failed_call()[0] == '\0') || steps_told(pretended.failed_call()),
                  "%s: not named", names[i]);
    }
}

Test(hip_failures, the_caller_keeps_its_device)
{
    char setting[64];
    int at;

    for (at = 0; at < 4000; at++) {
        snprintf(setting, sizeof(setting), "FAKE_HIP_FAIL_AT=%d", at + 2);
        PRETENDED(setting, "FAKE_HIP_DEVICES=3");
        (void)driver.hip.hipInit(0);
        (void)driver.hip.hipSetDevice(2);
        if (driver.current() != 2) {
            (void)driver.hip.hipSetDevice(2);
        }
        work();
        cr_assert_eq(driver.current(), 2, "call %d, %s: device %d", at, pretended.failed_call(),
                     driver.current());
        if (pretended.failed_call()[0] == '\0') {
            break;
        }
    }
    cr_assert_gt(at, 100);
}

static long mapped_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "%ld", &pages), 1);
    fclose(file);
    return pages;
}

/* The runtime does not know of pages that could not be registered: they are looked for here. */
Test(hip_failures, pages_of_ours_go_back)
{
    enum { BYTES = 64 << 20 };
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_HOST_PINNED, BYTES);
    long before               = mapped_pages();
    int refused               = 0;
    int node                  = 0;
    int at;

#ifdef __SANITIZE_THREAD__
    cr_skip_test("the sanitizer's own pages grow as well");
#endif
    request.nodes      = &node;
    request.node_count = 1;
    for (at = 1; at < 400; at++) {
        char setting[64];
        memspan_block_t block;
        void *state = NULL;
        snprintf(setting, sizeof(setting), "FAKE_HIP_FAIL_AT=%d", at);
        PRETENDED(setting);
        if (pretended_try_open(&state) != MEMSPAN_OK) {
            continue;
        }
        if (table->alloc(state, 0, &request, &block) == MEMSPAN_OK) {
            (void)table->free(state, 0, &block);
        } else {
            refused++;
        }
        table->close(state);
        steps_check_rest("call", at);
        if (pretended.failed_call()[0] == '\0') {
            break;
        }
    }
    cr_assert_geq(refused, 3);
    cr_assert_lt(mapped_pages() - before, BYTES / 4096);
}

Test(hip_failures, the_devices_are_lost)
{
    steps_lose_at_each("FAKE_HIP_LOST_AT", 500, work);
    PRETENDED("FAKE_HIP_LOST_AT=90");
    steps_begin();
    work();
    cr_assert_gt(steps.failures, 5);
    cr_assert_eq(memspan_error_last()->native_code, 719);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_DRIVER);
    cr_assert_not_null(strstr(memspan_error_last()->native_text, "hipErrorLaunchFailure"));
    cr_assert_not_null(strstr(memspan_error_last()->hint, "every later call"));
}

/* ---- a runtime that does not start ---- */

Test(hip_failures, at_the_start)
{
    void *state = NULL;

    steps_check_start("FAKE_HIP_FAIL_CALL=hipInit", "FAKE_HIP_FAIL_CODE=100", MEMSPAN_ERR_OFF,
                      "hipInit", "hipErrorNoDevice");
    cr_assert_not_null(strstr(memspan_error_last()->hint, "/dev/kfd"));
    steps_check_start("FAKE_HIP_FAIL_CALL=hipInit", "FAKE_HIP_FAIL_CODE=101", MEMSPAN_ERR_OFF,
                      "hipInit", "hipErrorInvalidDevice");
    steps_check_start("FAKE_HIP_FAIL_CALL=hipInit", "FAKE_HIP_FAIL_CODE=35", MEMSPAN_ERR_OFF,
                      "hipInit", "hipErrorInsufficientDriver");
    cr_assert_not_null(strstr(memspan_error_last()->hint, "amdgpu"));
    steps_check_start("FAKE_HIP_FAIL_CALL=hipInit", "FAKE_HIP_FAIL_CODE=999", MEMSPAN_ERR_DRIVER,
                      "hipInit", "hipErrorUnknown");
    PRETENDED("FAKE_HIP_DEVICES=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    cr_assert_str_eq(memspan_error_last()->call, "hipGetDeviceCount");
}
