#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Win_allocate() gives memory that is not aligned for a double, whatever alignment is asked.
#
# Expected: each rank's memory is its own allocation, aligned at least as malloc() would; the
# info key mpi_minimum_memory_alignment of MPI 4.0 asks for more.
# Seen: on one host both MPIs put the ranks' parts behind each other in one shared segment,
# without a gap and without a look at the key. Where rank 0 asks for 100 bytes, rank 1's part
# begins at byte 100: 4 modulo 8. It shares a cache line with its neighbour's too, so counters
# that are one per rank slow each other down, and a vector load that wants its alignment is
# wrong in all ranks but the first. Sizes in multiples of a page avoid it.
#
# Versions: Debian 13, mpich 4.3.0+really4.2.1-1 and openmpi-bin 5.0.7-1. The same with
# openmpi-bin 6.0.0~rc2-2 of sid.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='mpich, 4096 asked: rank 0 at 0, rank 1 at 100
openmpi, 4096 asked: rank 0 at 0, rank 1 at 100'

RUN=$(cat <<'END'
cd /tmp
cat >window.c <<'C'
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, at, all[2];
    void *base;
    MPI_Win window;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
    MPI_Win_allocate(100, 1, info, MPI_COMM_WORLD, &base, &window);
    at = (int)((uintptr_t)base % 4096);
    MPI_Gather(&at, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s, 4096 asked: rank 0 at %d, rank 1 at %d\n", argv[1], all[0], all[1]);
    MPI_Win_free(&window);
    MPI_Info_free(&info);
    MPI_Finalize();
}
C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for mpi in mpich openmpi; do
    MPICH_CC=gcc-14 OMPI_CC=gcc-14 mpicc.$mpi window.c -o $mpi
    mpirun.$mpi -n 2 ./$mpi $mpi 2>/dev/null
done
END
)
export RUN
packages=base-files,dash,bash,sed,coreutils,gcc-14=14.2.0-19,mpich=4.3.0+really4.2.1-1
packages=$packages,libmpich-dev=4.3.0+really4.2.1-1,openmpi-bin=5.0.7-1,libopenmpi-dev=5.0.7-1
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
