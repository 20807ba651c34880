/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_OPENCL_PRETENDED_H
#define MEMSPAN_TESTS_FAKES_OPENCL_PRETENDED_H

/* What the suites on the pretended driver share. */

#include "backends/opencl/opencl.h"
#include <criterion/criterion.h>

extern const memspan_backend_t msp_backend_opencl;

/* The fake's own calls, found in the library that the backend opened. */
struct pretended {
    void (*reset)(void);
    const char *(*failed_call)(void);
    const char *(*violation)(void);
    int (*live)(void);
    unsigned (*calls)(const char *name);
};

/* Finds them; skips the test where another OpenCL is found first. */
void pretended_find(void);
extern struct pretended pretended;

/* Sets variables (NAME=VALUE, ended by NULL; those of earlier calls are unset) and resets. */
void pretended_be(const char *const *settings);
#define PRETENDED(...) pretended_be((const char *const[]){__VA_ARGS__, NULL})

/* Opens the backend on it. */
struct opencl_state *pretended_open(void);
/* Closes it; nothing may be left and no rule broken. */
void pretended_close(struct opencl_state *state);

memspan_request_t pretended_ask(memspan_kind_t kind, size_t size_bytes);
memspan_block_t pretended_take(struct opencl_state *state, int ordinal, memspan_kind_t kind);

enum { PRETENDED_BYTES = 16384 };

#endif /* MEMSPAN_TESTS_FAKES_OPENCL_PRETENDED_H */
