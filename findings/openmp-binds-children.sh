#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# OMP_PROC_BIND puts every program that an OpenMP program starts on one processor.
#
# Expected: the variable binds OpenMP's threads; a child process and a thread that the program
# makes itself keep the processors that the process was given.
# Seen: the runtime binds the program's first thread to one place, and children and threads inherit
# that. libgomp does it before main(), so importing any Python module that links libgomp is enough:
# all workers of multiprocessing and every compiler that it runs share one processor. libomp does it
# at the first parallel region: the same call of system() has all processors before and one
# after. OMP_PLACES=cores alone does the same. Nothing of the kind happens with neither set.
#
# Versions: Debian 13, libgomp1 14.2.0-19 (gcc-14), libomp5-19 1:19.1.7-3+b1 (clang-19).
# Output: the lines of "want" below, what a child may use.
# Needs: two processors; mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='libgomp, not set: all before the first region, all after
libgomp, OMP_PROC_BIND=true: one before the first region, one after
libgomp, OMP_PLACES=cores: one before the first region, one after
libomp, not set: all before the first region, all after
libomp, OMP_PROC_BIND=true: all before the first region, one after
libomp, OMP_PLACES=cores: all before the first region, one after'

RUN=$(cat <<'END'
cd /tmp
cat >child.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    /* nproc without OMP_NUM_THREADS counts the processors of its own process. */
    if (system("[ $(nproc) = 1 ] && printf one || printf all") != 0)
        return 1;
    printf(" before the first region, ");
    fflush(stdout);
#pragma omp parallel
    {
    }
    return system("[ $(nproc) = 1 ] && printf one || printf all") != 0;
}
C
unset OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES
[ "$(nproc)" -gt 1 ] || echo 'this needs two processors'
gcc-14 -fopenmp child.c -o libgomp
clang-19 -fopenmp child.c -o libomp
for runtime in libgomp libomp; do
    echo "$runtime, not set: $(./$runtime) after"
    echo "$runtime, OMP_PROC_BIND=true: $(OMP_PROC_BIND=true ./$runtime) after"
    echo "$runtime, OMP_PLACES=cores: $(OMP_PLACES=cores ./$runtime) after"
done
END
)
export RUN
packages=base-files,dash,coreutils,gcc-14=14.2.0-19,libgomp1=14.2.0-19
packages=$packages,clang-19=1:19.1.7-3+b1,libomp-19-dev=1:19.1.7-3+b1
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
