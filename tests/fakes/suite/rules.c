/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c: what all GPU backends do alike. */

#include "core/base/error.h"
#include "tests/fakes/suite/pretended.h"
#include <sys/wait.h>
#include <unistd.h>

TestSuite(rules, .init = pretended_find, .timeout = 60);

void rules_check_alignment(const char *setting, const char *other)
{
    memspan_kind_t kind;
    void *state = PRETENDED_OPEN(setting, other);

    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        size_t align;
        for (align = 256; align <= (4u << 20); align *= 4) {
            memspan_request_t request = pretended_ask(kind, PRETENDED_BYTES);
            memspan_block_t block;
            request.align_bytes = align;
            OK(pretended.table->alloc(state, 0, &request, &block));
            cr_assert_eq((uintptr_t)block.address & (align - 1), 0u);
            OK(pretended.table->fill(state, 0, NULL, block.address, 1, PRETENDED_BYTES));
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
    void *state                          = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block                = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    OK(pretended.table->queue_create(state, 0, &queue));
    OK(pretended.table->fill(state, 0, queue, block.address, 7, PRETENDED_BYTES));
    OK(pretended.table->queue_destroy(state, 0, queue));
    cr_expect_str_empty(pretended.violation());
    OK(pretended.table->copy(state, 0, NULL, bytes, block.address, PRETENDED_BYTES));
    OK(pretended.table->synchronize(state, 0, NULL));
    cr_expect((bytes[0] == 7) && (bytes[PRETENDED_BYTES - 1] == 7), "the work is lost");
    pretended_end(state, 0, &block);
}

/* Managed memory of device 0 goes to a device of its queue or not. */
static void check_move(int to)
{
    void *queue           = NULL;
    void *state           = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);

    OK(pretended.table->queue_create(state, 0, &queue));
    OK(pretended.table->fill(state, 0, queue, block.address, 7, PRETENDED_BYTES));
    OK(pretended.table->prefetch(state, 0, queue, block.address, PRETENDED_BYTES, to));
    cr_expect_str_empty(pretended.violation());
    OK(pretended.table->synchronize(state, 0, queue));
    OK(pretended.table->queue_destroy(state, 0, queue));
    pretended_end(state, 0, &block);
}

Test(rules, memory_moves_after_work_on_it)
{
    check_move(0);
    check_move(1);
}

/* Where host and device do not use managed memory at once (CUDA's attribute 89, HIP's 9, the
 * default of Level Zero), the host waits for every queue. */
Test(rules, the_host_waits_for_all_work_on_managed_memory)
{
    void *queue           = NULL;
    void *state           = PRETENDED_OPEN("DEVICES=1", "ATTRIBUTES=89=0,9=0");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);

    OK(pretended.table->queue_create(state, 0, &queue));
    OK(pretended_launch_fill(state, 0, queue, block.address));
    OK(pretended.table->synchronize(state, 0, NULL));
    cr_assert_eq(((double *)block.address)[99], 2.5); /* it would crash */
    OK(pretended.table->queue_destroy(state, 0, queue));
    pretended_end(state, 0, &block);
}

/* What was opened before a fork is of no use to the child, and whole for the parent. */
Test(rules, a_forked_child_is_refused)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    int status                = 0;
    pid_t child;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

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
    pretended_end(state, 0, &block);
}
