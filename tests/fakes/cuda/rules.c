/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c: which calls of the driver are made, and which are not. */

#include "core/base/error.h"
#include "tests/fakes/cuda/pretended.h"
#include <complex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_cuda;

static bool is_old(void)
{
    return driver.cu.cuMemCreate == NULL;
}

TestSuite(cuda_rules, .init = pretended_find, .timeout = 60);

Test(cuda_rules, questions_wake_no_device)
{
    void *state = PRETENDED_OPEN("DEVICES=2");

    cr_assert_eq(pretended_describe(state, 0).free_bytes, MEMSPAN_UNKNOWN);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_REMOTE);
    OK(table->synchronize(state, 1, NULL));
    cr_assert_eq(pretended.calls("cuDevicePrimaryCtxRetain"), 0u);
    pretended_close(state);
}

Test(cuda_rules, free_memory_is_known_once_it_is_used)
{
    void *state           = PRETENDED_OPEN("MEMORY=1048576");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    cr_assert_eq(pretended_describe(state, 0).free_bytes, 1048576u - PRETENDED_BYTES);
    cr_assert_eq(pretended_describe(state, 1).free_bytes, MEMSPAN_UNKNOWN);
    pretended_give_back(state, 0, &block);
    cr_assert_eq(pretended_describe(state, 0).free_bytes, 1048576u);
    pretended_close(state);
}

Test(cuda_rules, what_cannot_be_there_is_not_asked_for)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_MANAGED, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_COHERENT, MEMSPAN_KIND_DEVICE};
    unsigned calls;
    size_t i;
    void *state = PRETENDED_OPEN("ATTRIBUTES=88=1");

    calls = pretended.calls("cuDevicePrimaryCtxRetain");
    for (i = 0; i < 4; i++) {
        memspan_request_t request = pretended_ask(kinds[i], (size_t)1 << 46);
        memspan_block_t block;
        cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    }
    cr_assert_eq(pretended.calls("cuDevicePrimaryCtxRetain"), calls);
    pretended_close(state);
}

Test(cuda_rules, a_device_in_the_hosts_memory_is_not_believed)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, (size_t)1 << 43);
    memspan_block_t block;
    void *state = PRETENDED_OPEN("ATTRIBUTES=18=1", "MEMORY=17592186044416");

    cr_assert_lt(pretended_describe(state, 0).free_bytes, (uint64_t)1 << 43);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_eq(pretended.calls("cuMemAlloc"), 0u);
    pretended_close(state);
}

/* ---- placement ---- */

Test(cuda_rules, preferred_location_is_advised)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, PRETENDED_BYTES);
    const char *call;
    memspan_block_t block;
    void *state;

    PRETENDED("DEVICES=2");
    call  = is_old() ? "cuMemAdvise" : "cuMemAdvise_v2";
    state = pretended_open();
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls(call), 0u);
    cr_assert((block.flags & MEMSPAN_BLOCK_MIGRATABLE) != 0);
    pretended_give_back(state, 0, &block);
    request.resident_ordinal = 1;
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls(call), 1u);
    pretended_give_back(state, 0, &block);
    request.flags = MEMSPAN_REQUEST_PINNED;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    pretended_close(state);
    state         = PRETENDED_OPEN("ATTRIBUTES=89=0");
    request.flags = 0;
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls(call), 0u);
    pretended_end(state, 0, &block);
}

Test(cuda_rules, pinned_pages_on_a_node_are_registered)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_HOST_PINNED, PRETENDED_BYTES);
    int node                  = 0;
    memspan_block_t block;
    void *state = PRETENDED_OPEN("DEVICES=1");

    request.nodes      = &node;
    request.node_count = 1;
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls("cuMemHostRegister"), 1u);
    cr_assert_eq(pretended.calls("cuMemHostAlloc"), 0u);
    cr_assert((block.flags & MEMSPAN_BLOCK_PINNED) != 0);
    ((char *)block.address)[PRETENDED_BYTES - 1] = 1;
    pretended_give_back(state, 0, &block);
    request.kind  = MEMSPAN_KIND_DEVICE;
    request.flags = MEMSPAN_REQUEST_STRICT;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    pretended_close(state);
    /* Pages seen elsewhere are no good: the driver's own are taken, or nothing. */
    state        = PRETENDED_OPEN("ATTRIBUTES=91=0");
    request.kind = MEMSPAN_KIND_HOST_PINNED;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request.flags = 0;
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls("cuMemHostAlloc"), 1u);
    pretended_end(state, 0, &block);
}

Test(cuda_rules, pages_of_a_size)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, 5 << 20);
    memspan_block_t block;
    void *state = PRETENDED_OPEN("DEVICES=2");

    request.page_size_bytes = 2 << 20;
    if (is_old()) {
        cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
        pretended_close(state);
        return;
    }
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(block.page_size_bytes, (size_t)2 << 20);
    OK(table->fill(state, 0, NULL, block.address, 7, 5 << 20));
    OK(table->fill(state, 1, NULL, block.address, 7, 5 << 20));
    pretended_give_back(state, 0, &block);
    request.page_size_bytes = 1 << 30;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    pretended_close(state);
}

/* ---- several devices ---- */

Test(cuda_rules, devices_reach_each_other)
{
    double values[100];
    void *state           = PRETENDED_OPEN("DEVICES=3");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    cr_assert_eq(pretended.calls("cuDevicePrimaryCtxRetain"), 1u, "who sleeps is not woken");
    OK(pretended_fill(state, 1, block.address));
    pretended_read(state, 0, values, block.address, sizeof(values));
    cr_assert_eq(values[99], 2.5);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_REMOTE);
    cr_assert_eq(pretended.calls("cuDevicePrimaryCtxRetain"), 2u);
    OK(pretended_fill(state, 1, block.address));
    pretended_end(state, 0, &block);
}

Test(cuda_rules, a_device_woken_by_others_gets_access)
{
    cuda_context_t theirs = NULL;
    memspan_block_t block;
    void *state = PRETENDED_OPEN("DEVICES=2");

    cr_assert_eq(driver.cu.cuDevicePrimaryCtxRetain(&theirs, 1), CUDA_SUCCESS);
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(pretended.calls("cuCtxEnablePeerAccess"), 1u);
    pretended_give_back(state, 0, &block);
    msp_backend_cuda.close(state);
    cr_assert_eq(pretended.live(), 1, "their context is theirs");
}

Test(cuda_rules, a_peer_that_lies_is_found_out)
{
    void *queue           = NULL;
    void *state           = PRETENDED_OPEN("LIES=peer");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_REMOTE);
    OK(table->queue_create(state, 1, &queue));
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_COPY);
    cr_assert_not_null(strstr(pretended_log(), "though the driver said so"));
    OK(table->queue_destroy(state, 1, queue));
    pretended_end(state, 0, &block);
}

Test(cuda_rules, managed_memory_that_is_a_lie)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, PRETENDED_BYTES);
    memspan_block_t block;
    void *state = PRETENDED_OPEN("LIES=managed");

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_str_eq(memspan_error_last()->call, "cuMemAllocManaged");
    pretended_close(state);
}

Test(cuda_rules, a_broken_kernel_breaks_its_context)
{
    static char host_page[4096];
    void *state           = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    cr_assert_eq(pretended_fill(state, 0, host_page), MEMSPAN_ERR_DRIVER);
    cr_assert_eq(memspan_error_last()->native_code, CUDA_ERROR_ILLEGAL_ADDRESS);
    cr_assert_eq(pretended_fill(state, 0, block.address), MEMSPAN_ERR_DRIVER);
    cr_assert_not_null(strstr(memspan_error_last()->hint, "every later call"));
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_ERR_DRIVER);
    block = pretended_take(state, 1, MEMSPAN_KIND_DEVICE);
    pretended_end(state, 1, &block);
}

/* ---- host pages ---- */

Test(cuda_rules, another_address_is_reported)
{
    void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *cookie;
    void *seen;
    void *state = PRETENDED_OPEN("LIES=pointer");

    OK(table->import(state, 0, pages, 4096, &seen, &cookie));
    cr_assert_neq(seen, pages);
    OK(table->release(state, 0, pages, 4096, cookie));
    pretended_close(state);
    munmap(pages, 4096);
}

/* ---- pages that the device reaches by itself ---- */

Test(cuda_rules, hmm_takes_no_reserved_huge_pages)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, 2 << 20);
    memspan_block_t block;
    memspan_status_t status;
    void *state;

    request.page_size_bytes = 2 << 20;
    state                   = PRETENDED_OPEN("ATTRIBUTES=88=1");
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(memspan_error_text(), "HMM"));
    pretended_close(state);
    /* With the host's page tables it depends on what the host has reserved. */
    state  = PRETENDED_OPEN("ATTRIBUTES=88=1,100=1");
    status = table->alloc(state, 0, &request, &block);
    cr_assert((status == MEMSPAN_OK) || (status == MEMSPAN_ERR_NO_MEMORY), "%s",
              memspan_error_text());
    if (status == MEMSPAN_OK) {
        pretended_give_back(state, 0, &block);
    }
    pretended_close(state);
}

/* They may be pages of a file, on which HMM has no atomics. */
Test(cuda_rules, hmm_alone_imports_nothing)
{
    char *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *cookie;
    void *seen;
    void *state = PRETENDED_OPEN("ATTRIBUTES=88=1,91=0,99=0");

    cr_assert_eq(table->import(state, 0, pages, 4096, &seen, &cookie), MEMSPAN_ERR_UNSUPPORTED);
    pretended_close(state);
    state = PRETENDED_OPEN("ATTRIBUTES=88=1,100=1,91=0,99=0");
    OK(table->import(state, 0, pages, 4096, &seen, &cookie));
    cr_assert_eq(seen, pages);
    OK(table->release(state, 0, pages, 4096, cookie));
    pretended_close(state);
    munmap(pages, 4096);
}

/* ---- what the driver knows ---- */

Test(cuda_rules, a_uuid_of_zeros_identifies_no_device)
{
    void *state = PRETENDED_OPEN("LIES=uuid");

    cr_assert_not_null(strstr(pretended_describe(state, 0).uid, "cuda:Pretended"));
    pretended_close(state);
}

Test(cuda_rules, attributes_decide_what_is_offered)
{
    static const struct {
        const char *attributes;
        unsigned kinds;
        unsigned capabilities_without; /* of those that all have */
    } rows[] = {
        {"ATTRIBUTES=", 1u << 2 | 1u << 3 | 1u << 5, 0},
        {"ATTRIBUTES=88=1", 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5, 0},
        {"ATTRIBUTES=83=0", 1u << 2 | 1u << 5,
         MEMSPAN_CAN_PREFETCH | MEMSPAN_CAN_ACCESS_CONCURRENT},
        {"ATTRIBUTES=89=0", 1u << 2 | 1u << 3 | 1u << 5,
         MEMSPAN_CAN_PREFETCH | MEMSPAN_CAN_ACCESS_CONCURRENT},
        {"ATTRIBUTES=91=0", 1u << 2 | 1u << 3 | 1u << 5, MEMSPAN_CAN_IMPORT},
        {"ATTRIBUTES=75=3", 1u << 2 | 1u << 3 | 1u << 5, MEMSPAN_CAN_KERNELS},
        {"ATTRIBUTES=116=0", 1u << 2 | 1u << 3 | 1u << 5, MEMSPAN_CAN_RDMA},
        {"ATTRIBUTES=41=0", 0, ~0u},
    };
    unsigned common = MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_ACCESS_CONCURRENT |
                      MEMSPAN_CAN_IMPORT | MEMSPAN_CAN_PREFETCH | MEMSPAN_CAN_IPC |
                      MEMSPAN_CAN_RDMA | MEMSPAN_CAN_KERNELS;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memspan_device_info_t info;
        void *state;

        state = PRETENDED_OPEN(rows[i].attributes);
        info  = pretended_describe(state, 0);
        cr_assert_eq(info.kinds, rows[i].kinds, "%s: %#x", rows[i].attributes, info.kinds);
        cr_assert_eq(info.capabilities & common, common & ~rows[i].capabilities_without, "%s: %#x",
                     rows[i].attributes, info.capabilities);
        pretended_close(state);
    }
}

/* Drivers that do not know the attribute share all the same. */
Test(cuda_rules, an_attribute_decides_whether_memory_is_shared)
{
    memspan_device_info_t info;
    int value;
    bool known;
    void *state = PRETENDED_OPEN("ATTRIBUTES=125=0,103=0");

    info  = pretended_describe(state, 0);
    known = driver.cu.cuDeviceGetAttribute(&value, CUDA_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0) ==
            CUDA_SUCCESS;
    cr_assert_eq((info.capabilities & MEMSPAN_CAN_IPC) != 0, !known);
    cr_assert_eq(strstr(info.capability_note[__builtin_ctz(MEMSPAN_CAN_IPC)],
                        "IPC_EVENT_SUPPORTED 0") != NULL,
                 known);
    pretended_close(state);
}

/* ---- kernels ---- */

Test(cuda_rules, compiler_words_reach_the_record)
{
    void *state           = PRETENDED_OPEN("FAIL_CALL=cuModuleLoadDataEx", "FAIL_CODE=218");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    cr_assert_eq(pretended_fill(state, 0, block.address), MEMSPAN_ERR_DRIVER);
    cr_assert_not_null(strstr(memspan_error_last()->message, "ptxas: pretended words"));
    cr_assert_null(strstr(memspan_error_last()->message, "\n"));
    pretended_end(state, 0, &block);
}

static memspan_kernel_call_t combine(memspan_operation_t operation, memspan_element_t element,
                                     const memspan_block_t *block, size_t count)
{
    char *base = block->address;

    return (memspan_kernel_call_t){.struct_size = sizeof(memspan_kernel_call_t),
                                   .kernel      = MEMSPAN_KERNEL_COMBINE(operation, element),
                                   .count       = count,
                                   .x           = base,
                                   .y           = base + 4096,
                                   .z           = base + 8192};
}

static void check_bytes(void *state, const memspan_block_t *block, memspan_operation_t operation,
                        memspan_element_t element, const void *x, const void *y, const void *wanted,
                        size_t size)
{
    memspan_kernel_call_t call = combine(operation, element, block, 2);
    char got[32];

    table->copy(state, 0, NULL, block->address, x, size);
    table->copy(state, 0, NULL, (char *)block->address + 4096, y, size);
    OK(table->launch(state, 0, NULL, &call));
    pretended_read(state, 0, got, (char *)block->address + 8192, size);
    cr_assert_eq(memcmp(got, wanted, size), 0, "%d of %d", (int)operation, (int)element);
}

Test(cuda_rules, elements_are_combined)
{
    static const int8_t s8[3][2]    = {{-3, 100}, {5, 100}, {-3, 100}};
    static const uint8_t u8[3][2]   = {{253, 7}, {5, 100}, {5, 7}};
    static const uint16_t u16[3][2] = {{0xff00, 3}, {0x0ff0, 5}, {0xf0f0, 6}};
    static const int32_t s32[3][2]  = {{-7, 3}, {2, -4}, {-14, -12}};
    static const uint64_t u64[3][2] = {{1, 2}, {UINT64_MAX, 4}, {0, 6}};
    static const double f64[3][2]   = {{1.5, -2}, {2, 3}, {3, -6}};
    const float complex c32[3][2]   = {{1 + 2 * I, 3}, {2 - 1 * I, 2 * I}, {4 + 3 * I, 6 * I}};
    memspan_kernel_call_t call;
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    check_bytes(state, &block, MEMSPAN_OPERATION_MIN, MEMSPAN_ELEMENT_S8, s8[0], s8[1], s8[2], 2);
    check_bytes(state, &block, MEMSPAN_OPERATION_MIN, MEMSPAN_ELEMENT_U8, u8[0], u8[1], u8[2], 2);
    check_bytes(state, &block, MEMSPAN_OPERATION_XOR, MEMSPAN_ELEMENT_U16, u16[0], u16[1], u16[2],
                4);
    check_bytes(state, &block, MEMSPAN_OPERATION_PROD, MEMSPAN_ELEMENT_S32, s32[0], s32[1], s32[2],
                8);
    check_bytes(state, &block, MEMSPAN_OPERATION_SUM, MEMSPAN_ELEMENT_U64, u64[0], u64[1], u64[2],
                16);
    check_bytes(state, &block, MEMSPAN_OPERATION_PROD, MEMSPAN_ELEMENT_F64, f64[0], f64[1], f64[2],
                16);
    check_bytes(state, &block, MEMSPAN_OPERATION_PROD, MEMSPAN_ELEMENT_C32, c32[0], c32[1], c32[2],
                16);
    call = combine(MEMSPAN_OPERATION_AND, MEMSPAN_ELEMENT_F32, &block, 2);
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_UNSUPPORTED);
    call.kernel = (memspan_kernel_t)MEMSPAN_KERNEL_COMBINE_LAST;
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 0, &block);
}

Test(cuda_rules, a_large_sum_goes_over_partial_sums)
{
    enum { COUNT = 1 << 20 };
    memspan_request_t request  = pretended_ask(MEMSPAN_KIND_MANAGED, COUNT * sizeof(double));
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_SUM, .count = COUNT};
    memspan_block_t block;
    double *values;
    int i;
    void *state = PRETENDED_OPEN("DEVICES=1");

    OK(table->alloc(state, 0, &request, &block));
    values = block.address;
    for (i = 0; i < COUNT; i++) {
        values[i] = i % 10;
    }
    call.x = call.z = values;
    OK(table->launch(state, 0, NULL, &call));
    OK(table->synchronize(state, 0, NULL));
    cr_assert_eq(values[0], 4718580.0, "%g", values[0]);
    cr_assert_eq(pretended.calls("cuLaunchKernel"), 2u);
    pretended_end(state, 0, &block);
}
