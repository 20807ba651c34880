/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fakes/suite/gpu_rules.h"
#include <memspan/memspan.h>
#include <string.h>
#include <unistd.h>

void gpu_rules_alignment(const char *setting, const char *other)
{
    void *state;
    memspan_kind_t kind;

    PRETENDED(setting, other);
    state = pretended_open();
    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        size_t align;
        for (align = 256; align <= (4u << 20); align *= 4) {
            memspan_request_t request = pretended_ask(kind, PRETENDED_BYTES);
            memspan_block_t block;
            request.align_bytes = align;
            cr_assert_eq(pretended.table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s",
                         memspan_error_text());
            cr_assert_eq((uintptr_t)block.address & (align - 1), 0u);
            cr_assert_eq(pretended.table->fill(state, 0, NULL, block.address, 1, PRETENDED_BYTES),
                         MEMSPAN_OK, "%s", memspan_error_text());
            pretended_give_back(state, 0, &block);
        }
    }
    pretended_close(state);
}

void gpu_rules_managed_memory_ends(const char *setting)
{
    size_t most = (size_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * (size_t)sysconf(_SC_PAGESIZE);
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, most);
    memspan_block_t block;
    memspan_block_t other;
    void *state;
    int turn;

    PRETENDED(setting);
    state = pretended_open();
    for (turn = 0; turn < 2; turn++) {
        cr_assert_eq(pretended.table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s",
                     memspan_error_text());
        cr_assert_eq(pretended.table->alloc(state, 0, &request, &other), MEMSPAN_ERR_NO_MEMORY);
        cr_assert_str_empty(memspan_error_last()->call, "the driver was asked");
        pretended_give_back(state, 0, &block);
    }
    pretended_close(state);
}

void gpu_rules_memory_without_address(const char *setting)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_MANAGED};
    memspan_block_t block;
    void *state;
    size_t i;

    PRETENDED(setting);
    state = pretended_open();
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        memspan_request_t request = pretended_ask(kinds[i], PRETENDED_BYTES);
        cr_assert_eq(pretended.table->alloc(state, 0, &request, &block), MEMSPAN_ERR_DRIVER);
        cr_assert_not_null(strstr(memspan_error_text(), "gave no address"));
    }
    pretended_close(state);
}

void gpu_rules_pinned_memory_is_taken_once(const char *setting, const char *call)
{
    enum { BLOCKS = 8 };
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_HOST_PINNED, 1 << 20);
    memspan_block_t blocks[BLOCKS];
    unsigned tried; /* when it was opened */
    void *state;
    int i;

    PRETENDED(setting);
    state               = pretended_open();
    tried               = pretended.calls(call);
    request.align_bytes = 1 << 16;
    for (i = 0; i < BLOCKS; i++) {
        cr_assert_eq(pretended.table->alloc(state, 0, &request, &blocks[i]), MEMSPAN_OK);
        cr_assert_eq((uintptr_t)blocks[i].address & 0xffff, 0u);
    }
    cr_assert_leq(pretended.calls(call), tried + BLOCKS + 1);
    for (i = 0; i < BLOCKS; i++) {
        pretended_give_back(state, 0, &blocks[i]);
    }
    pretended_close(state);
}

void gpu_rules_busy_queues_are_waited_for(const char *setting)
{
    unsigned char bytes[PRETENDED_BYTES] = {0};
    void *queue                          = NULL;
    memspan_block_t block;
    void *state;

    PRETENDED(setting);
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(pretended.table->queue_create(state, 0, &queue), MEMSPAN_OK);
    cr_assert_eq(pretended.table->fill(state, 0, queue, block.address, 7, PRETENDED_BYTES),
                 MEMSPAN_OK);
    cr_assert_eq(pretended.table->queue_destroy(state, 0, queue), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_expect_str_empty(pretended.violation());
    cr_assert_eq(pretended.table->copy(state, 0, NULL, bytes, block.address, PRETENDED_BYTES),
                 MEMSPAN_OK);
    cr_assert_eq(pretended.table->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_expect((bytes[0] == 7) && (bytes[PRETENDED_BYTES - 1] == 7), "the work is lost");
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}

void gpu_rules_memory_moves_after_work_on_it(const char *setting, int to)
{
    void *queue = NULL;
    memspan_block_t block;
    void *state;

    PRETENDED(setting);
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);
    cr_assert_eq(pretended.table->queue_create(state, 0, &queue), MEMSPAN_OK);
    cr_assert_eq(pretended.table->fill(state, 0, queue, block.address, 7, PRETENDED_BYTES),
                 MEMSPAN_OK);
    cr_assert_eq(pretended.table->prefetch(state, 0, queue, block.address, PRETENDED_BYTES, to),
                 MEMSPAN_OK, "%s", memspan_error_text());
    cr_expect_str_empty(pretended.violation());
    cr_assert_eq(pretended.table->synchronize(state, 0, queue), MEMSPAN_OK);
    cr_assert_eq(pretended.table->queue_destroy(state, 0, queue), MEMSPAN_OK);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}
