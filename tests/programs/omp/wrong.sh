#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# wrong.sh LIBRARY STOCK LINKED: what the guard finds in a program that was not built for it, with the
# region of the program in the call stack.
# OMP_TEST_PRELOAD: what has to be loaded before the library (a sanitizer's runtime).
set -u
library=$1 stock=$2 linked=$3
extra=${OMP_TEST_PRELOAD:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export MEMSPAN_DEBUG=guard

check() { # HOW
    [ "$status" -ne 0 ] || { echo "$1: nothing stopped the second free" >&2; exit 1; }
    expect "$1" 'guard: double free of .* a block of 40 bytes' 'omp_high_bw_mem_alloc' \
        'freed by thread' '(omp_fn|omp_outlined)' 'this free, by thread'
}

expect() { # HOW PATTERN...
    how=$1
    shift
    for pattern; do
        grep -qE "$pattern" "$work/err" ||
            { cat "$work/err" >&2; echo "$how: no \"$pattern\"" >&2; exit 1; }
    done
}

LD_PRELOAD="$extra $library" "$stock" twice >"$work/out" 2>"$work/err"
status=$?
check preloaded
LD_PRELOAD="$extra" "$linked" twice >"$work/out" 2>"$work/err"
status=$?
check linked

LD_PRELOAD="$extra $library" "$stock" >"$work/out" 2>"$work/err" ||
    { cat "$work/err" >&2; echo 'a leak changed the exit status' >&2; exit 1; }
expect leak 'leak: 123 bytes in one block' 'omp_default_mem_alloc' '#0 main\+'
[ "$(grep -c 'leak:' "$work/err")" -eq 1 ] || { echo 'more leaks than there are' >&2; exit 1; }
