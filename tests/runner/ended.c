/* SPDX-License-Identifier: BSD-3-Clause */

/* Criterion prints an assertion that fails after the test, in a fixture that ends it, but does not
 * count it: the program's exit code does. A test that crashes on purpose has none. */

#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdio.h>
#include <stdlib.h>

ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
    if ((stats->asserts_failed > 0) && (stats->tests_failed == 0)) {
        fprintf(stderr, "failed: %zu assertions of fixtures\n", stats->asserts_failed);
        exit(1);
    }
}
