/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fakes/suite/sharing.h"
#include "core/base/error.h"
#include "tests/fakes/suite/pretended.h"
#include "tests/fakes/suite/tracing.h"
#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

const char *sharing_importer;

static bool copy(void *state, void *to, const void *from)
{
    return (pretended.table->copy(state, 0, NULL, to, from, sizeof(double)) == MEMSPAN_OK) &&
           (pretended.table->synchronize(state, 0, NULL) == MEMSPAN_OK);
}

static int count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count   = 0;

    while ((folder != NULL) && (readdir(folder) != NULL)) {
        count++;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

/* The other process: opens what it is told, adds 1 to the first number there. 0: it worked. */
static int open_and_change(int from)
{
    char token[512];
    ssize_t size = read(from, token, sizeof(token));
    memspan_block_t block;
    double value = 0;
    void *state  = NULL;
    int descriptors;

    if ((size <= 0) || (pretended_try_open(&state) != MEMSPAN_OK)) {
        return 1;
    }
    descriptors = count_descriptors();
    if (pretended.table->ipc_import(state, 0, token, (size_t)size, &block) != MEMSPAN_OK) {
        fprintf(stderr, "%s\n", memspan_error_text());
        return 2;
    }
    if (!copy(state, &value, block.address)) {
        return 3;
    }
    value += 1;
    if (!copy(state, block.address, &value) ||
        (pretended.table->ipc_close(state, 0, &block) != MEMSPAN_OK)) {
        return 4;
    }
    if (count_descriptors() != descriptors) {
        return 6;
    }
    pretended.table->close(state);
    return ((pretended.live() == 0) && (pretended.violation()[0] == '\0')) ? 0 : 5;
}

void sharing_two_processes(unsigned flags, const char *setting, const char *call)
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
    if (tracing_is_open()) {
        tracing_set(TRACING_NAMED);
    }
    cr_assert_eq(pipe(pipes), 0);
    child = fork(); /* before any use of the driver */
    if (child == 0) {
        close(pipes[1]);
        if (sharing_importer != NULL) {
            PRETENDED(sharing_importer);
        }
        _exit(open_and_change(pipes[0]));
    }
    state               = pretended_open();
    request.flags       = flags;
    request.align_bytes = 1 << 16;
    OK(pretended.table->alloc(state, 0, &request, &block));
    cr_assert_gt(pretended.calls(call), 0u, "%s", call);
    cr_assert(copy(state, block.address, &value));
    cr_assert(!tracing_is_offered(), "before an export no process may trace");
    OK(pretended.table->ipc_export(state, 0, &block, token, &size));
    cr_assert_eq(write(pipes[1], token, size), (ssize_t)size);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "the other process: %x", status);
    cr_assert(copy(state, &value, block.address));
    cr_assert_eq(value, 42.0, "%g", value);
    pretended_end(state, 0, &block);
    close(pipes[0]);
    close(pipes[1]);
}
