/* SPDX-License-Identifier: BSD-3-Clause */
/* OMP_PLACES: the grammar, what is malformed, and the nodes of places. */

#include "core/topology/place.h"
#include "core/base/error.h"
#include "core/base/option.h"
#include "core/topology/topology.h"
#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2 sockets with a node each, 2 last-level caches a socket, 2 cores a cache, 2 threads a core. */
static const char machine[] = "pack:2 [numa(memory=64GB)] l3:2 l2:2 core:1 pu:2";

/* Made once: with its last topology hwloc unloads its plug-ins, which the thread sanitizer does not
 * stand. */
static hwloc_topology_t get_machine(void)
{
    static hwloc_topology_t topology;

    if ((topology == NULL) && msp_hwloc_open()) {
        hwloc_topology_init(&topology);
        hwloc_topology_set_synthetic(topology, machine);
        hwloc_topology_load(topology);
    }
    return topology;
}

/* The places as text, "0-1|2-3", or the problem. */
static const char *parse_on(const char *text, hwloc_const_bitmap_t allowed)
{
    static char result[1024];
    struct msp_places places;
    size_t used = 0;
    int i;

    if (msp_places_parse(text, get_machine(), allowed, &places, result, sizeof(result))) {
        result[0] = '\0';
        for (i = 0; (i < places.count) && (used < sizeof(result) - 64); i++) {
            char set[64];
            hwloc_bitmap_list_snprintf(set, sizeof(set), places.sets[i]);
            used += (size_t)snprintf(result + used, sizeof(result) - used, "%s%s",
                                     (i == 0) ? "" : "|", set);
        }
        msp_places_free(&places);
    } else {
        cr_assert_eq(places.count, 0);
        cr_assert_eq(places.sets, NULL);
    }
    return result;
}

static const char *parse(const char *text)
{
    return parse_on(text, NULL);
}

Test(place, words)
{
    cr_expect_str_eq(parse(""), "0-1|2-3|4-5|6-7|8-9|10-11|12-13|14-15");
    cr_expect_str_eq(parse("cores"), "0-1|2-3|4-5|6-7|8-9|10-11|12-13|14-15");
    cr_expect_str_eq(parse(" CORES ( 3 ) "), "0-1|2-3|4-5");
    cr_expect_str_eq(parse("threads(2)"), "0|1");
    cr_expect_str_eq(parse("sockets"), "0-7|8-15");
    cr_expect_str_eq(parse("sockets(1)"), "0-7");
    cr_expect_str_eq(parse("sockets(100)"), "0-7|8-15");
    cr_expect_str_eq(parse("ll_caches"), "0-3|4-7|8-11|12-15");
    cr_expect_str_eq(parse("numa_domains"), "0-7|8-15");
}

Test(place, lists)
{
    cr_expect_str_eq(parse("{0,1},{2:2},{4:2:3}"), "0-1|2-3|4,7");
    cr_expect_str_eq(parse("{0:4}:4:4"), "0-3|4-7|8-11|12-15");
    cr_expect_str_eq(parse("{0:4}:2"), "0-3|1-4");
    cr_expect_str_eq(parse("{12:4}:3:-4"), "12-15|8-11|4-7");
    cr_expect_str_eq(parse("{0:8,!3}"), "0-2,4-7");
    cr_expect_str_eq(parse("{0}:4,!{2}"), "0|1|3");
    cr_expect_str_eq(parse("{0}:8:1,!{2},!{5},{9}"), "0|1|3|4|6|7|9");
    cr_expect_str_eq(parse("3,5"), "3|5");
    cr_expect_str_eq(parse(" { 0 , 1 } , { 2 : 2 : 1 } "), "0-1|2-3");
}

/* Runtimes number the places of the processors that the process may use. */
Test(place, allowed_processors)
{
    hwloc_bitmap_t allowed;

    get_machine();
    allowed = hwloc_bitmap_alloc();
    hwloc_bitmap_set(allowed, 3);
    hwloc_bitmap_set(allowed, 8);
    hwloc_bitmap_set(allowed, 9);
    cr_expect_str_eq(parse_on("", allowed), "3|8-9");
    cr_expect_str_eq(parse_on("threads(2)", allowed), "3|8");
    cr_expect_str_eq(parse_on("sockets", allowed), "3|8-9");
    cr_expect_str_eq(parse_on("numa_domains", allowed), "3|8-9");
    cr_expect_str_eq(parse_on("{0:4},{4:4},{8:4}", allowed), "3|8-9");
    cr_expect_str_eq(parse_on("{0:4}:4:4,!{8:4}", allowed), "3");
    cr_expect_neq(strstr(parse_on("{0}", allowed), "may use"), NULL);
    hwloc_bitmap_free(allowed);
}

static void is_malformed(const char *text, const char *why)
{
    const char *problem = parse(text);

    cr_expect_neq(strstr(problem, why), NULL, "\"%s\": %s", text, problem);
}

Test(place, malformed)
{
    is_malformed("cpus", "none of threads");
    is_malformed("cores(", "expected");
    is_malformed("cores(0)", "out of range");
    is_malformed("cores(-1)", "out of range");
    is_malformed("cores(2", ") expected");
    is_malformed("cores(2)x", "left over");
    is_malformed("cores,threads", "left over");
    is_malformed("{", "processor number expected");
    is_malformed("{}", "processor number expected");
    is_malformed("{0", ", or } expected");
    is_malformed("{0,}", "expected");
    is_malformed("{0},", "expected");
    is_malformed("{0}x", "left over");
    is_malformed("{0:0}", "out of range");
    is_malformed("{0:4000000000}", "out of range");
    is_malformed("{0:3:-1}", "processor -1 out of range");
    is_malformed("{0:4}:2:-1", "processor -1 out of range");
    is_malformed("{-1}", "out of range");
    is_malformed("{0,!0}", "without processors");
    is_malformed("{0},!{0}", "no place is left");
    is_malformed("{0}:99999999999999999999", "out of range");
    is_malformed("{0:60000}:60000:60000", "out of range");
    is_malformed("{0:65535}:65535:0", "more processors in all than any machine has");
    is_malformed("65535:65535:0", "more processors in all than any machine has");
    is_malformed("[0]", "expected");
}

Test(place, problem_says_where)
{
    cr_expect_str_eq(parse("{0},{1;2}"), ", or } expected (character 7)");
}

static void use(const char *places)
{
    setenv("HWLOC_SYNTHETIC", machine, 1);
    setenv("OMP_PLACES", places, 1);
    msp_option_reload();
    msp_topology_reload();
}

Test(place, node_of_place)
{
    int node = -7;

    use("");
    cr_assert_eq(msp_topology_place_count(), 8);
    cr_assert_eq(msp_numa_node_of_place(3, &node), MEMSPAN_OK);
    cr_assert_eq(node, 0);
    cr_assert_eq(msp_numa_node_of_place(4, &node), MEMSPAN_OK);
    cr_assert_eq(node, 1);
    node = -7;
    cr_assert_eq(msp_numa_node_of_place(8, &node), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_neq(strstr(memspan_error_text(), "has 8"), NULL, "%s", memspan_error_text());
    cr_assert_eq(msp_numa_node_of_place(-1, &node), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(node, -7, "written on success only");
    cr_assert_eq(msp_numa_node_of_place(0, NULL), MEMSPAN_ERR_INVALID);
}

Test(place, node_of_most_processors)
{
    int node = -7;

    use("{6:4:1},{7:4:1},{100}");
    cr_assert_eq(msp_numa_node_of_place(0, &node), MEMSPAN_OK);
    cr_assert_eq(node, 0, "a tie goes to the first");
    cr_assert_eq(msp_numa_node_of_place(1, &node), MEMSPAN_OK);
    cr_assert_eq(node, 1);
    cr_assert_eq(msp_numa_node_of_place(2, &node), MEMSPAN_ERR_NOT_FOUND);
}

Test(place, malformed_environment)
{
    int node = -7;
    int i;

    use("{0");
    for (i = 0; i < 2; i++) {
        cr_assert_eq(msp_numa_node_of_place(0, &node), MEMSPAN_ERR_CONFIG);
        cr_assert_neq(strstr(memspan_error_text(), "OMP_PLACES={0"), NULL, "%s",
                      memspan_error_text());
        cr_assert_eq(msp_topology_place_count(), 0);
    }
    cr_assert_eq(node, -7);
    cr_assert_eq(memspan_option_problem_count(), 1, "said once");
}

/* A place on the memory of several kinds: the one with processors. */
Test(place, usual_memory_of_a_place)
{
    char path[4096];
    int node = -7;

    snprintf(path, sizeof(path), "%s/ddr-hbm.xml", MEMSPAN_TEST_MACHINES);
    setenv("HWLOC_XMLFILE", path, 1);
    setenv("OMP_PLACES", "numa_domains", 1);
    msp_option_reload();
    msp_topology_reload();
    cr_assert_eq(msp_topology_place_count(), 2);
    cr_assert_eq(msp_numa_node_of_place(1, &node), MEMSPAN_OK);
    cr_assert_eq(node, 1);
}

/* Sockets 0 and 3 have no memory: that of the other socket of their group is nearer. */
Test(place, a_place_without_memory)
{
    char path[4096];
    int node = -7;

    snprintf(path, sizeof(path), "%s/no-memory.xml", MEMSPAN_TEST_MACHINES);
    setenv("HWLOC_XMLFILE", path, 1);
    setenv("OMP_PLACES", "sockets", 1);
    msp_option_reload();
    msp_topology_reload();
    cr_assert_eq(msp_numa_node_of_place(0, &node), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(node, 1);
    cr_assert_eq(msp_numa_node_of_place(3, &node), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(node, 2);
}

/* The machine below is taken for this one, so the affinity of this process counts. */
Test(place, places_of_the_process)
{
    cpu_set_t mask;
    int own  = 0;
    int node = -7;

    cr_assert_eq(sched_getaffinity(0, sizeof(mask), &mask), 0);
    while (!CPU_ISSET(own, &mask)) {
        own++;
    }
    if (own >= 64) {
        cr_skip_test("the first processor of this process is %d", own);
    }
    CPU_ZERO(&mask);
    CPU_SET(own, &mask);
    cr_assert_eq(sched_setaffinity(0, sizeof(mask), &mask), 0);
    setenv("HWLOC_SYNTHETIC", "pack:64 [numa(memory=8GB)] core:1 pu:1", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    setenv("OMP_PLACES", "threads", 1);
    msp_option_reload();
    msp_topology_reload();
    cr_assert_eq(msp_topology_place_count(), 1);
    cr_assert_eq(msp_numa_node_of_place(0, &node), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(node, own);
    cr_assert_eq(msp_numa_node_of_place(1, &node), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_neq(strstr(memspan_error_text(), "this process may use"), NULL);
}
