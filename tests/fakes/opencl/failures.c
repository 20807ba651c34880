/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c: every driver call fails once, in turn, while the backend does all that it can do.
 * Nothing may be left, no rule broken, and a record or the log names the call. */

#include "core/base/error.h"
#include "tests/fakes/opencl/pretended.h"
#include "tests/fakes/suite/steps.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_opencl;

static void work_on(void *state, int ordinal, memspan_kind_t kind)
{
    memspan_request_t request = pretended_ask(kind, PRETENDED_BYTES);
    double values[67]         = {1, 2, 3};
    memspan_block_t blocks[2];
    memspan_kernel_call_t call = {.struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_DAXPY};
    int count                  = 0;
    void *queue                = NULL;
    int i;

    for (i = 0; i < 2; i++) {
        count += steps_fine(table->alloc(state, ordinal, &request, &blocks[count])) ? 1 : 0;
    }
    steps_fine(table->queue_create(state, ordinal, &queue));
    for (i = 0; i < count; i++) {
        call.count = 67;
        call.x = call.y = call.z = blocks[i].address;
        steps_fine(table->copy(state, ordinal, NULL, blocks[i].address, values, sizeof(values)));
        steps_fine(table->fill(state, ordinal, queue, blocks[i].address, 0, 512));
        steps_events(state, ordinal, queue);
        steps_fine(table->launch(state, ordinal, NULL, &call));
        steps_fine(table->launch(state, ordinal, queue, &call));
        call.kernel = MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_MAX, MEMSPAN_ELEMENT_S16);
        steps_fine(table->launch(state, ordinal, queue, &call));
        call.kernel = MEMSPAN_KERNEL_DAXPY;
        steps_fine(table->prefetch(state, ordinal, queue, blocks[i].address, 4096, ordinal));
        steps_fine(table->synchronize(state, ordinal, queue));
    }
    if (count > 0) {
        steps_fine(table->copy(state, ordinal, NULL, values, blocks[0].address, sizeof(values)));
    }
    if (queue != NULL) {
        steps_fine(table->queue_destroy(state, ordinal, queue));
    }
    for (i = 0; i < count; i++) {
        steps_fine(table->free(state, ordinal, &blocks[i]));
    }
}

/* A command queue of the program's. */
static void adopt(struct opencl_state *state)
{
    cl_int code = 0;
    cl_context context =
        state->cl.clCreateContext(NULL, 1, &state->devices[0]->id, NULL, NULL, &code);
    cl_command_queue handle = NULL;
    void *queue             = NULL;

    if (context != NULL) {
        handle = state->cl.clCreateCommandQueue(context, state->devices[0]->id, 0, &code);
    }
    steps_own(handle != NULL);
    if ((handle != NULL) &&
        steps_fine(table->queue_adopt(state, 0, MEMSPAN_QUEUE_OPENCL, handle, &queue))) {
        steps_events(state, 0, queue);
        steps_fine(table->synchronize(state, 0, queue));
        steps_fine(table->queue_destroy(state, 0, queue));
        steps_fine(table->synchronize(state, 0, NULL));
    }
    if (handle != NULL) {
        steps_own(state->cl.clFinish(handle) == OPENCL_SUCCESS);
        (void)state->cl.clReleaseCommandQueue(handle);
    }
    if (context != NULL) {
        (void)state->cl.clReleaseContext(context);
    }
}

static void work(void)
{
    void *state = NULL;
    void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    void *address;
    void *cookie;
    int kind;

    if (!steps_fine(pretended_try_open(&state))) {
        munmap(pages, 4096);
        return;
    }
    steps_fine(table->device_describe(state, 0, &info));
    adopt(state);
    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        if ((info.kinds & (1u << kind)) != 0) {
            work_on(state, 0, (memspan_kind_t)kind);
        }
    }
    if (steps_fine(table->import(state, 0, pages, 4096, &address, &cookie))) {
        steps_fine(table->release(state, 0, pages, 4096, cookie));
    }
    table->close(state);
    munmap(pages, 4096);
}

/* Whose failure need not reach the caller: questions that a driver may leave open, the compiler's
 * log, and giving back, where nothing can be done about it. */
static bool may_pass(const char *call)
{
    return (strncmp(call, "clRelease", 9) == 0) || (strcmp(call, "clGetDeviceInfo") == 0) ||
           (strcmp(call, "clGetPlatformInfo") == 0) ||
           (strcmp(call, "clGetProgramBuildInfo") == 0) || (strcmp(call, "clSVMFree") == 0) ||
           (strcmp(call, "clGetDeviceIDs") == 0);
}

static void fail_each(const char *svm, const char *apart)
{
    char setting[64];
    int at;

    for (at = 1; at < 2000; at++) {
        snprintf(setting, sizeof(setting), "FAIL_AT=%d", at);
        PRETENDED(setting, svm, apart);
        steps_begin();
        work();
        steps_check_rest("call", at);
        if (pretended.failed_call()[0] == '\0') {
            break;
        }
        cr_assert(steps_told(pretended.failed_call()) || may_pass(pretended.failed_call()),
                  "call %d, %s: not named (%s)", at, pretended.failed_call(),
                  (steps.failures > 0) ? memspan_error_text() : "nothing failed");
    }
    cr_assert_gt(at, 50);
    cr_assert_lt(at, 2000);
}

TestSuite(pretended_failures, .init = pretended_find, .timeout = 60);

Test(pretended_failures, host_memory_with_fine_grain)
{
    fail_each("SVM=11", "APART=0");
}

Test(pretended_failures, host_memory_without_fine_grain)
{
    fail_each("SVM=1", "APART=0");
}

Test(pretended_failures, memory_apart)
{
    fail_each("SVM=11", "APART=1");
}

Test(pretended_failures, memory_apart_without_fine_grain)
{
    fail_each("SVM=1", "APART=1");
}

static memspan_status_t try_open(void)
{
    void *state;
    memspan_status_t status = pretended_try_open(&state);

    if (status == MEMSPAN_OK) {
        table->close(state);
    }
    return status;
}

Test(pretended_failures, nothing_there)
{
    PRETENDED("PLATFORMS=0");
    cr_assert_eq(try_open(), MEMSPAN_ERR_OFF);
    cr_assert_str_eq(memspan_error_last()->native_text, "CL_PLATFORM_NOT_FOUND_KHR");
    cr_assert_str_not_empty(memspan_error_last()->hint);
    PRETENDED("DEVICES=0");
    cr_assert_eq(try_open(), MEMSPAN_ERR_OFF);
    cr_assert_str_not_empty(memspan_error_last()->hint);
    PRETENDED("FAIL_CALL=clGetDeviceIDs");
    cr_assert_eq(try_open(), MEMSPAN_ERR_OFF);
}

Test(pretended_failures, compiler_words_reach_the_record)
{
    memspan_kernel_call_t call = {sizeof(call), MEMSPAN_KERNEL_FILL, 1, 0, NULL, NULL, NULL};
    struct opencl_state *state = PRETENDED_OPEN("FAIL_CALL=clBuildProgram");
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    call.z = block.address;
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_DRIVER);
    cr_assert_eq(memspan_error_last()->native_code, -11);
    cr_assert_str_eq(memspan_error_last()->native_text, "CL_BUILD_PROGRAM_FAILURE");
    cr_assert_not_null(strstr(memspan_error_last()->message, "pretended words"));
    OK(table->free(state, 0, &block));
    pretended_close(state);
}

/* How a process that opens the backend ends; 0 when it is still there after a second. */
static int end_of_child(void)
{
    pid_t child = fork();
    int status  = 0;
    int tenths;

    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        try_open();
        _exit(0);
    }
    for (tenths = 0; tenths < 10; tenths++) {
        if (waitpid(child, &status, WNOHANG) == child) {
            return status;
        }
        usleep(100000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return 0;
}

Test(pretended_failures, hangs_and_crashes_on_demand)
{
    int status;

    PRETENDED("CRASH=1");
    status = end_of_child();
    cr_assert(WIFSIGNALED(status) && (WTERMSIG(status) == SIGABRT));
    PRETENDED("HANG=1");
    cr_assert_eq(end_of_child(), 0);
}
