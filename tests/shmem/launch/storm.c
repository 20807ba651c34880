/* SPDX-License-Identifier: BSD-3-Clause */
/* launch-storm [rounds]: puts, atomics, barriers and allocations, without end unless a number is
 * given: something to be killed in the middle of. */

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long file[64];

static int round_trip(long round)
{
    int pe     = shmem_my_pe();
    int pes    = shmem_n_pes();
    int next   = (pe + 1) % pes;
    int before = (pe + pes - 1) % pes;
    long *heap = shmem_malloc(4096);
    if (heap == NULL) {
        return 1;
    }
    long value = round * pes + pe;
    shmem_long_put(heap, &value, 1, next);
    shmem_long_p(&file[0], value, next);
    shmem_long_atomic_add(&file[1], 1, next);
    shmem_barrier_all();
    if (heap[0] != round * pes + before || file[0] != heap[0] || file[1] != round + 1) {
        fprintf(stderr, "PE %d, round %ld: %ld %ld %ld\n", pe, round, heap[0], file[0], file[1]);
        return 2;
    }
    shmem_free(heap);
    return 0;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : -1;
    int status  = 0;
    shmem_init();
    printf("up\n");
    fflush(stdout);
    for (long round = 0; round != rounds && status == 0; round++) {
        status = round_trip(round);
    }
    if (status != 0) {
        shmem_global_exit(status);
    }
    shmem_finalize();
    return 0;
}
