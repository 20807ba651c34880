/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: the backend's kernels, by name. They see shared memory as a device does. */

#include "fake.h"
#include <stdlib.h>
#include <string.h>

enum { DAXPY, FILL, SUM, CHASE, ADD_ATOMIC, REPORT, KERNELS };

static const char *const names[KERNELS] = {
    [DAXPY]      = "memspan_daxpy",
    [FILL]       = "memspan_fill",
    [SUM]        = "memspan_sum",
    [CHASE]      = "memspan_chase",
    [ADD_ATOMIC] = "memspan_add_atomic",
    [REPORT]     = "memspan_report",
};

int fake_kernel_find(const char *name)
{
    int i;

    for (i = 0; i < KERNELS; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

static uint64_t word(const struct fake_command *command, int index)
{
    uint64_t value = 0;

    if (!command->kernel.args[index].set) {
        fake_broken("argument %d of %s is not set", index, names[command->kernel.which]);
    }
    memcpy(&value, command->kernel.args[index].bytes, sizeof(value));
    return value;
}

/* What a kernel finds behind an address that it has: it must have been told of the memory. */
static char *follow(const struct fake_command *command, const void *address)
{
    const struct fake_block *block = fake_block_at(address);
    size_t i;

    if ((block == NULL) || (block->context != command->context)) {
        fake_broken("a kernel follows %p, which is no memory of its context", address);
        return NULL;
    }
    for (i = 0; i < command->kernel.pointer_count; i++) {
        if (fake_block_at(command->kernel.pointers[i]) == block) {
            return fake_there(command->context, address);
        }
    }
    fake_broken("a kernel follows %p and was not told of that memory", address);
    return NULL;
}

/* Arguments @p index and @p index + 1: a base and an offset. */
static char *place(const struct fake_command *command, int index)
{
    uint64_t base = word(command, index);

    if (command->kernel.args[index].is_address) {
        return fake_there(command->context, (char *)(uintptr_t)base) + word(command, index + 1);
    }
    return ((cl_mem)(uintptr_t)base)->data + word(command, index + 1);
}

static double real(const struct fake_command *command, int index)
{
    uint64_t bits = word(command, index);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void run_daxpy(const struct fake_command *command)
{
    const double *x = (const double *)(void *)place(command, 0);
    const double *y = (const double *)(void *)place(command, 2);
    double *z       = (double *)(void *)place(command, 4);
    double a        = real(command, 6);
    size_t i;

    for (i = command->first; i < command->first + command->size; i++) {
        z[i] += a * x[i] + y[i];
    }
}

static void run_fill(const struct fake_command *command)
{
    double *z = (double *)(void *)place(command, 0);
    size_t i;

    for (i = command->first; i < command->first + command->size; i++) {
        z[i] = real(command, 2);
    }
}

static void run_sum(const struct fake_command *command)
{
    const double *x = (const double *)(void *)place(command, 0);
    double *z       = (double *)(void *)place(command, 2);
    double sum      = 0;
    size_t i;

    for (i = 0; i < word(command, 4); i++) {
        sum += x[i];
    }
    z[0] = sum;
}

static void run_chase(const struct fake_command *command)
{
    void **z = (void **)(void *)place(command, 2);
    void *at = (void *)(uintptr_t)(word(command, 0) + word(command, 1));
    size_t i;

    for (i = 0; i < word(command, 4); i++) {
        char *there = follow(command, at);
        if (there == NULL) {
            return;
        }
        memcpy(&at, there, sizeof(at));
    }
    *z = at;
}

static void run_add(const struct fake_command *command)
{
    int32_t *z = (int32_t *)(void *)place(command, 0);

    *z += (int32_t)(word(command, 2) & UINT32_MAX) * (int32_t)command->size;
}

static void run_report(const struct fake_command *command)
{
    uint64_t *page = (uint64_t *)(void *)((cl_mem)(uintptr_t)word(command, 0))->data;
    uint64_t *seen = (uint64_t *)(void *)((cl_mem)(uintptr_t)word(command, 1))->data;

    seen[0] = (uint64_t)(uintptr_t)page;
    seen[1] = page[0];
    if (word(command, 2) != 0) {
        page[0] = word(command, 2);
    }
}

void fake_kernel_run(const struct fake_command *command)
{
    static void (*const run[KERNELS])(const struct fake_command *) = {
        [DAXPY] = run_daxpy, [FILL] = run_fill,      [SUM] = run_sum,
        [CHASE] = run_chase, [ADD_ATOMIC] = run_add, [REPORT] = run_report,
    };
    size_t i;

    for (i = 0; i < command->kernel.pointer_count; i++) {
        if (fake_block_at(command->kernel.pointers[i]) == NULL) {
            fake_broken("a kernel still holds %p, which was freed", command->kernel.pointers[i]);
        }
        fake_there(command->context, command->kernel.pointers[i]);
    }
    run[command->kernel.which](command);
}
