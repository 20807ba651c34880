/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_INTERLEAVE_WEAKEN_H
#define MEMSPAN_TESTS_INTERLEAVE_WEAKEN_H

/* Memory orders, barriers and notifications of the product, of which one is weaker in an execution
 * than its source has it. */

#include <stdbool.h>

enum weak_kind {
    WEAK_LOAD,
    WEAK_STORE,
    WEAK_UPDATE,
    WEAK_FAILURE, /* of a compare and exchange */
    WEAK_BARRIER,
    WEAK_NOTIFICATION, /* wakes a thread, or orders all threads: is left out */
    WEAK_KINDS
};

/* The order that the place has in this execution. It is noted. */
int weaken(const void *place, enum weak_kind kind, int order);
/* Likewise; true: no call is made. */
bool weaken_leaves_out(const void *place);

/* Each place that the scenarios reach, in turn: which weaker order no scenario notices.
 * @p explore_one: explores the scenario of that number in a process of its own; false: it has
 * failed. */
typedef bool weaken_explore(unsigned scenario);
void weaken_all(unsigned scenario_count, weaken_explore *explore_one);
/* Before the processes. */
void weaken_open(void);

#endif /* MEMSPAN_TESTS_INTERLEAVE_WEAKEN_H */
