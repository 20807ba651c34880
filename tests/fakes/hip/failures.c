/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c: every driver call fails once, in turn, while the backend does all that it can do;
 * then each call fails always; then the devices are lost at every call in turn. Nothing may be
 * left, no rule broken, the thread's device is the one it was and its last error none of ours, and
 * somebody is told which call it was. */

#include "core/base/error.h"
#include "tests/fakes/hip/pretended.h"
#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const memspan_backend_t *const table = &memspan_backend_hip;

/* One run: whether anything failed, and whether a record names the call that was made to. */
static int failures;
static bool named;
static bool prefetches;

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
        MEMSPAN_KERNEL_DAXPY, MEMSPAN_KERNEL_SUM,
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
    run_kernels(state, ordinal, NULL, block.address);
    run_kernels(state, ordinal, queue, block.address);
    if ((request->kind == MEMSPAN_KIND_MANAGED) && prefetches) {
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
    memspan_block_t block;
    memspan_block_t opened;
    size_t size     = sizeof(token);
    uint64_t offset = 0;
    int fd          = -1;

    if (!fine(table->alloc(state, 1, &request, &block))) {
        return;
    }
    if (fine(table->ipc_export(state, 1, &block, token, &size))) {
        /* A process does not open its own. */
        cr_assert_neq(table->ipc_import(state, 1, token, size, &opened), MEMSPAN_OK);
        named = named || (strcmp(memspan_error_last()->call, pretended.failed_call()) == 0);
    }
    if (table->dmabuf_export(state, 1, block.address, 4096, &fd, &offset) == MEMSPAN_OK) {
        close(fd);
    } else {
        /* What failed when the backend was opened is a missing capability now. */
        fine(memspan_error_last()->status);
    }
    fine(table->free(state, 1, &block));
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

/* Somebody else's managed memory. */
static void ask_about_others(void *state)
{
    memspan_pointer_facts_t facts;
    void *theirs = NULL;

    if (pretended.hip.hipMallocManaged(&theirs, 4096, HIP_MEM_ATTACH_GLOBAL) != HIP_SUCCESS) {
        (void)pretended.hip.hipGetLastError();
        named = named || (strcmp("hipMallocManaged", pretended.failed_call()) == 0);
        return;
    }
    fine(table->pointer_describe(state, theirs, &facts));
    if (pretended.hip.hipFree(theirs) != HIP_SUCCESS) {
        (void)pretended.hip.hipGetLastError();
        named = named || (strcmp("hipFree", pretended.failed_call()) == 0);
    }
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
    prefetches = (info.capabilities & MEMSPAN_CAN_PREFETCH) != 0;
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
    share(state);
    import(state);
    if ((info.kinds & (1u << MEMSPAN_KIND_MANAGED)) != 0) {
        ask_about_others(state);
    }
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
    cr_assert_eq(pretended.current(), 0, "%s %d, %s: device %d is left current", what, at,
                 pretended.failed_call(), pretended.current());
    cr_assert_eq(pretended.last_error(), 0, "%s %d, %s: the thread's last error is %d", what, at,
                 pretended.failed_call(), pretended.last_error());
}

static void fail_each(const char *attributes)
{
    char setting[64];
    int at;

    for (at = 1; at < 4000; at++) {
        snprintf(setting, sizeof(setting), "FAKE_HIP_FAIL_AT=%d", at);
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

TestSuite(hip_failures, .init = pretended_find, .timeout = 60);

Test(hip_failures, of_each_call)
{
    fail_each("FAKE_HIP_ATTRIBUTES=");
}

Test(hip_failures, of_each_call_with_xnack)
{
    fail_each("FAKE_HIP_ATTRIBUTES=65=1");
}

Test(hip_failures, of_each_call_behind_a_large_bar)
{
    fail_each("FAKE_HIP_ATTRIBUTES=10011=1");
}

Test(hip_failures, of_each_call_without_concurrent_access)
{
    fail_each("FAKE_HIP_ATTRIBUTES=9=0");
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
        failures = 0;
        named    = false;
        work();
        check_rest(names[i], 0);
        cr_assert((pretended.failed_call()[0] == '\0') || is_told(pretended.failed_call()),
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
        (void)pretended.hip.hipInit(0);
        (void)pretended.hip.hipSetDevice(2);
        if (pretended.current() != 2) {
            (void)pretended.hip.hipSetDevice(2);
        }
        work();
        cr_assert_eq(pretended.current(), 2, "call %d, %s: device %d", at, pretended.failed_call(),
                     pretended.current());
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
        check_rest("call", at);
        if (pretended.failed_call()[0] == '\0') {
            break;
        }
    }
    cr_assert_geq(refused, 3);
    cr_assert_lt(mapped_pages() - before, BYTES / 4096);
}

Test(hip_failures, the_devices_are_lost)
{
    char setting[64];
    int at;

    for (at = 1; at < 500; at++) {
        snprintf(setting, sizeof(setting), "FAKE_HIP_LOST_AT=%d", at);
        PRETENDED(setting);
        failures = 0;
        work();
        check_rest("lost at", at);
    }
    PRETENDED("FAKE_HIP_LOST_AT=90");
    failures = 0;
    work();
    cr_assert_gt(failures, 5);
    cr_assert_eq(memspan_error_last()->native_code, 719);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_DRIVER);
    cr_assert_not_null(strstr(memspan_error_last()->native_text, "hipErrorLaunchFailure"));
    cr_assert_not_null(strstr(memspan_error_last()->hint, "every later call"));
}

/* ---- a runtime that does not start ---- */

static void check_start(const char *setting, memspan_status_t wanted, const char *words)
{
    void *state = NULL;

    PRETENDED("FAKE_HIP_FAIL_CALL=hipInit", setting);
    cr_assert_eq(pretended_try_open(&state), wanted, "%s", memspan_error_text());
    cr_assert_str_eq(memspan_error_last()->call, "hipInit");
    cr_assert_not_null(strstr(memspan_error_last()->native_text, words), "%s",
                       memspan_error_last()->native_text);
    cr_assert_eq(pretended.live(), 0);
}

Test(hip_failures, at_the_start)
{
    void *state = NULL;

    check_start("FAKE_HIP_FAIL_CODE=100", MEMSPAN_ERR_OFF, "hipErrorNoDevice");
    cr_assert_not_null(strstr(memspan_error_last()->hint, "/dev/kfd"));
    check_start("FAKE_HIP_FAIL_CODE=101", MEMSPAN_ERR_OFF, "hipErrorInvalidDevice");
    check_start("FAKE_HIP_FAIL_CODE=35", MEMSPAN_ERR_OFF, "hipErrorInsufficientDriver");
    cr_assert_not_null(strstr(memspan_error_last()->hint, "amdgpu"));
    check_start("FAKE_HIP_FAIL_CODE=999", MEMSPAN_ERR_DRIVER, "hipErrorUnknown");
    PRETENDED("FAKE_HIP_DEVICES=0");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    cr_assert_str_eq(memspan_error_last()->call, "hipGetDeviceCount");
}
