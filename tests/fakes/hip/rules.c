/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c: which calls of the runtime are made, and what is said of it. */

#include "core/base/error.h"
#include "tests/fakes/hip/pretended.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_hip;

static bool says(const char *text, const char *words)
{
    return strstr(text, words) != NULL;
}

TestSuite(hip_rules, .init = pretended_find, .timeout = 60);

/* ---- what a device is ---- */

Test(hip_rules, identity)
{
    memspan_device_info_t info;
    void *state = PRETENDED_OPEN("MEMORY=1048576");

    info = pretended_describe(state, 1);
    cr_assert_str_eq(info.name, "Pretended Instinct 1");
    cr_assert_str_eq(info.pci_address, "0000:c1:00.0");
    cr_assert_str_eq(info.uid, driver.old ? "hip:0000:c1:00.0" : "GPU-f00dfeed00000001");
    cr_assert_eq(info.capacity_bytes, 1048576u);
    cr_assert_eq(info.free_bytes, 1048576u);
    cr_assert(says(info.driver, driver.old ? "HIP 5.2" : "HIP 7.0"), "%s", info.driver);
    pretended_close(state);
}

Test(hip_rules, free_memory)
{
    void *state           = PRETENDED_OPEN("MEMORY=1048576");
    memspan_block_t block = pretended_take(state, 1, MEMSPAN_KIND_DEVICE);

    cr_assert_eq(pretended_describe(state, 1).free_bytes, 1048576u - PRETENDED_BYTES);
    cr_assert_eq(pretended_describe(state, 0).free_bytes, 1048576u);
    pretended_give_back(state, 1, &block);
    cr_assert_eq(pretended_describe(state, 1).free_bytes, 1048576u);
    pretended_close(state);
}

/* The call is there, and answers that there is no such thing: nothing is promised. */
Test(hip_rules, sharing_is_tried_before_it_is_promised)
{
    memspan_device_info_t info;
    void *state = PRETENDED_OPEN("FAIL_CALL=hipIpcGetMemHandle", "FAIL_CODE=801");

    info = pretended_describe(state, 0);
    cr_assert_eq(info.capabilities & MEMSPAN_CAN_IPC, 0u);
    cr_assert(says(info.capability_note[__builtin_ctz(MEMSPAN_CAN_IPC)], "not supported"), "%s",
              info.capability_note[__builtin_ctz(MEMSPAN_CAN_IPC)]);
    cr_assert(says(pretended_log(), "hipIpcGetMemHandle: 801"), "%s", pretended_log());
    cr_assert(!says(pretended_log(), "warning:"), "%s", pretended_log());
    pretended_close(state);
    /* Another failure tells nothing of what the device can do. */
    state = PRETENDED_OPEN("FAIL_CALL=hipIpcGetMemHandle");
    cr_assert_neq(pretended_describe(state, 0).capabilities & MEMSPAN_CAN_IPC, 0u);
    cr_assert(says(pretended_log(), "warning: whether memory is shared"), "%s", pretended_log());
    pretended_close(state);
}

Test(hip_rules, a_runtime_without_capture_modes_is_asked_once)
{
    memspan_block_t block;
    int i;
    void *state = PRETENDED_OPEN("FAIL_CALL=hipThreadExchangeStreamCaptureMode", "FAIL_CODE=801");

    for (i = 0; i < 3; i++) {
        block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
        pretended_give_back(state, 0, &block);
    }
    cr_assert_eq(pretended.calls("hipThreadExchangeStreamCaptureMode"), 1u);
    pretended_close(state);
}

/* The runtime is of another version than it answers; the compiler in it is found all the same. */
Test(hip_rules, the_compiler_is_looked_for_in_the_opened_runtime)
{
    void *state;

    if (!driver.old) {
        cr_skip_test("this runtime has no compiler in it");
    }
    state = PRETENDED_OPEN("LIES=version");
    cr_assert_neq(pretended_describe(state, 0).capabilities & MEMSPAN_CAN_KERNELS, 0u);
    pretended_close(state);
}

/* ---- XNACK and APUs in words ---- */

static void check_notes(const char *attributes, memspan_kind_t kind, bool offered,
                        const char *words)
{
    memspan_device_info_t info;
    void *state = PRETENDED_OPEN(attributes);

    info = pretended_describe(state, 0);
    cr_assert_eq((info.kinds & (1u << kind)) != 0, offered, "%s: %s", attributes,
                 info.kind_note[kind]);
    cr_assert(says(info.kind_note[kind], words), "%s: %s", attributes, info.kind_note[kind]);
    cr_assert_lt(strlen(info.kind_note[kind]), sizeof(info.kind_note[kind]) - 1, "it is cut: %s",
                 info.kind_note[kind]);
    pretended_close(state);
}

Test(hip_rules, xnack_in_words)
{
    check_notes("ATTRIBUTES=", MEMSPAN_KIND_MANAGED, true, "XNACK off (HSA_XNACK=1");
    check_notes("ATTRIBUTES=", MEMSPAN_KIND_MANAGED, true, "by prefetch only");
    check_notes("ATTRIBUTES=", MEMSPAN_KIND_COHERENT, false, "XNACK off (HSA_XNACK=1");
    check_notes("ATTRIBUTES=65=1", MEMSPAN_KIND_MANAGED, true, "XNACK on");
    check_notes("ATTRIBUTES=65=1", MEMSPAN_KIND_COHERENT, true, "XNACK on");
    check_notes("ATTRIBUTES=16=1,65=1,66=1", MEMSPAN_KIND_MANAGED, true,
                "one memory with the host");
    check_notes("ATTRIBUTES=16=1,65=1,66=1", MEMSPAN_KIND_COHERENT, true, "host page tables");
    check_notes("ATTRIBUTES=24=0", MEMSPAN_KIND_MANAGED, false, "HMM");
    check_notes("ATTRIBUTES=10011=1", MEMSPAN_KIND_COHERENT, true, "large BAR");
    check_notes("ATTRIBUTES=85=0", MEMSPAN_KIND_DEVICE, false, "UnifiedAddressing 0");
}

Test(hip_rules, xnack_by_target)
{
    struct hip_device device = {.gpu.facts.managed = true, .facts.target = 110000};
    char words[96];

    hip_xnack_words(&device.gpu, words, sizeof(words));
    cr_expect(says(words, "gfx1100 has no XNACK"));
    device.facts.target = 90402;
    hip_xnack_words(&device.gpu, words, sizeof(words));
    cr_expect_str_eq(words, "XNACK off (HSA_XNACK=1 turns it on)");
    device.gpu.facts.pageable = true;
    hip_xnack_words(&device.gpu, words, sizeof(words));
    cr_expect_str_eq(words, "XNACK on");
}

/* ---- memory ---- */

Test(hip_rules, pinned_memory_without_the_coherent_flag_is_for_one_side_at_a_time)
{
    memspan_device_info_t info;
    void *state           = PRETENDED_OPEN("LIES=coherent", "ATTRIBUTES=10011=1,15=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_HOST_PINNED);

    cr_expect_eq(table->reach(state, 0, MEMSPAN_KIND_HOST_PINNED, MEMSPAN_HOST).coherence,
                 MEMSPAN_COHERENCE_SYNC);
    cr_expect_eq(table->reach(state, 0, MEMSPAN_KIND_HOST_PINNED, 0).coherence,
                 MEMSPAN_COHERENCE_SYNC);
    info = pretended_describe(state, 0);
    cr_expect(says(info.kind_note[MEMSPAN_KIND_HOST_PINNED], "one side at a time"));
    cr_expect((info.kinds & (1u << MEMSPAN_KIND_COHERENT)) == 0);
    cr_expect(!says(pretended_log(), "warning:"), "%s", pretended_log());
    pretended_end(state, 0, &block);
}

static void check_grain(const char *grain, bool coarse, memspan_coherence_t managed,
                        memspan_coherence_t peer)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_MANAGED};
    void *state;
    size_t i;

    state = PRETENDED_OPEN("ATTRIBUTES=10011=1,15=1", grain);
    for (i = 0; i < 2; i++) {
        memspan_block_t block = pretended_take(state, 0, kinds[i]);
        cr_assert_eq(driver.is_coarse(block.address), coarse, "%s: %s", grain,
                     memspan_kind_name(kinds[i]));
        pretended_give_back(state, 0, &block);
    }
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_MANAGED, 0).coherence, managed);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_MANAGED, MEMSPAN_HOST).coherence, managed);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_REMOTE);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).coherence, peer);
    pretended_close(state);
}

Test(hip_rules, grain_is_what_the_option_says)
{
    check_grain("MEMSPAN_HIP_GRAIN=coarse", true, MEMSPAN_COHERENCE_SYNC, MEMSPAN_COHERENCE_SYNC);
    check_grain("MEMSPAN_HIP_GRAIN=fine", false, MEMSPAN_COHERENCE_ATOMIC,
                MEMSPAN_COHERENCE_ATOMIC);
}

Test(hip_rules, a_runtime_without_advice_promises_by_what_it_gives)
{
    void *state           = PRETENDED_OPEN("FAIL_CALL=hipMemAdvise");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);

    cr_assert_eq(driver.is_coarse(block.address), 0, "it stays fine-grained, and is given");
    cr_assert(says(pretended_log(), "hipMemAdvise"));
    pretended_end(state, 0, &block);
}

Test(hip_rules, coherent_memory_is_where_it_is_to_live)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, PRETENDED_BYTES);
    memspan_block_t block;
    unsigned tried; /* when it was opened */
    void *state;

    state = PRETENDED_OPEN("ATTRIBUTES=10011=1");
    tried = pretended.calls("hipHostMalloc");
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls("hipHostMalloc"), tried + 1);
    pretended_give_back(state, 0, &block);
    request.resident_ordinal = 0;
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls("hipExtMallocWithFlags"), 1u);
    memset(block.address, 1, PRETENDED_BYTES); /* the host reaches it */
    pretended_end(state, 0, &block);
    /* That it can be had is a lie: then it is the host's. */
    state = PRETENDED_OPEN("ATTRIBUTES=10011=1", "LIES=fine");
    tried = pretended.calls("hipHostMalloc");
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls("hipHostMalloc"), tried + 1);
    cr_assert(says(pretended_log(), "hipExtMallocWithFlags"));
    pretended_end(state, 0, &block);
}

/* Memory that is to live on the device is not taken elsewhere because the device is full. */
Test(hip_rules, a_full_device_gives_no_memory_of_the_host)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, 2 << 20);
    memspan_block_t block;
    unsigned tried; /* when it was opened */
    void *state;

    state                    = PRETENDED_OPEN("ATTRIBUTES=10011=1", "MEMORY=1048576");
    tried                    = pretended.calls("hipHostMalloc");
    request.resident_ordinal = 0;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_str_eq(memspan_error_last()->call, "hipExtMallocWithFlags");
    cr_assert_eq(pretended.calls("hipHostMalloc"), tried);
    pretended_close(state);
}

Test(hip_rules, what_cannot_be_is_refused)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, PRETENDED_BYTES);
    memspan_block_t block;
    int node    = 0;
    void *state = PRETENDED_OPEN("DEVICES=1");

    request.flags = MEMSPAN_REQUEST_PINNED;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request            = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    request.flags      = MEMSPAN_REQUEST_STRICT;
    request.nodes      = &node;
    request.node_count = 1;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request = pretended_ask(MEMSPAN_KIND_HOST, PRETENDED_BYTES);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request             = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    request.align_bytes = 3;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_INVALID);
    request = pretended_ask((memspan_kind_t)77, PRETENDED_BYTES);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    cr_assert_eq(table->alloc(state, 1, &request, &block), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(table->free(state, 0, NULL), MEMSPAN_ERR_INVALID);
    pretended_close(state);
}

/* What HIP promised and does not do is its error, not ours; others go on. */
Test(hip_rules, managed_memory_that_is_a_lie)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, PRETENDED_BYTES);
    memspan_block_t block;
    void *state = PRETENDED_OPEN("LIES=managed");

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_str_eq(memspan_error_last()->call, "hipMallocManaged");
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    pretended_end(state, 0, &block);
}

/* ---- host pages ---- */

Test(hip_rules, another_address_is_told)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_HOST_PINNED, PRETENDED_BYTES);
    char *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memspan_block_t block;
    void *address = NULL;
    void *cookie  = NULL;
    int node      = 0;
    void *state   = PRETENDED_OPEN("LIES=pointer");

    cr_assert_eq(pretended_describe(state, 0).capabilities & MEMSPAN_CAN_IMPORT, 0u);
    OK(table->import(state, 0, pages, 4096, &address, &cookie));
    cr_assert_neq(address, pages);
    OK(table->release(state, 0, pages, 4096, cookie));
    request.flags      = MEMSPAN_REQUEST_STRICT;
    request.nodes      = &node;
    request.node_count = 1;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    munmap(pages, 4096);
    pretended_close(state);
}

/* ---- dma-buf ---- */

/* ROCm 7 has a call for it, ROCm 5 leaves it to HSA. */
Test(hip_rules, dma_buf)
{
    const char *call =
        driver.old ? "hsa_amd_portable_export_dmabuf" : "hipMemGetHandleForAddressRange";
    uint64_t offset = 0;
    int fd          = -1;
    int mine        = 0;
    char written[100];
    char seen[100]        = "";
    void *state           = PRETENDED_OPEN("DEVICES=1");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    memset(written, 77, sizeof(written));
    OK(table->copy(state, 0, NULL, (char *)block.address + 5000, written, 100));
    OK(table->synchronize(state, 0, NULL));
    OK(table->dmabuf_export(state, 0, (char *)block.address + 5000, 100, &fd, &offset));
    cr_assert_eq(pretended.calls(call), 1u);
    cr_assert_eq(pread(fd, seen, sizeof(seen), (off_t)offset), (ssize_t)sizeof(seen));
    cr_assert_arr_eq(seen, written, sizeof(seen), "the offset is where the memory is");
    cr_assert_eq(close(fd), 0);
    cr_assert_eq(table->dmabuf_export(state, 0, &mine, 4, &fd, &offset), MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->call, call);
    pretended_end(state, 0, &block);
}

/* ---- peers ---- */

Test(hip_rules, peers_are_enabled_when_memory_is_taken)
{
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_FILL, .count = 8, .a = 3};
    memspan_block_t block;
    double value = 0;
    void *state  = PRETENDED_OPEN("DEVICES=3");

    cr_assert_eq(pretended.calls("hipDeviceEnablePeerAccess"), 0u);
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(pretended.calls("hipDeviceEnablePeerAccess"), 2u);
    call.z = block.address;
    OK(table->launch(state, 2, NULL, &call));
    OK(table->synchronize(state, 2, NULL));
    pretended_read(state, 0, &value, block.address, sizeof(value));
    cr_assert_eq(value, 3.0);
    pretended_end(state, 0, &block);
}

Test(hip_rules, a_peer_that_is_a_lie)
{
    void *state           = PRETENDED_OPEN("LIES=peer");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_COPY);
    cr_assert(says(pretended_log(), "hipDeviceEnablePeerAccess"));
    pretended_end(state, 0, &block);
}

/* "Already enabled" is no failure, but HIP keeps it as the thread's last error. */
Test(hip_rules, peers_that_the_program_has_enabled_leave_no_error)
{
    memspan_block_t block;
    void *state = PRETENDED_OPEN("DEVICES=2");

    cr_assert_eq(driver.hip.hipSetDevice(1), HIP_SUCCESS);
    cr_assert_eq(driver.hip.hipDeviceEnablePeerAccess(0, 0), HIP_SUCCESS);
    cr_assert_eq(driver.hip.hipSetDevice(0), HIP_SUCCESS);
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(pretended.calls("hipDeviceEnablePeerAccess"), 2u);
    cr_assert_eq(driver.last_error(), HIP_SUCCESS, "the program sees an error of ours");
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_REMOTE);
    pretended_end(state, 0, &block);
}

/* ---- kernels ---- */

Test(hip_rules, a_kernel_that_does_not_compile)
{
    double values[4]           = {0};
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_FILL, .count = 4, .z = values};
    void *state;

    state = PRETENDED_OPEN("LIES=compiler");
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->call, "hiprtcCompileProgram");
    cr_assert_str_eq(memspan_error_last()->native_text, "HIPRTC_ERROR_COMPILATION");
    cr_assert(says(memspan_error_text(), "memspan.hip:1:1: error: pretended"), "%s",
              memspan_error_text());
    pretended_close(state);
}

Test(hip_rules, each_half_is_compiled_once)
{
    int32_t values[3]          = {5, -7, 9};
    memspan_kernel_call_t call = {.struct_size = sizeof(call), .count = 3};
    memspan_block_t block;
    void *state;
    int i;

    state  = PRETENDED_OPEN("DEVICES=1");
    block  = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    call.x = call.y = call.z = block.address;
    OK(table->copy(state, 0, NULL, block.address, values, sizeof(values)));
    for (i = 0; i < 2; i++) {
        call.kernel = MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_PROD, MEMSPAN_ELEMENT_S32);
        OK(table->launch(state, 0, NULL, &call));
        call.kernel = MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_MIN, MEMSPAN_ELEMENT_S32);
        OK(table->launch(state, 0, NULL, &call));
    }
    cr_assert_eq(pretended.calls("hiprtcCompileProgram"), 1u);
    pretended_read(state, 0, values, block.address, sizeof(values));
    cr_assert_eq(values[1], 7 * 7 * 7 * 7);
    call.kernel = MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_XOR, MEMSPAN_ELEMENT_F64);
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 0, &block);
}

/* ---- when the library is left alone ---- */

Test(hip_rules, without_a_gpu_it_is_loaded_only_when_asked_for)
{
    void *state = NULL;

    if ((access("/dev/kfd", F_OK) == 0) || (access("/dev/dxg", F_OK) == 0)) {
        cr_skip_test("this machine has a GPU");
    }
    unsetenv("MEMSPAN_DEVICES");
    PRETENDED("DEVICES=1");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    cr_assert(says(memspan_error_text(), "/dev/kfd"));
    cr_assert_eq(pretended.calls("hipInit"), 0u);
    setenv("MEMSPAN_DEVICES", "chip:0,hip2", 1);
    PRETENDED("DEVICES=1");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_ERR_OFF);
    setenv("MEMSPAN_DEVICES", "opencl:0,hip:0", 1);
    PRETENDED("DEVICES=1");
    pretended_close(pretended_open());
}
