/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.c: MPI and OpenSHMEM in one program. "ORDER-ORDER": which library starts first and which ends
 * first, by its initial. Each library moves data while PEs wait in a call of the other. */

#include "tests/shmem/check.h"
#include <mpi.h>
#include <shmem.h>
#include <shmemx.h>
#include <string.h>

enum { ROUNDS = 20, TAG = 7 };

static long cells[4];

/* PEs with odd numbers wait in MPI while the others put to their memory. */
static void use_openshmem_beside_mpi(int me, int count, long round)
{
    if ((me % 2 == 0) && (me + 1 < count)) {
        shmem_long_p(&cells[0], round, me + 1);
        shmem_quiet();
        CHECK(shmem_long_g(&cells[0], me + 1) == round);
        CHECK(shmem_long_atomic_fetch_inc(&cells[1], me + 1) == round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK((me % 2 == 0) || (cells[1] == round + 1));
}

/* PEs with even numbers wait in a barrier of OpenSHMEM when their message comes. */
static void use_mpi_beside_openshmem(int me, int count)
{
    MPI_Request request;
    int from = -1;

    MPI_Irecv(&from, 1, MPI_INT, (me + count - 1) % count, TAG, MPI_COMM_WORLD, &request);
    MPI_Send(&me, 1, MPI_INT, (me + 1) % count, TAG, MPI_COMM_WORLD);
    if (me % 2 != 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    shmem_barrier_all();
    if (me % 2 == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(from == (me + count - 1) % count);
}

static void start_mpi(int *argc, char ***argv)
{
    int provided;

    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    CHECK(provided >= MPI_THREAD_FUNNELED);
}

int main(int argc, char **argv)
{
    const char *order = (argc > 1) ? argv[1] : "m-s";
    int rank          = -1;
    int count         = 0;
    long sum          = 0;
    long round;

    if (order[0] == 'm') {
        start_mpi(&argc, &argv);
        shmem_init();
    } else {
        shmem_init();
        start_mpi(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    CHECK((rank == shmem_my_pe()) && (count == shmem_n_pes()));
    CHECK(shmemx_query_interoperability(SHMEMX_MPI_PROCESSES_ARE_PES) == 1);
    CHECK(shmemx_query_interoperability(SHMEMX_PROGRESS_MPI) == 0);
    for (round = 0; round < ROUNDS; round++) {
        use_openshmem_beside_mpi(rank, count, round);
        use_mpi_beside_openshmem(rank, count);
        cells[2] = rank + round;
        MPI_Allreduce(&cells[2], &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &cells[3], &cells[2], 1) == 0);
        CHECK(cells[3] == sum);
    }
    if (order[2] == 'm') {
        MPI_Finalize();
        shmem_barrier_all();
        shmem_finalize();
    } else {
        shmem_finalize();
        MPI_Finalize();
    }
    return 0;
}
