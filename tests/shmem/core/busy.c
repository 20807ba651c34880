/* SPDX-License-Identifier: BSD-3-Clause */
/* busy once|forever: a bit of everything, over and over. */

#include "tests/shmem/check.h"
#include <string.h>

static long counter;

int main(int argc, char **argv)
{
    int rounds = (argc > 1 && strcmp(argv[1], "forever") == 0) ? INT32_MAX : 20;
    int me;
    int count;
    int i;

    shmem_init();
    me    = shmem_my_pe();
    count = shmem_n_pes();
    for (i = 0; i < rounds; i++) {
        long *block = shmem_malloc(1000 * sizeof *block);
        int k;

        for (k = 0; k < 100; k++) {
            shmem_long_p(&block[k], me, (me + 1) % count);
            shmem_long_atomic_inc(&counter, k % count);
        }
        shmem_barrier_all();
        CHECK(block[99] == (me + count - 1) % count, "%ld", block[99]);
        shmem_free(block);
    }
    shmem_finalize();
    return 0;
}
