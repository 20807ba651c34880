#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An OpenMP allocator of GCC with partition=nearest spends a page on each block.
#
# Expected: "nearest" is where the pages of the current thread come from anyway, so the trait costs
# nothing; and a package that the program does not link changes nothing.
# Seen: libgomp opens libnuma.so.1 by itself where it is installed, and makes each block of such an
# allocator a numa_alloc_local() of its own: a system call and 4 KiB for 64 bytes, 64 times the
# memory. Without the trait, or without libnuma, the same block takes about 112 bytes. The
# program is the same; whether numactl happens to be installed on the node decides.
#
# Versions: Debian 13, gcc-14 and libgomp1 14.2.0-19, libnuma1 2.0.19-1. The same with libgomp1
# 16.2.0-4 of sid.
# Output: the lines of "want" below, resident memory of 10,000 blocks of 64 bytes.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='libnuma installed, default allocator: below 200 bytes a block
libnuma installed, partition=nearest: 4096 bytes a block
no libnuma, partition=nearest: below 200 bytes a block'

RUN=$(cat <<'END'
cd /tmp
cat >nearest.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { BLOCKS = 10000 };
static long resident(void)
{
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2)
        exit(1);
    fclose(file);
    return pages * 4096;
}
int main(int argc, char **argv)
{
    (void)argv;
    const omp_alloctrait_t trait = { omp_atk_partition, omp_atv_nearest };
    const omp_allocator_handle_t allocator =
        omp_init_allocator(omp_default_mem_space, argc > 1, &trait);
    const long before = resident();
    for (int i = 0; i < BLOCKS; i++) {
        char *block = omp_alloc(64, allocator);
        if (block == NULL)
            return 1;
        block[0] = 'x';
    }
    const long each = (resident() - before) / BLOCKS;
    printf(each < 200 ? "below 200 bytes a block\n" : "%ld bytes a block\n", each / 64 * 64);
}
C
gcc-14 -fopenmp nearest.c -o nearest
echo "libnuma installed, default allocator: $(./nearest)"
echo "libnuma installed, partition=nearest: $(./nearest nearest)"
rm /usr/lib/*/libnuma.so.1*
echo "no libnuma, partition=nearest: $(./nearest nearest)"
END
)
export RUN
packages=base-files,dash,coreutils,libc6-dev,gcc-14=14.2.0-19,libgomp1=14.2.0-19,libnuma1=2.0.19-1
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' trixie /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
