/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenMP backend by its table, on devices that this machine may not have. Each test is a
 * process of its own, so that each may have another runtime. */

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/platform.h"
#include "core/device/backend.h"
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <memspan/memspan.h>
#include <stdlib.h>
#include <string.h>

extern const memspan_backend_t msp_backend_openmp;
static const memspan_backend_t *const table = &msp_backend_openmp;

enum { MIB = 1 << 20, DEVICES = 2 };

static void *runtime;

static memspan_status_t try_open(const char *file, const char *sort, void **state_p)
{
    setenv("FAKE_OFFLOAD", sort, 1);
    runtime = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    cr_assert(runtime != NULL, "%s", dlerror());
    return table->open(&memspan_services, state_p);
}

static void *open_runtime(const char *file, const char *sort)
{
    void *state = NULL;

    cr_assert_eq(try_open(file, sort, &state), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(table->device_count(state), DEVICES);
    return state;
}

static int live_blocks(void)
{
    int (*count)(void) = NULL;
    void *address      = dlsym(runtime, "fake_live_blocks");

    memcpy(&count, &address, sizeof(count));
    return count();
}

static void close_runtime(void *state)
{
    cr_assert_eq(live_blocks(), 0, "blocks were left behind");
    table->close(state);
}

static memspan_request_t ask(memspan_kind_t kind, size_t size_bytes, size_t align_bytes)
{
    return (memspan_request_t){
        .struct_size      = sizeof(memspan_request_t),
        .kind             = kind,
        .size_bytes       = size_bytes,
        .align_bytes      = align_bytes,
        .resident_ordinal = 0,
    };
}

static memspan_block_t take(void *state, int ordinal, memspan_kind_t kind, size_t align_bytes)
{
    memspan_request_t request = ask(kind, MIB, align_bytes);
    memspan_block_t block     = {0};

    cr_assert_eq(table->alloc(state, ordinal, &request, &block), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_assert_eq((uintptr_t)block.address % align_bytes, 0);
    cr_assert_eq(block.size_bytes, MIB);
    cr_assert_eq(block.node, -1);
    return block;
}

static memspan_device_info_t describe(void *state, int ordinal)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    cr_assert_eq(table->device_describe(state, ordinal, &info), MEMSPAN_OK);
    return info;
}

static void expect_reach(void *state, int home, memspan_kind_t kind, int from,
                         memspan_access_t access, memspan_coherence_t coherence)
{
    memspan_reach_t reach = table->reach(state, home, kind, from);
    char text[160];

    cr_expect_eq(reach.access, access, "%s memory of %d from %d is reached by \"%s\"",
                 memspan_kind_name(kind), home, from, memspan_access_name(reach.access));
    cr_expect_eq(reach.coherence, coherence, "%s memory of %d from %d: \"%s\"",
                 memspan_kind_name(kind), home, from, memspan_coherence_name(reach.coherence));
    if (access != MEMSPAN_ACCESS_NONE) {
        table->reach_source(state, home, kind, from, text, sizeof(text));
        cr_expect_str_eq(text, (from == home) ? "its own"
                               : (kind == MEMSPAN_KIND_COHERENT)
                                   ? "probe: its memory was seen to be this process's own"
                               : (kind == MEMSPAN_KIND_DEVICE)
                                   ? "omp_target_memcpy; OpenMP tells no more"
                                   : "what the calls of OpenMP promise");
    }
}

Test(off, no_devices)
{
    void *state = NULL;

    cr_assert_eq(try_open(FAKE_FULL, "none", &state), MEMSPAN_ERR_OFF);
    cr_assert(strstr(memspan_error_last()->message, "has no devices") != NULL);
    cr_assert(strstr(memspan_error_last()->hint, "-fopenmp-targets") != NULL);
    cr_assert(state == NULL);
}

Test(card, says_what_it_is)
{
    void *state                = open_runtime(FAKE_FULL, "card");
    memspan_device_info_t info = describe(state, 0);

    cr_assert_eq(info.kinds, (1u << MEMSPAN_KIND_DEVICE) | (1u << MEMSPAN_KIND_HOST_PINNED) |
                                 (1u << MEMSPAN_KIND_MANAGED));
    cr_assert_eq(info.kinds_without_gain, 0);
    cr_assert_eq(info.capabilities, MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_IMPORT);
    cr_assert_eq(info.capacity_bytes, MEMSPAN_UNKNOWN);
    cr_assert(info.capacity_source[0] != '\0');
    cr_assert(strncmp(info.kind_note[MEMSPAN_KIND_COHERENT], "not offered", 11) == 0);
    cr_assert_str_eq(info.uid, "FAKE-0");
    info = describe(state, 1);
    cr_assert_str_eq(info.uid, "openmp:1");
    cr_assert_eq(table->device_describe(state, 2, &info), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->device_describe(state, -1, &info), MEMSPAN_ERR_INVALID);
    close_runtime(state);
}

Test(card, who_reaches_what)
{
    void *state = open_runtime(FAKE_FULL, "card");

    expect_reach(state, 0, MEMSPAN_KIND_DEVICE, 0, MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC);
    expect_reach(state, 0, MEMSPAN_KIND_DEVICE, 1, MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE);
    expect_reach(state, 0, MEMSPAN_KIND_DEVICE, MEMSPAN_HOST, MEMSPAN_ACCESS_COPY,
                 MEMSPAN_COHERENCE_NONE);
    expect_reach(state, 1, MEMSPAN_KIND_HOST_PINNED, 1, MEMSPAN_ACCESS_REMOTE,
                 MEMSPAN_COHERENCE_CONCURRENT);
    expect_reach(state, 1, MEMSPAN_KIND_HOST_PINNED, MEMSPAN_HOST, MEMSPAN_ACCESS_LOCAL,
                 MEMSPAN_COHERENCE_CONCURRENT);
    expect_reach(state, 1, MEMSPAN_KIND_HOST_PINNED, 0, MEMSPAN_ACCESS_COPY,
                 MEMSPAN_COHERENCE_NONE);
    expect_reach(state, 1, MEMSPAN_KIND_MANAGED, 1, MEMSPAN_ACCESS_FAULT, MEMSPAN_COHERENCE_SYNC);
    expect_reach(state, 1, MEMSPAN_KIND_MANAGED, MEMSPAN_HOST, MEMSPAN_ACCESS_FAULT,
                 MEMSPAN_COHERENCE_SYNC);
    expect_reach(state, MEMSPAN_HOST, MEMSPAN_KIND_HOST, 1, MEMSPAN_ACCESS_REGISTER,
                 MEMSPAN_COHERENCE_NONE);
    expect_reach(state, 0, MEMSPAN_KIND_COHERENT, 0, MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE);
    expect_reach(state, 2, MEMSPAN_KIND_DEVICE, 0, MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE);
    expect_reach(state, 0, MEMSPAN_KIND_DEVICE, -2, MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE);
    close_runtime(state);
}

Test(card, blocks_on_boundaries)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_MANAGED};
    void *state                         = open_runtime(FAKE_FULL, "card");
    memspan_block_t block;
    size_t align;
    size_t k;

    for (k = 0; k < 3; k++) {
        for (align = 4096; align <= 8 * MIB; align *= 2) {
            block = take(state, 1, kinds[k], align);
            cr_assert_eq(block.flags, (kinds[k] == MEMSPAN_KIND_MANAGED) ? MEMSPAN_BLOCK_MIGRATABLE
                                                                         : MEMSPAN_BLOCK_PINNED);
            if (kinds[k] != MEMSPAN_KIND_DEVICE) {
                memset(block.address, 1, block.size_bytes);
            }
            cr_assert_eq(table->free(state, 1, &block), MEMSPAN_OK);
        }
    }
    close_runtime(state);
}

Test(card, refuses)
{
    void *state               = open_runtime(FAKE_FULL, "card");
    memspan_block_t block     = {0};
    memspan_request_t request = ask(MEMSPAN_KIND_COHERENT, MIB, 4096);
    int node                  = 0;

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request = ask(MEMSPAN_KIND_HOST, MIB, 4096);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request = ask((memspan_kind_t)77, MIB, 4096);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request = ask(MEMSPAN_KIND_DEVICE, MIB, 4096);
    cr_assert_eq(table->alloc(state, 2, &request, &block), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->alloc(state, MEMSPAN_HOST, &request, &block), MEMSPAN_ERR_INVALID);
    request = ask(MEMSPAN_KIND_DEVICE, (size_t)2 << 30, 4096);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_str_eq(memspan_error_last()->call, "omp_target_alloc");
    request = ask(MEMSPAN_KIND_MANAGED, SIZE_MAX - 4095, (size_t)1 << 40);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    request       = ask(MEMSPAN_KIND_MANAGED, MIB, 4096);
    request.flags = MEMSPAN_REQUEST_PINNED;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request            = ask(MEMSPAN_KIND_DEVICE, MIB, 4096);
    request.flags      = MEMSPAN_REQUEST_STRICT;
    request.nodes      = &node;
    request.node_count = 1;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert(block.address == NULL, "a failed call wrote its output");
    close_runtime(state);
}

static void copy(void *state, void *to, const void *from, size_t size_bytes)
{
    cr_assert_eq(table->copy(state, 0, NULL, to, from, size_bytes), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK);
}

/* Host to device 0, to device 1, to managed memory, to the host; offsets inside blocks. */
static void copy_around(void *state, bool with_managed)
{
    memspan_block_t first  = take(state, 0, MEMSPAN_KIND_DEVICE, 4096);
    memspan_block_t second = take(state, 1, MEMSPAN_KIND_DEVICE, 4096);
    unsigned char *here    = malloc(MIB);
    unsigned char *back    = calloc(1, MIB);
    size_t i;

    for (i = 0; i < MIB; i++) {
        here[i] = (unsigned char)(i * 31 >> 3);
    }
    copy(state, first.address, here, MIB);
    copy(state, (char *)second.address + 100, (char *)first.address + 7, MIB - 1000);
    if (with_managed) {
        memspan_block_t managed = take(state, 0, MEMSPAN_KIND_MANAGED, 4096);
        copy(state, managed.address, (char *)second.address + 100, MIB - 1000);
        copy(state, back, managed.address, MIB - 1000);
        cr_assert_eq(table->free(state, 0, &managed), MEMSPAN_OK);
    } else {
        copy(state, back, (char *)second.address + 100, MIB - 1000);
    }
    cr_assert_eq(memcmp(back, here + 7, MIB - 1000), 0);

    cr_assert_eq(table->fill(state, 1, NULL, (char *)second.address + 5, 0xa5, MIB - 5),
                 MEMSPAN_OK);
    copy(state, back, second.address, MIB);
    for (i = 5; i < MIB; i++) {
        cr_assert_eq(back[i], 0xa5);
    }
    cr_assert_eq(table->copy(state, 0, NULL, NULL, NULL, 0), MEMSPAN_OK);
    cr_assert_eq(table->copy(state, 5, NULL, back, here, 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->fill(state, 5, NULL, back, 0, 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->free(state, 1, &second), MEMSPAN_OK);
    cr_assert_eq(table->free(state, 0, &first), MEMSPAN_OK);
    free(back);
    free(here);
}

Test(card, copies_never_touch_device_memory)
{
    void *state = open_runtime(FAKE_FULL, "card");

    copy_around(state, true);
    close_runtime(state);
}

Test(card, imports_at_the_address_that_the_device_sees)
{
    void *state  = open_runtime(FAKE_FULL, "card");
    void *memory = aligned_alloc(4096, 8192);
    void *seen_at;
    void *cookie;

    cr_assert_eq(table->import(state, 0, memory, 8192, &seen_at, &cookie), MEMSPAN_OK);
    cr_assert_eq(seen_at, memory);
    cr_assert_eq(table->release(state, 0, memory, 8192, cookie), MEMSPAN_OK);
    setenv("FAKE_OFFLOAD_LOCK", "elsewhere", 1);
    cr_assert_eq(table->import(state, 0, memory, 8192, &seen_at, &cookie), MEMSPAN_OK);
    cr_assert_eq(seen_at, (char *)memory + 4096);
    cr_assert_eq(table->release(state, 0, memory, 8192, cookie), MEMSPAN_OK);
    cr_assert_eq(table->import(state, 0, memory, (size_t)2 << 30, &seen_at, &cookie),
                 MEMSPAN_ERR_DRIVER);
    free(memory);
    close_runtime(state);
}

/* Plain memory at the same address is no proof. */
Test(remote, is_not_taken_for_the_host)
{
    void *state                = open_runtime(FAKE_FULL, "remote");
    memspan_device_info_t info = describe(state, 0);

    cr_assert_eq(info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL, 0);
    expect_reach(state, 0, MEMSPAN_KIND_DEVICE, MEMSPAN_HOST, MEMSPAN_ACCESS_COPY,
                 MEMSPAN_COHERENCE_NONE);
    copy_around(state, true);
    close_runtime(state);
}

/* The OpenMP 4.5 calls alone: device memory, and fills by copies. */
Test(plain, has_device_memory_only)
{
    void *state                = open_runtime(FAKE_PLAIN, "card");
    memspan_device_info_t info = describe(state, 0);
    memspan_block_t block      = {0};
    memspan_request_t request  = ask(MEMSPAN_KIND_MANAGED, MIB, 4096);
    void *seen_at;
    void *cookie;

    cr_assert_eq(info.kinds, 1u << MEMSPAN_KIND_DEVICE);
    cr_assert_eq(info.capabilities, 0);
    cr_assert_str_eq(info.uid, "openmp:0");
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(table->import(state, 0, &info, 8192, &seen_at, &cookie), MEMSPAN_ERR_UNSUPPORTED);
    copy_around(state, false);
    close_runtime(state);
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

/* The runtime uses it again, as memory of any kind. */
Test(host, pinned_memory_is_unlocked_before_it_is_given_back)
{
    memspan_request_t request = ask(MEMSPAN_KIND_HOST_PINNED, 1 << 16, 4096);
    void *state               = open_runtime(FAKE_PLAIN, "host");
    uint64_t before           = locked_bytes();
    memspan_block_t block;

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_gt(locked_bytes(), before);
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    cr_assert_eq(locked_bytes(), before);
    close_runtime(state);
}

Test(host, plain_runtime_serves_every_kind)
{
    void *state                = open_runtime(FAKE_PLAIN, "host");
    memspan_device_info_t info = describe(state, 1);
    memspan_block_t block;

    cr_assert_eq(info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL, MEMSPAN_CAN_UNIFIED_PHYSICAL);
    cr_assert_eq(info.kinds_without_gain, 1u << MEMSPAN_KIND_MANAGED);
    block = take(state, 1, MEMSPAN_KIND_COHERENT, 64 * 1024);
    memset(block.address, 7, block.size_bytes);
    expect_reach(state, 1, MEMSPAN_KIND_COHERENT, 0, MEMSPAN_ACCESS_LOCAL,
                 MEMSPAN_COHERENCE_ATOMIC);
    cr_assert_eq(table->free(state, 1, &block), MEMSPAN_OK);
    copy_around(state, true);
    close_runtime(state);
}
