/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.c: iterations in groups by the NUMA node of their memory.
 *
 * A loop has one allocation: its groups, the nodes that threads may be on with the order in which
 * each takes the groups, and the numbers of the iterations, group by group. One lock guards all: an
 * iteration is work of microseconds and more, beside which the lock does not show. */

#include "core/loop.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/platform.h"
#include "core/topology/topology.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LOOPS_MAX = 4096, INDEX_BITS = 12, GENERATION_BITS = 20 };

/* A handle is this mark, a generation and an index. */
#define MARK UINT64_C(0x4d534c)

struct group {
    int node;
    size_t first; /* in numbers */
    size_t next;
    size_t end;
};

struct loop {
    uintptr_t handle;
    size_t group_count;
    size_t from_count;
    struct group *groups; /* the last one: near to none */
    int *from;
    size_t *order; /* [from_count][group_count - 1]: groups, nearest first */
    size_t *numbers;
};

MSP_LOCK_STATIC(loops_lock, MSP_RANK_LOOPS); /* guards all that follows */
static struct loop *loops[LOOPS_MAX];
static uint32_t generations[LOOPS_MAX];

/* ---- handles; lock held ---- */

static struct loop *find(memspan_loop_h handle)
{
    uintptr_t value   = (uintptr_t)handle;
    struct loop *loop = loops[value & (LOOPS_MAX - 1)];

    return ((loop != NULL) && (loop->handle == value)) ? loop : NULL;
}

static bool give_handle(struct loop *loop)
{
    size_t i;

    for (i = 0; (i < LOOPS_MAX) && (loops[i] != NULL); i++) {
    }
    if (i == LOOPS_MAX) {
        return false;
    }
    generations[i] = (generations[i] + 1) & ((1u << GENERATION_BITS) - 1);
    loop->handle   = (uintptr_t)((MARK << (INDEX_BITS + GENERATION_BITS)) |
                               ((uint64_t)generations[i] << INDEX_BITS) | i);
    loops[i]       = loop;
    return true;
}

static memspan_status_t no_loop(memspan_loop_h handle)
{
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no loop 0x%llx",
                  (unsigned long long)(uintptr_t)handle);
    return msp_error_hint("loops come from memspan_loop_create(), and end with "
                          "memspan_loop_destroy()");
}

/* ---- making ---- */

static size_t group_of(const struct loop *loop, int node)
{
    size_t i;

    for (i = 0; (i + 1 < loop->group_count) && (loop->groups[i].node != node); i++) {
    }
    return i;
}

/* Iterations by group: counted, then written in their order. */
static void fill(struct loop *loop, const int *nodes, size_t count)
{
    size_t at = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        loop->groups[group_of(loop, nodes[i])].end++;
    }
    for (i = 0; i < loop->group_count; i++) {
        size_t size = loop->groups[i].end;

        loop->groups[i].first = at;
        loop->groups[i].next  = at;
        loop->groups[i].end   = at;
        at += size;
    }
    for (i = 0; i < count; i++) {
        loop->numbers[loop->groups[group_of(loop, nodes[i])].end++] = i;
    }
}

static struct loop *make(const int *nodes, size_t count, const struct msp_loop_near *near)
{
    size_t groups     = near->near_count + 1;
    size_t rows       = near->from_count * near->near_count;
    struct loop *loop = calloc(1, sizeof(*loop));
    size_t i;

    if (loop == NULL) {
        return NULL;
    }
    loop->group_count = groups;
    loop->from_count  = near->from_count;
    loop->groups      = calloc(groups, sizeof(*loop->groups));
    loop->from        = calloc(near->from_count + 1, sizeof(*loop->from));
    loop->order       = calloc(rows + 1, sizeof(*loop->order));
    loop->numbers     = calloc(count + 1, sizeof(*loop->numbers));
    if ((loop->groups == NULL) || (loop->from == NULL) || (loop->order == NULL) ||
        (loop->numbers == NULL)) {
        return loop;
    }
    for (i = 0; i < near->near_count; i++) {
        loop->groups[i].node = near->near[i]; /* the first row has each node */
    }
    loop->groups[groups - 1].node = -1;
    memcpy(loop->from, near->from, near->from_count * sizeof(*loop->from));
    for (i = 0; i < rows; i++) {
        loop->order[i] = group_of(loop, near->near[i]);
    }
    fill(loop, nodes, count);
    return loop;
}

static void drop(struct loop *loop)
{
    if (loop != NULL) {
        free(loop->groups);
        free(loop->from);
        free(loop->order);
        free(loop->numbers);
        free(loop);
    }
}

memspan_status_t msp_loop_create(const int *nodes, size_t count, const struct msp_loop_near *near,
                                 memspan_loop_h *loop_p)
{
    struct loop *loop = make(nodes, count, near);
    uintptr_t handle  = 0;

    if ((loop == NULL) || (loop->numbers == NULL) || (loop->groups == NULL) ||
        (loop->from == NULL) || (loop->order == NULL)) {
        drop(loop);
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a loop of %zu iterations",
                             count);
    }
    msp_fork_prepare();
    msp_lock(&loops_lock);
    if (give_handle(loop)) {
        handle = loop->handle;
    }
    msp_unlock(&loops_lock);
    if (handle == 0) {
        drop(loop);
        return memspan_error(MEMSPAN_ERR_LIMIT, "%d loops exist", LOOPS_MAX);
    }
    *loop_p = (memspan_loop_h)handle;
    return MEMSPAN_OK;
}

/* The nodes of the iterations, each once, in every order of distance that threads may need. */
static memspan_status_t make_near(const int *nodes, size_t count, memspan_loop_h *loop_p)
{
    int own[MSP_NUMA_NODES_MAX];
    int from[MSP_NUMA_NODES_MAX];
    bool seen[MSP_NUMA_NODES_MAX] = {false};
    struct msp_loop_near near     = {.from = from};
    memspan_status_t status;
    int *rows;
    size_t i;

    for (i = 0; i < count; i++) {
        if ((nodes[i] >= 0) && (nodes[i] < MSP_NUMA_NODES_MAX) && !seen[nodes[i]]) {
            seen[nodes[i]]         = true;
            own[near.near_count++] = nodes[i];
        }
    }
    near.from_count = (size_t)msp_numa_processor_nodes(from, MSP_NUMA_NODES_MAX);
    if (near.from_count == 0) {
        from[0]         = -1; /* unknown: one order for all */
        near.from_count = 1;
    }
    rows = calloc(near.from_count * near.near_count + 1, sizeof(*rows));
    if (rows == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a loop of %zu iterations",
                             count);
    }
    for (i = 0; i < near.from_count; i++) {
        memcpy(rows + i * near.near_count, own, near.near_count * sizeof(*own));
        msp_numa_sort_by_distance(from[i], rows + i * near.near_count, near.near_count);
    }
    near.near = rows;
    status    = msp_loop_create(nodes, count, &near, loop_p);
    free(rows);
    return status;
}

memspan_status_t memspan_loop_create(const void *const *pointers, size_t count,
                                     memspan_loop_h *loop_p)
{
    memspan_status_t status;
    int *nodes;

    if (((pointers == NULL) && (count > 0)) || (loop_p == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%zu addresses at NULL, or no place for a handle",
                             count);
    }
    nodes = (count < SIZE_MAX / sizeof(*nodes)) ? calloc(count + 1, sizeof(*nodes)) : NULL;
    if (nodes == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a loop of %zu iterations",
                             count);
    }
    msp_numa_nodes_of_pages(pointers, count, nodes);
    status = make_near(nodes, count, loop_p);
    free(nodes);
    return status;
}

/* ---- use ---- */

/* The group that a thread on that node takes from; NULL: all are empty. Lock held. */
static struct group *nearest(struct loop *loop, int here)
{
    const size_t *order = loop->order;
    struct group *group;
    size_t row;
    size_t i;

    for (row = 0; (row < loop->from_count) && (loop->from[row] != here); row++) {
    }
    if (row < loop->from_count) {
        order += row * (loop->group_count - 1);
    }
    for (i = 0; i + 1 < loop->group_count; i++) {
        group = &loop->groups[order[i]];
        if (group->next < group->end) {
            return group;
        }
    }
    group = &loop->groups[loop->group_count - 1];
    return (group->next < group->end) ? group : NULL;
}

int msp_loop_next(memspan_loop_h handle, int here, size_t *index_p)
{
    struct group *group = NULL;
    struct loop *loop;
    size_t index = 0;

    msp_lock(&loops_lock);
    loop  = find(handle);
    group = (loop != NULL) ? nearest(loop, here) : NULL;
    if (group != NULL) {
        index = loop->numbers[group->next++];
    }
    msp_unlock(&loops_lock);
    if (loop == NULL) {
        no_loop(handle);
    }
    if (group == NULL) {
        return 0;
    }
    *index_p = index;
    return 1;
}

int memspan_loop_next(memspan_loop_h handle, size_t *index_p)
{
    if (index_p == NULL) {
        memspan_error(MEMSPAN_ERR_INVALID, "no place for the number of an iteration");
        return 0;
    }
    return msp_loop_next(handle, msp_numa_node_here(), index_p);
}

memspan_status_t memspan_loop_restart(memspan_loop_h handle)
{
    struct loop *loop;
    size_t i;

    msp_lock(&loops_lock);
    loop = find(handle);
    for (i = 0; (loop != NULL) && (i < loop->group_count); i++) {
        loop->groups[i].next = loop->groups[i].first;
    }
    msp_unlock(&loops_lock);
    return (loop != NULL) ? MEMSPAN_OK : no_loop(handle);
}

memspan_status_t memspan_loop_destroy(memspan_loop_h handle)
{
    struct loop *loop;

    if (handle == NULL) {
        return MEMSPAN_OK;
    }
    msp_lock(&loops_lock);
    loop = find(handle);
    if (loop != NULL) {
        loops[(uintptr_t)handle & (LOOPS_MAX - 1)] = NULL;
    }
    msp_unlock(&loops_lock);
    if (loop == NULL) {
        return no_loop(handle);
    }
    drop(loop);
    return MEMSPAN_OK;
}

/* ---- places ---- */

memspan_status_t memspan_pointer_place(const void *pointer, int *place_p)
{
    int nodes[MSP_NUMA_NODES_MAX];
    int node   = msp_numa_node_of_page(pointer);
    int places = 0;
    int count;
    int i;

    if (place_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no place for the number of a place");
    }
    if (node < 0) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "no page is at %p", pointer);
        return msp_error_hint("touch it first: a page is on a node from its first touch on");
    }
    memspan_error_clear();
    count = msp_topology_place_count();
    for (i = 0; (i < count) && (places < MSP_NUMA_NODES_MAX); i++) {
        if (msp_numa_node_of_place(i, &nodes[places]) != MEMSPAN_OK) {
            break;
        }
        places++;
    }
    if (places == 0) {
        return (memspan_error_last()->status != MEMSPAN_OK)
                   ? memspan_error_last()->status
                   : memspan_error(MEMSPAN_ERR_NOT_FOUND, "this machine has no places");
    }
    node = msp_numa_nearest(node, nodes, (size_t)places);
    for (i = 0; (i + 1 < places) && (nodes[i] != node); i++) {
    }
    *place_p = i;
    return MEMSPAN_OK;
}
