/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_SUITE_PRETENDED_H
#define MEMSPAN_TESTS_FAKES_SUITE_PRETENDED_H

/* What the suites on pretended drivers share, whatever the driver: the fake's own calls, its
 * machine, and opening and closing the backend on it. */

#include <criterion/criterion.h>
#include <memspan/backend.h>
#include <memspan/memspan.h>
#include <stdbool.h>

#define OK(...) cr_assert_eq((__VA_ARGS__), MEMSPAN_OK, "%s", memspan_error_text())

struct pretended {
    const memspan_backend_t *table; /* the backend on it */
    const char *prefix;             /* of the fake's variables: "FAKE_CUDA_" */
    void (*check)(void);            /* nothing of this driver's is left on the thread; or NULL */
    void (*failed)(void);           /* sees each failure; or NULL */
    void (*reset)(void);
    const char *(*failed_call)(void);
    const char *(*violation)(void);
    int (*live)(void);
    unsigned (*calls)(const char *name);
};
extern struct pretended pretended;

/* To be written for each driver: finds the fake, skips the test where another driver is found
 * first, and passes it on. */
void pretended_find(void);
/* False: @p handle is no fake. */
bool pretended_start(void *handle, const struct pretended *about);

/* Sets variables (NAME=VALUE, ended by NULL) and resets; those of earlier calls, and all of the
 * fake, are unset. A name gets the fake's prefix unless it begins with MEMSPAN_. */
void pretended_be(const char *const *settings);
#define PRETENDED(...) pretended_be((const char *const[]){__VA_ARGS__, NULL})

/* What the backend logged since the last pretended_be(), line by line; "warning: " before warnings.
 */
const char *pretended_log(void);

/* Opens the backend on it; pretended_try_open() may fail. */
memspan_status_t pretended_try_open(void **state_p);
void *pretended_open(void);
#define PRETENDED_OPEN(...) (PRETENDED(__VA_ARGS__), pretended_open())
/* Closes it; nothing may be left and no rule broken. */
void pretended_close(void *state);

memspan_request_t pretended_ask(memspan_kind_t kind, size_t size_bytes);
memspan_block_t pretended_take(void *state, int ordinal, memspan_kind_t kind);
void pretended_give_back(void *state, int ordinal, const memspan_block_t *block);
/* Gives the last block back, and closes. */
void pretended_end(void *state, int ordinal, const memspan_block_t *block);

memspan_device_info_t pretended_describe(void *state, int ordinal);
/* The kernel that fills 100 numbers with 2.5. */
memspan_status_t pretended_launch_fill(void *state, int ordinal, void *queue, void *address);
/* The same, and waits. */
memspan_status_t pretended_fill(void *state, int ordinal, void *address);
/* Copies, and waits. */
void pretended_read(void *state, int ordinal, void *to, const void *from, size_t size);

/* rules.c has tests of all GPU backends, and this one: every kind has any alignment on a machine of
 * two settings. */
void rules_check_alignment(const char *setting, const char *other);

enum { PRETENDED_BYTES = 16384 };

#endif /* MEMSPAN_TESTS_FAKES_SUITE_PRETENDED_H */
