/* SPDX-License-Identifier: BSD-3-Clause */
/* lifetime.c: what others do to streams, pages and the runtime while the backend holds them: a
 * program that captures, registers, or enables peers. */

#include "core/base/error.h"
#include "core/base/platform.h"
#include "tests/fakes/hip/pretended.h"
#include "tests/fakes/suite/gpu_rules.h"
#include <memspan/memspan.h>
#include <string.h>
#include <sys/mman.h>

static const memspan_backend_t *const table = &msp_backend_hip;

enum { PAGE = 4096 };

static memspan_status_t fill_on(void *state, void *queue, void *address)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = MEMSPAN_KERNEL_FILL,
                                  .count       = 100,
                                  .a           = 2.5,
                                  .z           = address};

    return table->launch(state, 0, queue, &call);
}

TestSuite(hip_lifetime, .init = pretended_find, .timeout = 60);

/* ---- captures ---- */

Test(hip_lifetime, a_program_that_captures_may_allocate)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_MANAGED};
    void *pages = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int mode    = 0;
    void *cookie;
    void *seen;
    void *state;
    int i;

    PRETENDED("FAKE_HIP_DEVICES=2");
    state = pretended_open();
    driver.capture(true);
    for (i = 0; i < 3; i++) {
        memspan_block_t block = pretended_take(state, 0, kinds[i]);
        pretended_give_back(state, 0, &block);
    }
    cr_assert_eq(table->import(state, 1, pages, PAGE, &seen, &cookie), MEMSPAN_OK);
    cr_assert_eq(table->release(state, 1, pages, PAGE, cookie), MEMSPAN_OK);
    cr_assert(driver.capture(false), "the program's graph is invalid");
    cr_assert_eq(driver.hip.hipThreadExchangeStreamCaptureMode(&mode), HIP_SUCCESS);
    cr_assert_eq(mode, 0, "the thread's mode is the program's");
    pretended_close(state);
    munmap(pages, PAGE);
}

/* ---- streams ---- */

/* Destroying a stream does not wait, and does not tell. */
Test(hip_lifetime, a_queue_that_is_destroyed_tells_of_its_last_work)
{
    static char host_page[PAGE];
    void *queue = NULL;
    void *state;

    PRETENDED("FAKE_HIP_DEVICES=1");
    state = pretended_open();
    cr_assert_eq(table->queue_create(state, 0, &queue), MEMSPAN_OK);
    cr_assert_eq(fill_on(state, queue, host_page), MEMSPAN_OK);
    cr_assert_eq(table->queue_destroy(state, 0, queue), MEMSPAN_ERR_DRIVER);
    cr_assert_eq(memspan_error_last()->native_code, HIP_ERROR_ILLEGAL_ADDRESS);
    pretended_close(state);
}

/* ---- pages ---- */

Test(hip_lifetime, pinned_memory_is_taken_once)
{
    gpu_rules_pinned_memory_is_taken_once("FAKE_HIP_DEVICES=1", "hipHostMalloc");
}

Test(hip_lifetime, a_part_that_others_registered_is_no_registration)
{
    char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *cookie;
    void *part;
    void *seen;
    void *state;
    int at;

    PRETENDED("FAKE_HIP_DEVICES=1");
    state = pretended_open();
    for (at = 0; at < 3; at++) {
        cr_assert_eq(driver.hip.hipHostRegister(pages + at * PAGE, PAGE, 3), HIP_SUCCESS);
        cr_assert_eq(table->import(state, 0, pages, 3 * PAGE, &seen, &cookie),
                     (at < 2) ? MEMSPAN_ERR_CONFLICT : MEMSPAN_OK, "%d of 3 pages", at + 1);
    }
    cr_assert_eq(table->release(state, 0, pages, 3 * PAGE, cookie), MEMSPAN_OK);
    cr_assert_eq(driver.hip.hipHostUnregister(pages), HIP_SUCCESS);
    cr_assert_eq(table->import(state, 0, pages, 3 * PAGE, &seen, &cookie), MEMSPAN_ERR_CONFLICT,
                 "its end is registered");
    cr_assert_eq(driver.hip.hipHostUnregister(pages + PAGE), HIP_SUCCESS);
    cr_assert_eq(driver.hip.hipHostUnregister(pages + 2 * PAGE), HIP_SUCCESS);
    /* A part of ours is counted with the whole. */
    cr_assert_eq(table->import(state, 0, pages, 2 * PAGE, &seen, &cookie), MEMSPAN_OK);
    cr_assert_eq(table->import(state, 0, pages + PAGE, PAGE, &seen, &part), MEMSPAN_OK);
    cr_assert_eq(table->import(state, 0, pages + PAGE, 2 * PAGE, &seen, &(void *){NULL}),
                 MEMSPAN_ERR_CONFLICT);
    cr_assert_eq(table->release(state, 0, pages, 2 * PAGE, cookie), MEMSPAN_OK);
    cr_assert_eq(fill_on(state, NULL, pages + PAGE), MEMSPAN_OK);
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK, "the part is still registered");
    cr_assert_eq(table->release(state, 0, pages + PAGE, PAGE, part), MEMSPAN_OK);
    pretended_close(state);
    munmap(pages, 4 * PAGE);
}

Test(hip_lifetime, pages_seen_elsewhere_are_given_back)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_HOST_PINNED, PRETENDED_BYTES);
    int node                  = 0;
    memspan_block_t block;
    unsigned before;
    void *state;

    PRETENDED("FAKE_HIP_LIES=large");
    state              = pretended_open();
    before             = pretended.calls("hipHostUnregister");
    request.nodes      = &node;
    request.node_count = 1;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(memspan_error_text(), "at another address"));
    cr_assert_eq(pretended.calls("hipHostUnregister"), before + 1);
    pretended_close(state);
}

/* The runtime does not know that they go. */
Test(hip_lifetime, coherent_pages_wait_for_who_uses_them)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, PRETENDED_BYTES);
    void *queue               = NULL;
    memspan_block_t block;
    void *state;

    PRETENDED("FAKE_HIP_ATTRIBUTES=65=1");
    state = pretended_open();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    cr_assert_eq(table->queue_create(state, 0, &queue), MEMSPAN_OK);
    cr_assert_eq(fill_on(state, queue, block.address), MEMSPAN_OK);
    pretended_give_back(state, 0, &block);
    cr_assert_geq(pretended.calls("hipDeviceSynchronize"), 1u,
                  "a kernel writes to what is unmapped");
    cr_assert_eq(table->queue_destroy(state, 0, queue), MEMSPAN_OK);
    pretended_close(state);
}

/* What was queued before a fill is done before it, on host or device. */
Test(hip_lifetime, a_fill_of_pageable_memory_keeps_the_order)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, PRETENDED_BYTES);
    void *queue               = NULL;
    memspan_block_t block;
    void *state;

    PRETENDED("FAKE_HIP_ATTRIBUTES=65=1");
    state = pretended_open();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    cr_assert_eq(table->queue_create(state, 0, &queue), MEMSPAN_OK);
    cr_assert_eq(fill_on(state, queue, block.address), MEMSPAN_OK);
    cr_assert_eq(table->fill(state, 0, queue, block.address, 0, 4096), MEMSPAN_OK);
    cr_assert_eq(table->synchronize(state, 0, queue), MEMSPAN_OK);
    cr_assert_eq(((double *)block.address)[99], 0.0, "the kernel came after the fill");
    cr_assert_eq(table->queue_destroy(state, 0, queue), MEMSPAN_OK);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}

/* ---- memory that there is not ---- */

/* Memory that is to live on the device is not taken elsewhere because the device is full. */
Test(hip_lifetime, a_full_device_gives_no_memory_of_the_host)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, 2 << 20);
    memspan_block_t block;
    unsigned tried; /* when it was opened */
    void *state;

    PRETENDED("FAKE_HIP_ATTRIBUTES=10011=1", "FAKE_HIP_MEMORY=1048576");
    state                    = pretended_open();
    tried                    = pretended.calls("hipHostMalloc");
    request.resident_ordinal = 0;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_str_eq(memspan_error_last()->call, "hipExtMallocWithFlags");
    cr_assert_eq(pretended.calls("hipHostMalloc"), tried);
    pretended_close(state);
}

/* ---- peers ---- */

/* "Already enabled" is no failure, but HIP keeps it as the thread's last error. */
Test(hip_lifetime, peers_that_the_program_has_enabled_leave_no_error)
{
    memspan_block_t block;
    void *state;

    PRETENDED("FAKE_HIP_DEVICES=2");
    state = pretended_open();
    cr_assert_eq(driver.hip.hipSetDevice(1), HIP_SUCCESS);
    cr_assert_eq(driver.hip.hipDeviceEnablePeerAccess(0, 0), HIP_SUCCESS);
    cr_assert_eq(driver.hip.hipSetDevice(0), HIP_SUCCESS);
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(pretended.calls("hipDeviceEnablePeerAccess"), 2u);
    cr_assert_eq(driver.last_error(), HIP_SUCCESS, "the program sees an error of ours");
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_REMOTE);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}
