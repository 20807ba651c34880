#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# omp_calloc() of libomp writes every page of the block, in the calling thread.
#
# Expected: zeroed memory of a large block costs nothing until it is used, as with calloc(), and
# each page lies on the NUMA node of the thread that uses it first.
# Seen: libomp allocates and then fills with zeros. 256 MiB are resident when omp_calloc()
# returns, all of them placed by one thread, so a parallel first touch afterwards moves
# nothing. libgomp's omp_calloc() and calloc() leave the block untouched. The two runtimes need
# another program for the same placement, and a sparse table costs its full size in one.
#
# Versions: Debian 13, clang-19 and libomp5-19 1:19.1.7-3+b1; gcc-14 and libgomp1 14.2.0-19. The
# same with libomp5 1:23.1.4-2 and libgomp1 16.2.0-4 of sid.
# Output: the lines of "want" below, in MiB that became resident for a block of 256 MiB.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='libgomp: calloc 0, omp_calloc 0
libomp: calloc 0, omp_calloc 256'

RUN=$(cat <<'END'
cd /tmp
cat >zero.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static long resident(void)
{
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2)
        exit(1);
    fclose(file);
    return pages;
}
int main(void)
{
    const size_t block = (size_t)256 << 20;
    /* The runtime starts before the first look. */
    omp_free(omp_alloc(64, omp_default_mem_alloc), omp_default_mem_alloc);
    const long start = resident();
    char *volatile plain = calloc(block, 1);
    const long between = resident();
    char *volatile openmp = omp_calloc(block, 1, omp_default_mem_alloc);
    const long end = resident();
    if (plain == NULL || openmp == NULL)
        return 1;
    printf("calloc %ld, omp_calloc %ld\n", (between - start) / 256, (end - between) / 256);
}
C
gcc-14 -fopenmp zero.c -o libgomp
clang-19 -fopenmp zero.c -o libomp
for runtime in libgomp libomp; do printf '%s: %s\n' $runtime "$(./$runtime)"; done
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
