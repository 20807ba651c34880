/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c: the Level Zero backend on Intel's real driver without a device. Nothing is executed:
 * what is tested is what the driver answers, refuses, compiles and leaves behind. */

#include "backends/level_zero/level_zero.h"
#include "core/base/error.h"
#include "core/device/backend.h"
#include "core/engine/pointer_map.h"
#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

extern const memspan_backend_t msp_backend_level_zero;
static const memspan_backend_t *const table = &msp_backend_level_zero;

enum { BYTES = 1 << 16 };

static struct lz_state *open_driver(void)
{
    void *state = NULL;

    cr_assert_eq(table->open(&memspan_services, &state), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(table->device_count(state), 1);
    return state;
}

static memspan_block_t take(void *state, memspan_kind_t kind, unsigned flags)
{
    memspan_request_t request = {.struct_size      = sizeof(request),
                                 .size_bytes       = BYTES,
                                 .align_bytes      = BYTES,
                                 .kind             = kind,
                                 .flags            = flags,
                                 .resident_ordinal = -1};
    memspan_block_t block     = {0};

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s", memspan_error_text());
    return block;
}

static void give_back(void *state, const memspan_block_t *block)
{
    cr_assert_eq(table->free(state, 0, block), MEMSPAN_OK, "%s", memspan_error_text());
}

TestSuite(intel, .timeout = 300);

Test(intel, device_memory_is_above_48_bits)
{
    void *state           = open_driver();
    memspan_block_t block = take(state, MEMSPAN_KIND_DEVICE, 0);
    uintptr_t address     = (uintptr_t)block.address;

    cr_expect_neq(address >> MSP_ROOT_BITS, 0u, "%p: this driver is not what it was",
                  block.address);
    cr_expect(msp_map_is_canonical(address), "%p", block.address);
    give_back(state, &block);
    table->close(state);
}

/* ---- kernels ---- */

static void start(void *state, memspan_kernel_t kernel, void *address)
{
    const struct lz_state *lz = state;
    struct lz_spirv module;
    int place                  = gpu_kernel_find(kernel, module.name);
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = kernel,
                                  .count       = 1,
                                  .x           = address,
                                  .y           = address,
                                  .z           = address};
    memspan_status_t status;

    if (place < 0) {
        return;
    }
    cr_assert(lz_spirv_write(place, &module));
    status = table->launch(state, 0, NULL, &call);
    if (module.fp64 && !lz_device(lz->gpu.devices[0])->facts.fp64) {
        cr_expect_eq(status, MEMSPAN_ERR_UNSUPPORTED, "%s", module.name);
    } else {
        cr_expect_eq(status, MEMSPAN_OK, "%s: %s", module.name, memspan_error_text());
    }
}

/* Intel's compiler takes every module, and the driver its arguments. */
Test(intel, every_kernel_compiles_and_starts)
{
    void *state           = open_driver();
    memspan_block_t block = take(state, MEMSPAN_KIND_DEVICE, 0);

    for (int kernel = 0; kernel < GPU_KERNELS; kernel++) {
        start(state, (memspan_kernel_t)kernel, block.address);
    }
    for (int o = 0; o < MEMSPAN_OPERATION_COUNT; o++) {
        for (int e = 0; e < MEMSPAN_ELEMENT_COUNT; e++) {
            start(state, MEMSPAN_KERNEL_COMBINE(o, e), block.address);
        }
    }
    cr_expect_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK, "%s", memspan_error_text());
    give_back(state, &block);
    table->close(state);
}

/* ---- contexts ---- */

/* The specification has memory belong to its context. Intel's driver knows it in all contexts, and
 * kernels of another runtime in the process (SYCL's, OpenMP's) take it as an argument. */
Test(intel, memory_of_one_context_serves_in_another)
{
    struct lz_state *state         = open_driver();
    const struct lz_device *device = lz_device(state->gpu.devices[0]);
    memspan_block_t block          = take(state, MEMSPAN_KIND_DEVICE, 0);
    lz_context_desc_t context_desc = {.stype = LZ_STRUCTURE_TYPE_CONTEXT_DESC};
    lz_alloc_properties_t known    = {.stype = LZ_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    lz_device_h owner              = NULL;
    lz_context_h other             = NULL;
    lz_module_h module             = NULL;
    lz_build_log_h log             = NULL;
    lz_kernel_h kernel             = NULL;
    struct lz_spirv spirv;
    lz_module_desc_t desc;
    lz_kernel_desc_t kernel_desc;

    cr_assert(lz_spirv_write(gpu_kernel_find(MEMSPAN_KERNEL_FILL, spirv.name), &spirv));
    desc = (lz_module_desc_t){.stype        = LZ_STRUCTURE_TYPE_MODULE_DESC,
                              .format       = LZ_MODULE_FORMAT_IL_SPIRV,
                              .inputSize    = spirv.count * sizeof(spirv.words[0]),
                              .pInputModule = (const uint8_t *)spirv.words};
    kernel_desc =
        (lz_kernel_desc_t){.stype = LZ_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = spirv.name};
    cr_assert_eq(state->ze.zeContextCreate(state->drivers[0].handle, &context_desc, &other), 0u);
    cr_assert_eq(state->ze.zeMemGetAllocProperties(other, block.address, &known, &owner), 0u);
    cr_expect_eq(known.type, (uint32_t)LZ_MEMORY_TYPE_DEVICE);
    cr_expect_eq(owner, device->handle);
    cr_assert_eq(state->ze.zeModuleCreate(other, device->handle, &desc, &module, &log), 0u);
    state->ze.zeModuleBuildLogDestroy(log);
    cr_assert_eq(state->ze.zeKernelCreate(module, &kernel_desc, &kernel), 0u);
    cr_expect_eq(state->ze.zeKernelSetArgumentValue(kernel, 4, 8, &block.address), 0u);
    state->ze.zeKernelDestroy(kernel);
    state->ze.zeModuleDestroy(module);
    state->ze.zeContextDestroy(other);
    give_back(state, &block);
    table->close(state);
}

/* ---- other processes ---- */

/* Without a kernel driver the handle names descriptor 0 and opens nothing: that is said. */
Test(intel, a_handle_that_does_not_open_is_an_error)
{
    void *state           = open_driver();
    memspan_block_t block = take(state, MEMSPAN_KIND_DEVICE, MEMSPAN_REQUEST_SHARED);
    memspan_block_t opened;
    char token[512];
    size_t size = sizeof(token);

    if (table->ipc_export(state, 0, &block, token, &size) == MEMSPAN_OK) {
        cr_expect_neq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_OK);
        cr_expect_str_eq(memspan_error_last()->call, "zeMemOpenIpcHandle");
    } else {
        cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_UNSUPPORTED, "%s",
                     memspan_error_text());
    }
    give_back(state, &block);
    table->close(state);
}

/* ---- faults ---- */

static sigjmp_buf after_fault;

static void on_fault(int number)
{
    (void)number;
    siglongjmp(after_fault, 1);
}

/* The driver has a handler of SIGSEGV of its own for shared memory. What is not its fault goes on
 * to the handler that was there before. */
Test(intel, faults_that_are_not_the_drivers_are_passed_on)
{
    struct sigaction ours = {.sa_handler = on_fault};
    volatile char *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile bool came    = false;
    memspan_block_t shared;
    struct sigaction now;
    void *state;

    cr_assert_eq(sigaction(SIGSEGV, &ours, NULL), 0);
    state  = open_driver();
    shared = take(state, MEMSPAN_KIND_MANAGED, 0);
    cr_assert_eq(table->fill(state, 0, NULL, shared.address, 7, BYTES), MEMSPAN_OK);
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK);
    *(volatile char *)shared.address = 1; /* the driver's to sort out */
    cr_assert_eq(sigaction(SIGSEGV, NULL, &now), 0);
    if (sigsetjmp(after_fault, 1) == 0) {
        *closed = 1;
    } else {
        came = true;
    }
    cr_expect(came);
    give_back(state, &shared);
    table->close(state);
}
