/* SPDX-License-Identifier: BSD-3-Clause */
/* pages.c: host pages: the driver's own, those in its table, and those that it reaches by itself.
 */

#include "core/base/error.h"
#include "core/base/platform.h"
#include "tests/fakes/cuda/pretended.h"
#include "tests/fakes/suite/gpu_rules.h"
#include <memspan/memspan.h>
#include <string.h>
#include <sys/mman.h>

static const memspan_backend_t *const table = &msp_backend_cuda;

enum { PAGE = 4096 };

static char *map_pages(size_t count)
{
    void *pages =
        mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(pages, MAP_FAILED);
    return pages;
}

static memspan_status_t fill_on(void *state, void *address, void *queue)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = MEMSPAN_KERNEL_FILL,
                                  .count       = 100,
                                  .a           = 2.5,
                                  .z           = address};

    return table->launch(state, 0, queue, &call);
}

TestSuite(cuda_pages, .init = pretended_find, .timeout = 60);

Test(cuda_pages, pinned_memory_is_taken_once)
{
    gpu_rules_pinned_memory_is_taken_once("FAKE_CUDA_DEVICES=1", "cuMemHostAlloc");
    cr_assert_leq(pretended.calls("cuMemFreeHost"), 9u, "the first one was given back");
}

/* ---- registered pages ---- */

/* "Already registered" is the answer for a part as well. */
Test(cuda_pages, a_part_that_others_registered_is_no_registration)
{
    char *pages = map_pages(4);
    struct gpu_visit visit;
    void *cookie;
    void *seen;
    void *state;
    int at;

    PRETENDED("FAKE_CUDA_DEVICES=1");
    state = pretended_open();
    cr_assert_eq(gpu_enter(state, 0, GPU_TO_WORK, &visit), MEMSPAN_OK);
    for (at = 0; at < 3; at++) {
        cr_assert_eq(driver.cu.cuMemHostRegister_v2(pages + at * PAGE, PAGE, 3), CUDA_SUCCESS);
        cr_assert_eq(table->import(state, 0, pages, 3 * PAGE, &seen, &cookie),
                     (at < 2) ? MEMSPAN_ERR_CONFLICT : MEMSPAN_OK, "%d of 3 pages", at + 1);
    }
    cr_assert_eq(table->release(state, 0, pages, 3 * PAGE, cookie), MEMSPAN_OK);
    cr_assert_eq(driver.cu.cuMemHostUnregister(pages + PAGE), CUDA_SUCCESS);
    cr_assert_eq(table->import(state, 0, pages, 3 * PAGE, &seen, &cookie), MEMSPAN_ERR_CONFLICT,
                 "the first and the last are, the middle is not");
    cr_assert_eq(driver.cu.cuMemHostUnregister(pages), CUDA_SUCCESS);
    cr_assert_eq(driver.cu.cuMemHostUnregister(pages + 2 * PAGE), CUDA_SUCCESS);
    gpu_leave(&visit);
    pretended_close(state);
    munmap(pages, 4 * PAGE);
}

Test(cuda_pages, a_part_of_an_import_is_counted_with_it)
{
    char *pages = map_pages(4);
    void *whole;
    void *part;
    void *seen;
    void *state;

    PRETENDED("FAKE_CUDA_DEVICES=1");
    state = pretended_open();
    cr_assert_eq(table->import(state, 0, pages, 2 * PAGE, &seen, &whole), MEMSPAN_OK);
    cr_assert_eq(table->import(state, 0, pages + PAGE, PAGE, &seen, &part), MEMSPAN_OK);
    cr_assert_eq(seen, pages + PAGE);
    cr_assert_eq(table->import(state, 0, pages + PAGE, 2 * PAGE, &seen, &(void *){NULL}),
                 MEMSPAN_ERR_CONFLICT);
    cr_assert_eq(pretended.calls("cuMemHostRegister"), 1u);
    cr_assert_eq(table->release(state, 0, pages, 2 * PAGE, whole), MEMSPAN_OK);
    cr_assert_eq(pretended.calls("cuMemHostUnregister"), 0u, "a part is in use");
    cr_assert_eq(fill_on(state, pages + PAGE, NULL), MEMSPAN_OK);
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(table->release(state, 0, pages + PAGE, PAGE, part), MEMSPAN_OK);
    cr_assert_eq(pretended.calls("cuMemHostUnregister"), 1u);
    pretended_close(state);
    munmap(pages, 4 * PAGE);
}

Test(cuda_pages, pages_seen_elsewhere_are_given_back)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_HOST_PINNED, PRETENDED_BYTES);
    int node                  = 0;
    memspan_block_t block;
    void *state;

    PRETENDED("FAKE_CUDA_LIES=pointer");
    state              = pretended_open();
    request.nodes      = &node;
    request.node_count = 1;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(memspan_error_text(), "at another address"));
    cr_assert_eq(pretended.calls("cuMemHostRegister"), 1u);
    cr_assert_eq(pretended.calls("cuMemHostUnregister"), 1u);
    pretended_close(state);
}

/* ---- pages that the device reaches by itself ---- */

Test(cuda_pages, hmm_takes_no_reserved_huge_pages)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, 2 << 20);
    memspan_block_t block;
    memspan_status_t status;
    void *state;

    request.page_size_bytes = 2 << 20;
    PRETENDED("FAKE_CUDA_ATTRIBUTES=88=1");
    state = pretended_open();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(memspan_error_text(), "HMM"));
    pretended_close(state);
    /* With the host's page tables it depends on what the host has reserved. */
    PRETENDED("FAKE_CUDA_ATTRIBUTES=88=1,100=1");
    state  = pretended_open();
    status = table->alloc(state, 0, &request, &block);
    cr_assert((status == MEMSPAN_OK) || (status == MEMSPAN_ERR_NO_MEMORY), "%s",
              memspan_error_text());
    if (status == MEMSPAN_OK) {
        pretended_give_back(state, 0, &block);
    }
    pretended_close(state);
}

/* They may be pages of a file, on which HMM has no atomics. */
Test(cuda_pages, hmm_alone_imports_nothing)
{
    char *pages = map_pages(1);
    void *cookie;
    void *seen;
    void *state;

    PRETENDED("FAKE_CUDA_ATTRIBUTES=88=1,91=0,99=0");
    state = pretended_open();
    cr_assert_eq(table->import(state, 0, pages, PAGE, &seen, &cookie), MEMSPAN_ERR_UNSUPPORTED);
    pretended_close(state);
    PRETENDED("FAKE_CUDA_ATTRIBUTES=88=1,100=1,91=0,99=0");
    state = pretended_open();
    cr_assert_eq(table->import(state, 0, pages, PAGE, &seen, &cookie), MEMSPAN_OK);
    cr_assert_eq(seen, pages);
    cr_assert_eq(table->release(state, 0, pages, PAGE, cookie), MEMSPAN_OK);
    pretended_close(state);
    munmap(pages, PAGE);
}

/* The driver does not know that they go. */
Test(cuda_pages, coherent_pages_wait_for_who_uses_them)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, PRETENDED_BYTES);
    void *queue               = NULL;
    memspan_block_t block;
    void *state;

    PRETENDED("FAKE_CUDA_ATTRIBUTES=88=1");
    state = pretended_open();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    cr_assert_eq(table->queue_create(state, 0, &queue), MEMSPAN_OK);
    cr_assert_eq(fill_on(state, block.address, queue), MEMSPAN_OK);
    pretended_give_back(state, 0, &block);
    cr_assert_geq(pretended.calls("cuCtxSynchronize"), 1u, "a kernel writes to what is unmapped");
    cr_assert_eq(table->queue_destroy(state, 0, queue), MEMSPAN_OK);
    pretended_close(state);
}

/* What was queued before a fill is done before it, on host or device. */
Test(cuda_pages, a_fill_of_pageable_memory_keeps_the_order)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, PRETENDED_BYTES);
    memspan_block_t block;
    void *queue = NULL;
    void *state;

    PRETENDED("FAKE_CUDA_ATTRIBUTES=88=1");
    state = pretended_open();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    cr_assert_eq(table->queue_create(state, 0, &queue), MEMSPAN_OK);
    cr_assert_eq(fill_on(state, block.address, queue), MEMSPAN_OK);
    cr_assert_eq(table->fill(state, 0, queue, block.address, 0, 4096), MEMSPAN_OK);
    cr_assert_eq(table->synchronize(state, 0, queue), MEMSPAN_OK);
    cr_assert_eq(((double *)block.address)[99], 0.0, "the kernel came after the fill");
    cr_assert_eq(table->queue_destroy(state, 0, queue), MEMSPAN_OK);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}
