#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh LIBRARY STOCK LINKED: one unmodified program three times: as it is, with the library
# preloaded, and built with the library first in link order. The answers must be the same, and the
# statistics must show that the memory was the library's and that all of it came back.
# OMP_TEST_PRELOAD: what has to be loaded before the library (a sanitizer's runtime).
set -u
library=$1 stock=$2 linked=$3
extra=${OMP_TEST_PRELOAD:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$(basename "$stock"): $1" >&2
    exit 1
}

check() { # HOW EXIT-STATUS
    [ "$2" -eq 0 ] || { cat "$work/$1.err" >&2; fail "$1: exit status $2"; }
    cmp -s "$work/stock.out" "$work/$1.out" || {
        diff "$work/stock.out" "$work/$1.out" >&2
        fail "$1: other answers than stock"
    }
    if grep -q '^memspan.* error ' "$work/$1.err"; then
        cat "$work/$1.err" >&2
        fail "$1: the library reported an error"
    fi
    line=$(grep '^memspan stats all ' "$work/$1.err") || fail "$1: no statistics"
    echo "$1: $line"
    case $line in
    *" allocated=0 "*) fail "$1: the memory was not the library's" ;;
    *" live=0 "*) ;;
    *) fail "$1: memory was not given back" ;;
    esac
}

"$stock" >"$work/stock.out" 2>"$work/stock.err" ||
    { status=$?; cat "$work/stock.err" >&2; fail "stock: exit status $status"; }
MEMSPAN_STATS=exit LD_PRELOAD="$extra $library" "$stock" >"$work/preloaded.out" 2>"$work/preloaded.err"
check preloaded $?
MEMSPAN_STATS=exit LD_PRELOAD="$extra" "$linked" >"$work/linked.out" 2>"$work/linked.err"
check linked $?
