/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine whose hwloc cannot be used. Each test needs a libhwloc.so.15 that is as its name says,
 * to which LD_LIBRARY_PATH leads; CMakeLists.txt runs one at a time. */

#include "core/base/error.h"
#include "core/base/option.h"
#include "core/topology/hwloc.h"
#include "core/topology/topology.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_problem(const char *words)
{
    cr_expect_not(msp_hwloc_open());
    cr_expect_neq(strstr(msp_hwloc_problem(), words), NULL, "%s", msp_hwloc_problem());
}

/* What is left of a machine: a node, its processors, and why that is all. */
static void expect_plain_machine(void)
{
    const memspan_numa_node_info_t *node;
    int nodes[4];
    bool alias = false;
    int place  = -1;
    char note[160];

    cr_assert_eq(msp_numa_node_count(), 1);
    node = msp_numa_node(0);
    cr_expect_eq(node->kind, MEMSPAN_NUMA_NODE_DRAM);
    cr_expect_eq(node->pu_count, (int)sysconf(_SC_NPROCESSORS_ONLN));
    cr_expect_neq(node->pus[0], '\0');
    cr_expect_eq(strchr(node->pus, '\n'), NULL);
    cr_expect_neq(node->capacity_bytes, MEMSPAN_UNKNOWN);
    cr_expect_neq(strstr(node->note, msp_hwloc_problem()), NULL, "%s", node->note);
    cr_expect_eq(msp_numa_nodes_for(MSP_HINT_HIGH_BW, nodes, 4, &alias, note, sizeof(note)), 1);
    cr_expect(alias);
    cr_expect_not(msp_topology_is_foreign());
    cr_expect_eq(msp_topology_place_count(), 0);
    cr_expect_eq(msp_numa_node_of_place(0, &place), MEMSPAN_ERR_UNSUPPORTED);
    cr_expect_str_eq(memspan_error_last()->hint, msp_hwloc_problem());
    cr_expect_eq(place, -1);
}

Test(hwloc, unreadable)
{
    expect_problem("cannot be opened");
    expect_plain_machine();
}

Test(hwloc, incomplete)
{
    expect_problem("has no function hwloc_bitmap_alloc");
    expect_plain_machine();
}

Test(hwloc, old)
{
    expect_problem("is hwloc 2.4");
    expect_plain_machine();
}

/* The machine of the variable is unknown, so memory is this machine's. */
Test(hwloc, old_with_a_machine_to_describe)
{
    memspan_option_info_t info = {.struct_size = sizeof(info)};

    setenv("HWLOC_SYNTHETIC", "numa:2 core:2", 1);
    msp_option_reload();
    expect_plain_machine();
    cr_assert_eq(memspan_option_describe(MSP_OPTION_HWLOC_SYNTHETIC, &info), MEMSPAN_OK);
    cr_expect_str_eq(info.source, "refused");
    cr_expect_neq(strstr(info.problem, "is hwloc 2.4"), NULL, "%s", info.problem);
}

static void *open_hwloc(void *unused)
{
    (void)unused;
    return msp_hwloc_open() ? (void *)msp_hwloc_problem() : NULL;
}

Test(hwloc, usable)
{
    pthread_t threads[4];
    void *result;
    size_t i;

    for (i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, open_hwloc, NULL);
    }
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        cr_expect_eq(result, msp_hwloc_problem());
    }
    cr_expect_str_eq(msp_hwloc_problem(), "");
    cr_assert_eq(hwloc_get_api_version() >> 16, 2u);
    cr_expect_gt(msp_topology_place_count(), 0);
    cr_expect_str_eq(msp_numa_node(0)->note, "");
}
