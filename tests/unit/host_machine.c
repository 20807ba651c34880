/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's backend on a machine with other nodes and limits than this one.
 *
 * The kernel's files are replaced in a mount namespace of the test's own process, and syscall()
 * below records what would be asked of the kernel and answers what the test wants. Without the
 * right to make such a namespace the tests are skipped. */

#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/device/backend.h"
#include "core/topology/topology.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const memspan_backend_t msp_backend_host;
static const memspan_backend_t *const table = &msp_backend_host;
static void *state; /* of the one instance of a test, which ends with its process */

/* ---- the kernel's answers ---- */

enum { CALLS_KEPT = 256 };
static struct {
    uintptr_t address;
    size_t size_bytes;
    int mode;
    unsigned long nodes;
} calls[CALLS_KEPT];
static int call_count;
static int answer;          /* errno of mbind, 0: success */
static int answer_for_mode; /* only for this mode, where it is not 0 */

static int page_node; /* where all pages are, until mbind() moves them */
static bool pages_stay;

static long tell_nodes(va_list args)
{
    unsigned long count;
    unsigned long i;
    int *nodes;

    (void)va_arg(args, int);
    count = va_arg(args, unsigned long);
    (void)va_arg(args, void **);
    (void)va_arg(args, const int *);
    nodes = va_arg(args, int *);
    for (i = 0; i < count; i++) {
        nodes[i] = page_node;
    }
    return 0;
}

/* Stands in front of the C library's. */
long syscall(long number, ...)
{
    va_list args;
    uintptr_t address;
    size_t size_bytes;
    int mode;
    const unsigned long *nodes;

    if (number == SYS_mlock) {
        return 0;
    }
    va_start(args, number);
    if (number == SYS_move_pages) {
        long told = tell_nodes(args);

        va_end(args);
        return told;
    }
    if (number != SYS_mbind) {
        va_end(args);
        errno = ENOSYS;
        return -1;
    }
    address    = (uintptr_t)va_arg(args, void *);
    size_bytes = va_arg(args, size_t);
    mode       = va_arg(args, int);
    nodes      = va_arg(args, const unsigned long *);
    va_end(args);
    if (call_count < CALLS_KEPT) {
        calls[call_count].address    = address;
        calls[call_count].size_bytes = size_bytes;
        calls[call_count].mode       = mode;
        calls[call_count].nodes      = (nodes == NULL) ? 0 : nodes[0];
        call_count++;
    }
    if ((answer != 0) && ((answer_for_mode == 0) || (answer_for_mode == mode))) {
        errno = answer;
        return -1;
    }
    if (!pages_stay && (calls[call_count - 1].nodes != 0)) {
        page_node = __builtin_ctzl(calls[call_count - 1].nodes);
    }
    return 0;
}

/* ---- the kernel's files ---- */

static char root[64];

static void write_file(const char *name, const char *text)
{
    char path[256];
    char *slash;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (slash = strchr(path + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    file = fopen(path, "we");
    cr_assert_neq(file, NULL, "%s", path);
    fputs(text, file);
    fclose(file);
}

/* The folder is a file system of this process's own, so that nothing is left behind. */
static void begin(void)
{
    bool allowed = (unshare(CLONE_NEWNS) == 0) || (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0);

    snprintf(root, sizeof(root), "/tmp");
    if (!allowed || (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) ||
        (mount("tmpfs", root, "tmpfs", 0, NULL) != 0)) {
        cr_skip("no right to a mount namespace");
    }
}

static void replace(const char *target, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", root, name);
    cr_assert_eq(mount(path, target, NULL, MS_BIND, NULL), 0, "%s: %s", target, strerror(errno));
}

static void write_node(int node, const char *free_kib, const char *distances)
{
    char name[64];
    char text[256];

    snprintf(name, sizeof(name), "node/node%d/meminfo", node);
    snprintf(text, sizeof(text),
             "Node %d MemTotal: 1048576 kB\nNode %d MemFree: %s kB\nNode %d FilePages: 300 kB\n"
             "Node %d Shmem: 200 kB\n",
             node, node, free_kib, node, node);
    write_file(name, text);
    snprintf(name, sizeof(name), "node/node%d/distance", node);
    write_file(name, distances);
}

/* Nodes 0, 1 with processors, 4 without; 4 is nearer to 1; 0 has 64 KiB left. */
static void open_numa(void)
{
    begin();
    write_file("node/has_memory", "0-1,4\n");
    write_file("node/has_cpu", "0-1\n");
    write_file("node/online", "0-1,4\n");
    write_node(0, "64", "10 20 40\n");
    write_node(1, "1000000", "20 10 17\n");
    write_node(4, "2000000", "40 17 10\n");
    replace("/sys/devices/system/node", "node");
    cr_assert_eq(table->open(&memspan_services, &state), MEMSPAN_OK);
}

static const int all_nodes[] = {0, 1, 4};

static memspan_request_t ask(size_t pages, memspan_spread_t spread, unsigned flags)
{
    return (memspan_request_t){
        .struct_size      = sizeof(memspan_request_t),
        .kind             = MEMSPAN_KIND_HOST,
        .size_bytes       = pages * msp_page_size(),
        .align_bytes      = msp_page_size(),
        .resident_ordinal = MEMSPAN_HOST,
        .nodes            = all_nodes,
        .node_count       = 3,
        .spread           = spread,
        .flags            = flags,
    };
}

static void give(const memspan_request_t *request, memspan_block_t *block_p)
{
    cr_assert_eq(table->alloc(state, 0, request, block_p), MEMSPAN_OK, "%s", memspan_error_text());
}

/* Call number @p i was for that range of pages of the block, in that mode, for those nodes. */
static void was(int i, const memspan_block_t *block, size_t first, size_t pages, int mode,
                unsigned long nodes)
{
    cr_assert_lt(i, call_count);
    cr_assert_eq(calls[i].address, (uintptr_t)block->address + first * msp_page_size());
    cr_assert_eq(calls[i].size_bytes, pages * msp_page_size());
    cr_assert_eq(calls[i].mode, mode);
    cr_assert_eq(calls[i].nodes, nodes);
}

Test(host_machine, nodes_of_the_system)
{
    int here[] = {0, 4};

    open_numa();
    cr_assert(!msp_topology_is_plain(), "node 4 has no processors");
    cr_assert_eq(msp_numa_memory_nodes(), 3);
    cr_assert_str_eq(msp_topology_memory_list(), "0-1,4");
    cr_assert(msp_numa_node_exists(4));
    cr_assert(!msp_numa_node_exists(2));
    cr_assert_eq(msp_numa_node_free(0), (64 + 100) << 10, "the page cache can be given up");
    cr_assert_eq(msp_numa_nearest(1, here, 2), 4);
    cr_assert_eq(msp_numa_nearest(0, all_nodes + 1, 2), 1);
    cr_assert_eq(msp_numa_nearest(4, all_nodes, 3), 4);
}

Test(host_machine, any_is_the_first_with_room)
{
    memspan_request_t request = ask(8, MEMSPAN_SPREAD_ANY, 0);
    memspan_block_t block;

    open_numa();
    give(&request, &block);
    was(0, &block, 0, 8, MPOL_PREFERRED, 1u << 0);
    cr_assert_eq(block.node, 0);
    request = ask(64, MEMSPAN_SPREAD_ANY, MEMSPAN_REQUEST_STRICT);
    give(&request, &block);
    was(1, &block, 0, 64, MPOL_BIND, 1u << 1);
    cr_assert_eq(block.node, 1);
    cr_assert_eq(call_count, 2);
}

Test(host_machine, strict_says_full)
{
    memspan_request_t request = ask(64, MEMSPAN_SPREAD_ANY, MEMSPAN_REQUEST_STRICT);
    memspan_block_t block;
    memspan_spread_t spread;

    open_numa();
    request.node_count = 1;
    for (spread = MEMSPAN_SPREAD_ANY; spread <= MEMSPAN_SPREAD_BLOCKED; spread++) {
        request.spread = spread;
        cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
        cr_assert_neq(strstr(memspan_error_text(), "node 0 is full"), NULL, "%s",
                      memspan_error_text());
        cr_assert_eq(call_count, 0);
    }
}

Test(host_machine, blocked)
{
    memspan_request_t request = ask(11, MEMSPAN_SPREAD_BLOCKED, 0);
    memspan_block_t block;

    open_numa();
    give(&request, &block);
    cr_assert_eq(call_count, 3);
    was(0, &block, 0, 4, MPOL_PREFERRED, 1u << 0);
    was(1, &block, 4, 4, MPOL_PREFERRED, 1u << 1);
    was(2, &block, 8, 3, MPOL_PREFERRED, 1u << 4);
    cr_assert_eq(block.node, -1);
    request = ask(2, MEMSPAN_SPREAD_BLOCKED, MEMSPAN_REQUEST_STRICT);
    give(&request, &block);
    cr_assert_eq(call_count, 5, "fewer pages than nodes");
    was(4, &block, 1, 1, MPOL_BIND, 1u << 1);
}

Test(host_machine, interleaved)
{
    memspan_request_t request = ask(9, MEMSPAN_SPREAD_INTERLEAVED, 0);
    memspan_block_t block;

    open_numa();
    give(&request, &block);
    cr_assert_eq(call_count, 1);
    was(0, &block, 0, 9, MPOL_INTERLEAVE, 0x13);
    request.part_size_bytes = 2 * msp_page_size() - 1;
    give(&request, &block);
    cr_assert_eq(call_count, 6);
    was(1, &block, 0, 2, MPOL_PREFERRED, 1u << 0);
    was(2, &block, 2, 2, MPOL_PREFERRED, 1u << 1);
    was(4, &block, 6, 2, MPOL_PREFERRED, 1u << 0);
    was(5, &block, 8, 1, MPOL_PREFERRED, 1u << 1);
    request                 = ask(2 * 32765, MEMSPAN_SPREAD_INTERLEAVED, 0); /* as many as can be */
    request.part_size_bytes = 2 * msp_page_size();
    give(&request, &block);
    /* One page more begins a part. */
    request                 = ask(2 * 32765 + 1, MEMSPAN_SPREAD_INTERLEAVED, 0);
    request.part_size_bytes = 2 * msp_page_size();
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_LIMIT);
    cr_assert_neq(strstr(memspan_error_text(), "32766 parts"), NULL, "%s", memspan_error_text());
}

Test(host_machine, parts)
{
    size_t page               = msp_page_size();
    memspan_part_t parts[]    = {{4, 3 * page}, {0, page}, {1, 2 * page - 7}};
    memspan_request_t request = ask(6, MEMSPAN_SPREAD_PARTS, 0);
    memspan_block_t block;

    open_numa();
    request.parts      = parts;
    request.part_count = 3;
    give(&request, &block);
    cr_assert_eq(call_count, 3);
    was(0, &block, 0, 3, MPOL_PREFERRED, 1u << 4);
    was(1, &block, 3, 1, MPOL_PREFERRED, 1u << 0);
    was(2, &block, 4, 2, MPOL_PREFERRED, 1u << 1);
}

Test(host_machine, where_it_is_touched)
{
    memspan_request_t request = ask(9, MEMSPAN_SPREAD_TOUCHED, 0);
    memspan_block_t block;

    open_numa();
    give(&request, &block);
    cr_assert_eq(call_count, 1);
    was(0, &block, 0, 9, 5 /* MPOL_PREFERRED_MANY */, 0x13);
    cr_assert_eq(block.node, -1);
    request.flags = MEMSPAN_REQUEST_STRICT;
    give(&request, &block);
    was(1, &block, 0, 9, MPOL_BIND, 0x13);
}

/* Node 0 has room for 41 pages. */
Test(host_machine, a_block_moves_where_there_is_room)
{
    memspan_request_t request = ask(64, MEMSPAN_SPREAD_TOUCHED, 0);
    memspan_block_t block;

    open_numa();
    give(&request, &block);
    request            = ask(64, MEMSPAN_SPREAD_ANY, 0);
    request.nodes      = &all_nodes[2];
    request.node_count = 1;
    cr_assert_eq(table->move(state, 0, &request, &block), MEMSPAN_OK);
    was(1, &block, 0, 64, MPOL_PREFERRED, 1u << 4);
    cr_assert_eq(block.node, 4);
    request.nodes      = all_nodes;
    request.node_count = 2;
    cr_assert_eq(table->move(state, 0, &request, &block), MEMSPAN_OK);
    was(2, &block, 0, 64, MPOL_PREFERRED, 1u << 1);
    cr_assert_eq(block.node, 1);
    request.node_count = 1;
    cr_assert_eq(table->move(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_neq(strstr(memspan_error_text(), "node 0 is full"), NULL, "%s", memspan_error_text());
    cr_assert_eq(call_count, 3);
    cr_assert_eq(block.node, 1);
}

Test(host_machine, memory_by_first_touch_moves_to_the_nearest_node)
{
    memspan_request_t request = ask(8, MEMSPAN_SPREAD_TOUCHED, 0);
    memspan_block_t block;

    open_numa();
    give(&request, &block);
    page_node = 4;
    cr_assert_eq(table->move(state, 0, &request, &block), MEMSPAN_OK, "%s", memspan_error_text());
    was(1, &block, 0, 8, MPOL_PREFERRED, 1u << 0);
    cr_assert_eq(page_node, 0);
    request.node_count = 0;
    cr_assert_eq(table->move(state, 0, &request, &block), MEMSPAN_OK);
    cr_assert_eq(call_count, 2, "every node serves");
}

Test(host_machine, pages_that_stay_are_told)
{
    memspan_request_t request = ask(8, MEMSPAN_SPREAD_ANY, 0);
    memspan_block_t block;

    open_numa();
    give(&request, &block);
    request.nodes      = &all_nodes[2];
    request.node_count = 1;
    pages_stay         = true;
    cr_assert_eq(table->move(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_neq(strstr(memspan_error_text(), "8 of 8 pages have not moved to node 4"), NULL, "%s",
                  memspan_error_text());
    cr_assert_eq(block.node, 0);
    answer = EPERM;
    cr_assert_eq(table->move(state, 0, &request, &block), MEMSPAN_ERR_PERMISSION);
}

static uint64_t held_bytes(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    cr_assert_eq(memspan_allocator_get_stats(allocator, &stats), MEMSPAN_OK);
    return stats.held_bytes;
}

/* There, back, and there again: the pool of the space where a block is holds it, and no other. */
Test(host_machine, held_bytes_move_with_their_block)
{
    enum { BYTES = 48 << 20, MOVES = 5 };
    const memspan_allocator_h pools[] = {MEMSPAN_ALLOCATOR_DEFAULT, MEMSPAN_ALLOCATOR_HIGH_BW};
    const memspan_space_h spaces[]    = {MEMSPAN_SPACE_DEFAULT, MEMSPAN_SPACE_HIGH_BW};
    void *blocks[2];
    int i;

    begin();
    write_file("node/has_memory", "0-3\n");
    write_file("node/has_cpu", "0-1\n");
    write_file("node/online", "0-3\n");
    for (i = 0; i < 4; i++) {
        write_node(i, "1000000", "10 20 30 40\n");
    }
    replace("/sys/devices/system/node", "node");
    setenv("HWLOC_XMLFILE", MEMSPAN_TEST_MACHINES "/ddr-hbm.xml", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1); /* its nodes are those of the files */
    for (i = 0; i < 2; i++) {
        blocks[i] = memspan_alloc(pools[i], BYTES);
        cr_assert_neq(blocks[i], NULL, "%s", memspan_error_text());
    }
    for (i = 0; i < MOVES; i++) {
        cr_expect_eq(held_bytes(pools[i % 2]), (uint64_t)BYTES * (1 + (i > 0)), "move %d", i);
        cr_expect_eq(held_bytes(pools[1 - i % 2]), (uint64_t)BYTES * (i == 0), "move %d", i);
        cr_expect_eq(memspan_move(blocks[0], spaces[1 - i % 2]), MEMSPAN_OK);
        cr_expect_eq(memspan_move(blocks[1], spaces[1 - i % 2]), MEMSPAN_OK);
    }
    cr_expect_eq(memspan_free(blocks[0]), MEMSPAN_OK);
    cr_expect_eq(memspan_free(blocks[1]), MEMSPAN_OK);
    (void)memspan_trim();
    cr_expect_eq(held_bytes(pools[0]) + held_bytes(pools[1]), 0);
}

/* To prefer the first of them alone would be something else, quietly. */
Test(host_machine, several_preferred_on_an_old_kernel)
{
    memspan_request_t request = ask(4, MEMSPAN_SPREAD_TOUCHED, 0);
    memspan_block_t block;

    open_numa();
    answer          = EINVAL;
    answer_for_mode = 5; /* MPOL_PREFERRED_MANY */
    give(&request, &block);
    cr_assert_eq(call_count, 1);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_neq(strstr(memspan_error_text(), "3 nodes at once"), NULL, "%s",
                  memspan_error_text());
}

static void fails(int error, memspan_status_t expected, const char *words)
{
    memspan_request_t request = ask(4, MEMSPAN_SPREAD_ANY, MEMSPAN_REQUEST_STRICT);
    memspan_block_t block;

    open_numa();
    answer = error;
    cr_assert_eq(table->alloc(state, 0, &request, &block), expected, "%s", memspan_error_text());
    cr_assert_neq(strstr(memspan_error_text(), words), NULL, "%s", memspan_error_text());
    cr_assert_eq(memspan_error_last()->native_code, error);
    cr_assert_str_eq(memspan_error_last()->call, "mbind");
    if (expected != MEMSPAN_ERR_NO_MEMORY) {
        request.flags = 0;
        give(&request, &block);
        cr_assert_eq(block.node, -1, "what is only preferred is had elsewhere, and says so");
    }
}

Test(host_machine, denied)
{
    fails(EPERM, MEMSPAN_ERR_PERMISSION, "CAP_SYS_NICE");
}

Test(host_machine, unsupported)
{
    fails(ENOSYS, MEMSPAN_ERR_UNSUPPORTED, "NUMA support");
}

Test(host_machine, full_after_all)
{
    fails(EIO, MEMSPAN_ERR_NO_MEMORY, "could not be moved");
}

Test(host_machine, outside_the_cpuset)
{
    fails(EINVAL, MEMSPAN_ERR_DRIVER, "cpuset");
}

Test(host_machine, pinned_pages_are_held)
{
    memspan_request_t request = ask(2, MEMSPAN_SPREAD_ANY, 0);
    memspan_block_t block;

    open_numa();
    request.kind       = MEMSPAN_KIND_HOST_PINNED;
    request.nodes      = NULL;
    request.node_count = 0;
    give(&request, &block);
    cr_assert_eq(call_count, 1);
    was(0, &block, 0, 2, MPOL_LOCAL, 0);
}

/* ---- limits ---- */

static memspan_device_info_t describe(void)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    cr_assert_eq(table->open(&memspan_services, &state), MEMSPAN_OK);
    cr_assert_eq(table->device_describe(state, 0, &info), MEMSPAN_OK);
    return info;
}

static void write_memory(void)
{
    write_file("meminfo", "MemTotal:  1000000 kB\nMemFree:  1000 kB\nMemAvailable:  600000 kB\n");
    replace("/proc/meminfo", "meminfo");
}

static void write_group(const char *text)
{
    char own[64];

    write_file("own", text);
    snprintf(own, sizeof(own), "/proc/%d/cgroup", (int)getpid());
    replace(own, "own");
    replace("/sys/fs/cgroup", "groups");
}

Test(host_machine, no_limit)
{
    memspan_device_info_t info;

    begin();
    write_memory();
    write_file("groups/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_group("4:memory:/\n");
    info = describe();
    cr_assert_eq(info.capacity_bytes, (uint64_t)1000000 << 10);
    cr_assert_eq(info.free_bytes, (uint64_t)600000 << 10);
    cr_assert_str_eq(info.capacity_source, "/proc/meminfo");
}

Test(host_machine, group_of_version_1)
{
    memspan_device_info_t info;

    begin();
    write_memory();
    write_file("groups/memory/a/memory.limit_in_bytes", "300000000\n");
    write_file("groups/memory/a/memory.usage_in_bytes", "100000000\n");
    write_file("groups/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 40000000\n");
    write_file("groups/memory/a/b/memory.limit_in_bytes", "500000000\n");
    write_group("7:cpu,cpuacct:/x\n4:memory:/a/b\n0::/\n");
    info = describe();
    cr_assert_eq(info.capacity_bytes, 300000000, "the parent's limit binds");
    cr_assert_eq(info.free_bytes, 240000000);
    cr_assert_eq(info.alloc_max_bytes, 300000000);
    cr_assert_str_eq(info.capacity_source, "cgroup limit");
}

Test(host_machine, group_of_version_2)
{
    memspan_device_info_t info;

    begin();
    write_memory();
    write_file("groups/user.slice/memory.max", "max\n");
    write_file("groups/user.slice/job/memory.max", "200000000\n");
    write_file("groups/user.slice/job/memory.current", "150000000\n");
    write_file("groups/user.slice/job/memory.stat", "file 9\ninactive_file 50000000\n");
    write_group("0::/user.slice/job\n");
    info = describe();
    cr_assert_eq(info.capacity_bytes, 200000000);
    cr_assert_eq(info.free_bytes, 100000000);
    cr_assert_str_eq(info.capacity_source, "cgroup limit");
}

/* Without a check of free memory the kernel would kill a process here. */
Test(host_machine, pinned_more_than_there_is)
{
    memspan_request_t request = ask(2048, MEMSPAN_SPREAD_ANY, 0);
    memspan_block_t block;

    begin();
    write_file("meminfo", "MemTotal:  1000000 kB\nMemAvailable:  8000 kB\n");
    replace("/proc/meminfo", "meminfo");
    request.kind       = MEMSPAN_KIND_HOST_PINNED;
    request.nodes      = NULL;
    request.node_count = 0;
    cr_assert_eq(table->open(&memspan_services, &state), MEMSPAN_OK);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_neq(strstr(memspan_error_text(), "8 MiB needs"), NULL, "%s", memspan_error_text());
    request.size_bytes /= 2;
    give(&request, &block);
}

/* The path is the host's; what is mounted is the container's own group. */
Test(host_machine, group_of_a_container)
{
    memspan_device_info_t info;

    begin();
    write_memory();
    write_file("groups/memory.max", "200000000\n");
    write_file("groups/memory.current", "250000000\n");
    write_group("0::/docker/0123456789abcdef\n");
    info = describe();
    cr_assert_eq(info.capacity_bytes, 200000000);
    cr_assert_eq(info.free_bytes, 0, "over its limit");
}

Test(host_machine, nonsense_in_the_files)
{
    memspan_device_info_t info;

    begin();
    write_file("meminfo", "nothing\n");
    replace("/proc/meminfo", "meminfo");
    write_file("groups/memory.max", "-5\n");
    write_group("::::\n0\nmemory\n0::\n");
    info = describe();
    cr_assert_eq(info.capacity_bytes, MEMSPAN_UNKNOWN);
    cr_assert_eq(info.free_bytes, MEMSPAN_UNKNOWN);
}
