/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c: every driver call fails once, in turn, while the backend does all that it can do;
 * then each call fails always; then the device is lost at every call in turn. Nothing may be left,
 * no rule broken, the thread's context is the one it was, and somebody is told which call it was.
 */

#include "core/base/error.h"
#include "tests/fakes/cuda/pretended.h"
#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const memspan_backend_t *const table = &memspan_backend_cuda;

/* One run: whether anything failed, and whether a record names the call that was made to. */
static int failures;
static bool named;

static bool fine(memspan_status_t status)
{
    if (status == MEMSPAN_OK) {
        return true;
    }
    failures++;
    named = named || (strcmp(memspan_error_last()->call, pretended.failed_call()) == 0);
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
                                      .count       = 2000,
                                      .x           = address,
                                      .y           = address,
                                      .z           = address};
        fine(table->launch(state, ordinal, queue, &call));
    }
}

static void work_on(void *state, int ordinal, const memspan_request_t *request)
{
    memspan_pointer_facts_t facts;
    double values[67] = {1, 2, 3};
    memspan_block_t block;
    void *queue = NULL;

    if (!fine(table->alloc(state, ordinal, request, &block))) {
        return;
    }
    fine(table->queue_create(state, ordinal, &queue));
    fine(table->copy(state, ordinal, NULL, block.address, values, sizeof(values)));
    fine(table->fill(state, ordinal, queue, block.address, 0, 513));
    fine(table->fill(state, ordinal, queue, block.address, 0, 512));
    run_kernels(state, ordinal, NULL, block.address);
    run_kernels(state, ordinal, queue, block.address);
    if ((request->kind == MEMSPAN_KIND_MANAGED) &&
        ((((struct cuda_state *)state)->devices[ordinal].info.capabilities &
          MEMSPAN_CAN_PREFETCH) != 0)) {
        fine(table->prefetch(state, ordinal, queue, block.address, 4096, ordinal));
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
    int shared;

    for (shared = 0; shared < 2; shared++) {
        memspan_block_t block;
        memspan_block_t opened;
        size_t size     = sizeof(token);
        uint64_t offset = 0;
        int fd          = -1;

        request.flags = shared ? (unsigned)MEMSPAN_REQUEST_SHARED : 0u;
        if (!fine(table->alloc(state, 0, &request, &block))) {
            continue;
        }
        if (fine(table->ipc_export(state, 0, &block, token, &size)) &&
            (table->ipc_import(state, 0, token, size, &opened) == MEMSPAN_OK)) {
            /* Mapped memory may be opened by its own process, the driver's handles may not. */
            fine(table->ipc_close(state, 0, &opened));
        } else {
            named = named || (strcmp(memspan_error_last()->call, pretended.failed_call()) == 0);
        }
        if (((struct cuda_state *)state)->cu.cuMemGetHandleForAddressRange != NULL &&
            fine(table->dmabuf_export(state, 0, block.address, 4096, &fd, &offset))) {
            close(fd);
        }
        fine(table->free(state, 0, &block));
    }
}

static void import(void *state)
{
    void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *address[2];
    void *cookie[2];
    bool done[2];
    int i;

    for (i = 0; i < 2; i++) {
        done[i] = fine(table->import(state, i, pages, 4096, &address[i], &cookie[i]));
    }
    for (i = 0; i < 2; i++) {
        if (done[i]) {
            fine(table->release(state, i, pages, 4096, cookie[i]));
        }
    }
    munmap(pages, 4096);
}

/* Somebody else's managed memory, sent to a device. */
static void ask_about_others(void *state)
{
    memspan_pointer_facts_t facts;
    struct cuda_device *device;
    cuda_address_t theirs = 0;

    if (!fine(cuda_enter(state, 0, &device))) {
        return;
    }
    if (pretended.cu.cuMemAllocManaged(&theirs, 4096, CUDA_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS) {
        fine(table->pointer_describe(state, (void *)(uintptr_t)theirs, &facts));
        named = (pretended.cu.cuMemFree_v2(theirs) != CUDA_SUCCESS) || named;
    } else {
        named = true; /* the test's own call failed, and this is the test */
    }
    cuda_leave(device);
}

static void work(void)
{
    int node                   = 0;
    void *state                = NULL;
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    int kind;

    if (!fine(pretended_try_open(&state))) {
        return;
    }
    fine(table->device_describe(state, 1, &info));
    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        memspan_request_t request = pretended_ask((memspan_kind_t)kind, PRETENDED_BYTES);
        if ((info.kinds & (1u << kind)) == 0) {
            continue;
        }
        request.resident_ordinal = 1;
        request.align_bytes      = 1 << 16;
        work_on(state, 1, &request);
        if (kind == MEMSPAN_KIND_HOST_PINNED) {
            request.nodes      = &node;
            request.node_count = 1;
            work_on(state, 0, &request);
        }
    }
    fine(table->device_describe(state, 0, &info));
    share(state);
    import(state);
    ask_about_others(state);
    table->close(state);
}

/* The program has a context of its own on the thread, and finds it as it was. */
static void work_in_context(cuda_context_t *before_p, cuda_context_t *after_p)
{
    cuda_context_t popped = NULL;

    *before_p = *after_p = NULL;
    if ((pretended.cu.cuInit(0) != CUDA_SUCCESS) ||
        (pretended.cu.cuDevicePrimaryCtxRetain(before_p, 1) != CUDA_SUCCESS)) {
        work();
        return;
    }
    if (pretended.cu.cuCtxPushCurrent_v2(*before_p) != CUDA_SUCCESS) {
        *before_p = NULL;
    }
    work();
    pretended.current(after_p);
    if (*before_p != NULL) {
        pretended.cu.cuCtxPopCurrent_v2(&popped);
        if (popped == NULL) {
            pretended.cu.cuCtxPopCurrent_v2(&popped);
        }
    }
    if (pretended.cu.cuDevicePrimaryCtxRelease_v2 != NULL) {
        pretended.cu.cuDevicePrimaryCtxRelease_v2(1);
    }
}

/* Whether the call is one of the test's own, not of the backend's. */
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
    cr_assert_eq(pretended.depth(), 0, "%s %d, %s: a context is left", what, at,
                 pretended.failed_call());
}

static void fail_each(const char *attributes)
{
    char setting[64];
    int at;

    for (at = 1; at < 4000; at++) {
        snprintf(setting, sizeof(setting), "FAKE_CUDA_FAIL_AT=%d", at);
        PRETENDED(setting, attributes);
        failures = 0;
        named    = false;
        work();
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

TestSuite(cuda_failures, .init = pretended_find, .timeout = 60);

Test(cuda_failures, of_each_call_today)
{
    fail_each("FAKE_CUDA_ATTRIBUTES=");
}

Test(cuda_failures, of_each_call_with_all_host_memory_in_reach)
{
    fail_each("FAKE_CUDA_ATTRIBUTES=88=1,100=1,86=1");
}

Test(cuda_failures, of_each_call_without_faults)
{
    fail_each("FAKE_CUDA_ATTRIBUTES=89=0");
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
        cr_assert_eq(pretended.depth(), 0);
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

        /* Without this one nobody can leave a context. */
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
        failures = 0;
        named    = false;
        work();
        check_rest(names[i], 0);
        cr_assert((pretended.failed_call()[0] == '\0') || is_told(pretended.failed_call()),
                  "%s: not named", names[i]);
    }
}

Test(cuda_failures, the_device_is_lost)
{
    char setting[64];
    int at;

    for (at = 1; at < 600; at++) {
        snprintf(setting, sizeof(setting), "FAKE_CUDA_LOST_AT=%d", at);
        PRETENDED(setting);
        failures = 0;
        work();
        check_rest("lost at", at);
    }
    PRETENDED("FAKE_CUDA_LOST_AT=60");
    failures = 0;
    work();
    cr_assert_gt(failures, 5);
    cr_assert_eq(memspan_error_last()->native_code, 719);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_DRIVER);
    cr_assert_not_null(strstr(memspan_error_last()->native_text, "CUDA_ERROR_LAUNCH_FAILED"));
    cr_assert_not_null(strstr(memspan_error_last()->hint, "every later call"));
}

/* ---- a driver that does not start ---- */

static void check_start(const char *setting, memspan_status_t wanted, const char *words)
{
    void *state = NULL;

    PRETENDED("FAKE_CUDA_FAIL_CALL=cuInit", setting);
    cr_assert_eq(pretended_try_open(&state), wanted, "%s", memspan_error_text());
    cr_assert_str_eq(memspan_error_last()->call, "cuInit");
    cr_assert_not_null(strstr(memspan_error_last()->native_text, words), "%s",
                       memspan_error_last()->native_text);
    cr_assert_eq(pretended.live(), 0);
}

Test(cuda_failures, at_the_start)
{
    void *state = NULL;

    check_start("FAKE_CUDA_FAIL_CODE=100", MEMSPAN_ERR_OFF, "CUDA_ERROR_NO_DEVICE");
    cr_assert_str_not_empty(memspan_error_last()->hint);
    check_start("FAKE_CUDA_FAIL_CODE=34", MEMSPAN_ERR_OFF, "CUDA_ERROR_STUB_LIBRARY");
    check_start("FAKE_CUDA_FAIL_CODE=803", MEMSPAN_ERR_OFF, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
    check_start("FAKE_CUDA_FAIL_CODE=999", MEMSPAN_ERR_DRIVER, "CUDA_ERROR_UNKNOWN");
    check_start("FAKE_CUDA_FAIL_CODE=4711", MEMSPAN_ERR_DRIVER, "unknown answer");
    PRETENDED("FAKE_CUDA_DEVICES=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
}
