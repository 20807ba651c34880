/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c: every driver call fails once, in turn, while the backend does all that it can do;
 * then each call fails always; then the devices are lost at every call in turn. Nothing may be
 * left, no rule broken, the thread's device is the one it was and its last error none of ours, and
 * a record or the log names the call. */

#include "core/base/error.h"
#include "tests/fakes/hip/pretended.h"
#include "tests/fakes/suite/gpu_rules.h"
#include "tests/fakes/suite/steps.h"
#include <stdio.h>

static const memspan_backend_t *const table = &msp_backend_hip;

TestSuite(hip_failures, .init = pretended_find, .timeout = 60);

Test(hip_failures, of_each_call)
{
    steps_fail_each("ATTRIBUTES=", NULL, gpu_failures_work);
}

Test(hip_failures, of_each_call_with_xnack)
{
    steps_fail_each("ATTRIBUTES=65=1", NULL, gpu_failures_work);
}

Test(hip_failures, of_each_call_behind_a_large_bar)
{
    steps_fail_each("ATTRIBUTES=10011=1", NULL, gpu_failures_work);
}

Test(hip_failures, of_each_call_without_concurrent_access)
{
    steps_fail_each("ATTRIBUTES=9=0", NULL, gpu_failures_work);
}

Test(hip_failures, of_a_call_for_ever)
{
    static const char *const names[] = {
#define NAME(name, optional, result, arguments) #name,
        HIP_CALL_MAP(NAME) HIP_COMPILER_MAP(NAME) HIP_HSA_MAP(NAME)
#undef NAME
    };

    steps_fail_always(names, sizeof(names) / sizeof(names[0]), "", gpu_failures_work);
}

Test(hip_failures, the_caller_keeps_its_device)
{
    char setting[64];
    int at;

    for (at = 0; at < 4000; at++) {
        snprintf(setting, sizeof(setting), "FAIL_AT=%d", at + 2);
        PRETENDED(setting, "DEVICES=3");
        (void)driver.hip.hipInit(0);
        (void)driver.hip.hipSetDevice(2);
        if (driver.current() != 2) {
            (void)driver.hip.hipSetDevice(2);
        }
        gpu_failures_work();
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
        snprintf(setting, sizeof(setting), "FAIL_AT=%d", at);
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
    steps_lose(500, 90, HIP_ERROR_LAUNCH_FAILURE, "hipErrorLaunchFailure", gpu_failures_work);
}

/* ---- a runtime that does not start ---- */

Test(hip_failures, at_the_start)
{
    void *state = NULL;

    steps_check_start("hipInit", "100", MEMSPAN_ERR_OFF, "hipErrorNoDevice", "/dev/kfd");
    steps_check_start("hipInit", "101", MEMSPAN_ERR_OFF, "hipErrorInvalidDevice", "");
    steps_check_start("hipInit", "35", MEMSPAN_ERR_OFF, "hipErrorInsufficientDriver", "amdgpu");
    steps_check_start("hipInit", "999", MEMSPAN_ERR_DRIVER, "hipErrorUnknown", "");
    PRETENDED("DEVICES=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    cr_assert_str_eq(memspan_error_last()->call, "hipGetDeviceCount");
}
