/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_INTERLEAVE_SCENARIO_H
#define MEMSPAN_TESTS_INTERLEAVE_SCENARIO_H

/* A scenario: two to four threads, a few operations each, and what holds in every order of them. */

#include <stdbool.h>

enum { SCENARIO_THREADS = 4 };

struct scenario {
    const char *name;
    const char *invariant;
    /* Once, before the first execution: each of them begins with a copy of this state. */
    void (*setup)(void);
    void (*threads[SCENARIO_THREADS])(void);
    void (*check)(void);  /* after the threads have ended; NULL: none */
    unsigned preemptions; /* bound of an execution; 0: 2 */
    /* A wait may have a time limit in case that its notification is lost. The notification is
     * taken for lost where only the limit ends a wait, unless this is set. */
    bool limit_ends_waits;
    const char *fault; /* what must be found instead; NULL: nothing */
};

/* The kernel refuses membarrier(); a setup sets it. */
extern bool scenario_without_membarrier;

/* A program's scenarios, and the setup of one. */
const struct scenario *scenario_table(unsigned *count_p);
void scenario_set_up(unsigned number);
#define SCENARIO_TABLE(table)                                                                      \
    const struct scenario *scenario_table(unsigned *count_p)                                       \
    {                                                                                              \
        *count_p = sizeof(table) / sizeof((table)[0]);                                             \
        return table;                                                                              \
    }                                                                                              \
    void scenario_set_up(unsigned number)                                                          \
    {                                                                                              \
        if ((table)[number].setup != NULL) {                                                       \
            (table)[number].setup();                                                               \
        }                                                                                          \
    }

/* Ends the execution; the schedule is reported. */
void scenario_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            scenario_fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                    \
        }                                                                                          \
    } while (0)

#endif /* MEMSPAN_TESTS_INTERLEAVE_SCENARIO_H */
