/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.c: two processes and one block; dma-buf; and fork. */

#include "tests/fakes/suite/sharing.h"
#include "core/base/error.h"
#include "tests/fakes/level_zero/pretended.h"
#include "tests/fakes/suite/tracing.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_level_zero;

TestSuite(level_zero_sharing, .init = pretended_find, .timeout = 60);

Test(level_zero_sharing, plain_memory)
{
    sharing_two_processes(0, "DEVICES=2", "zeMemAllocDevice");
}

Test(level_zero_sharing, memory_with_room_to_spare)
{
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "LACKS=alignment", "zeMemAllocDevice");
}

Test(level_zero_sharing, memory_that_cannot_be_exported_after_all)
{
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "LIES=dmabuf", "zeMemAllocDevice");
}

Test(level_zero_sharing, memory_that_there_is_not_is_asked_for_once)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, 48 << 20);
    memspan_block_t block;
    memspan_block_t more;
    unsigned calls;
    void *state = PRETENDED_OPEN("MEMORY=67108864");

    request.flags = MEMSPAN_REQUEST_SHARED;
    OK(table->alloc(state, 0, &request, &block));
    calls = pretended.calls("zeMemAllocDevice");
    cr_assert_eq(table->alloc(state, 0, &request, &more), MEMSPAN_ERR_NO_MEMORY);
    cr_expect_eq(pretended.calls("zeMemAllocDevice"), calls + 1);
    pretended_end(state, 0, &block);
}

/* Handles of newer drivers name the process that made them: the driver fetches the descriptor, and
 * one that was fetched before would be looked for in the wrong process. */
Test(level_zero_sharing, handles_that_name_their_process)
{
    sharing_two_processes(0, "IPC=opaque", "zeMemAllocDevice");
}

/* Yama at 1 lets a sibling fetch a descriptor when its owner allows it, and not before. */
Test(level_zero_sharing, siblings_are_allowed_to_fetch)
{
    tracing_set(TRACING_NAMED);
    sharing_two_processes(0, "DEVICES=2", "zeMemAllocDevice");
    cr_assert(tracing_is_offered());
}

Test(level_zero_sharing, nothing_is_promised_that_cannot_be_fetched)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    char token[512];
    size_t size = sizeof(token);
    memspan_block_t block;
    void *state;

    tracing_set(TRACING_NEVER);
    state = PRETENDED_OPEN("DEVICES=1");
    OK(table->device_describe(state, 0, &info));
    cr_assert_eq(info.capabilities & MEMSPAN_CAN_IPC, 0u);
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(memspan_error_last()->hint, "ptrace_scope"));
    pretended_end(state, 0, &block);
}

Test(level_zero_sharing, tokens_are_looked_at)
{
    char token[512];
    size_t size = sizeof(token);
    memspan_block_t opened;
    void *state           = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    OK(table->ipc_export(state, 0, &block, NULL, &size));
    cr_assert_leq(size, sizeof(token));
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &(size_t){8}), MEMSPAN_ERR_INVALID);
    OK(table->ipc_export(state, 0, &block, token, &size));
    OK(table->ipc_export(state, 0, &block, token, &size));
    cr_assert_eq(pretended.calls("zeMemGetIpcHandle"), 1u, "one handle for all");
    OK(table->ipc_import(state, 0, token, size, &opened));
    cr_assert_neq(opened.address, block.address);
    OK(table->ipc_close(state, 0, &opened));
    cr_assert_eq(table->ipc_import(state, 1, token, size, &opened), MEMSPAN_ERR_CONFLICT,
                 "it is another device's");
    cr_assert_eq(table->ipc_import(state, 0, token, size - 1, &opened), MEMSPAN_ERR_INVALID);
    token[0] ^= 1;
    cr_assert_eq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_ERR_INVALID);
    pretended_give_back(state, 0, &block);
    token[0] ^= 1;
    cr_assert_neq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_OK, "it was freed");
    block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 0, &block);
}

Test(level_zero_sharing, dma_buf)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    uint64_t offset           = 0;
    int fd                    = -1;
    int again                 = -1;
    void *state               = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block     = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    cr_assert_eq(table->dmabuf_export(state, 0, block.address, 100, &fd, &offset),
                 MEMSPAN_ERR_UNSUPPORTED, "it was not asked for");
    pretended_give_back(state, 0, &block);
    request.flags = MEMSPAN_REQUEST_SHARED;
    OK(table->alloc(state, 0, &request, &block));
    OK(table->dmabuf_export(state, 0, (char *)block.address + 5000, 100, &fd, &offset));
    cr_assert_eq(offset, 5000u);
    cr_assert_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    /* Each is the caller's own, and goes on when another is closed or the memory given back. */
    OK(table->dmabuf_export(state, 0, block.address, 100, &again, &offset));
    cr_assert_neq(again, fd);
    cr_assert_eq(close(fd), 0);
    cr_assert_geq(fcntl(again, F_GETFD), 0);
    cr_assert_eq(
        table->dmabuf_export(state, 0, (char *)block.address + 5000, PRETENDED_BYTES, &fd, &offset),
        MEMSPAN_ERR_INVALID);
    pretended_give_back(state, 0, &block);
    cr_assert_eq(close(again), 0);
    pretended_close(state);
    state = PRETENDED_OPEN("LACKS=dmabuf");
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->dmabuf_export(state, 0, block.address, 100, &fd, &offset),
                 MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 0, &block);
}
