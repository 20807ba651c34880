/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: the backend's kernels, by name. They see shared memory as a device does. */

#include "fake.h"
#include "tests/fakes/arithmetic.h"
#include <string.h>

#define PREFIX "memspan_"

static uint64_t word(const struct fake_command *command, int index)
{
    uint64_t value = 0;

    if (!command->kernel.args[index].set) {
        fake_broken("argument %d of %s is not set", index, command->kernel.name);
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

/* fill has no x and no y, combining kernels no number. */
static void run_arrays(const struct fake_command *command)
{
    const char *name         = command->kernel.name + sizeof(PREFIX) - 1;
    size_t skipped           = command->first * fake_element_bytes(name);
    bool is_fill             = strcmp(name, "fill") == 0;
    struct fake_arrays array = {.count = command->size};

    array.x = is_fill ? NULL : place(command, 0) + skipped;
    array.y = is_fill ? NULL : place(command, 2) + skipped;
    array.z = place(command, is_fill ? 0 : 4) + skipped;
    array.a = fake_is_combining(name) ? 0 : real(command, is_fill ? 2 : 6);
    if (!fake_run_arrays(name, &array)) {
        fake_broken("%s is none of the kernels", command->kernel.name);
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

static const struct {
    const char *name;
    void (*run)(const struct fake_command *);
} others[] = {
    {PREFIX "sum", run_sum},
    {PREFIX "chase", run_chase},
    {PREFIX "add_atomic", run_add},
    {PREFIX "report", run_report},
};

void fake_kernel_run(const struct fake_command *command)
{
    void (*run)(const struct fake_command *) = run_arrays;
    size_t i;

    for (i = 0; i < command->kernel.pointer_count; i++) {
        if (fake_block_at(command->kernel.pointers[i]) == NULL) {
            fake_broken("a kernel still holds %p, which was freed", command->kernel.pointers[i]);
        }
        fake_there(command->context, command->kernel.pointers[i]);
    }
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        run = (strcmp(others[i].name, command->kernel.name) == 0) ? others[i].run : run;
    }
    run(command);
}
