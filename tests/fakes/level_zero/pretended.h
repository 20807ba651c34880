/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_LEVEL_ZERO_PRETENDED_H
#define MEMSPAN_TESTS_FAKES_LEVEL_ZERO_PRETENDED_H

/* What the suites on the pretended driver share. */

#include "backends/level_zero/level_zero.h"
#include <criterion/criterion.h>

extern const memspan_backend_t memspan_backend_level_zero;

/* The fake's own calls, found in the driver that the loader was told to use. */
struct pretended {
    void (*reset)(void);
    const char *(*failed_call)(void);
    const char *(*violation)(void);
    int (*live)(void);
    unsigned (*calls)(const char *name);
    unsigned long long (*used)(int device);
    void *(*foreign)(int type, size_t size);
    void (*foreign_free)(void *pointer);
};

/* Finds them, and opens the backend once, since the loader starts its drivers only once; skips the
 * test where the loader was not told of the pretended driver. */
void pretended_find(void);
extern struct pretended pretended;

/* Sets variables (NAME=VALUE, ended by NULL; those of earlier calls are unset) and resets. */
void pretended_be(const char *const *settings);
#define PRETENDED(...) pretended_be((const char *const[]){__VA_ARGS__, NULL})

/* What the backend logged since the last pretended_be(), line by line. */
const char *pretended_log(void);

/* Opens the backend on it; pretended_try_open() may fail. */
memspan_status_t pretended_try_open(void **state_p);
void *pretended_open(void);
/* Closes it; nothing may be left and no rule broken. */
void pretended_close(void *state);

memspan_request_t pretended_ask(memspan_kind_t kind, size_t size_bytes);
memspan_block_t pretended_take(void *state, int ordinal, memspan_kind_t kind);
void pretended_give_back(void *state, int ordinal, const memspan_block_t *block);

enum { PRETENDED_BYTES = 65536 };

#endif /* MEMSPAN_TESTS_FAKES_LEVEL_ZERO_PRETENDED_H */
