#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clang -fopenmp=libgomp builds a serial program and says nothing.
#
# Expected: the option chooses GCC's runtime instead of LLVM's, as its name says; who has no
# libomp installed takes it because plain -fopenmp does not link.
# Seen: Clang makes no OpenMP code for libgomp. It accepts the option, links libgomp, leaves
# _OPENMP undefined and skips every directive, without a warning also under -Wall -Wextra.
# omp_get_max_threads() of the same program is 4: what a program prints at its start says four
# threads, and one works.
#
# Versions: Debian 13, clang-19 1:19.1.7-3+b1, libgomp1 and gcc-14 14.2.0-19. The same with
# clang-22 1:22.1.8-3 and libgomp1 16.2.0-4 of sid.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='gcc: _OPENMP 1, omp_get_max_threads 4, threads at work 4
clang: _OPENMP 0, omp_get_max_threads 4, threads at work 1'

RUN=$(cat <<'END'
cd /tmp
cat >count.c <<'C'
#include <stdio.h>
extern int omp_get_max_threads(void);
int main(void)
{
    int threads = 0, defined = 0;
#pragma omp parallel
    {
#pragma omp atomic
        threads++;
    }
#ifdef _OPENMP
    defined = 1;
#endif
    printf("_OPENMP %d, omp_get_max_threads %d, threads at work %d\n", defined,
           omp_get_max_threads(), threads);
}
C
export OMP_NUM_THREADS=4
gcc-14 -fopenmp count.c -o gcc 2>&1
clang-19 -fopenmp=libgomp -Wall -Wextra count.c -o clang 2>&1
printf 'gcc: %s\nclang: %s\n' "$(./gcc)" "$(./clang)"
END
)
export RUN
packages=base-files,dash,coreutils,gcc-14=14.2.0-19,libgomp1=14.2.0-19,clang-19=1:19.1.7-3+b1
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
