/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: what the kernels of CUDA and HIP do, by their names, on the fakes' own view of memory.
 */

#include "tests/fakes/arithmetic.h"
#include "tests/fakes/gpu/calls.h"
#include <string.h>

enum { SUM_THREADS = 256 };

static const char prefix[] = "memspan_";

static void *reach(int device, const struct fake_command *c, int argument, size_t size)
{
    return fake_reach(device, (uintptr_t)c->arguments[argument], size);
}

/* Elements are dealt to threads one by one; a block's sum goes to z[block]. */
static int run_sum(int device, const struct fake_command *c)
{
    size_t count    = c->arguments[0];
    const double *x = reach(device, c, 2, count * sizeof(double));
    double *z       = reach(device, c, 4, c->blocks * sizeof(double));
    size_t i;

    if (c->threads != SUM_THREADS) {
        fake_broken("the sum is written for blocks of %d threads, not %u", SUM_THREADS, c->threads);
    }
    if (((x == NULL) && (count > 0)) || (z == NULL)) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    memset(z, 0, c->blocks * sizeof(double));
    for (i = 0; i < count; i++) {
        z[(i / SUM_THREADS) % c->blocks] += x[i];
    }
    return 0;
}

static int run_chase(int device, const struct fake_command *c)
{
    uint64_t at = c->arguments[2];
    uint64_t *z = reach(device, c, 4, sizeof(*z));
    uint64_t i;

    for (i = 0; i < c->arguments[0]; i++) {
        const uint64_t *link = fake_reach(device, (uintptr_t)at, sizeof(*link));
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

static int run_add_atomic(int device, const struct fake_command *c)
{
    uint32_t *z = reach(device, c, 4, sizeof(*z));
    uint64_t i;

    if (z == NULL) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    for (i = 0; i < c->arguments[0]; i++) {
        __atomic_fetch_add(z, (uint32_t)c->arguments[1], __ATOMIC_RELAXED);
    }
    return 0;
}

static int run_arrays(int device, const struct fake_command *c)
{
    const char *name     = c->kernel + strlen(prefix);
    bool fill            = strcmp(name, "fill") == 0;
    size_t size          = fake_element_bytes(name) * c->arguments[0];
    struct fake_arrays v = {.count = c->arguments[0],
                            .x     = fill ? NULL : reach(device, c, 2, size),
                            .y     = fill ? NULL : reach(device, c, 3, size),
                            .z     = reach(device, c, 4, size)};

    memcpy(&v.a, &c->arguments[1], sizeof(v.a));
    if (c->arguments[0] == 0) {
        return 0;
    }
    if ((v.z == NULL) || (!fill && ((v.x == NULL) || (v.y == NULL)))) {
        return FAKE_ILLEGAL_ADDRESS;
    }
    return fake_run_arrays(name, &v) ? 0 : FAKE_LOST;
}

static const struct {
    const char *name;
    int (*run)(int device, const struct fake_command *command);
} others[] = {
    {"memspan_sum", run_sum}, {"memspan_chase", run_chase}, {"memspan_add_atomic", run_add_atomic}};
enum { OTHERS = sizeof(others) / sizeof(others[0]) };

int fake_kernel(int device, struct fake_command *c)
{
    int i;

    for (i = 0; i < OTHERS; i++) {
        if (strcmp(others[i].name, c->kernel) == 0) {
            return others[i].run(device, c);
        }
    }
    return run_arrays(device, c);
}

bool fake_knows_kernel(const char *name, bool *combining_p)
{
    struct fake_arrays none = {0};
    int i;

    *combining_p = false;
    for (i = 0; i < OTHERS; i++) {
        if (strcmp(others[i].name, name) == 0) {
            return true;
        }
    }
    if (strncmp(name, prefix, strlen(prefix)) != 0) {
        return false;
    }
    *combining_p = fake_is_combining(name + strlen(prefix));
    return fake_run_arrays(name + strlen(prefix), &none);
}
