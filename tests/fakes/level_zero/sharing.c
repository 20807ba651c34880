/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.c: two processes and one block; dma-buf; and fork. */

#include "tests/fakes/suite/sharing.h"
#include "core/base/error.h"
#include "tests/fakes/level_zero/pretended.h"
#include <memspan/memspan.h>
#include <string.h>
#include <unistd.h>

static const memspan_backend_t *const table = &memspan_backend_level_zero;

TestSuite(level_zero_sharing, .init = pretended_find, .timeout = 60);

Test(level_zero_sharing, plain_memory)
{
    sharing_two_processes(0, "FAKE_ZE_DEVICES=2", "zeMemAllocDevice");
}

Test(level_zero_sharing, memory_with_room_to_spare)
{
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "FAKE_ZE_LACKS=alignment", "zeMemAllocDevice");
}

Test(level_zero_sharing, memory_that_cannot_be_exported_after_all)
{
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "FAKE_ZE_LIES=dmabuf", "zeMemAllocDevice");
}

Test(level_zero_sharing, tokens_are_looked_at)
{
    char token[512];
    size_t size = sizeof(token);
    memspan_block_t block;
    memspan_block_t opened;
    void *state;

    PRETENDED("FAKE_ZE_DEVICES=2");
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->ipc_export(state, 0, &block, NULL, &size), MEMSPAN_OK);
    cr_assert_leq(size, sizeof(token));
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &(size_t){8}), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_OK);
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_OK);
    cr_assert_eq(pretended.calls("zeMemGetIpcHandle"), 1u, "one handle for all");
    cr_assert_eq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_OK);
    cr_assert_neq(opened.address, block.address);
    cr_assert_eq(table->ipc_close(state, 0, &opened), MEMSPAN_OK);
    cr_assert_eq(table->ipc_import(state, 1, token, size, &opened), MEMSPAN_ERR_CONFLICT,
                 "it is another device's");
    cr_assert_eq(table->ipc_import(state, 0, token, size - 1, &opened), MEMSPAN_ERR_INVALID);
    token[0] ^= 1;
    cr_assert_eq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_ERR_INVALID);
    pretended_give_back(state, 0, &block);
    token[0] ^= 1;
    cr_assert_neq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_OK, "it is gone");
    block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_ERR_UNSUPPORTED);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}

Test(level_zero_sharing, dma_buf)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t block;
    uint64_t offset = 0;
    int fd          = -1;
    void *state;

    PRETENDED("FAKE_ZE_DEVICES=1");
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->dmabuf_export(state, 0, block.address, 100, &fd, &offset),
                 MEMSPAN_ERR_UNSUPPORTED, "it was not asked for");
    pretended_give_back(state, 0, &block);
    request.flags = MEMSPAN_REQUEST_SHARED;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    cr_assert_eq(table->dmabuf_export(state, 0, (char *)block.address + 5000, 100, &fd, &offset),
                 MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(offset, 5000u);
    cr_assert_eq(close(fd), 0);
    cr_assert_eq(
        table->dmabuf_export(state, 0, (char *)block.address + 5000, PRETENDED_BYTES, &fd, &offset),
        MEMSPAN_ERR_INVALID);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
    PRETENDED("FAKE_ZE_LACKS=dmabuf");
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->dmabuf_export(state, 0, block.address, 100, &fd, &offset),
                 MEMSPAN_ERR_UNSUPPORTED);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}

Test(level_zero_sharing, a_forked_child_is_refused)
{
    sharing_refuses_forked_child("FAKE_ZE_DEVICES=1");
}
