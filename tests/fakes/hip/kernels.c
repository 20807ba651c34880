/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: what the backend's kernels do. */

#include "fake.h"
#include "tests/fakes/gpu_kernels.h"

static void *reach(const void *device, uintptr_t address, size_t size)
{
    return fake_reach(*(const int *)device, address, size);
}

bool fake_knows_kernel(const char *name, bool combining)
{
    bool is_combining;

    return fake_launch_knows(name, &is_combining) && (is_combining == combining);
}

hip_result_t fake_kernel(int device, struct fake_command *c)
{
    struct fake_launch launch = {c->kernel, c->blocks, c->arguments, &device, reach};

    return fake_launch_run(&launch);
}
