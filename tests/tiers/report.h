/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_TIERS_REPORT_H
#define MEMSPAN_TESTS_TIERS_REPORT_H

/* For programs of one process: a condition that is reported when it does not hold, and fails the
 * program at its end. */

#include "tests/tiers/machine.h"

static int failures;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);                         \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

#endif /* MEMSPAN_TESTS_TIERS_REPORT_H */
