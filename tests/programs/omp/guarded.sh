#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guarded.sh LIBRARY STOCK: one unmodified, right program with the library preloaded and its guard
# on: the same answers, and nothing found, leaks included.
# OMP_TEST_PRELOAD: what has to be loaded before the library (a sanitizer's runtime).
set -u
library=$1 stock=$2
extra=${OMP_TEST_PRELOAD:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
    cat "$work/guarded.err" >&2
    echo "$(basename "$stock"): $1" >&2
    exit 1
}

"$stock" >"$work/stock.out" 2>/dev/null || { echo 'the program fails without the library' >&2; exit 1; }
MEMSPAN_DEBUG=guard,fail MEMSPAN_STATS=exit LD_PRELOAD="$extra $library" "$stock" \
    >"$work/guarded.out" 2>"$work/guarded.err"
status=$?
[ "$status" -eq 0 ] || fail "exit status $status"
cmp "$work/stock.out" "$work/guarded.out" || fail 'other answers than stock'
grep -q 'guard: ' "$work/guarded.err" && fail 'something was found'
grep -q '^memspan stats all .*allocated=[1-9]' "$work/guarded.err" || fail "the memory was not the library's"
