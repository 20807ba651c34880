#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fesetround() between two parallel regions: libgomp's other threads keep the old mode.
#
# Expected: either every thread of the next region has the caller's floating-point mode, or none
# but the caller, in every runtime alike.
# Seen: libomp copies the caller's mode to its team at each region. libgomp's threads have the
# mode of the moment at which they were made: 1/3 rounded upward is one number in the first
# thread and another in the rest, in one array of one loop. Without the first region all
# four agree, so a library that runs an OpenMP loop before the program sets its mode changes
# the program's results. The same holds for flush-to-zero, which is in the same register.
#
# Versions: Debian 13, gcc-14 and libgomp1 14.2.0-19; clang-19 and libomp5-19 1:19.1.7-3+b1. The
# same with libgomp1 16.2.0-4 and libomp5 1:23.1.4-2 of sid.
# Output: the lines of "want" below, one digit a thread: 1 where 1/3 was rounded upward.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='libgomp, no region before: 1111
libgomp, a region before: 1000
libomp, no region before: 1111
libomp, a region before: 1111'

RUN=$(cat <<'END'
cd /tmp
cat >round.c <<'C'
#include <fenv.h>
#include <omp.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    volatile double one = 1, three = 3;
    double third[4] = { 0 };
    const double nearest = one / three;
    (void)argv;
    if (argc > 1) {
#pragma omp parallel num_threads(4)
        third[omp_get_thread_num()] = 0;
    }
    fesetround(FE_UPWARD);
#pragma omp parallel num_threads(4)
    third[omp_get_thread_num()] = one / three;
    for (int i = 0; i < 4; i++)
        putchar(third[i] > nearest ? '1' : '0');
}
C
gcc-14 -fopenmp round.c -o libgomp -lm
clang-19 -fopenmp round.c -o libomp -lm
for runtime in libgomp libomp; do
    printf '%s, no region before: %s\n' $runtime "$(./$runtime)"
    printf '%s, a region before: %s\n' $runtime "$(./$runtime first)"
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
