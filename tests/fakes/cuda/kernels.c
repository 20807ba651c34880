/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: what the backend's kernels do, by their names, on the fake's own view of memory. */

#include "fake.h"
#include "tests/fakes/arithmetic.h"

enum { SUM_THREADS = 256 };

/* Elements are dealt out to threads one by one; a block's sum goes to z[block]. */
static cuda_result_t run_sum(const struct CUctx_st *context, const struct fake_command *c)
{
    size_t count    = c->arguments[0];
    const double *x = fake_reach(context, c->arguments[2], count * sizeof(double));
    double *z       = fake_reach(context, c->arguments[4], c->blocks * sizeof(double));
    size_t i;

    if (((x == NULL) && (count > 0)) || (z == NULL)) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    if (c->threads != SUM_THREADS) {
        fake_broken("the sum is written for blocks of %d threads, not %u", SUM_THREADS, c->threads);
    }
    memset(z, 0, c->blocks * sizeof(double));
    for (i = 0; i < count; i++) {
        z[(i / c->threads) % c->blocks] += x[i];
    }
    return CUDA_SUCCESS;
}

static cuda_result_t run_chase(const struct CUctx_st *context, const struct fake_command *c)
{
    uint64_t at = c->arguments[2];
    uint64_t *z = fake_reach(context, c->arguments[4], sizeof(*z));
    uint64_t i;

    for (i = 0; i < c->arguments[0]; i++) {
        const uint64_t *link = fake_reach(context, at, sizeof(*link));
        if (link == NULL) {
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        at = *link;
    }
    if (z == NULL) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    *z = at;
    return CUDA_SUCCESS;
}

static cuda_result_t run_add_atomic(const struct CUctx_st *context, const struct fake_command *c)
{
    uint32_t *z = fake_reach(context, c->arguments[4], sizeof(*z));
    uint64_t i;

    if (z == NULL) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    for (i = 0; i < c->arguments[0]; i++) {
        __atomic_fetch_add(z, (uint32_t)c->arguments[1], __ATOMIC_RELAXED);
    }
    return CUDA_SUCCESS;
}

static const char prefix[] = "memspan_";

bool fake_knows_kernel(const char *name)
{
    static const char *const names[] = {"sum", "chase", "add_atomic"};
    struct fake_arrays none          = {0};
    size_t i;

    if (strncmp(name, prefix, strlen(prefix)) != 0) {
        return false;
    }
    name += strlen(prefix);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return fake_run_arrays(name, &none);
}

static cuda_result_t run_arrays(const struct CUctx_st *context, const struct fake_command *c,
                                const char *name)
{
    bool fill            = strcmp(name, "fill") == 0;
    size_t size          = fake_element_bytes(name) * c->arguments[0];
    struct fake_arrays v = {.count = c->arguments[0],
                            .x     = fill ? NULL : fake_reach(context, c->arguments[2], size),
                            .y     = fill ? NULL : fake_reach(context, c->arguments[3], size),
                            .z     = fake_reach(context, c->arguments[4], size)};

    memcpy(&v.a, &c->arguments[1], sizeof(v.a));
    if ((v.z == NULL) || (!fill && ((v.x == NULL) || (v.y == NULL)))) {
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    return fake_run_arrays(name, &v) ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

cuda_result_t fake_kernel(struct CUctx_st *context, struct fake_command *c)
{
    const char *name = c->function->name + strlen(prefix);

    if (strcmp(name, "sum") == 0) {
        return run_sum(context, c);
    }
    if (strcmp(name, "chase") == 0) {
        return run_chase(context, c);
    }
    if (strcmp(name, "add_atomic") == 0) {
        return run_add_atomic(context, c);
    }
    return (c->arguments[0] == 0) ? CUDA_SUCCESS : run_arrays(context, c, name);
}
