/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_API_H
#define MEMSPAN_TESTS_API_H

/* What every test of bad input checks: the status, the same status in the thread's record, a
 * message that names what was wrong, and the library's records in order afterwards. */

#include "sums.h"
#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A number that surely names no device. */
enum { NO_DEVICE = 12345 };

static inline bool says(const char *word)
{
    const memspan_error_t *error = memspan_error_last();

    return (strstr(error->message, word) != NULL) || (strstr(error->hint, word) != NULL);
}

/* The call is refused with that status and a message or hint that holds @p word. */
#define REFUSED(call, wanted, word)                                                                \
    do {                                                                                           \
        memspan_status_t status_;                                                                  \
                                                                                                   \
        memspan_error_clear();                                                                     \
        status_ = (call);                                                                          \
        cr_expect_eq(status_, (wanted), "%s gave %s: %s", #call, memspan_status_name(status_),     \
                     memspan_error_text());                                                        \
        cr_expect_eq(memspan_error_last()->status, (wanted), "%s recorded %s", #call,              \
                     memspan_status_name(memspan_error_last()->status));                           \
        cr_expect(says(word), "%s: \"%s\" does not say \"%s\"", #call, memspan_error_text(),       \
                  (word));                                                                         \
    } while (0)

/* The same for calls that return NULL. */
#define REFUSED_NULL(call, wanted, word)                                                           \
    do {                                                                                           \
        memspan_error_clear();                                                                     \
        cr_expect_eq((call), NULL, "%s was not refused", #call);                                   \
        cr_expect_eq(memspan_error_last()->status, (wanted), "%s recorded %s: %s", #call,          \
                     memspan_status_name(memspan_error_last()->status), memspan_error_text());     \
        cr_expect(says(word), "%s: \"%s\" does not say \"%s\"", #call, memspan_error_text(),       \
                  (word));                                                                         \
    } while (0)

#define DONE(call)                                                                                 \
    do {                                                                                           \
        memspan_status_t status_ = (call);                                                         \
        cr_assert_eq(status_, MEMSPAN_OK, "%s gave %s: %s", #call, memspan_status_name(status_),   \
                     memspan_error_text());                                                        \
    } while (0)

/* End of every test: nothing live, held or out of order. */
static inline void in_order(void)
{
    const char *problem = sums_problem();

    cr_expect_null(problem, "%s", problem);
}

#endif /* MEMSPAN_TESTS_API_H */
