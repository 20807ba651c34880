/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.c: two processes and one block, by each way there is; dma-buf; and fork. */

#include "tests/fakes/suite/sharing.h"
#include "core/base/error.h"
#include "tests/fakes/cuda/pretended.h"
#include "tests/fakes/suite/tracing.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_cuda;

TestSuite(cuda_sharing, .init = pretended_find, .timeout = 60);

static void need_mapped(void)
{
    if (driver.cu.cuMemCreate == NULL) {
        cr_skip_test("an old driver");
    }
}

/* Yama at 1 lets a sibling fetch a descriptor when its owner allows it, and not before. */
Test(cuda_sharing, memory_that_is_mapped_to_be_shared)
{
    need_mapped();
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "DEVICES=2", "cuMemCreate");
    cr_assert(tracing_is_offered());
}

/* Where no descriptor can be fetched, memory to be shared is memory that needs none. */
Test(cuda_sharing, without_the_right_to_fetch_the_drivers_handle_serves)
{
    tracing_set(TRACING_NEVER);
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "DEVICES=2", "cuMemAlloc");
    cr_assert(!tracing_is_offered());
    cr_assert_eq(pretended.calls("cuIpcGetMemHandle"), 1u);
    cr_assert_eq(pretended.calls("cuMemCreate"), 0u);
}

Test(cuda_sharing, without_the_right_to_fetch_a_fabric_handle_serves)
{
    need_mapped();
    tracing_set(TRACING_NEVER);
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "ATTRIBUTES=128=1", "cuMemCreate");
}

/* A fabric handle is made wherever the hardware could, and opens only where IMEX runs. */
Test(cuda_sharing, a_descriptor_comes_before_a_fabric_handle)
{
    need_mapped();
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "LIES=imex", "cuMemCreate");
}

/* Without IMEX such memory is not even made: then it has a descriptor alone. */
Test(cuda_sharing, memory_without_a_fabric_handle)
{
    need_mapped();
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "LIES=fabric", "cuMemCreate");
    cr_assert_eq(pretended.calls("cuMemCreate"), 2u);
    cr_assert_eq(pretended.calls("cuMemAlloc"), 0u, "plain memory was taken");
}

/* Each process has a GPU of its own, and sees no other: the driver opens memory of the other's. */
Test(cuda_sharing, memory_of_a_device_that_the_importer_does_not_see)
{
    sharing_importer = "FIRST=4";
    sharing_two_processes(0, "DEVICES=1", "cuMemAlloc");
    if (driver.cu.cuMemCreate != NULL) {
        sharing_two_processes(MEMSPAN_REQUEST_SHARED, "DEVICES=1", "cuMemCreate");
    }
}

/* The driver says that it can, and cannot. */
Test(cuda_sharing, plain_memory_where_mapping_is_a_lie)
{
    sharing_two_processes(MEMSPAN_REQUEST_SHARED, "LIES=vmm", "cuMemAlloc");
}

static struct {
    void *state;
    memspan_block_t block;
    pthread_barrier_t ready;
} race;

static void *export_it(void *unused)
{
    char token[512];
    size_t size = sizeof(token);

    (void)unused;
    pthread_barrier_wait(&race.ready);
    OK(table->ipc_export(race.state, 0, &race.block, token, &size));
    return NULL;
}

/* A block has one descriptor, that goes with it, in all threads. */
Test(cuda_sharing, two_threads_export_a_block)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    unsigned i;

    need_mapped();
    race.state    = PRETENDED_OPEN("DEVICES=1");
    request.flags = MEMSPAN_REQUEST_SHARED;
    pthread_barrier_init(&race.ready, NULL, 2);
    for (i = 1; i <= 20; i++) {
        pthread_t other;

        OK(table->alloc(race.state, 0, &request, &race.block));
        cr_assert_eq(pthread_create(&other, NULL, export_it, NULL), 0);
        export_it(NULL);
        cr_assert_eq(pthread_join(other, NULL), 0);
        cr_assert_eq(pretended.calls("cuMemExportToShareableHandle"), i);
        pretended_give_back(race.state, 0, &race.block);
    }
    pthread_barrier_destroy(&race.ready);
    pretended_close(race.state);
}

Test(cuda_sharing, dma_buf)
{
    uint64_t offset       = 0;
    int fd                = -1;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    if (driver.cu.cuMemGetHandleForAddressRange == NULL) {
        cr_assert_eq(table->dmabuf_export(state, 0, block.address, 100, &fd, &offset),
                     MEMSPAN_ERR_UNSUPPORTED);
    } else {
        OK(table->dmabuf_export(state, 0, (char *)block.address + 5000, 100, &fd, &offset));
        cr_assert_eq(offset, 5000u - 4096u);
        cr_assert_eq(close(fd), 0);
    }
    pretended_end(state, 0, &block);
}

/* This driver cannot map so, and says it. */
Test(cuda_sharing, dma_buf_by_pci_express_where_it_is_asked_for)
{
    memspan_block_t block;
    uint64_t offset = 0;
    int fd          = -1;
    void *state;

    if (driver.cu.cuMemGetHandleForAddressRange == NULL) {
        cr_skip_test("an old driver");
    }
    state = PRETENDED_OPEN("MEMSPAN_CUDA_DMABUF=pcie");
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->dmabuf_export(state, 0, block.address, 100, &fd, &offset),
                 MEMSPAN_ERR_UNSUPPORTED, "%s", memspan_error_text());
    pretended_end(state, 0, &block);
}

/* ---- synchronous copies of the program's ---- */

/* The program copies from @p source to the block, with the device's context current, and its call
 * returns; then our stream reads the block. */
static void copy_and_read(void *state, const memspan_block_t *block, const memspan_block_t *source)
{
    unsigned char byte = 0;
    struct gpu_visit visit;

    OK(table->fill(state, 0, NULL, block->address, 1, PRETENDED_BYTES));
    OK(table->fill(state, 0, NULL, source->address, 7, PRETENDED_BYTES));
    OK(table->synchronize(state, 0, NULL));
    OK(gpu_enter(state, 0, GPU_TO_WORK, &visit));
    cr_assert_eq(
        driver.copy(cuda_address(block->address), cuda_address(source->address), PRETENDED_BYTES),
        CUDA_SUCCESS);
    gpu_leave(&visit);
    OK(table->copy(state, 0, NULL, &byte, block->address, 1));
    OK(table->synchronize(state, 0, NULL));
    cr_assert_eq(byte, 7);
    cr_assert_str_empty(pretended.violation());
}

static memspan_block_t take_shared(void *state)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t block     = {0};

    request.flags = MEMSPAN_REQUEST_SHARED;
    OK(table->alloc(state, 0, &request, &block));
    return block;
}

/* Memory that is shared, and none else: the flag is the program's too. */
Test(cuda_sharing, copies_by_the_program_are_done_when_they_return)
{
    bool flag = (driver.cu.cuCtxSetFlags != NULL);
    memspan_block_t source;
    memspan_block_t block;
    char token[512];
    size_t size = sizeof(token);
    unsigned turn;
    void *state;

    for (turn = 0; turn < 3; turn++) {
        if (turn == 2) {
            tracing_set(TRACING_NEVER); /* plain memory everywhere */
        }
        state  = PRETENDED_OPEN("DEVICES=1");
        source = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
        cr_assert_eq(pretended.calls("cuCtxSetFlags") + pretended.calls("cuPointerSetAttribute"),
                     0u);
        block = (turn == 0) ? pretended_take(state, 0, MEMSPAN_KIND_DEVICE) : take_shared(state);
        if (turn == 0) {
            OK(table->ipc_export(state, 0, &block, token, &size));
        }
        copy_and_read(state, &block, &source);
        cr_assert_eq(pretended.calls("cuCtxSetFlags"), flag ? 1u : 0u);
        cr_assert_eq(pretended.calls("cuPointerSetAttribute"), flag ? 0u : 1u);
        pretended_give_back(state, 0, &block);
        pretended_give_back(state, 0, &source);
        pretended_close(state);
    }
}

Test(cuda_sharing, a_context_of_after_a_reset_completes_copies_too)
{
    memspan_block_t source;
    memspan_block_t block;
    void *state;

    if (driver.cu.cuCtxGetId == NULL) {
        cr_skip_test("an old driver");
    }
    tracing_set(TRACING_NEVER); /* plain memory */
    state = PRETENDED_OPEN("DEVICES=1");
    block = take_shared(state);
    driver.reset_device(0);
    pretended_give_back(state, 0, &block);
    source = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    block  = take_shared(state);
    copy_and_read(state, &block, &source);
    pretended_give_back(state, 0, &block);
    pretended_give_back(state, 0, &source);
    table->close(state);
    cr_assert_str_empty(pretended.violation(), "%s", pretended.violation());
}

/* Copies that may be under way are a warning, also where the driver says that it lacks the call. */
Test(cuda_sharing, copies_that_may_be_under_way_are_a_warning)
{
    memspan_block_t block;
    void *state;

    if (driver.cu.cuCtxSetFlags == NULL) {
        cr_skip_test("an old driver");
    }
    state = PRETENDED_OPEN("DEVICES=1", "FAIL_CALL=cuCtxSetFlags", "FAIL_CODE=801");
    block = take_shared(state);
    cr_assert_not_null(strstr(pretended_log(),
                              "warning: the program's copies may be under way when "
                              "they return: cuCtxSetFlags: 801"),
                       "%s", pretended_log());
    pretended_end(state, 0, &block);
}

/* The flag is refused: the attribute of the memory serves, if it is plain. */
Test(cuda_sharing, an_attribute_serves_where_the_flag_is_refused)
{
    memspan_block_t source;
    memspan_block_t block;
    void *state;

    tracing_set(TRACING_NEVER);
    state  = PRETENDED_OPEN("DEVICES=1", "FAIL_CALL=cuCtxSetFlags", "FAIL_CODE=1");
    source = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    block  = take_shared(state);
    copy_and_read(state, &block, &source);
    pretended_give_back(state, 0, &block);
    pretended_end(state, 0, &source);
}
