#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every rank of sid's MPICH 5 believes itself alone on its host.
#
# Expected: MPI_Comm_split_type(MPI_COMM_TYPE_SHARED) on two ranks of one host gives both of them a
# communicator of two, as with MPICH 4.2.1 of Debian 13 and Open MPI.
# Seen: it gives a communicator of one, with success. mpiexec has told its proxy that both ranks
# are on one node (-v shows the mapping), but no rank asks for it. What is built on that
# communicator goes wrong in silence: a code that takes the ranks of its host for the divisor of
# memory and threads uses the host N times over, tables meant to be one a host are one a rank.
# Only MPI_Win_allocate_shared() on both ranks says so: not in the same shared memory domain.
#
# Versions: Debian sid, mpich 5.0.2-2, gcc-16 16.2.0-4.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='shared communicator of 1 of 2
shared communicator of 1 of 2
MPI_Win_allocate_shared on both: an error
MPI_Win_allocate_shared on both: an error'

RUN=$(cat <<'END'
cd /tmp
cat >alone.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int world, here;
    void *base;
    MPI_Comm shared;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    if (argc == 1) {
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
        MPI_Comm_size(shared, &here);
        printf("shared communicator of %d of %d\n", here, world);
    } else {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        here = MPI_Win_allocate_shared(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
        printf("MPI_Win_allocate_shared on both: %s\n", here != 0 ? "an error" : "success");
    }
    MPI_Finalize();
}
C
MPICH_CC=gcc-16 mpicc.mpich alone.c -o alone
mpirun.mpich -n 2 ./alone 2>/dev/null
mpirun.mpich -n 2 ./alone window 2>/dev/null
END
)
export RUN
packages=base-files,dash,bash,sed,coreutils,gcc-16=16.2.0-4,mpich=5.0.2-2,libmpich-dev=5.0.2-2
# An archive of old versions has lists that have expired.
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' sid /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
