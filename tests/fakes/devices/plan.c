/* SPDX-License-Identifier: BSD-3-Clause */
/* The planner as tables: a machine and a request in each row, and all of the plan that follows. */

#include "core/plan.h"
#include "machine.h"
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

enum { HOST = 1, EXACT = 2, SERVES = 4, MOVES = 8 };
#define NONE     MEMSPAN_KIND_NONE
#define KEPT     MEMSPAN_KIND_HOST_PINNED
#define MANAGED  MEMSPAN_KIND_MANAGED
#define COHERENT MEMSPAN_KIND_COHERENT
#define DEVICE   MEMSPAN_KIND_DEVICE
#define REFUSED  MEMSPAN_ERR_NOT_GUARANTEED

static const struct device_row {
    const char *machine; /* one device, or two of one driver */
    const char *policy;  /* MEMSPAN_FALLBACK */
    int members;         /* 0: device 0 alone; HOST: with the host; 2: both devices */
    const char *traits;
    memspan_status_t status;
    memspan_kind_t asked;
    memspan_kind_t given;
    int facts; /* EXACT, SERVES, MOVES */
} device_rows[] = {
    /* each kind as requested */
    {"discrete", NULL, 0, "", 0, DEVICE, DEVICE, EXACT | SERVES},
    {"discrete", NULL, HOST, "", 0, COHERENT, COHERENT, EXACT | SERVES},
    {"discrete", NULL, HOST, "memory_access=coherent", 0, COHERENT, COHERENT, EXACT | SERVES},
    {"discrete", NULL, HOST, "memory_access=managed", 0, MANAGED, MANAGED, EXACT | SERVES | MOVES},
    {"discrete", NULL, HOST, "pinned=true", 0, KEPT, KEPT, EXACT | SERVES},
    {"discrete,discrete", NULL, 2, "", 0, COHERENT, COHERENT, EXACT | SERVES},
    /* a trait that is given with its default is not a trait that was given */
    {"discrete", NULL, HOST, "memory_access=default,pinned=true", 0, KEPT, KEPT, EXACT | SERVES},
    {"discrete", NULL, 0, "memory_access=default", 0, DEVICE, DEVICE, EXACT | SERVES},
    {"discrete", NULL, HOST, "memory_access=coherent,pinned=true", 0, COHERENT, COHERENT,
     EXACT | SERVES},
    {"discrete", NULL, 0, "memory_access=coherent", 0, COHERENT, COHERENT, EXACT | SERVES},
    /* no atomics between the sides: said, whichever way coherent memory was requested */
    {"torn", NULL, HOST, "", 0, COHERENT, COHERENT, 0},
    {"torn", NULL, HOST, "memory_access=coherent", 0, COHERENT, COHERENT, 0},
    {"torn", NULL, HOST, "pinned=true", 0, KEPT, KEPT, 0},
    {"torn", NULL, HOST, "atomic_scope=device", 0, COHERENT, COHERENT, EXACT | SERVES},
    {"torn", NULL, HOST, "pinned=true,atomic_scope=device", 0, KEPT, KEPT, EXACT | SERVES},
    {"torn", NULL, HOST, "guarantee=required", REFUSED, NONE, NONE, 0},
    {"torn", NULL, HOST, "pinned=true,guarantee=required", REFUSED, NONE, NONE, 0},
    {"torn", NULL, 0, "", 0, DEVICE, DEVICE, EXACT | SERVES},
    /* stronger for weaker, never weaker for stronger */
    {"torn", NULL, HOST, "memory_access=managed", 0, MANAGED, COHERENT, SERVES},
    {"pinned", NULL, HOST, "memory_access=managed", 0, MANAGED, KEPT, SERVES},
    {"pinned", NULL, HOST, "", 0, COHERENT, KEPT, SERVES},
    {"weak", NULL, HOST, "memory_access=managed", 0, MANAGED, MANAGED, EXACT | SERVES | MOVES},
    {"weak", NULL, HOST, "", MEMSPAN_ERR_UNREACHABLE, NONE, NONE, 0},
    {"weak", NULL, HOST, "memory_access=coherent", MEMSPAN_ERR_UNREACHABLE, NONE, NONE, 0},
    {"managed", NULL, HOST, "", MEMSPAN_ERR_UNREACHABLE, NONE, NONE, 0},
    {"managed", NULL, HOST, "pinned=true", MEMSPAN_ERR_UNREACHABLE, NONE, NONE, 0},
    {"managed", NULL, HOST, "memory_access=managed,pinned=true", MEMSPAN_ERR_UNREACHABLE, NONE,
     NONE, 0},
    {"discrete", NULL, HOST, "memory_access=managed,pinned=true", 0, MANAGED, COHERENT, SERVES},
    {"unified", NULL, 0, "", 0, DEVICE, COHERENT, SERVES},
    {"unified", NULL, HOST, "memory_access=managed", 0, MANAGED, COHERENT, SERVES},
    {"unified", NULL, HOST, "memory_access=managed,guarantee=required", 0, MANAGED, MANAGED,
     EXACT | SERVES},
    /* strict: what is weaker or slower is refused, what is stronger is not */
    {"unified", "strict", HOST, "memory_access=managed", 0, MANAGED, COHERENT, SERVES},
    {"unified", "strict", 0, "", 0, DEVICE, COHERENT, SERVES},
    {"torn", "strict", HOST, "memory_access=managed", 0, MANAGED, COHERENT, SERVES},
    {"torn", "strict", HOST, "", REFUSED, NONE, NONE, 0},
    {"pinned", "strict", HOST, "memory_access=managed", REFUSED, NONE, NONE, 0},
    {"discrete", "strict", HOST, "memory_access=managed", 0, MANAGED, MANAGED,
     EXACT | SERVES | MOVES},
    {"discrete", "strict", 0, "preferred_location=host", REFUSED, NONE, NONE, 0},
    {"torn", NULL, HOST, "memory_access=managed,guarantee=required", REFUSED, NONE, NONE, 0},
    {"discrete", NULL, 0, "preferred_location=host", 0, DEVICE, DEVICE, 0},
};

enum { DEVICE_ROWS = sizeof device_rows / sizeof device_rows[0] };
static int device_indices[DEVICE_ROWS];

/* The plan of a space and traits in text. */
static memspan_status_t plan_of(memspan_space_h handle, const char *text, struct msp_plan *plan_p)
{
    const struct msp_space *space = msp_space_resolve(handle);
    memspan_trait_t given[16];
    struct msp_traits traits;
    size_t count;
    memspan_status_t status;

    cr_assert_not_null(space, "%s", memspan_error_text());
    cr_assert_eq(memspan_trait_parse(text, given, 16, &count), MEMSPAN_OK, "%s",
                 memspan_error_text());
    msp_traits_default(&traits, space->target);
    status = msp_traits_apply(&traits, space->target, given, count);
    return (status == MEMSPAN_OK) ? msp_plan_make(space, &traits, plan_p) : status;
}

ParameterizedTestParameters(plan, devices)
{
    for (int i = 0; i < DEVICE_ROWS; i++) {
        device_indices[i] = i;
    }
    return cr_make_param_array(int, device_indices, DEVICE_ROWS);
}

ParameterizedTest(int *index, plan, devices)
{
    static const int lists[3][2] = {{0}, {0, MEMSPAN_HOST}, {0, 1}};
    const struct device_row *row = &device_rows[*index];
    struct msp_plan plan         = {.kind_asked = NONE};
    memspan_space_h space        = MEMSPAN_SPACE_NULL;
    memspan_status_t status;

    machine_pretend(row->machine, NULL);
    if (row->policy != NULL) {
        setenv("MEMSPAN_FALLBACK", row->policy, 1);
    }
    cr_assert_eq(memspan_space_get(lists[row->members], (row->members == 0) ? 1 : 2,
                                   MEMSPAN_SPACE_NULL, &space),
                 MEMSPAN_OK, "%s", memspan_error_text());
    status = plan_of(space, row->traits, &plan);
    cr_expect_eq(status, row->status, "row %d (%s, %s): %s: %s", *index, row->machine, row->traits,
                 memspan_status_name(status), memspan_error_text());
    if ((status != MEMSPAN_OK) || (row->status != MEMSPAN_OK)) {
        return;
    }
    cr_expect_eq(plan.kind_asked, row->asked, "row %d: asked %s", *index,
                 memspan_kind_name(plan.kind_asked));
    cr_expect_eq(plan.kind_given, row->given, "row %d: given %s", *index,
                 memspan_kind_name(plan.kind_given));
    cr_expect_eq(plan.exact, (row->facts & EXACT) != 0, "row %d (%s, %s): %s", *index, row->machine,
                 row->traits, plan.why);
    cr_expect_eq(plan.serves, (row->facts & SERVES) != 0, "row %d (%s, %s): %s", *index,
                 row->machine, row->traits, plan.why);
    cr_expect_eq(plan.migratable, (row->facts & MOVES) != 0, "row %d", *index);
    cr_expect_eq(plan.spec.kind, plan.kind_given);
    cr_expect_neq(plan.why[0], '\0');
    msp_plan_clear(&plan);
}

/* ---- NUMA nodes of the host ---- */

static const struct node_row {
    const char *machine; /* of tests/machines */
    memspan_space_h space;
    const char *traits;
    const char *nodes; /* in the provider's order */
    memspan_spread_t spread;
    size_t part_size_bytes;
    size_t page_size_bytes;
    bool exact;
} node_rows[] = {
    {"ddr-hbm", MEMSPAN_SPACE_DEFAULT, "", "0 1 2 3", MEMSPAN_SPREAD_TOUCHED, 0, 0, true},
    {"ddr-hbm", MEMSPAN_SPACE_DEFAULT, "partition=interleaved", "0 1 2 3",
     MEMSPAN_SPREAD_INTERLEAVED, 0, 0, true},
    {"ddr-hbm", MEMSPAN_SPACE_DEFAULT, "partition=interleaved,part_size=2m", "0 1 2 3",
     MEMSPAN_SPREAD_INTERLEAVED, 2 << 20, 0, true},
    {"ddr-hbm", MEMSPAN_SPACE_DEFAULT, "partition=blocked,part_size=64k", "0 1 2 3",
     MEMSPAN_SPREAD_BLOCKED, 64 << 10, 0, true},
    {"ddr-hbm", MEMSPAN_SPACE_DEFAULT, "partition=nearest", "0 1 2 3", MEMSPAN_SPREAD_NEAREST, 0, 0,
     true},
    {"ddr-hbm", MEMSPAN_SPACE_HIGH_BW, "", "2 3", MEMSPAN_SPREAD_ANY, 0, 0, true},
    {"ddr-hbm", MEMSPAN_SPACE_HIGH_BW, "partition=interleaved,part_size=1m", "2 3",
     MEMSPAN_SPREAD_INTERLEAVED, 1 << 20, 0, true},
    {"ddr-hbm", MEMSPAN_SPACE_DEFAULT, "preferred_place=1", "1", MEMSPAN_SPREAD_ANY, 0, 0, true},
    {"ddr-hbm", MEMSPAN_SPACE_DEFAULT, "page_size=2m", "0 1 2 3", MEMSPAN_SPREAD_TOUCHED, 0,
     2 << 20, true},
    {"ddr-hbm", MEMSPAN_SPACE_HIGH_BW, "preferred_place=1", "2 3", MEMSPAN_SPREAD_ANY, 0, 0, false},
    {"ddr-pmem", MEMSPAN_SPACE_LARGE_CAP, "", "1 0", MEMSPAN_SPREAD_ANY, 0, 0, true},
};

enum { NODE_ROWS = sizeof node_rows / sizeof node_rows[0] };
static int node_indices[NODE_ROWS];

ParameterizedTestParameters(plan, nodes)
{
    for (int i = 0; i < NODE_ROWS; i++) {
        node_indices[i] = i;
    }
    return cr_make_param_array(int, node_indices, NODE_ROWS);
}

ParameterizedTest(int *index, plan, nodes)
{
    const struct node_row *row = &node_rows[*index];
    struct msp_plan plan       = {.kind_asked = NONE};
    char nodes[128]            = "";
    char path[4096];

    machine_pretend(NULL, NULL);
    snprintf(path, sizeof path, "%s/%s.xml", MEMSPAN_TEST_MACHINES, row->machine);
    setenv("HWLOC_XMLFILE", path, 1);
    setenv("OMP_PLACES", "numa_domains", 1);
    cr_assert_eq(plan_of(row->space, row->traits, &plan), MEMSPAN_OK, "%s", memspan_error_text());
    for (size_t i = 0; i < plan.spec.node_count; i++) {
        snprintf(nodes + strlen(nodes), sizeof nodes - strlen(nodes), "%s%d", (i > 0) ? " " : "",
                 plan.spec.nodes[i]);
    }
    cr_expect_str_eq(nodes, row->nodes, "row %d: nodes %s", *index, nodes);
    cr_expect_eq(plan.spec.spread, row->spread, "row %d: spread %d", *index, plan.spec.spread);
    cr_expect_eq(plan.spec.part_size_bytes, row->part_size_bytes, "row %d", *index);
    cr_expect_eq(plan.spec.page_size_bytes, row->page_size_bytes, "row %d", *index);
    cr_expect_eq(plan.exact, row->exact, "row %d: %s", *index, plan.why);
    msp_plan_clear(&plan);
}
