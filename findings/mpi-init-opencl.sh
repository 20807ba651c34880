#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI_Init() of a program that uses no GPU loads PoCL and LLVM, and SIGUSR1 no longer ends it.
#
# Expected: an OpenCL driver that is installed for other programs changes nothing for MPI.
# Seen: started without mpiexec (python3 -c "from mpi4py import MPI", a debugger, a test of one
# rank), MPI_Init looks at the machine by hwloc; hwloc's OpenCL plug-in, which libhwloc15
# recommends, opens every OpenCL driver; PoCL opens LLVM, and LLVM takes over fifteen signals. The
# process grows from 22 MB to 80 MB resident (MPICH; Open MPI 16 to 74), has two threads more,
# survives a SIGUSR1 that ends it otherwise (Open MPI; MPICH takes that one itself), and hands
# HWLOC_PLUGINS_PATH=/dev/null to its children: hwloc in them sees no GPU and no PCI device.
# Under mpiexec none of it happens. HWLOC_COMPONENTS=-opencl avoids it.
#
# Versions: Debian 13, mpich 4.3.0+really4.2.1-1, openmpi-bin 5.0.7-1, libhwloc-plugins 2.12.0-4,
# pocl-opencl-icd 6.0-6. The same with mpich 5.0.2-2, openmpi-bin 6.0.0~rc2-2, libhwloc-plugins
# 2.15.0-2 and pocl-opencl-icd 7.1-9 of sid.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='mpich: PoCL loaded 1, HWLOC_PLUGINS_PATH /dev/null, survives SIGUSR1
mpich, HWLOC_COMPONENTS=-opencl: PoCL loaded 0, HWLOC_PLUGINS_PATH unset, survives SIGUSR1
openmpi: PoCL loaded 1, HWLOC_PLUGINS_PATH /dev/null, survives SIGUSR1
openmpi, HWLOC_COMPONENTS=-opencl: PoCL loaded 0, HWLOC_PLUGINS_PATH unset, ends by SIGUSR1'

RUN=$(cat <<'END'
cd /tmp
cat >init.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[4096];
    int pocl = 0;
    MPI_Init(&argc, &argv);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        pocl |= strstr(line, "libpocl") != NULL;
    const char *path = getenv("HWLOC_PLUGINS_PATH");
    printf("PoCL loaded %d, HWLOC_PLUGINS_PATH %s, ", pocl, path != NULL ? path : "unset");
    fflush(stdout);
    raise(SIGUSR1);
    printf("survives SIGUSR1\n");
    MPI_Finalize();
}
C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for mpi in mpich openmpi; do
    MPICH_CC=gcc-14 OMPI_CC=gcc-14 mpicc.$mpi init.c -o $mpi
    echo "$mpi: $(./$mpi 2>/dev/null || echo ends by SIGUSR1)"
    echo "$mpi, HWLOC_COMPONENTS=-opencl: $(
        HWLOC_COMPONENTS=-opencl ./$mpi 2>/dev/null || echo ends by SIGUSR1)"
done 2>/dev/null
END
)
export RUN
packages=base-files,dash,bash,sed,coreutils,gcc-14=14.2.0-19,mpich=4.3.0+really4.2.1-1
packages=$packages,libmpich-dev=4.3.0+really4.2.1-1,openmpi-bin=5.0.7-1,libopenmpi-dev=5.0.7-1
packages=$packages,libhwloc-plugins=2.12.0-4,pocl-opencl-icd=6.0-6
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
