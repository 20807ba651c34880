/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops whose iterations follow memory: on a machine that is made up, and on this one. */

#include "core/loop.h"
#include "core/topology/topology.h"
#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ITERATIONS = 4000, THREADS = 8 };

/* Nodes 0 and 4 have processors, 7 has none and is near to 4. */
static const int from[] = {0, 4};
static const int rows[] = {0, 4, 7, 4, 7, 0};

static const struct msp_loop_near near = {from, 2, rows, 3};

static memspan_loop_h make(const int *nodes, size_t count)
{
    memspan_loop_h loop = NULL;

    cr_assert_eq(msp_loop_create(nodes, count, &near, &loop), MEMSPAN_OK);
    return loop;
}

/* "3 0" for the iterations that a thread on @p here gets. */
static const char *all_of(memspan_loop_h loop, int here)
{
    static char text[128];
    size_t used = 0;
    size_t i;

    text[0] = '\0';
    while (msp_loop_next(loop, here, &i) == 1) {
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu", (used > 0) ? " " : "", i);
    }
    return text;
}

Test(loop, nearest_first)
{
    static const int nodes[] = {7, 0, -1, 4, 0, 7, 99, 4};
    memspan_loop_h loop      = make(nodes, 8);

    cr_expect_str_eq(all_of(loop, 0), "1 4 3 7 0 5 2 6");
    cr_expect_str_eq(all_of(loop, 4), "", "each once");
    cr_expect_eq(memspan_loop_restart(loop), MEMSPAN_OK);
    cr_expect_str_eq(all_of(loop, 4), "3 7 0 5 1 4 2 6");
    cr_expect_eq(memspan_loop_restart(loop), MEMSPAN_OK);
    cr_expect_str_eq(all_of(loop, 99), "1 4 3 7 0 5 2 6", "on a node that is not known");
    cr_expect_eq(memspan_loop_destroy(loop), MEMSPAN_OK);
}

Test(loop, one_takes_what_another_leaves)
{
    static const int nodes[] = {0, 4, 0};
    memspan_loop_h loop      = make(nodes, 3);
    size_t i                 = 9;

    cr_expect_eq(msp_loop_next(loop, 4, &i), 1);
    cr_expect_eq(i, 1);
    cr_expect_eq(msp_loop_next(loop, 4, &i), 1);
    cr_expect_eq(i, 0);
    cr_expect_eq(msp_loop_next(loop, 0, &i), 1);
    cr_expect_eq(i, 2);
    cr_expect_eq(msp_loop_next(loop, 0, &i), 0);
    cr_expect_eq(i, 2, "written only on success");
    memspan_loop_destroy(loop);
}

struct team {
    memspan_loop_h loop;
    atomic_int seen[ITERATIONS];
};

struct member {
    struct team *team;
    int here;
};

static void *take(void *argument)
{
    const struct member *member = argument;
    size_t i;

    while (msp_loop_next(member->team->loop, member->here, &i) == 1) {
        atomic_fetch_add(&member->team->seen[i], 1);
    }
    return NULL;
}

Test(loop, each_iteration_once)
{
    static const int some[] = {0, 4, 7, -1};
    static struct team team;
    static int nodes[ITERATIONS];
    struct member members[THREADS];
    pthread_t threads[THREADS];
    int i;

    for (i = 0; i < ITERATIONS; i++) {
        nodes[i] = some[(i * 7) % 4];
    }
    team.loop = make(nodes, ITERATIONS);
    for (i = 0; i < THREADS; i++) {
        members[i] = (struct member){&team, (i % 2) * 4};
        cr_assert_eq(pthread_create(&threads[i], NULL, take, &members[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (i = 0; i < ITERATIONS; i++) {
        cr_assert_eq(team.seen[i], 1, "iteration %d", i);
    }
    memspan_loop_destroy(team.loop);
}

static void is_refused(memspan_loop_h loop)
{
    size_t i = 5;

    memspan_error_clear();
    cr_expect_eq(memspan_loop_next(loop, &i), 0);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NOT_FOUND);
    cr_expect_eq(i, 5);
    cr_expect_eq(memspan_loop_restart(loop), MEMSPAN_ERR_NOT_FOUND);
}

Test(loop, stale_and_wrong_handles)
{
    static const int nodes[] = {0};
    memspan_loop_h loop      = make(nodes, 1);
    memspan_loop_h again;

    cr_expect_eq(memspan_loop_destroy(loop), MEMSPAN_OK);
    cr_expect_eq(memspan_loop_destroy(loop), MEMSPAN_ERR_NOT_FOUND);
    is_refused(loop);
    again = make(nodes, 1);
    cr_expect_neq(again, loop, "another generation");
    is_refused(loop);
    is_refused(NULL);
    is_refused((memspan_loop_h)UINTPTR_MAX);
    cr_expect_eq(memspan_loop_destroy(NULL), MEMSPAN_OK);
    cr_expect_eq(memspan_loop_next(again, NULL), 0);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_INVALID);
    memspan_loop_destroy(again);
}

Test(loop, limit)
{
    static const int nodes[] = {0};
    static memspan_loop_h loops[4096];
    memspan_loop_h more = NULL;
    size_t i;

    for (i = 0; i < 4096; i++) {
        loops[i] = make(nodes, 1);
    }
    cr_expect_eq(msp_loop_create(nodes, 1, &near, &more), MEMSPAN_ERR_LIMIT);
    cr_expect_eq(more, NULL);
    for (i = 0; i < 4096; i++) {
        cr_expect_eq(memspan_loop_destroy(loops[i]), MEMSPAN_OK);
    }
}

/* More pages than one system call takes; every second one is touched. */
Test(loop, pages_of_this_machine)
{
    enum { PAGES = 1300 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const void *pointers[PAGES];
    size_t order[PAGES];
    memspan_loop_h loop = NULL;
    size_t i;

    cr_assert_neq(memory, MAP_FAILED);
    madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
    for (i = 0; i < PAGES; i++) {
        pointers[i] = memory + i * page + 8;
        if (i % 2 == 1) {
            memory[i * page] = 1;
        }
    }
    cr_assert_eq(memspan_loop_create(pointers, PAGES, &loop), MEMSPAN_OK);
    for (i = 0; i < PAGES; i++) {
        cr_assert_eq(memspan_loop_next(loop, &order[i]), 1);
    }
    cr_expect_eq(memspan_loop_next(loop, &i), 0);
    if (msp_numa_node_of_page(memory + page) < 0) {
        cr_skip_test("the system does not tell the node of a page");
    }
    for (i = 0; i < PAGES / 2; i++) {
        cr_assert_eq(order[i] % 2, 1, "touched pages first");
        cr_assert_eq(order[PAGES / 2 + i] % 2, 0);
    }
    memspan_loop_destroy(loop);
    munmap(memory, PAGES * page);
}

Test(loop, nothing_to_do)
{
    memspan_loop_h loop = NULL;
    size_t i;

    cr_expect_eq(memspan_loop_create(NULL, 1, &loop), MEMSPAN_ERR_INVALID);
    cr_expect_eq(memspan_loop_create(NULL, 0, NULL), MEMSPAN_ERR_INVALID);
    cr_assert_eq(memspan_loop_create(NULL, 0, &loop), MEMSPAN_OK);
    cr_expect_eq(memspan_loop_next(loop, &i), 0);
    cr_expect_eq(memspan_loop_destroy(loop), MEMSPAN_OK);
}

Test(loop, place_of_a_page)
{
    static char touched[64] = "x";
    int place               = -7;
    int node                = -1;
    int here                = msp_numa_node_of_page(touched);

    touched[1] = 'y';
    cr_expect_eq(memspan_pointer_place(touched, NULL), MEMSPAN_ERR_INVALID);
    cr_expect_eq(memspan_pointer_place(NULL, &place), MEMSPAN_ERR_NOT_FOUND);
    cr_expect_eq(place, -7);
    if ((here < 0) || (msp_topology_place_count() == 0)) {
        cr_skip_test("no page's node, or no places");
    }
    here = msp_numa_node_of_page(touched);
    cr_assert_eq(memspan_pointer_place(touched, &place), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(msp_numa_node_of_place(place, &node), MEMSPAN_OK);
    cr_expect_eq(node, here);
}
