/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's backend by its table: what is given for each request, and what is refused. Each test
 * is a process of its own, so that it may set limits and the environment. */

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/option.h"
#include "core/topology/topology.h"
#include "tests/unit/host.h"
#include "tests/unit/map_flag.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* They map terabytes for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool under_sanitizer = true;
#else
static const bool under_sanitizer = false;
#endif

Test(host_backend, plain)
{
    void *state               = open_host();
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 3 * msp_page_size());
    memspan_block_t block;
    char *bytes;
    size_t i;

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    cr_assert_eq(block.size_bytes, 3 * msp_page_size());
    cr_assert_eq(block.page_size_bytes, msp_page_size());
    cr_assert_eq(block.flags, MEMSPAN_BLOCK_ZEROED | MEMSPAN_BLOCK_MIGRATABLE);
    cr_assert_eq(block.node, -1);
    bytes = block.address;
    for (i = 0; i < block.size_bytes; i++) {
        cr_assert_eq(bytes[i], 0);
    }
    memset(bytes, 0xff, block.size_bytes);
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    cr_assert(!is_mapped(bytes));
    table->close(state);
}

Test(host_backend, alignment)
{
    void *state = open_host();
    size_t align;

    for (align = msp_page_size(); align <= ((size_t)1 << 30); align *= 2) {
        memspan_request_t request = ask(MEMSPAN_KIND_HOST, msp_page_size());
        memspan_block_t first;
        memspan_block_t second;
        char *end;

        request.align_bytes = align;
        cr_assert_eq(table->alloc(state, 0, &request, &first), MEMSPAN_OK);
        cr_assert_eq(table->alloc(state, 0, &request, &second), MEMSPAN_OK);
        cr_assert_eq((uintptr_t)first.address % align, 0);
        cr_assert_eq((uintptr_t)second.address % align, 0);
        *(char *)first.address = 1;
        cr_assert_eq(*(char *)second.address, 0);
        end = (char *)second.address + second.size_bytes;
        cr_assert_eq(table->free(state, 0, &second), MEMSPAN_OK);
        cr_assert(!is_mapped(end - 1));
        cr_assert_eq(table->free(state, 0, &first), MEMSPAN_OK);
    }
    table->close(state);
}

Test(host_backend, slack_is_given_back)
{
    void *state               = open_host();
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 4 * MIB);
    uint64_t before           = status_bytes("VmSize");
    memspan_block_t block;
    int i;

    request.align_bytes = 64 * MIB;
    for (i = 0; i < 50; i++) {
        cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
        cr_assert_leq(status_bytes("VmSize"), before + 8 * MIB);
        cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    }
    table->close(state);
}

Test(host_backend, bad_requests)
{
    void *state                  = open_host();
    memspan_block_t block        = {.node = -7};
    const memspan_request_t good = ask(MEMSPAN_KIND_HOST, msp_page_size());
    memspan_request_t request    = good;

    cr_assert_eq(table->alloc(state, 0, NULL, &block), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->alloc(state, 0, &good, NULL), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->alloc(state, 1, &good, &block), MEMSPAN_ERR_NOT_FOUND);
    request.size_bytes = 0;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_INVALID);
    request.size_bytes = SIZE_MAX;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_INVALID);
    request.size_bytes = SIZE_MAX / 2 - msp_page_size();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    request.align_bytes = (size_t)1 << 61;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    request             = good;
    request.align_bytes = 3 * msp_page_size();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_INVALID);
    request                 = good;
    request.page_size_bytes = 12345;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_INVALID);
    request      = good;
    request.kind = MEMSPAN_KIND_DEVICE;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(block.node, -7, "outputs are written on success only");
    cr_assert_eq(table->free(state, 0, NULL), MEMSPAN_ERR_INVALID);
    block = (memspan_block_t){.address = NULL};
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_ERR_INVALID);
    table->close(state);
}

/* ---- pinned ---- */

Test(host_backend, pinned_is_locked)
{
    void *state               = open_host();
    memspan_request_t request = ask(MEMSPAN_KIND_HOST_PINNED, 2 * msp_page_size());
    memspan_block_t block;

    cr_assert_eq(status_bytes("VmLck"), 0, "nothing is locked before it is asked for");
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(status_bytes("VmLck"), 2 * msp_page_size());
    cr_assert_eq(block.flags, MEMSPAN_BLOCK_ZEROED | MEMSPAN_BLOCK_PINNED);
    cr_assert_geq(msp_numa_node_of_page(block.address), 0, "its pages are there");
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    cr_assert_eq(status_bytes("VmLck"), 0);

    request.kind  = MEMSPAN_KIND_HOST;
    request.flags = MEMSPAN_REQUEST_PINNED;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    cr_assert_eq(status_bytes("VmLck"), 2 * msp_page_size());
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    table->close(state);
}

/* As a user whom the limit binds. */
Test(host_backend, pinned_respects_the_limit)
{
    struct rlimit limit = {256 << 10, 256 << 10};
    memspan_device_info_t info;
    memspan_request_t request = ask(MEMSPAN_KIND_HOST_PINNED, 192 << 10);
    memspan_block_t block;
    memspan_block_t refused;
    void *state;

    cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if ((geteuid() == 0) && (setuid(65534) != 0)) {
        cr_skip("cannot become another user");
    }
    state = open_host();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(table->alloc(state, 0, &request, &refused), MEMSPAN_ERR_LIMIT);
    cr_assert_neq(strstr(memspan_error_text(), "RLIMIT_MEMLOCK"), NULL);
    cr_assert_neq(strstr(memspan_error_text(), "196608 bytes"), NULL, "%s", memspan_error_text());
    cr_assert_neq(strstr(memspan_error_text(), "256 KiB"), NULL, "%s", memspan_error_text());
    cr_assert_neq(strstr(memspan_error_text(), "192 KiB are locked"), NULL, "%s",
                  memspan_error_text());
    cr_assert_neq(strstr(memspan_error_text(), "ulimit -l"), NULL, "%s", memspan_error_text());
    cr_assert_eq(status_bytes("VmLck"), 192 << 10);

    info = (memspan_device_info_t){.struct_size = sizeof(info)};
    cr_assert_eq(table->device_describe(state, 0, &info), MEMSPAN_OK);
    cr_assert_neq(strstr(info.kind_note[MEMSPAN_KIND_HOST_PINNED], "256 KiB"), NULL);
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    cr_assert_eq(status_bytes("VmLck"), 0);
    table->close(state);
}

/* After mlockall() the limit on locked memory refuses every mapping. */
Test(host_backend, the_limit_of_mlockall_is_named)
{
    struct rlimit limit       = {4 << 20, 4 << 20};
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 64 << 20);
    memspan_block_t block;
    void *state;

#ifdef __SANITIZE_THREAD__
    cr_skip("the thread sanitizer's own memory would be refused");
#endif
    cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if ((geteuid() == 0) && (setuid(65534) != 0)) {
        cr_skip("cannot become another user");
    }
    state = open_host();
    cr_assert_eq(syscall(SYS_mlockall, MCL_FUTURE), 0); /* the sanitizers' does nothing */
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_neq(strstr(memspan_error_text(), "ulimit -l"), NULL, "%s", memspan_error_text());
    request.size_bytes = 1 << 20;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    table->close(state);
}

Test(host_backend, pinned_not_offered)
{
    struct rlimit none         = {0, 0};
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    memspan_request_t request  = ask(MEMSPAN_KIND_HOST_PINNED, msp_page_size());
    memspan_block_t block;
    void *state;

    cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &none), 0);
    if ((geteuid() == 0) && (setuid(65534) != 0)) {
        cr_skip("cannot become another user");
    }
    state = open_host();
    cr_assert_eq(table->device_describe(state, 0, &info), MEMSPAN_OK);
    cr_assert_eq(info.kinds, 1u << MEMSPAN_KIND_HOST);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_LIMIT);
    table->close(state);
}

/* ---- pages ---- */

static uint64_t huge_pages(const char *what)
{
    char path[128];
    uint64_t count = 0;

    snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-2048kB/%s", what);
    msp_file_number(path, &count);
    return count;
}

Test(host_backend, huge_pages_given_or_refused)
{
    void *state               = open_host();
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 4 * MIB);
    memspan_block_t block;
    memspan_status_t status;
    bool enough = (huge_pages("free_hugepages") >= 2 + huge_pages("resv_hugepages"));

    request.page_size_bytes = 2 * MIB;
    status                  = table->alloc(state, 0, &request, &block);
    if (status == MEMSPAN_OK) {
        cr_assert_eq(block.page_size_bytes, 2 * MIB);
        cr_assert_eq((uintptr_t)block.address % (2 * MIB), 0);
        memset(block.address, 1, block.size_bytes);
        cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    } else {
        cr_assert_eq(status, MEMSPAN_ERR_NO_MEMORY);
        cr_assert(!enough);
        cr_assert_neq(strstr(memspan_error_text(), "2 huge pages of 2 MiB"), NULL, "%s",
                      memspan_error_text());
        cr_assert_neq(strstr(memspan_error_text(), "nr_hugepages"), NULL);
    }
    request.page_size_bytes = 16 * MIB;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_neq(strstr(memspan_error_text(), "no pages of 16 MiB"), NULL, "%s",
                  memspan_error_text());
    table->close(state);
}

static bool advised(const char *option, size_t size_bytes, size_t page_size_bytes, const char *flag)
{
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, size_bytes);
    memspan_block_t block;
    void *state;
    bool has;

    setenv("MEMSPAN_HUGE_PAGES", option, 1);
    msp_option_reload();
    state                   = open_host();
    request.page_size_bytes = page_size_bytes;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    has = has_map_flag(block.address, flag);
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    table->close(state);
    return has;
}

static bool sparse_advised(void)
{
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 2 * MIB);
    void *state               = open_host();
    memspan_block_t block;
    bool has;

    request.flags |= MEMSPAN_REQUEST_SPARSE;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    has = has_map_flag(block.address, " hg");
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    table->close(state);
    return has;
}

Test(host_backend, advice_about_huge_pages)
{
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) {
        cr_skip("the kernel has no transparent huge pages");
    }
    cr_expect(advised("advise", 2 * MIB, 0, " hg"));
    cr_expect(!advised("advise", 1 * MIB, 0, " hg"));
    cr_expect(!advised("off", 2 * MIB, 0, " hg"));
    cr_expect(!advised("advise", 2 * MIB, msp_page_size(), " hg"));
    cr_expect(advised("advise", 2 * MIB, msp_page_size(), " nh"));
    cr_expect(!sparse_advised());
    cr_expect(advised("on", 6 * MIB, 0, " hg") || (huge_pages("nr_hugepages") > 0));
}

/* Parts of less than a huge page are each on the next node: none of those would be. */
Test(host_backend, small_parts_have_small_pages)
{
    static const int nodes[]  = {0, 0};
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 2 * MIB);
    void *state               = open_host();
    memspan_block_t block;

    request.spread          = MEMSPAN_SPREAD_INTERLEAVED;
    request.nodes           = nodes;
    request.node_count      = 2;
    request.part_size_bytes = msp_page_size();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    cr_expect(has_map_flag(block.address, " nh"));
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    table->close(state);
}

/* ---- nodes ---- */

static memspan_status_t place(memspan_spread_t spread, const int *nodes, size_t node_count,
                              unsigned flags, memspan_block_t *block_p)
{
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 8 * msp_page_size());
    void *state               = open_host();
    memspan_status_t status;

    request.spread     = spread;
    request.nodes      = nodes;
    request.node_count = node_count;
    request.flags      = flags;
    status             = table->alloc(state, 0, &request, block_p);
    if (status == MEMSPAN_OK) {
        memset(block_p->address, 1, block_p->size_bytes);
        cr_assert(msp_numa_node_exists(msp_numa_node_of_page(block_p->address)));
        cr_assert_eq(table->free(state, 0, block_p), MEMSPAN_OK);
    }
    table->close(state);
    return status;
}

Test(host_backend, nodes)
{
    int here    = msp_numa_node(0)->os_index;
    int nodes[] = {here, 901};
    memspan_spread_t spread;
    memspan_block_t block;
    unsigned strict;

    for (spread = MEMSPAN_SPREAD_ANY; spread <= MEMSPAN_SPREAD_INTERLEAVED; spread++) {
        for (strict = 0; strict <= MEMSPAN_REQUEST_STRICT; strict += MEMSPAN_REQUEST_STRICT) {
            cr_assert_eq(place(spread, &here, 1, strict, &block), MEMSPAN_OK, "%s",
                         memspan_error_text());
            if (spread <= MEMSPAN_SPREAD_NEAREST) {
                cr_assert_eq(block.node, here);
            }
            cr_assert_eq(place(spread, nodes, 2, strict, &block), MEMSPAN_ERR_NOT_FOUND);
            cr_assert_neq(strstr(memspan_error_text(), "901"), NULL);
        }
    }
    cr_assert_eq(place((memspan_spread_t)99, &here, 1, 0, &block), MEMSPAN_ERR_INVALID);
}

Test(host_backend, strict_and_full)
{
    int here      = msp_numa_node(0)->os_index;
    uint64_t room = msp_numa_node_free(here);
    memspan_request_t request =
        ask(MEMSPAN_KIND_HOST, msp_round_up((size_t)room + (64u << 20), msp_page_size()));
    void *state = open_host();
    memspan_block_t block;
    memspan_status_t status;

    request.nodes      = &here;
    request.node_count = 1;
    request.flags      = MEMSPAN_REQUEST_STRICT;
    status             = table->alloc(state, 0, &request, &block);
    cr_assert_eq(status, MEMSPAN_ERR_NO_MEMORY);
    table->close(state);
}

static memspan_status_t divide(const memspan_part_t *parts, size_t count)
{
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 4 * msp_page_size());
    void *state               = open_host();
    memspan_block_t block;
    memspan_status_t status;

    request.spread     = MEMSPAN_SPREAD_PARTS;
    request.parts      = parts;
    request.part_count = count;
    status             = table->alloc(state, 0, &request, &block);
    if (status == MEMSPAN_OK) {
        cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    }
    table->close(state);
    return status;
}

Test(host_backend, parts)
{
    size_t page                = msp_page_size();
    int here                   = msp_numa_node(0)->os_index;
    memspan_part_t whole[]     = {{here, page}, {here, 3 * page}};
    memspan_part_t tail[]      = {{here, page}, {here, 3 * page - 100}};
    memspan_part_t little[]    = {{here, page}, {here, page}};
    memspan_part_t large[]     = {{here, page}, {here, 4 * page}};
    memspan_part_t broken[]    = {{here, page + 1}, {here, 3 * page - 1}};
    memspan_part_t elsewhere[] = {{here, page}, {901, 3 * page}};
    static memspan_part_t many[32766];

    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
        many[i] = whole[0];
    }
    cr_assert_eq(divide(whole, 2), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(divide(tail, 2), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(divide(little, 2), MEMSPAN_ERR_INVALID);
    cr_assert_eq(divide(large, 2), MEMSPAN_ERR_INVALID);
    cr_assert_eq(divide(broken, 2), MEMSPAN_ERR_INVALID);
    cr_assert_eq(divide(elsewhere, 2), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(divide(NULL, 2), MEMSPAN_ERR_INVALID);
    cr_assert_eq(divide(many, 32765), MEMSPAN_ERR_INVALID, "no more than can be, but larger");
    cr_assert_eq(divide(many, 32766), MEMSPAN_ERR_LIMIT);
    cr_assert_eq(divide(whole, 0), MEMSPAN_ERR_INVALID);
}

/* On a machine that is data no block may claim a node. */
Test(host_backend, nothing_is_bound_to_an_invented_node)
{
    int high_bandwidth[] = {2, 3};
    char path[PATH_MAX];
    memspan_block_t block;

    snprintf(path, sizeof(path), "%s/ddr-hbm.xml", MEMSPAN_TEST_MACHINES);
    setenv("HWLOC_XMLFILE", path, 1);
    msp_option_reload();
    msp_topology_reload();
    cr_assert_eq(place(MEMSPAN_SPREAD_ANY, high_bandwidth, 2, 0, &block), MEMSPAN_OK);
    cr_assert_eq(block.node, -1);
    cr_assert_neq(place(MEMSPAN_SPREAD_ANY, high_bandwidth, 2, MEMSPAN_REQUEST_STRICT, &block),
                  MEMSPAN_OK);
    cr_assert_neq(place(MEMSPAN_SPREAD_BLOCKED, high_bandwidth, 2, MEMSPAN_REQUEST_STRICT, &block),
                  MEMSPAN_OK);
}

/* ---- the device ---- */

Test(host_backend, description)
{
    void *state                = open_host();
    memspan_device_info_t info = {.struct_size = sizeof(info), .number = -1, .backend = "x"};

    cr_assert_eq(table->device_count(state), 1);
    cr_assert_eq(table->device_describe(state, 0, &info), MEMSPAN_OK);
    cr_assert_str_eq(info.uid, "HOST");
    cr_assert_neq(info.name[0], '\0');
    cr_assert_str_eq(info.backend, "x", "the library's own members are left alone");
    cr_assert_eq(info.page_size_bytes, msp_page_size());
    cr_assert_leq(info.free_bytes, info.capacity_bytes);
    cr_assert_leq(info.capacity_bytes, (uint64_t)sysconf(_SC_PHYS_PAGES) * msp_page_size());
    cr_assert_gt(info.capacity_bytes, 16 * MIB);
    cr_assert_neq(info.capacity_source[0], '\0');
    cr_assert(info.kinds & (1u << MEMSPAN_KIND_HOST));
    cr_assert_eq(info.kinds & (1u << MEMSPAN_KIND_DEVICE), 0);
    cr_assert_eq(table->device_describe(state, 0, NULL), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->device_describe(state, 3, &info), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_HOST, MEMSPAN_HOST).access,
                 MEMSPAN_ACCESS_LOCAL);
    cr_assert_eq(table->reach(state, MEMSPAN_HOST, MEMSPAN_KIND_HOST_PINNED, 0).coherence,
                 MEMSPAN_COHERENCE_ATOMIC);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 0).access, MEMSPAN_ACCESS_NONE);
    table->close(state);
}

Test(host_backend, address_limit_is_the_largest_allocation)
{
    struct rlimit limit        = {1u << 30, 1u << 30};
    void *state                = open_host();
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    if (under_sanitizer || (setrlimit(RLIMIT_AS, &limit) != 0)) {
        cr_skip("the limit cannot be set");
    }
    cr_assert_eq(table->device_describe(state, 0, &info), MEMSPAN_OK);
    cr_assert_leq(info.alloc_max_bytes, 1u << 30);
    table->close(state);
}

Test(host_backend, work)
{
    void *state   = open_host();
    double x[4]   = {1, 2, 3, 4};
    double y[4]   = {10, 20, 30, 40};
    double z[4]   = {1, 1, 1, 1};
    double sum    = -1;
    uint32_t word = 5;
    void *chain[3];
    void *last = NULL;
    char text[8];
    memspan_kernel_call_t call = {sizeof(call), MEMSPAN_KERNEL_DAXPY, 4, 2.0, x, y, z};

    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_OK);
    cr_assert_float_eq(z[3], 1 + 2 * 4 + 40, 0);
    call = (memspan_kernel_call_t){sizeof(call), MEMSPAN_KERNEL_SUM, 4, 0, x, NULL, &sum};
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_OK);
    cr_assert_float_eq(sum, 10, 0);
    call.count = 0;
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_OK);
    cr_assert_float_eq(sum, 0, 0);
    call = (memspan_kernel_call_t){sizeof(call), MEMSPAN_KERNEL_FILL, 3, 7.5, NULL, NULL, z};
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_OK);
    cr_assert_float_eq(z[2], 7.5, 0);
    cr_assert_float_eq(z[3], 49, 0);
    chain[0] = &chain[1];
    chain[1] = &chain[2];
    chain[2] = &chain[0];
    call = (memspan_kernel_call_t){sizeof(call), MEMSPAN_KERNEL_CHASE, 2, 0, chain, NULL, &last};
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_OK);
    cr_assert_eq(last, &chain[2]);
    call = (memspan_kernel_call_t){sizeof(call), MEMSPAN_KERNEL_ADD_ATOMIC, 3, -2.0, NULL, NULL,
                                   &word};
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_OK);
    cr_assert_eq(word, (uint32_t)-1);
    call.z = NULL;
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_INVALID);
    call.kernel = (memspan_kernel_t)77;
    cr_assert_eq(table->launch(state, 0, NULL, &call), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(table->launch(state, 0, NULL, NULL), MEMSPAN_ERR_INVALID);

    cr_assert_eq(table->fill(state, 0, NULL, text, 'a', 7), MEMSPAN_OK);
    cr_assert_eq(table->copy(state, 0, NULL, text + 4, "bcd", 4), MEMSPAN_OK);
    cr_assert_str_eq(text, "aaaabcd");
    cr_assert_eq(table->copy(state, 0, NULL, NULL, NULL, 0), MEMSPAN_OK);
    cr_assert_eq(table->copy(state, 0, NULL, NULL, text, 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->fill(state, 0, NULL, NULL, 0, 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK);
    table->close(state);
}

static void *alloc_and_free(void *state)
{
    int i;

    for (i = 0; i < 200; i++) {
        memspan_request_t request =
            ask((i % 2) ? MEMSPAN_KIND_HOST : MEMSPAN_KIND_HOST_PINNED, 2 * msp_page_size());
        memspan_block_t block;
        request.align_bytes = 4 * MIB;
        if ((table->alloc(state, 0, &request, &block) != MEMSPAN_OK) ||
            ((uintptr_t)block.address % (4 * MIB) != 0)) {
            return state;
        }
        memset(block.address, i, block.size_bytes);
        if (table->free(state, 0, &block) != MEMSPAN_OK) {
            return state;
        }
    }
    return NULL;
}

Test(host_backend, threads)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    void *state = open_host();
    void *result;
    int i;

    for (i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, alloc_and_free, state);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        cr_assert_eq(result, NULL);
    }
    cr_assert_eq(status_bytes("VmLck"), 0);
    table->close(state);
}
