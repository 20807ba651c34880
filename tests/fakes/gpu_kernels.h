/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_GPU_KERNELS_H
#define MEMSPAN_TESTS_FAKES_GPU_KERNELS_H

/* What the kernels of CUDA and HIP do, by their names, on the fakes' own view of memory. The
 * answers have the same numbers in both. */

#include "tests/fakes/arithmetic.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FAKE_ILLEGAL_ADDRESS = 700, FAKE_LAUNCH_FAILED = 719, FAKE_SUM_THREADS = 256 };

static const char fake_prefix[] = "memspan_";

/* A launch: how many blocks, the kernel's arguments, and where the fake reads what a kernel of that
 * owner reads; NULL: it may not. */
struct fake_launch {
    const char *name;
    unsigned blocks;
    const uint64_t *arguments; /* count, a, x, y, z */
    const void *owner;
    void *(*reach)(const void *owner, uintptr_t address, size_t size);
};

/* Elements are dealt out to threads one by one; a block's sum goes to z[block]. */
static inline int fake_launch_sum(const struct fake_launch *l)
{
    size_t count    = l->arguments[0];
    const double *x = l->reach(l->owner, l->arguments[2], count * sizeof(double));
    double *z       = l->reach(l->owner, l->arguments[4], l->blocks * sizeof(double));
    size_t i;

    if (((x == NULL) && (count > 0)) || (z == NULL)) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    memset(z, 0, l->blocks * sizeof(double));
    for (i = 0; i < count; i++) {
        z[(i / FAKE_SUM_THREADS) % l->blocks] += x[i];
    }
    return 0;
}

static inline int fake_launch_chase(const struct fake_launch *l)
{
    uint64_t at = l->arguments[2];
    uint64_t *z = l->reach(l->owner, l->arguments[4], sizeof(*z));
    uint64_t i;

    for (i = 0; i < l->arguments[0]; i++) {
        const uint64_t *link = l->reach(l->owner, at, sizeof(*link));
        if (link == NULL) {
            return FAKE_ILLEGAL_ADDRESS;
        }
        at = *link;
    }
    if (z == NULL) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    *z = at;
    return 0;
}

static inline int fake_launch_add_atomic(const struct fake_launch *l)
{
    uint32_t *z = l->reach(l->owner, l->arguments[4], sizeof(*z));
    uint64_t i;

    if (z == NULL) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    for (i = 0; i < l->arguments[0]; i++) {
        __atomic_fetch_add(z, (uint32_t)l->arguments[1], __ATOMIC_RELAXED);
    }
    return 0;
}

static inline int fake_launch_arrays(const struct fake_launch *l, const char *name)
{
    bool fill            = strcmp(name, "fill") == 0;
    size_t size          = fake_element_bytes(name) * l->arguments[0];
    struct fake_arrays v = {.count = l->arguments[0],
                            .x     = fill ? NULL : l->reach(l->owner, l->arguments[2], size),
                            .y     = fill ? NULL : l->reach(l->owner, l->arguments[3], size),
                            .z     = l->reach(l->owner, l->arguments[4], size)};

    memcpy(&v.a, &l->arguments[1], sizeof(v.a));
    if ((v.z == NULL) || (!fill && ((v.x == NULL) || (v.y == NULL)))) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    return fake_run_arrays(name, &v) ? 0 : FAKE_LAUNCH_FAILED;
}

static inline int fake_launch_run(const struct fake_launch *l)
{
    const char *name = l->name + strlen(fake_prefix);

    if (strcmp(name, "sum") == 0) {
        return fake_launch_sum(l);
    }
    if (strcmp(name, "chase") == 0) {
        return fake_launch_chase(l);
    }
    if (strcmp(name, "add_atomic") == 0) {
        return fake_launch_add_atomic(l);
    }
    return (l->arguments[0] == 0) ? 0 : fake_launch_arrays(l, name);
}

/* Whether there is such a kernel; *combining_p: it combines two arrays. */
static inline bool fake_launch_knows(const char *name, bool *combining_p)
{
    static const char *const others[] = {"sum", "chase", "add_atomic"};
    struct fake_arrays none           = {0};
    size_t i;

    *combining_p = false;
    if (strncmp(name, fake_prefix, strlen(fake_prefix)) != 0) {
        return false;
    }
    name += strlen(fake_prefix);
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(others[i], name) == 0) {
            return true;
        }
    }
    *combining_p = fake_is_combining(name);
    return fake_run_arrays(name, &none);
}

#endif /* MEMSPAN_TESTS_FAKES_GPU_KERNELS_H */
