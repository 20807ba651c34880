#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# refused.sh INCLUDE COMPILER...: a name without a type does not take an argument that there is no
# routine for, and takes one that there is: names of before 1.4 have no unsigned types, and none in C++. A compiler
# that is not here is left out and said so.
set -eu
include=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
tried=0 bad=0

# compiles STATEMENT: with x of each kind.
compiles() {
    printf '#include <shmem.h>\nstatic char c; static short s; static float f; static double _Complex z;\nstatic int i; static unsigned u; static unsigned long ul;\n' >"$scratch/p.$suffix"
    printf 'static struct { int a; } o; void *v;\nvoid run(shmem_ctx_t ctx);\nvoid run(shmem_ctx_t ctx) { (void)ctx; %s; }\n' "$1" >>"$scratch/p.$suffix"
    "$compiler" $standard -w -I"$include" -fsyntax-only "$scratch/p.$suffix" 2>"$scratch/said"
}

for compiler in "$@"; do
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "$compiler is not here"
        continue
    fi
    case $compiler in
    *++*) suffix=cpp standard=-std=c++17 old='' ;;
    *) suffix=c standard=-std=c11 old='shmem_add(&i,1,0) shmem_swap(&f,1,0)' ;;
    esac
    tried=$((tried + 1))
    for good in 'shmem_p(&c, 1, 0)' 'shmem_p(ctx, &s, 1, 0)' 'shmem_atomic_set(&f, 1, 0)' \
        'shmem_sum_reduce(SHMEM_TEAM_WORLD, &z, &z, 1)' 'shmem_atomic_add(&u, 1, 0)' \
        $old; do
        compiles "$good" || { echo "$compiler refuses $good"; bad=1; }
    done
    for wrong in 'shmem_p(&o, o, 0)' 'shmem_put(v, v, 1, 0)' 'shmem_atomic_add(&c, 1, 0)' \
        'shmem_atomic_add(ctx, &s, 1, 0)' 'shmem_atomic_xor(&f, 1, 0)' 'shmem_p(&z, 1, 0)' \
        'shmem_and_reduce(SHMEM_TEAM_WORLD, &f, &f, 1)' 'shmem_add(&u, 1, 0)' 'shmem_finc(&ul, 0)' \
        'shmem_set(&u, 1, 0)' 'shmem_wait_until_any(&f, 1, 0, 1, 1)'; do
        ! compiles "$wrong" || { echo "$compiler takes $wrong"; bad=1; }
    done
done
[ $tried -gt 0 ] || exit 77
exit $bad
