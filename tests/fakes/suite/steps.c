/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fakes/suite/steps.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct steps steps;

void steps_begin(void)
{
    steps = (struct steps){0};
}

void steps_look(void)
{
    steps.named = steps.named ||
                  (strcmp(memspan_error_last()->call, pretended.failed_call()) == 0) ||
                  (strstr(memspan_error_last()->message, pretended.failed_call()) != NULL);
}

void steps_own(bool fine)
{
    steps.named = steps.named || !fine;
}

bool steps_fine(memspan_status_t status)
{
    if (status == MEMSPAN_OK) {
        return true;
    }
    steps.failures++;
    steps_look();
    if (pretended.failed != NULL) {
        pretended.failed();
    }
    return false;
}

bool steps_told(const char *call)
{
    return steps.named || (strstr(pretended_log(), call) != NULL);
}

void steps_check_rest(const char *what, int at)
{
    cr_assert_str_empty(pretended.violation(), "%s %d, %s: %s", what, at, pretended.failed_call(),
                        pretended.violation());
    cr_assert_eq(pretended.live(), 0, "%s %d, %s: %d objects are left", what, at,
                 pretended.failed_call(), pretended.live());
    if (pretended.check != NULL) {
        pretended.check();
    }
}

static bool can(void *state, int ordinal, unsigned what)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    return (pretended.table->device_describe(state, ordinal, &info) == MEMSPAN_OK) &&
           ((info.capabilities & what) != 0);
}

static void run_kernels(void *state, int ordinal, void *queue, void *address, size_t count)
{
    static const memspan_kernel_t kernels[] = {
        MEMSPAN_KERNEL_DAXPY, MEMSPAN_KERNEL_SUM, MEMSPAN_KERNEL_ADD_ATOMIC,
        MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_MAX, MEMSPAN_ELEMENT_S16)};
    size_t i;

    for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                      .kernel      = kernels[i],
                                      .count       = count,
                                      .x           = address,
                                      .y           = address,
                                      .z           = address};
        steps_fine(pretended.table->launch(state, ordinal, queue, &call));
    }
}

/* To the queue, and to none again. Older drivers have no call for it. */
static void attach(void *state, int ordinal, void *queue, const memspan_block_t *block)
{
    const memspan_backend_t *table = pretended.table;
    memspan_status_t status        = MEMSPAN_ERR_UNSUPPORTED;

    if (table->attach != NULL) {
        status = table->attach(state, ordinal, queue, block);
    }
    if (status == MEMSPAN_ERR_UNSUPPORTED) {
        return;
    }
    steps_fine(status);
    steps_fine(table->synchronize(state, ordinal, queue));
    steps_fine(table->attach(state, ordinal, NULL, block));
}

void steps_events(void *state, int ordinal, void *queue)
{
    const memspan_backend_t *table = pretended.table;
    void *event                    = NULL;
    int done;

    if (!steps_fine(table->event_record(state, ordinal, queue, &event))) {
        return;
    }
    steps_fine(table->event_record(state, ordinal, queue, &event));
    steps_fine(table->event_wait(state, ordinal, NULL, event));
    steps_fine(table->event_done(state, ordinal, event, &done));
    steps_fine(table->event_destroy(state, ordinal, event));
}

void steps_work_on(void *state, int ordinal, const memspan_request_t *request, size_t count)
{
    const memspan_backend_t *table = pretended.table;
    memspan_pointer_facts_t facts;
    double values[67] = {1, 2, 3};
    memspan_block_t block;
    void *queue = NULL;

    if (!steps_fine(table->alloc(state, ordinal, request, &block))) {
        return;
    }
    steps_fine(table->queue_create(state, ordinal, &queue));
    steps_fine(table->copy(state, ordinal, NULL, block.address, values, sizeof(values)));
    if (table->copy_blocks != NULL) {
        steps_fine(table->copy_blocks(state, ordinal, queue, block.address, 16, values, 8, 8, 3));
    }
    steps_fine(table->fill(state, ordinal, queue, block.address, 0, 513));
    steps_fine(table->fill(state, ordinal, queue, block.address, 0, 512));
    run_kernels(state, ordinal, NULL, block.address, count);
    run_kernels(state, ordinal, queue, block.address, count);
    steps_fine(table->synchronize(state, ordinal, queue));
    steps_fine(table->synchronize(state, ordinal, NULL));
    if ((request->kind == MEMSPAN_KIND_MANAGED) && can(state, ordinal, MEMSPAN_CAN_PREFETCH)) {
        steps_fine(table->prefetch(state, ordinal, queue, block.address, 4096, ordinal));
        attach(state, ordinal, queue, &block);
        steps_fine(table->synchronize(state, ordinal, queue));
    }
    /* Of our own it says nothing; that is no failure of the driver. */
    if (table->pointer_describe(state, block.address, &facts) != MEMSPAN_ERR_NOT_FOUND) {
        steps_fine(memspan_error_last()->status);
    }
    steps_fine(table->copy(state, ordinal, NULL, values, block.address, sizeof(values)));
    steps_fine(table->synchronize(state, ordinal, NULL));
    if (queue != NULL) {
        steps_fine(table->queue_destroy(state, ordinal, queue));
    }
    steps_fine(table->free(state, ordinal, &block));
}

void steps_import(void *state)
{
    void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *address[2];
    void *cookie[2];
    bool done[2];
    int i;

    for (i = 0; i < 2; i++) {
        done[i] =
            can(state, i, MEMSPAN_CAN_IMPORT) &&
            steps_fine(pretended.table->import(state, i, pages, 4096, &address[i], &cookie[i]));
    }
    for (i = 0; i < 2; i++) {
        if (done[i]) {
            steps_fine(pretended.table->release(state, i, pages, 4096, cookie[i]));
        }
    }
    munmap(pages, 4096);
}

void steps_all_kinds(void *state, size_t count, bool on_nodes)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    int node                   = 0;
    int kind;

    steps_fine(pretended.table->device_describe(state, 1, &info));
    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        memspan_request_t request = pretended_ask((memspan_kind_t)kind, PRETENDED_BYTES);
        if ((info.kinds & (1u << kind)) == 0) {
            continue;
        }
        request.resident_ordinal = 1;
        request.align_bytes      = 1 << 16;
        steps_work_on(state, 1, &request, count);
        if (on_nodes && (kind == MEMSPAN_KIND_HOST_PINNED)) {
            request.nodes      = &node;
            request.node_count = 1;
            steps_work_on(state, 0, &request, count);
        }
    }
}

void steps_fail_each(const char *machine, const char *more, void (*work)(void))
{
    char setting[64];
    int at;

    for (at = 1; at < 4000; at++) {
        snprintf(setting, sizeof(setting), "FAIL_AT=%d", at);
        PRETENDED(setting, machine, more);
        steps_begin();
        work();
        steps_check_rest("call", at);
        if (pretended.failed_call()[0] == '\0') {
            break;
        }
        cr_assert(steps_told(pretended.failed_call()), "call %d, %s: not named (%s; log: %s)", at,
                  pretended.failed_call(),
                  (steps.failures > 0) ? memspan_error_text() : "no failure", pretended_log());
    }
    cr_assert_eq(steps.failures, 0, "without a failure all works: %s", memspan_error_text());
    cr_assert_gt(at, 100);
    cr_assert_lt(at, 4000);
}

void steps_fail_always(const char *const *names, size_t count, const char *except,
                       void (*work)(void))
{
    char setting[96];
    size_t i;

    for (i = 0; i < count; i++) {
        if (strcmp(names[i], except) == 0) {
            continue;
        }
        snprintf(setting, sizeof(setting), "FAIL_CALL=%s", names[i]);
        PRETENDED(setting);
        steps_begin();
        work();
        steps_check_rest(names[i], 0);
        cr_assert((pretended.failed_call()[0] == '\0') || steps_told(pretended.failed_call()),
                  "%s: not named", names[i]);
    }
}

void steps_lose(int most, int at, long code, const char *words, void (*work)(void))
{
    char setting[64];
    int i;

    for (i = 1; i <= most; i++) {
        snprintf(setting, sizeof(setting), "LOST_AT=%d", (i < most) ? i : at);
        PRETENDED(setting);
        steps_begin();
        work();
        steps_check_rest("lost at", i);
    }
    cr_assert_gt(steps.failures, 5);
    cr_assert_eq(memspan_error_last()->native_code, code);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_DRIVER);
    cr_assert_not_null(strstr(memspan_error_last()->native_text, words));
    cr_assert_not_null(strstr(memspan_error_last()->hint, "every later call"));
}

void steps_check_start(const char *call, const char *code, memspan_status_t wanted,
                       const char *words, const char *hint)
{
    char name[64];
    char value[64];
    void *state = NULL;

    snprintf(name, sizeof(name), "FAIL_CALL=%s", call);
    snprintf(value, sizeof(value), "FAIL_CODE=%s", code);
    PRETENDED(name, value);
    cr_assert_eq(pretended_try_open(&state), wanted, "%s", memspan_error_text());
    cr_assert_str_eq(memspan_error_last()->call, call);
    cr_assert_not_null(strstr(memspan_error_last()->native_text, words), "%s",
                       memspan_error_last()->native_text);
    cr_assert_not_null(strstr(memspan_error_last()->hint, hint), "%s", memspan_error_last()->hint);
    cr_assert_eq(pretended.live(), 0);
}
