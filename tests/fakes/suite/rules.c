/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c: what all GPU backends do alike. */

#include "tests/fakes/suite/rules.h"
#include "core/base/error.h"
#include "tests/fakes/suite/pretended.h"
#include <memspan/memspan.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(rules, .init = pretended_find, .timeout = 60);

void rules_check_alignment(const char *setting, const char *other)
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

/* Work on a queue is done when the queue is destroyed. */
Test(rules, busy_queues_are_waited_for)
{
    unsigned char bytes[PRETENDED_BYTES] = {0};
    void *queue                          = NULL;
    memspan_block_t block;
    void *state;

    PRETENDED("DEVICES=2");
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

/* Managed memory of device 0 goes to a device of its queue or not. */
static void check_move(int to)
{
    void *queue = NULL;
    memspan_block_t block;
    void *state;

    PRETENDED("DEVICES=2");
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

Test(rules, memory_moves_after_work_on_it)
{
    check_move(0);
    check_move(1);
}

/* What was opened before a fork is of no use to the child, and whole for the parent. */
Test(rules, a_forked_child_is_refused)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t block;
    int status = 0;
    void *state;
    pid_t child;

    PRETENDED("DEVICES=1");
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    child = fork();
    if (child == 0) {
        memspan_block_t other;
        bool refused = (pretended.table->alloc(state, 0, &request, &other) == MEMSPAN_ERR_FORKED) &&
                       (pretended.table->free(state, 0, &block) == MEMSPAN_ERR_FORKED) &&
                       (pretended.table->synchronize(state, 0, NULL) == MEMSPAN_ERR_FORKED);
        pretended.table->close(state);
        _exit(refused ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}
