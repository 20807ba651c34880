/* SPDX-License-Identifier: BSD-3-Clause */
/* killed.c: all PEs send requests to PE 0's service without end; after some time PE 0 is killed. */

#include "tests/shmem/check.h"
#include <shmemx.h>
#include <signal.h>
#include <unistd.h>

enum { N = 30000 };

int main(void)
{
    static long data[N];
    long *memory;

    shmem_init();
    memory = shmemx_partition_malloc(sizeof data, 5);
    CHECK(memory != NULL, "no partition 5");
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        usleep(100000);
        kill(getpid(), SIGKILL);
    }
    for (;;) {
        shmem_long_put(memory, data, N, 0);
        shmem_long_get(data, memory, N, 0);
        shmem_long_atomic_inc(memory, 0);
        shmem_quiet();
    }
}
