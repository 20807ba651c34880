/* SPDX-License-Identifier: BSD-3-Clause */
/* executable heap|variable: a PE of a job of several executables, which are this file with other
 * variables. Data segments of all of them have the same number of pages. executables.sh says what
 * must be answered. */

#include "tests/shmem/check.h"
#include <stdbool.h>
#include <string.h>

long first_variable = 11; /* of no PE's put */

#if defined(WITH_ANOTHER)
long another_variable = 7;
#endif

#if defined(SWAPPED)
long target      = 22;
long last_before = 33;
#else
long last_before = 33;
long target      = 22;
#endif

int main(int count, char **words)
{
    bool uses_heap = (count == 2) && (strcmp(words[1], "heap") == 0);
    long *memory;
    int me;

    shmem_init();
    me     = shmem_my_pe();
    memory = uses_heap ? shmem_malloc(sizeof *memory) : &target;
    shmem_barrier_all();
    shmem_long_p(memory, 1000 + me, (me + 1) % shmem_n_pes());
    shmem_barrier_all();
    CHECK(*memory == 1000 + ((me + shmem_n_pes() - 1) % shmem_n_pes()), "it is %ld", *memory);
    CHECK(first_variable == 11 && last_before == 33, "%ld %ld", first_variable, last_before);
    shmem_finalize();
    return 0;
}
