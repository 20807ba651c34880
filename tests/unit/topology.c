/* SPDX-License-Identifier: BSD-3-Clause */
/* The topology on machines that are data (tests/machines, HWLOC_SYNTHETIC) and on this one. Each
 * test is a process of its own, so that it may set the environment. */

#include "core/topology/topology.h"
#include "core/base/error.h"
#include "core/base/option.h"
#include <criterion/criterion.h>
#include <hwloc.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* With its last topology hwloc unloads its plug-ins, which the thread sanitizer does not stand: one
 * is kept over the reload. */
static void use(const char *variable, const char *value)
{
    static hwloc_topology_t kept;

    if (kept == NULL) {
        hwloc_topology_init(&kept);
    }
    setenv(variable, value, 1);
    msp_option_reload();
    msp_topology_reload();
}

static void use_machine(const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s.xml", MEMSPAN_TEST_MACHINES, name);
    use("HWLOC_XMLFILE", path);
}

static const memspan_numa_node_info_t *by_os(int os_index)
{
    int i;

    for (i = 0; i < msp_numa_node_count(); i++) {
        if (msp_numa_node(i)->os_index == os_index) {
            return msp_numa_node(i);
        }
    }
    cr_assert_fail("no node %d", os_index);
    return NULL;
}

/* "0 2 1" for the nodes of a hint; a trailing "=" for an alias. */
static const char *nodes_of(enum msp_base_hint hint)
{
    static char text[128];
    char note[160];
    int nodes[16];
    bool alias  = false;
    int count   = msp_numa_nodes_for(hint, nodes, 16, &alias, note, sizeof(note));
    size_t used = 0;
    int i;

    text[0] = '\0';
    for (i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", (i == 0) ? "" : " ",
                                 nodes[i]);
    }
    snprintf(text + used, sizeof(text) - used, "%s", alias ? "=" : "");
    cr_assert_eq(note[0] != '\0', hint != MSP_HINT_DEFAULT, "a note for every hint: \"%s\"", note);
    cr_assert_eq(alias, strncmp(note, "alias of default", 16) == 0, "%s", note);
    return text;
}

/* The operating system's numbers and hwloc's differ on this machine. */
Test(topology, hbm_by_its_bandwidth)
{
    use_machine("ddr-hbm");
    cr_assert_eq(msp_numa_node_count(), 4);
    cr_assert_eq(msp_numa_node(1)->os_index, 2);
    cr_assert_eq(msp_numa_node(1)->logical_index, 1);
    cr_assert_eq(by_os(0)->kind, MEMSPAN_NUMA_NODE_DRAM);
    cr_assert_eq(by_os(1)->kind, MEMSPAN_NUMA_NODE_DRAM);
    cr_assert_eq(by_os(2)->kind, MEMSPAN_NUMA_NODE_HBM);
    cr_assert_eq(by_os(3)->kind, MEMSPAN_NUMA_NODE_HBM);
    cr_assert_eq(by_os(0)->pu_count, 8);
    cr_assert_eq(by_os(2)->pu_count, 0);
    cr_assert_str_eq(by_os(1)->pus, "8-15");
    cr_assert_eq(by_os(2)->bandwidth_mib_per_s, 400000);
    cr_assert_eq(by_os(1)->latency_ns, 92);
    cr_assert_str_eq(by_os(2)->performance_source, "HMAT");
    cr_assert_eq(by_os(2)->bandwidth_rank, 0);
    cr_assert_eq(by_os(3)->bandwidth_rank, 0, "ties share a rank");
    cr_assert_eq(by_os(0)->bandwidth_rank, 1);
    cr_assert_eq(by_os(1)->bandwidth_rank, 1, "one percent is no tier");
    cr_assert_eq(by_os(0)->latency_rank, 0);
    cr_assert_eq(by_os(2)->latency_rank, 1);
    cr_assert_str_eq(nodes_of(MSP_HINT_DEFAULT), "0 1 2 3");
    cr_assert_str_eq(nodes_of(MSP_HINT_HIGH_BW), "2 3");
    cr_assert_str_eq(nodes_of(MSP_HINT_LOW_LAT), "0 1 2 3=");
    cr_assert_str_eq(nodes_of(MSP_HINT_LARGE_CAP), "0 1 2 3=");
    cr_assert_str_eq(nodes_of(MSP_HINT_CONST), "0 1 2 3=");
}

Test(topology, pmem_is_large_and_slow)
{
    use_machine("ddr-pmem");
    cr_assert_eq(by_os(1)->kind, MEMSPAN_NUMA_NODE_PMEM);
    cr_assert_eq(by_os(1)->bandwidth_mib_per_s, MEMSPAN_UNKNOWN);
    cr_assert_str_eq(by_os(1)->performance_source, "");
    cr_assert_eq(by_os(1)->bandwidth_rank, 1, "by kind, where it is unknown");
    cr_assert_str_eq(nodes_of(MSP_HINT_DEFAULT), "0 1");
    cr_assert_str_eq(nodes_of(MSP_HINT_LARGE_CAP), "1 0");
    cr_assert_str_eq(nodes_of(MSP_HINT_HIGH_BW), "0 1=");
    cr_assert_str_eq(nodes_of(MSP_HINT_LOW_LAT), "0 1=");
}

Test(topology, gpu_memory_is_never_host_memory)
{
    enum msp_base_hint hint;

    use_machine("ddr-gpu");
    cr_assert_eq(msp_numa_node_count(), 3);
    cr_assert_eq(by_os(2)->kind, MEMSPAN_NUMA_NODE_GPU);
    cr_assert_str_eq(by_os(2)->owner, "0004:04:00.0");
    cr_assert_eq(by_os(2)->pu_count, 0);
    for (hint = MSP_HINT_DEFAULT; hint <= MSP_HINT_LOW_LAT; hint++) {
        cr_assert_eq(strchr(nodes_of(hint), '2'), NULL, "hint %d: %s", (int)hint, nodes_of(hint));
    }
}

Test(topology, cxl_by_its_speed)
{
    use_machine("ddr-cxl");
    cr_assert_eq(by_os(2)->kind, MEMSPAN_NUMA_NODE_CXL);
    cr_assert_str_eq(nodes_of(MSP_HINT_DEFAULT), "0 1 2");
    cr_assert_str_eq(nodes_of(MSP_HINT_LARGE_CAP), "2 0 1");
    cr_assert_str_eq(nodes_of(MSP_HINT_HIGH_BW), "0 1 2=");
}

/* Fast memory that is a cache is no node, and the node behind it is ordinary memory. */
Test(topology, memory_side_cache)
{
    use_machine("ddr-cache");
    cr_assert_eq(msp_numa_node_count(), 2);
    cr_assert_eq(by_os(0)->side_cache_bytes, UINT64_C(64) << 30);
    cr_assert_eq(by_os(1)->side_cache_bytes, 0);
    cr_assert_eq(by_os(0)->kind, MEMSPAN_NUMA_NODE_DRAM);
    cr_assert_eq(by_os(0)->pu_count, 4);
    cr_assert_str_eq(nodes_of(MSP_HINT_HIGH_BW), "0 1=");
}

/* A kernel's own account of four kinds of memory, all near to the same processors. */
Test(topology, four_tiers)
{
    use_machine("tiers");
    cr_assert_eq(msp_numa_node_count(), 4);
    cr_assert_eq(by_os(0)->kind, MEMSPAN_NUMA_NODE_DRAM);
    cr_assert_eq(by_os(1)->kind, MEMSPAN_NUMA_NODE_HBM);
    cr_assert_eq(by_os(2)->kind, MEMSPAN_NUMA_NODE_CXL);
    cr_assert_eq(by_os(3)->kind, MEMSPAN_NUMA_NODE_PMEM);
    cr_assert_eq(by_os(0)->pu_count, 2);
    cr_assert_eq(by_os(1)->pu_count, 0);
    cr_assert_eq(by_os(3)->latency_ns, 400);
    cr_assert_str_eq(nodes_of(MSP_HINT_DEFAULT), "0 2 3 1");
    cr_assert_str_eq(nodes_of(MSP_HINT_HIGH_BW), "1");
    cr_assert_str_eq(nodes_of(MSP_HINT_LOW_LAT), "0 2 3 1=");
    cr_assert_str_eq(nodes_of(MSP_HINT_LARGE_CAP), "2 0 3");
}

/* Memory without processors and without a name: unknown until a driver says whose it is. */
Test(topology, a_device_claims_its_node)
{
    const memspan_numa_node_info_t *before;

    use("HWLOC_SYNTHETIC", "pack:1 [numa(memory=64GB)] [numa(memory=96GB)] core:4 pu:1");
    before = by_os(1);
    cr_assert_eq(before->kind, MEMSPAN_NUMA_NODE_OTHER);
    cr_assert_str_eq(nodes_of(MSP_HINT_DEFAULT), "0 1");
    msp_topology_note_device("0000:41:00.0", 0);
    cr_assert_eq(by_os(0)->kind, MEMSPAN_NUMA_NODE_DRAM, "a node with processors is no device's");
    msp_topology_note_device("0009:01:00.0", 1);
    cr_assert_eq(by_os(1)->kind, MEMSPAN_NUMA_NODE_GPU);
    cr_assert_str_eq(by_os(1)->owner, "0009:01:00.0");
    cr_assert_eq(before->kind, MEMSPAN_NUMA_NODE_OTHER, "what a reader holds does not change");
    cr_assert_str_eq(nodes_of(MSP_HINT_DEFAULT), "0");
    cr_assert_str_eq(nodes_of(MSP_HINT_LARGE_CAP), "0=");
}

Test(topology, a_device_may_be_noted_first)
{
    use("HWLOC_SYNTHETIC", "pack:1 [numa(memory=64GB)] [numa(memory=96GB)] core:4 pu:1");
    msp_topology_note_device("0009:01:00.0", 1);
    msp_topology_note_device("0009:01:00.0", -1);
    msp_topology_note_device(NULL, 1);
    cr_assert_eq(by_os(1)->kind, MEMSPAN_NUMA_NODE_GPU);
}

Test(topology, one_tier)
{
    use("HWLOC_SYNTHETIC", "pack:2 [numa(memory=64GB)] core:4 pu:1");
    cr_assert_str_eq(nodes_of(MSP_HINT_DEFAULT), "0 1");
    cr_assert_str_eq(nodes_of(MSP_HINT_HIGH_BW), "0 1=");
    cr_assert_str_eq(nodes_of(MSP_HINT_LOW_LAT), "0 1=");
    cr_assert_str_eq(nodes_of(MSP_HINT_LARGE_CAP), "0 1=");
}

Test(topology, notes)
{
    int nodes[4];
    bool alias;
    char note[160];

    use_machine("ddr-hbm");
    msp_numa_nodes_for(MSP_HINT_HIGH_BW, nodes, 4, &alias, note, sizeof(note));
    cr_assert_str_eq(note, "the memory of highest bandwidth here: 2 nodes of kind hbm");
    use_machine("ddr-cxl");
    msp_numa_nodes_for(MSP_HINT_LARGE_CAP, nodes, 4, &alias, note, sizeof(note));
    cr_assert_str_eq(note, "the largest memory here: 1 node of kind cxl");
    unsetenv("HWLOC_XMLFILE");
    use("HWLOC_SYNTHETIC", "pack:1 [numa(memory=64GB)] [numa(memory=64GB)] core:4 pu:1");
    msp_numa_nodes_for(MSP_HINT_LARGE_CAP, nodes, 4, &alias, note, sizeof(note));
    cr_assert_str_eq(note, "the largest memory here: 2 nodes of several kinds");
}

Test(topology, short_list)
{
    int nodes[2] = {-7, -7};
    bool alias;
    char note[8];

    use("HWLOC_SYNTHETIC", "pack:2 [numa(memory=64GB)] core:4 pu:1");
    cr_assert_eq(msp_numa_nodes_for(MSP_HINT_DEFAULT, nodes, 1, &alias, note, 8), 2);
    cr_assert_eq(nodes[0], 0);
    cr_assert_eq(nodes[1], -7);
    cr_assert_eq(msp_numa_node(-1), NULL);
    cr_assert_eq(msp_numa_node(2), NULL);
}

Test(topology, unreadable_file_is_refused)
{
    use("HWLOC_XMLFILE", "/nonexistent/machine.xml");
    setenv("MEMSPAN_LOG", "error", 1);
    cr_assert_geq(msp_numa_node_count(), 1, "this machine instead");
    cr_assert_eq(memspan_option_problem_count(), 1);
    cr_assert_neq(strstr(memspan_option_problem(0), "HWLOC_XMLFILE"), NULL);
    cr_assert(!msp_topology_is_foreign());
}

/* hwloc opens these, and refuses them when it loads them or before. */
Test(topology, unloadable_file_is_refused)
{
    static const char *const texts[] = {
        "<?xml version=\"1.0\"?>\n<topology version=\"99.0\">\n</topology>\n", "no XML\n"};
    size_t i;

    setenv("MEMSPAN_LOG", "error", 1);
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char path[] = "/tmp/memspan-topology-XXXXXX";
        int file    = mkstemp(path);

        cr_assert((file >= 0) && (write(file, texts[i], strlen(texts[i])) > 0));
        close(file);
        use("HWLOC_XMLFILE", path);
        cr_assert_geq(msp_numa_node_count(), 1);
        unlink(path);
        cr_assert_eq(memspan_option_problem_count(), 1, "%s", texts[i]);
        cr_assert_neq(strstr(memspan_option_problem(0), path), NULL);
        cr_assert_neq(strstr(memspan_option_problem(0), "hwloc"), NULL);
        cr_assert(!msp_topology_is_foreign());
    }
    use("HWLOC_XMLFILE", "/");
    cr_assert_geq(msp_numa_node_count(), 1);
    cr_assert_eq(memspan_option_problem_count(), 1, "a folder");
}

/* hwloc would say that it bound plain memory to an invented node. */
Test(topology, foreign_nodes_are_never_bound)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at    = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int zero    = 0;

    use_machine("ddr-hbm");
    cr_assert(msp_topology_is_foreign());
    cr_assert(!msp_topology_is_plain());
    cr_assert_eq(msp_topology_bind(at, page, &zero, 1, false, true), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_neq(strstr(memspan_error_text(), "HWLOC_XMLFILE"), NULL);
    munmap(at, page);
}

/* ---- this machine ---- */

Test(topology, agrees_with_hwloc)
{
    hwloc_topology_t hwloc;
    hwloc_obj_t node = NULL;
    int i            = 0;

    hwloc_topology_init(&hwloc);
    hwloc_topology_load(hwloc);
    while ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node)) != NULL) {
        if (node->attr->numanode.local_memory == 0) {
            continue;
        }
        cr_assert_eq(msp_numa_node(i)->os_index, (int)node->os_index);
        cr_assert_eq(msp_numa_node(i)->capacity_bytes, node->attr->numanode.local_memory);
        cr_assert(msp_numa_node_exists((int)node->os_index));
        i++;
    }
    cr_assert_eq(msp_numa_node_count(), i);
    hwloc_topology_destroy(hwloc);
}

Test(topology, is_plain_needs_no_load)
{
    int node = msp_numa_node_here();

    cr_assert_eq(msp_topology_is_foreign(), false);
    cr_assert(msp_numa_node_exists(node), "the thread runs on node %d of %s", node,
              msp_topology_memory_list());
    cr_assert(!msp_numa_node_exists(MSP_NUMA_NODES_MAX));
    cr_assert(!msp_numa_node_exists(-1));
    cr_assert_geq(msp_numa_memory_nodes(), 1);
    cr_assert_lt(msp_numa_node_free(node), MEMSPAN_UNKNOWN);
    cr_assert_eq(msp_numa_node_free(1023), MEMSPAN_UNKNOWN);
    cr_assert_eq(msp_numa_nearest(node, &node, 1), node);
    cr_assert_eq(msp_numa_nearest(node, NULL, 0), -1);
}

Test(topology, bind_and_look)
{
    size_t page  = (size_t)sysconf(_SC_PAGESIZE);
    char *at     = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int node     = msp_numa_node(0)->os_index;
    int absent   = 777;
    int twice[2] = {node, node};
    memspan_status_t status = msp_topology_bind(at, 4 * page, &node, 1, false, true);

    cr_assert_eq(msp_numa_node_of_page(at), -1, "nothing there before the first touch");
    if (status == MEMSPAN_ERR_PERMISSION) {
        cr_skip("this container denies mbind");
    }
    cr_assert_eq(status, MEMSPAN_OK, "%s", memspan_error_text());
    at[page] = 1;
    cr_assert_eq(msp_numa_node_of_page(at + page + 5), node);
    cr_assert_eq(msp_numa_node_of_page(NULL), -1);
    cr_assert_eq(msp_topology_bind(at, page, &node, 1, true, false), MEMSPAN_OK);
    cr_assert_eq(msp_topology_bind(at, page, &node, 1, false, false), MEMSPAN_OK);
    status = msp_topology_bind(at, page, twice, 2, false, false);
    cr_assert((status == MEMSPAN_OK) || (status == MEMSPAN_ERR_UNSUPPORTED), "%s",
              memspan_error_text());
    cr_assert_eq(msp_topology_bind(at + 1, page, &node, 1, false, false), MEMSPAN_ERR_INVALID);
    cr_assert_eq(msp_topology_bind(NULL, page, &node, 1, false, false), MEMSPAN_ERR_INVALID);
    cr_assert_eq(msp_topology_bind(at, 0, &node, 1, false, false), MEMSPAN_ERR_INVALID);
    cr_assert_eq(msp_topology_bind(at, page, NULL, 1, false, false), MEMSPAN_ERR_INVALID);
    cr_assert_eq(msp_topology_bind(at, page, &absent, 1, false, true), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_neq(strstr(memspan_error_text(), "777"), NULL);
    munmap(at, 4 * page);
}

static void *load_and_note(void *argument)
{
    bool alias;
    int nodes[8];
    char note[160];

    msp_topology_note_device("0009:01:00.0", (int)(intptr_t)argument);
    msp_numa_nodes_for(MSP_HINT_HIGH_BW, nodes, 8, &alias, note, sizeof(note));
    return (void *)(intptr_t)msp_numa_node_count();
}

Test(topology, loaded_once_by_many)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    void *count;
    int i;

    use("HWLOC_SYNTHETIC",
        "pack:1 [numa(memory=64GB)] [numa(memory=9GB)] [numa(memory=9GB)] core:4 pu:1");
    for (i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, load_and_note, (void *)(intptr_t)(i % 3));
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &count);
        cr_assert_eq((intptr_t)count, 3);
    }
    cr_assert_eq(by_os(1)->kind, MEMSPAN_NUMA_NODE_GPU);
    cr_assert_eq(by_os(2)->kind, MEMSPAN_NUMA_NODE_GPU);
}
