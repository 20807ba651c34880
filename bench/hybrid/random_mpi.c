/* SPDX-License-Identifier: BSD-3-Clause */
/* random_mpi.c: numbers go to the PEs of their words in rounds of 1024, the most that HPCC allows
 * to be held back. */

#include "bench/hybrid/job.h"
#include <mpi.h>
#include <stdlib.h>

enum { ROUND = 1024, PES_MAX = 64 };

/* Numbers sorted by PE; returns the number after them. */
static uint64_t sort(uint64_t number, int count, uint64_t *sorted, int *counts, int *starts)
{
    uint64_t next   = number;
    int at[PES_MAX] = {0};

    for (int pe = 0; pe < job_count; pe++) {
        counts[pe] = 0;
    }
    for (int i = 0; i < count; i++, next = random_next(next)) {
        counts[random_pe(next)]++;
    }
    for (int pe = 0, sum = 0; pe < job_count; sum += counts[pe++]) {
        starts[pe] = sum;
        at[pe]     = sum;
    }
    for (next = number; count > 0; count--, next = random_next(next)) {
        sorted[at[random_pe(next)]++] = next;
    }
    return next;
}

/* Returns how many numbers came. */
static int exchange(const uint64_t *sorted, const int *counts, const int *starts,
                    uint64_t *received)
{
    int their_counts[PES_MAX];
    int their_starts[PES_MAX];
    int sum = 0;

    (void)MPI_Alltoall(counts, 1, MPI_INT, their_counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int pe = 0; pe < job_count; sum += their_counts[pe++]) {
        their_starts[pe] = sum;
    }
#pragma omp target data use_device_ptr(received)
    (void)MPI_Alltoallv(sorted, counts, starts, MPI_UINT64_T, received, their_counts, their_starts,
                        MPI_UINT64_T, MPI_COMM_WORLD);
    return sum;
}

void random_update(uint64_t *table, uint64_t number, size_t count, bool atomic)
{
    size_t size_bytes  = (size_t)job_count * ROUND * sizeof(uint64_t);
    uint64_t *received = job_array(size_bytes);
    uint64_t sorted[ROUND];
    int counts[PES_MAX];
    int starts[PES_MAX];

    (void)atomic;
    for (size_t done = 0; done < count; done += ROUND) {
        int part = (int)((count - done < ROUND) ? count - done : ROUND);

        number = sort(number, part, sorted, counts, starts);
        random_apply(table, received, (size_t)exchange(sorted, counts, starts, received));
    }
    job_array_free(received);
}
