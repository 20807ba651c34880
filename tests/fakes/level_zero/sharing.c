/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.c: two processes and one block; dma-buf; and fork. */

#include "core/base/error.h"
#include "tests/fakes/level_zero/pretended.h"
#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const memspan_backend_t *const table = &memspan_backend_level_zero;

TestSuite(level_zero_sharing, .init = pretended_find, .timeout = 60);

/* The other process: opens what it is told, adds 1 to the first number there. 0: it worked. */
static int open_and_change(int from)
{
    char token[512];
    ssize_t size = read(from, token, sizeof(token));
    memspan_block_t block;
    double value = 0;
    void *state  = NULL;

    if ((size <= 0) || (pretended_try_open(&state) != MEMSPAN_OK)) {
        return 1;
    }
    if (table->ipc_import(state, 0, token, (size_t)size, &block) != MEMSPAN_OK) {
        fprintf(stderr, "%s\n", memspan_error_text());
        return 2;
    }
    if ((table->copy(state, 0, NULL, &value, block.address, sizeof(value)) != MEMSPAN_OK) ||
        (table->synchronize(state, 0, NULL) != MEMSPAN_OK)) {
        return 3;
    }
    value += 1;
    if ((table->copy(state, 0, NULL, block.address, &value, sizeof(value)) != MEMSPAN_OK) ||
        (table->synchronize(state, 0, NULL) != MEMSPAN_OK) ||
        (table->ipc_close(state, 0, &block) != MEMSPAN_OK)) {
        return 4;
    }
    table->close(state);
    return ((pretended.live() == 0) && (pretended.violation()[0] == '\0')) ? 0 : 5;
}

static void share(unsigned flags, const char *setting)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t block;
    char token[512];
    size_t size  = sizeof(token);
    double value = 41;
    int status   = 0;
    int pipes[2];
    void *state;
    pid_t child;

    PRETENDED(setting);
    cr_assert_eq(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        close(pipes[1]);
        _exit(open_and_change(pipes[0]));
    }
    prctl(PR_SET_PTRACER, child, 0, 0, 0);
    state               = pretended_open();
    request.flags       = flags;
    request.align_bytes = 1 << 16;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s", memspan_error_text());
    table->copy(state, 0, NULL, block.address, &value, sizeof(value));
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_OK);
    cr_assert_eq(pretended.calls("zeMemGetIpcHandle"), 1u, "one handle for all");
    cr_assert_eq(write(pipes[1], token, size), (ssize_t)size);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "the other process: %x", status);
    table->copy(state, 0, NULL, &value, block.address, sizeof(value));
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_assert_eq(value, 42.0, "%g", value);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
    close(pipes[0]);
    close(pipes[1]);
}

Test(level_zero_sharing, plain_memory)
{
    share(0, "FAKE_ZE_DEVICES=2");
}

Test(level_zero_sharing, memory_with_room_to_spare)
{
    share(MEMSPAN_REQUEST_SHARED, "FAKE_ZE_LACKS=alignment");
}

Test(level_zero_sharing, memory_that_cannot_be_exported_after_all)
{
    share(MEMSPAN_REQUEST_SHARED, "FAKE_ZE_LIES=dmabuf");
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
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t block;
    int status = 0;
    void *state;
    pid_t child;

    PRETENDED("FAKE_ZE_DEVICES=1");
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    child = fork();
    if (child == 0) {
        memspan_block_t other;
        bool refused = (table->alloc(state, 0, &request, &other) == MEMSPAN_ERR_FORKED) &&
                       (table->free(state, 0, &block) == MEMSPAN_ERR_FORKED) &&
                       (table->synchronize(state, 0, NULL) == MEMSPAN_ERR_FORKED);
        table->close(state);
        _exit(refused ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}
