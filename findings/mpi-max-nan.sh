#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI_MAX keeps a NaN in some elements of one array and loses it in the others.
#
# Expected: the maximum of NaN and 1 is NaN, or it is 1, the same for each element of a call.
# Seen: two ranks reduce 21 doubles, all NaN in one rank and all 1 in the other. MPICH splits
# the array between the ranks, who compute "theirs, mine" and "mine, theirs": 11 elements are
# NaN and 10 are 1, or the other way round when the other rank has the NaN. Open MPI computes
# 20 by vector instructions, which keep the second operand, and the last by a comparison, which
# keeps the first. A residual that is NaN in one process can come out of MPI_Allreduce as a
# number, depending on its index, the count and the rank: test for NaN before the reduction.
#
# Versions: Debian 13, mpich 4.3.0+really4.2.1-1 and openmpi-bin 5.0.7-1, x86-64 with AVX. The
# same with mpich 5.0.2-2 and openmpi-bin 6.0.0~rc2-2 of sid.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='mpich, NaN in rank 0: NaN in some elements, 1 in the others
mpich, NaN in rank 1: NaN in some elements, 1 in the others
openmpi, NaN in rank 0: NaN in some elements, 1 in the others
openmpi, NaN in rank 1: NaN in some elements, 1 in the others'

RUN=$(cat <<'END'
cd /tmp
cat >max.c <<'C'
#include <math.h>
#include <mpi.h>
#include <stdio.h>
enum { COUNT = 21 };
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int bad = 0; bad < 2; bad++) {
        double mine[COUNT], most[COUNT];
        int kept = 0;
        for (int i = 0; i < COUNT; i++)
            mine[i] = rank == bad ? NAN : 1;
        MPI_Allreduce(mine, most, COUNT, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        for (int i = 0; i < COUNT; i++)
            kept += isnan(most[i]) != 0;
        if (rank == 0)
            printf("%s, NaN in rank %d: %s\n", argv[1], bad,
                   kept == 0       ? "1"
                   : kept == COUNT ? "NaN"
                                   : "NaN in some elements, 1 in the others");
    }
    MPI_Finalize();
}
C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for mpi in mpich openmpi; do
    MPICH_CC=gcc-14 OMPI_CC=gcc-14 mpicc.$mpi max.c -o $mpi
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
