/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c: what only a device with memory of its own, or several devices, can show: who has managed
 * memory, what is waited for, and that no call is made for nothing. */

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/fakes/opencl/pretended.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static const memspan_backend_t *const table = &msp_backend_opencl;

static void fill(struct opencl_state *state, int ordinal, void *queue, void *z, double a)
{
    memspan_kernel_call_t call = {sizeof(call), MEMSPAN_KERNEL_FILL, 100, a, NULL, NULL, z};

    OK(table->launch(state, ordinal, queue, &call));
}

TestSuite(pretended_rules, .init = pretended_find, .timeout = 30);

Test(pretended_rules, managed_memory_goes_there_and_back)
{
    double *z;
    int i;
    struct opencl_state *state = PRETENDED_OPEN("APART=1", "SVM=1");
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);

    z      = block.address;
    z[200] = 8;
    for (i = 0; i < 10; i++) {
        fill(state, 0, NULL, z, i);
    }
    cr_assert_eq(pretended.calls("clEnqueueSVMUnmap"), 1, "a row of launches unmaps once");
    OK(table->synchronize(state, 0, NULL));
    cr_assert_eq(z[0], 9);
    cr_assert_eq(z[200], 8);
    cr_assert_eq(pretended.calls("clEnqueueSVMMap"), 2, "at first, and after the launches");
    OK(table->synchronize(state, 0, NULL));
    cr_assert_eq(pretended.calls("clEnqueueSVMMap"), 2);
    cr_assert_eq(pretended.calls("clSetKernelExecInfo"), 1);
    pretended_end(state, 0, &block);
}

Test(pretended_rules, an_idle_queue_costs_no_wait)
{
    struct opencl_state *state = PRETENDED_OPEN("APART=1");
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    OK(table->synchronize(state, 0, NULL));
    OK(table->free(state, 0, &block));
    cr_assert_eq(pretended.calls("clFinish"), 0);
    pretended_close(state);
}

/* The memory of a processor is copied by the calling thread: after the kernels, by no command. */
Test(pretended_rules, a_processor_copies_without_its_driver)
{
    static const char *const machines[] = {"SVM=11", "SVM=1"};
    int i;

    for (i = 0; i < 2; i++) {
        struct opencl_state *state;
        memspan_block_t block;
        double value = 0;

        state = PRETENDED_OPEN(machines[i]);
        block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
        fill(state, 0, NULL, block.address, 6);
        OK(table->copy(state, 0, NULL, &value, block.address, sizeof(value)));
        OK(table->fill(state, 0, NULL, block.address, 0, 16));
        OK(table->synchronize(state, 0, NULL));
        cr_assert_eq(value, 6, "%s: %g", machines[i], value);
        cr_assert_eq(pretended.calls("clEnqueueSVMMemcpy"), (i == 0) ? 0 : 1);
        cr_assert_eq(pretended.calls("clEnqueueSVMMemFill"), (i == 0) ? 0 : 1);
        OK(table->free(state, 0, &block));
        pretended_close(state);
    }
}

Test(pretended_rules, pointers_are_followed_into_every_kind)
{
    memspan_block_t blocks[3];
    void **first;
    int i;
    struct opencl_state *state = PRETENDED_OPEN("APART=1");

    for (i = 0; i < 3; i++) {
        blocks[i] =
            pretended_take(state, 0, (i == 1) ? MEMSPAN_KIND_COHERENT : MEMSPAN_KIND_MANAGED);
    }
    for (i = 0; i < 2; i++) {
        *(void **)blocks[i].address = blocks[i + 1].address;
    }
    first = blocks[0].address;
    OK(table->launch(state, 0, NULL,
                     &(memspan_kernel_call_t){sizeof(memspan_kernel_call_t), MEMSPAN_KERNEL_CHASE,
                                              2, 0, first, NULL, first + 1}));
    OK(table->synchronize(state, 0, NULL));
    cr_assert_eq(first[1], blocks[2].address);
    /* Memory that is newer than the kernel. */
    OK(table->free(state, 0, &blocks[2]));
    blocks[2]                   = pretended_take(state, 0, MEMSPAN_KIND_HOST_PINNED);
    *(void **)blocks[2].address = first;
    *(void **)blocks[1].address = blocks[2].address;
    OK(table->launch(state, 0, NULL,
                     &(memspan_kernel_call_t){sizeof(memspan_kernel_call_t), MEMSPAN_KERNEL_CHASE,
                                              3, 0, first, NULL, first + 1}));
    OK(table->synchronize(state, 0, NULL));
    cr_assert_eq(first[1], first);
    for (i = 0; i < 3; i++) {
        OK(table->free(state, 0, &blocks[i]));
    }
    pretended_close(state);
}

Test(pretended_rules, a_kernel_forgets_memory_that_is_gone)
{
    memspan_block_t block;
    int i;
    struct opencl_state *state = PRETENDED_OPEN("SVM=1");

    for (i = 0; i < 3; i++) {
        void *pages;
        void *address;
        void *cookie;
        block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
        fill(state, 0, NULL, block.address, i);
        OK(table->free(state, 0, &block));
        pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        OK(table->import(state, 0, pages, 4096, &address, &cookie));
        fill(state, 0, NULL, pages, i + 5);
        OK(table->synchronize(state, 0, NULL));
        cr_assert_eq(((double *)pages)[99], i + 5);
        fill(state, 0, NULL, pages, i + 6);
        OK(table->release(state, 0, pages, 4096, cookie));
        cr_assert_eq(((double *)pages)[99], i + 6, "releasing waits for the kernel");
        munmap(pages, 4096);
    }
    pretended_close(state);
}

Test(pretended_rules, queues_wait_for_each_other)
{
    void *queues[2];
    double *z;
    int i;
    struct opencl_state *state = PRETENDED_OPEN("APART=1", "DEVICES=2");
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);

    z = block.address;
    for (i = 0; i < 2; i++) {
        OK(table->queue_create(state, i, &queues[i]));
    }
    z[300] = 3;
    fill(state, 0, queues[0], z, 1);
    fill(state, 1, queues[1], z + 100, 2);
    OK(table->synchronize(state, 1, queues[1]));
    cr_assert_eq(z[0], 1);
    cr_assert_eq(z[100], 2);
    cr_assert_eq(z[300], 3);
    cr_assert_eq(pretended.calls("clEnqueueBarrierWithWaitList"), 1);
    /* Freed while both have work. */
    fill(state, 0, queues[0], z, 1);
    fill(state, 1, queues[1], z + 100, 2);
    OK(table->free(state, 0, &block));
    for (i = 0; i < 2; i++) {
        OK(table->queue_destroy(state, i, queues[i]));
    }
    pretended_close(state);
}

Test(pretended_rules, busy_queues_are_waited_for)
{
    void *queue;
    struct opencl_state *state = PRETENDED_OPEN("APART=1");
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    OK(table->queue_create(state, 0, &queue));
    fill(state, 0, queue, block.address, 1);
    OK(table->queue_destroy(state, 0, queue));
    cr_expect_str_empty(pretended.violation());
    pretended_end(state, 0, &block);
}

Test(pretended_rules, platforms_copy_through_the_host)
{
    memspan_block_t a;
    memspan_block_t b;
    double value               = 0;
    struct opencl_state *state = PRETENDED_OPEN("APART=1", "PLATFORMS=2");

    cr_assert_eq(table->device_count(state), 2);
    a = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    b = pretended_take(state, 1, MEMSPAN_KIND_DEVICE);
    fill(state, 0, NULL, a.address, 6);
    OK(table->copy(state, 1, NULL, b.address, a.address, PRETENDED_BYTES));
    OK(table->copy(state, 1, NULL, &value, (double *)b.address + 99, sizeof(value)));
    OK(table->synchronize(state, 1, NULL));
    cr_assert_eq(value, 6);
    fill(state, 0, NULL, a.address, 7);
    OK(table->copy(state, 0, NULL, b.address, a.address, PRETENDED_BYTES));
    fill(state, 1, NULL, (double *)b.address + 50, 1);
    OK(table->copy(state, 1, NULL, &value, b.address, sizeof(value)));
    OK(table->synchronize(state, 1, NULL));
    cr_assert_eq(value, 7);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_COPY);
    OK(table->free(state, 0, &a));
    pretended_end(state, 1, &b);
}

Test(pretended_rules, leaves_out_what_is_broken)
{
    struct opencl_state *state = PRETENDED_OPEN("PLATFORMS=3", "DEVICES=2");

    cr_assert_eq(table->device_count(state), 4, "the third platform has no device");
    pretended_close(state);
}

Test(pretended_rules, combining_kernels_are_compiled_once)
{
    static const memspan_operation_t operations[] = {MEMSPAN_OPERATION_SUM, MEMSPAN_OPERATION_XOR,
                                                     MEMSPAN_OPERATION_SUM};
    size_t i;
    struct opencl_state *state = PRETENDED_OPEN("APART=1");
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);

    for (i = 0; i < 3; i++) {
        memspan_kernel_call_t call = {
            sizeof(call),  MEMSPAN_KERNEL_COMBINE(operations[i], MEMSPAN_ELEMENT_U32),
            100,           0,
            block.address, block.address,
            block.address};

        OK(table->launch(state, 0, NULL, &call));
    }
    cr_assert_eq(pretended.calls("clBuildProgram"), 1);
    cr_assert_eq(pretended.calls("clCreateKernel"), 2);
    fill(state, 0, NULL, block.address, 1);
    cr_assert_eq(pretended.calls("clBuildProgram"), 2, "the others are in a text of their own");
    pretended_end(state, 0, &block);
}

static memspan_device_info_t describe(struct opencl_state *state)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    OK(table->device_describe(state, 0, &info));
    return info;
}

#define BIT(kind) (1u << MEMSPAN_KIND_##kind)

Test(pretended_rules, offers_what_there_is)
{
    static const struct {
        const char *svm;
        const char *apart;
        unsigned kinds;
        unsigned without_gain;
    } cases[] = {
        {"SVM=11", "APART=0", BIT(DEVICE) | BIT(MANAGED) | BIT(COHERENT) | BIT(HOST_PINNED),
         BIT(MANAGED)},
        {"SVM=11", "APART=1", BIT(DEVICE) | BIT(MANAGED) | BIT(COHERENT) | BIT(HOST_PINNED), 0},
        {"SVM=1", "APART=1", BIT(DEVICE) | BIT(MANAGED), 0},
        {"SVM=1", "APART=0", BIT(DEVICE) | BIT(MANAGED) | BIT(HOST_PINNED), 0},
        {"SVM=0", "APART=1", 0, 0},
        {"SVM=0", "APART=0", BIT(HOST_PINNED), 0},
    };
    size_t i;
    int kind;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct opencl_state *state;
        memspan_device_info_t info;
        state = PRETENDED_OPEN(cases[i].svm, cases[i].apart);
        info  = describe(state);
        cr_assert_eq(info.kinds, cases[i].kinds, "%s %s: %#x", cases[i].svm, cases[i].apart,
                     info.kinds);
        cr_assert_eq(info.kinds_without_gain, cases[i].without_gain);
        cr_assert_eq(info.kinds_migratable,
                     (strcmp(cases[i].apart, "APART=1") == 0) ? (info.kinds & BIT(MANAGED)) : 0);
        for (kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
            cr_assert_str_not_empty(info.kind_note[kind]);
        }
        pretended_close(state);
    }
}

Test(pretended_rules, atomics_are_reported_apart)
{
    memspan_kernel_call_t call = {sizeof(call), MEMSPAN_KERNEL_ADD_ATOMIC, 1, 1, NULL, NULL, NULL};
    memspan_block_t block;
    struct opencl_state *state = PRETENDED_OPEN("SVM=3");

    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_COHERENT, MEMSPAN_HOST).coherence,
                 MEMSPAN_COHERENCE_CONCURRENT);
    cr_assert_eq(describe(state).capabilities & MEMSPAN_CAN_HOST_ATOMICS, 0);
    block  = pretended_take(state, 0, MEMSPAN_KIND_COHERENT);
    call.z = block.address;
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 0, &block);
    state = PRETENDED_OPEN("SVM=11");
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_COHERENT, 0).coherence,
                 MEMSPAN_COHERENCE_ATOMIC);
    pretended_close(state);
}

Test(pretended_rules, old_platforms_are_asked_for_nothing_new)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t block;
    struct opencl_state *state = PRETENDED_OPEN("VERSION=OpenCL 1.2", "SVM=11");

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    block = pretended_take(state, 0, MEMSPAN_KIND_HOST_PINNED);
    fill(state, 0, NULL, block.address, 4);
    OK(table->synchronize(state, 0, NULL));
    cr_assert_eq(*(double *)block.address, 4);
    cr_assert_eq(pretended.calls("clSVMAlloc"), 0);
    cr_assert_eq(pretended.calls("clSetKernelExecInfo"), 0);
    cr_assert_eq(pretended.calls("clCreateCommandQueueWithProperties"), 0);
    pretended_end(state, 0, &block);
}

Test(pretended_rules, memory_runs_out_and_comes_back)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, 300 << 10);
    memspan_block_t blocks[8];
    int count = 0;
    int i;
    struct opencl_state *state = PRETENDED_OPEN("MEMORY=1048576");

    while ((count < 8) && (table->alloc(state, 0, &request, &blocks[count]) == MEMSPAN_OK)) {
        count++;
    }
    cr_assert_eq(count, 3);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_NO_MEMORY);
    cr_assert_str_eq(memspan_error_last()->call, "clSVMAlloc");
    for (i = 0; i < count; i++) {
        OK(table->free(state, 0, &blocks[i]));
    }
    request.size_bytes = 600 << 10;
    cr_assert_eq(table->alloc(state, 0, &request, &blocks[0]), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_not_null(strstr(memspan_error_last()->message, "524288"), "%s", memspan_error_text());
    pretended_close(state);
}

Test(pretended_rules, prefetches_where_memory_moves)
{
    struct opencl_state *state = PRETENDED_OPEN("APART=1");
    memspan_block_t block      = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);

    cr_assert_eq(block.flags & MEMSPAN_BLOCK_MIGRATABLE, MEMSPAN_BLOCK_MIGRATABLE);
    OK(table->prefetch(state, 0, NULL, block.address, 4096, MEMSPAN_HOST));
    cr_assert_eq(pretended.calls("clEnqueueSVMMigrateMem"), 0, "it is there already");
    OK(table->prefetch(state, 0, NULL, block.address, 4096, 0));
    cr_assert_eq(pretended.calls("clEnqueueSVMMigrateMem"), 1);
    OK(table->synchronize(state, 0, NULL));
    pretended_end(state, 0, &block);
    state = PRETENDED_OPEN("APART=0");
    block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);
    cr_assert_eq(table->prefetch(state, 0, NULL, block.address, 4096, 0), MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 0, &block);
}

/* Bytes of this process that may not be swapped. */
static uint64_t locked_bytes(void)
{
    char text[4096];
    uint64_t bytes = 0;

    cr_assert_gt(msp_file_read("/proc/self/status", text, sizeof(text)), 0);
    cr_assert(msp_text_field(text, "VmLck", &bytes));
    return bytes;
}

/* Memory that we lock is unlocked before the driver has it again; pages of ours are unmapped. */
Test(pretended_rules, pinned_memory_is_given_back_as_it_was)
{
    static const char *const machines[] = {"SVM=3", "SVM=0"};
    int i;

    for (i = 0; i < 2; i++) {
        struct opencl_state *state;
        memspan_block_t block;
        uint64_t before;

        state  = PRETENDED_OPEN(machines[i]);
        before = locked_bytes();
        block  = pretended_take(state, 0, MEMSPAN_KIND_HOST_PINNED);
        cr_assert_gt(locked_bytes(), before, "%s", machines[i]);
        OK(table->free(state, 0, &block));
        cr_assert_eq(locked_bytes(), before, "%s", machines[i]);
        if (i == 1) {
            cr_assert_eq(msync(block.address, 4096, MS_ASYNC), -1, "the pages are still mapped");
            cr_assert_eq(errno, ENOMEM);
        }
        pretended_close(state);
    }
}

/* ---- what a device is ---- */

/* Zeros are no identity: two devices would be one, and the host bridge would be a GPU. */
Test(pretended_rules, zeros_identify_no_device)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    struct opencl_state *state = PRETENDED_OPEN("LACKS=identity");

    OK(table->device_describe(state, 0, &info));
    cr_assert_eq(strncmp(info.uid, "opencl:", 7), 0, "%s", info.uid);
    cr_assert_str_empty(info.pci_address);
    cr_assert_eq(info.numa_node, -1);
    pretended_close(state);
}
