/* SPDX-License-Identifier: BSD-3-Clause */
/* follow.c [SECONDS]: memory that is set once, and then memory that is used all the time, which is
 * in no fast node where the first one fills it. Prints how much of each is on the fast node after
 * that time, in MiB. */

#include "tests/tiers/machine.h"
#include <time.h>

enum { COLD_BYTES = 440 << 20, HOT_BYTES = 128 << 20, LINE = 512 };

static size_t fast_mib(const char *memory, size_t size_bytes)
{
    return machine_pages_on(memory, size_bytes, FAST) * PAGE >> 20;
}

__attribute__((noinline)) static char *take_cold(void)
{
    char *memory = malloc(COLD_BYTES);

    machine_touch(memory, COLD_BYTES);
    return memory;
}

__attribute__((noinline)) static char *take_hot(void)
{
    char *memory = malloc(HOT_BYTES);

    machine_touch(memory, HOT_BYTES);
    return memory;
}

int main(int argc, char **argv)
{
    volatile char *hot;
    char *cold;
    size_t sum = 0;
    time_t until;

    machine_need();
    cold = take_cold();
    hot  = take_hot();
    /* The machine is emulated: the time that they took is of no interest. */
    until = time(NULL) + ((argc > 1) ? atoi(argv[1]) : 1);
    while (time(NULL) < until) {
        for (size_t i = 0; i < HOT_BYTES; i += LINE) {
            sum += (size_t)hot[i];
        }
    }
    printf("hot %zu cold %zu\n", fast_mib((const char *)hot, HOT_BYTES),
           fast_mib(cold, COLD_BYTES));
    free((void *)hot);
    free(cold);
    return (sum == 1) ? 1 : 0;
}
