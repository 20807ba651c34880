/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_INTERLEAVE_PE_H
#define MEMSPAN_TESTS_INTERLEAVE_PE_H

/* Scenarios whose threads are PEs of one host: thread i of a scenario is in PE i. A PE is a copy of
 * a shared library, which has the scenarios and OpenSHMEM's own code: so each has statics of its
 * own, and shares the control memory with the others. */

#include "scenario.h"

enum { PE_COUNT = 3 };

/* Of this copy; the control memory, and a page more that all PEs share. */
struct pe_place {
    int number;
    char *slots;
    void *doorbells;
    void *page;
};
extern struct pe_place pe_place __attribute__((visibility("default")));

/* The scenarios of a library. */
#define PE_SCENARIOS(table)                                                                        \
    __attribute__((visibility("default"))) const struct scenario *pe_scenarios(unsigned *count_p); \
    const struct scenario *pe_scenarios(unsigned *count_p)                                         \
    {                                                                                              \
        *count_p = sizeof(table) / sizeof((table)[0]);                                             \
        return table;                                                                              \
    }

/* This copy is that PE of a job of @p count, before the first execution. */
void pe_begin(int count);

#endif /* MEMSPAN_TESTS_INTERLEAVE_PE_H */
