#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# overloads.sh PROGRAM INCLUDE COMPILER...: the test of the macros, as C++.
set -eu
program=$1 include=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
tried=0

cp "$program" "$scratch/program.cpp"
for compiler in "$@"; do
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "$compiler is not here"
        continue
    fi
    tried=$((tried + 1))
    "$compiler" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$include" \
        "$scratch/program.cpp" -o "$scratch/program"
    "$scratch/program"
done
[ $tried -gt 0 ] || exit 77
