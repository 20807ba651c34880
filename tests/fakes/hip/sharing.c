/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.c: two processes and one block; dma-buf; and fork. */

#include "core/base/error.h"
#include "tests/fakes/hip/pretended.h"
#include <memspan/memspan.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const memspan_backend_t *const table = &memspan_backend_hip;

TestSuite(hip_sharing, .init = pretended_find, .timeout = 60);

static bool copy(void *state, void *to, const void *from)
{
    return (table->copy(state, 0, NULL, to, from, sizeof(double)) == MEMSPAN_OK) &&
           (table->synchronize(state, 0, NULL) == MEMSPAN_OK);
}

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
    if (!copy(state, &value, block.address)) {
        return 3;
    }
    value += 1;
    if (!copy(state, block.address, &value) || (table->ipc_close(state, 0, &block) != MEMSPAN_OK)) {
        return 4;
    }
    table->close(state);
    return ((pretended.live() == 0) && (pretended.violation()[0] == '\0')) ? 0 : 5;
}

Test(hip_sharing, two_processes)
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

    PRETENDED("FAKE_HIP_DEVICES=2");
    cr_assert_eq(pipe(pipes), 0);
    child = fork(); /* before anybody uses HIP */
    if (child == 0) {
        _exit(open_and_change(pipes[0]));
    }
    prctl(PR_SET_PTRACER, child, 0, 0, 0);
    state               = pretended_open();
    request.align_bytes = 1 << 16;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert(copy(state, block.address, &value));
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_assert_eq(write(pipes[1], token, size), (ssize_t)size);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "the other process: %x", status);
    cr_assert(copy(state, &value, block.address));
    cr_assert_eq(value, 42.0, "%g", value);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
    close(pipes[0]);
    close(pipes[1]);
}

Test(hip_sharing, tokens_are_checked)
{
    char token[512];
    size_t size = sizeof(token);
    memspan_block_t block;
    memspan_block_t opened;
    void *state;

    PRETENDED("FAKE_HIP_DEVICES=2");
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->ipc_export(state, 0, &block, NULL, &size), MEMSPAN_OK);
    cr_assert_leq(size, sizeof(token));
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &(size_t){8}), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_OK);
    cr_assert_eq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->call, "hipIpcOpenMemHandle");
    cr_assert_eq(table->ipc_import(state, 1, token, size, &opened), MEMSPAN_ERR_CONFLICT,
                 "it is another device's");
    cr_assert_eq(table->ipc_import(state, 0, token, size - 1, &opened), MEMSPAN_ERR_INVALID);
    token[0] ^= 1;
    cr_assert_eq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_ERR_INVALID);
    pretended_give_back(state, 0, &block);
    block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_ERR_UNSUPPORTED);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}

/* ROCm 7 has a call for it, ROCm 5 leaves it to HSA. */
Test(hip_sharing, dma_buf)
{
    const char *call =
        pretended.old ? "hsa_amd_portable_export_dmabuf" : "hipMemGetHandleForAddressRange";
    memspan_block_t block;
    uint64_t offset = 0;
    int fd          = -1;
    int mine        = 0;
    char written[100];
    char seen[100] = "";
    void *state;

    PRETENDED("FAKE_HIP_DEVICES=1");
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    memset(written, 77, sizeof(written));
    cr_assert_eq(table->copy(state, 0, NULL, (char *)block.address + 5000, written, 100),
                 MEMSPAN_OK);
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_assert_eq(table->dmabuf_export(state, 0, (char *)block.address + 5000, 100, &fd, &offset),
                 MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(pretended.calls(call), 1u);
    cr_assert_eq(pread(fd, seen, sizeof(seen), (off_t)offset), (ssize_t)sizeof(seen));
    cr_assert_arr_eq(seen, written, sizeof(seen), "the offset is where the memory is");
    cr_assert_eq(close(fd), 0);
    cr_assert_eq(table->dmabuf_export(state, 0, &mine, 4, &fd, &offset), MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->call, call);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}

Test(hip_sharing, a_forked_child_is_refused)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t block;
    int status = 0;
    void *state;
    pid_t child;

    PRETENDED("FAKE_HIP_DEVICES=1");
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
