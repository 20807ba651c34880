/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_LOOP_H
#define MEMSPAN_CORE_LOOP_H

#include <memspan/loop.h>

/* The same with the nodes given: iteration i is near to nodes[i]; -1: to none. A thread on node
 * from[i] takes them in the order of that row of @p near: count nodes each, nearest first. For
 * tests on machines with one node. */
struct msp_loop_near {
    const int *from;
    size_t from_count;
    const int *near; /* [from_count][near_count] */
    size_t near_count;
};

memspan_status_t msp_loop_create(const int *nodes, size_t count, const struct msp_loop_near *near,
                                 memspan_loop_h *loop_p);

/* memspan_loop_next() of a thread on node @p here. */
int msp_loop_next(memspan_loop_h loop, int here, size_t *index_p);

#endif /* MEMSPAN_CORE_LOOP_H */
