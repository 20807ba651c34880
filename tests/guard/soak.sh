#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# soak.sh PROGRAM: random operations with the guard on. The program is right but for addresses inside
# of blocks, which it frees to see them refused: no other finding may be there, and its model must
# hold.
set -u
errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT

if ! "$1" --seconds 4 --threads 3 --seed 1 2>"$errors"; then
    grep -v '^  ' "$errors" | grep -v 'which starts no block' | tail -n 20 >&2
    exit 1
fi
grep -q 'guard: free of .* which starts no block' "$errors" ||
    { echo 'the guard was not there' >&2; exit 1; }
if grep -A 30 'guard: ' "$errors" | grep -A 30 -E 'guard: (double|realloc|over|under|write|leak)' >&2; then
    exit 1
fi
