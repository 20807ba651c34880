#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# placed.sh FLANG MODULES PROGRAM LIBRARY: memspan_place with flang, by the option that it needs and refused
# without, with and without optimisation.
set -eu
flang=$1 modules=$2 program=$3 library=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

try() {
    mode=$1 hint=$2
    shift 2
    "$flang" -w "$@" "$modules/memspan.f90" "$program" "$library" "-Wl,-rpath,${library%/*}" -o program
    ./program "$mode" "$hint" || { echo "$flang $*: $mode"; exit 1; }
}

for level in -O0 -O2; do
    try placed '' "$level" -mmlir -use-alloc-runtime
    try refused use-alloc-runtime "$level"
done
