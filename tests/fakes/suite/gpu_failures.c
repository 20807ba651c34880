/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_failures.c: all that a backend on CUDA or HIP can do, for when calls fail. */

#include "core/base/error.h"
#include "tests/fakes/suite/gpu_rules.h"
#include "tests/fakes/suite/steps.h"
#include <unistd.h>

static void share(void *state, unsigned flags)
{
    const memspan_backend_t *table = pretended.table;
    memspan_request_t request      = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t block;
    memspan_block_t opened;
    char token[512];
    size_t size     = sizeof(token);
    uint64_t offset = 0;
    int fd          = -1;

    request.flags = flags;
    if (!steps_fine(table->alloc(state, 0, &request, &block))) {
        return;
    }
    if (steps_fine(table->ipc_export(state, 0, &block, token, &size)) &&
        (table->ipc_import(state, 0, token, size, &opened) == MEMSPAN_OK)) {
        /* Mapped memory may be opened by its own process, the driver's handles may not. */
        cr_assert_neq(flags, 0u);
        steps_fine(table->ipc_close(state, 0, &opened));
    } else {
        steps_look();
    }
    if (gpu_program.has_dmabuf) {
        if (steps_fine(table->dmabuf_export(state, 0, block.address, 4096, &fd, &offset))) {
            close(fd);
        }
    }
    steps_fine(table->free(state, 0, &block));
}

/* The program's managed memory. */
static void ask_about_others(void *state)
{
    memspan_pointer_facts_t facts;
    struct gpu_visit visit;
    void *theirs = NULL;
    bool taken;

    if (!steps_fine(gpu_enter(state, 0, GPU_TO_WORK, &visit))) {
        return;
    }
    taken = gpu_program.take(MEMSPAN_KIND_MANAGED, 4096, &theirs) == 0;
    steps_own(taken);
    if (taken) {
        steps_fine(pretended.table->pointer_describe(state, theirs, &facts));
        steps_own(gpu_program.give_back(MEMSPAN_KIND_MANAGED, theirs) == 0);
    }
    gpu_leave(&visit);
}

/* A stream of the program's. */
static void adopt(void *state)
{
    struct gpu_visit visit;
    void *stream = NULL;
    void *queue  = NULL;

    if (!steps_fine(gpu_enter(state, 1, GPU_TO_WORK, &visit))) {
        return;
    }
    if (gpu_program.make_stream(&stream) == 0) {
        if (steps_fine(
                pretended.table->queue_adopt(state, 1, gpu_program.queue_type, stream, &queue))) {
            steps_events(state, 1, queue);
            steps_fine(pretended.table->synchronize(state, 1, queue));
            steps_fine(pretended.table->queue_destroy(state, 1, queue));
        }
        steps_fine(pretended.table->synchronize(state, 1, NULL));
        steps_own(gpu_program.drop_stream(stream) == 0);
    } else {
        steps_own(false);
    }
    gpu_leave(&visit);
}

void gpu_failures_work(void)
{
    void *state                = NULL;
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    if (!steps_fine(pretended_try_open(&state))) {
        return;
    }
    steps_all_kinds(state, 2000, true);
    steps_fine(pretended.table->device_describe(state, 0, &info));
    share(state, 0);
    share(state, MEMSPAN_REQUEST_SHARED);
    steps_import(state);
    adopt(state);
    if ((info.kinds & (1u << MEMSPAN_KIND_MANAGED)) != 0) {
        ask_about_others(state);
    }
    pretended.table->close(state);
}
