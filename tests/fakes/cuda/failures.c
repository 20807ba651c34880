/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c: every driver call fails once, in turn, while the backend does all that it can do;
 * then each call fails always; then the device is lost at every call in turn. Nothing may be left,
 * no rule broken, the thread's context is the one it was, and a record or the log names the call.
 */

#include "core/base/error.h"
#include "tests/fakes/cuda/pretended.h"
#include "tests/fakes/suite/gpu_rules.h"
#include "tests/fakes/suite/steps.h"
#include <stdio.h>

/* The program has a context of its own on the thread, and finds it as it was. */
static void work_in_context(cuda_context_t *before_p, cuda_context_t *after_p)
{
    cuda_context_t popped = NULL;

    *before_p = *after_p = NULL;
    if ((driver.cu.cuInit(0) != CUDA_SUCCESS) ||
        (driver.cu.cuDevicePrimaryCtxRetain(before_p, 1) != CUDA_SUCCESS)) {
        gpu_failures_work();
        return;
    }
    if (driver.cu.cuCtxPushCurrent_v2(*before_p) != CUDA_SUCCESS) {
        *before_p = NULL;
    }
    gpu_failures_work();
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
    steps_fail_each("ATTRIBUTES=", NULL, gpu_failures_work);
}

Test(cuda_failures, of_each_call_with_all_host_memory_in_reach)
{
    steps_fail_each("ATTRIBUTES=88=1,100=1,86=1", NULL, gpu_failures_work);
}

Test(cuda_failures, of_each_call_without_faults)
{
    steps_fail_each("ATTRIBUTES=89=0", NULL, gpu_failures_work);
}

Test(cuda_failures, the_caller_keeps_its_context)
{
    cuda_context_t before;
    cuda_context_t after;
    char setting[64];
    int at;

    for (at = 0; at < 4000; at++) {
        snprintf(setting, sizeof(setting), "FAIL_AT=%d", at);
        PRETENDED(setting);
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

    /* Without this one no context can be left. */
    steps_fail_always(names, sizeof(names) / sizeof(names[0]), "cuCtxPopCurrent_v2",
                      gpu_failures_work);
}

Test(cuda_failures, the_device_is_lost)
{
    steps_lose(600, 60, CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", gpu_failures_work);
}

/* ---- a driver that does not start ---- */

Test(cuda_failures, at_the_start)
{
    void *state = NULL;

    steps_check_start("cuInit", "100", MEMSPAN_ERR_OFF, "CUDA_ERROR_NO_DEVICE", "");
    cr_assert_str_not_empty(memspan_error_last()->hint);
    steps_check_start("cuInit", "34", MEMSPAN_ERR_OFF, "CUDA_ERROR_STUB_LIBRARY", "");
    steps_check_start("cuInit", "803", MEMSPAN_ERR_OFF, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "");
    steps_check_start("cuInit", "999", MEMSPAN_ERR_DRIVER, "CUDA_ERROR_UNKNOWN", "");
    steps_check_start("cuInit", "4711", MEMSPAN_ERR_DRIVER, "unknown answer", "");
    PRETENDED("DEVICES=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
}
