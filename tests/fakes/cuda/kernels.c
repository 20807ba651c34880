/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: what the backend's kernels do. */

#include "fake.h"
#include "tests/fakes/gpu_kernels.h"

static void *reach(const void *context, uintptr_t address, size_t size)
{
    return fake_reach(context, address, size);
}

bool fake_knows_kernel(const char *name)
{
    bool combining;

    return fake_launch_knows(name, &combining);
}

cuda_result_t fake_kernel(struct CUctx_st *context, struct fake_command *c)
{
    struct fake_launch launch = {c->function->name, c->blocks, c->arguments, context, reach};

    if ((strcmp(launch.name, "memspan_sum") == 0) && (c->threads != FAKE_SUM_THREADS)) {
        fake_broken("the sum is written for blocks of %d threads, not %u", FAKE_SUM_THREADS,
                    c->threads);
    }
    return fake_launch_run(&launch);
}
