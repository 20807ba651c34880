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

# A constant of memspan_omp is that of the compiler's own OpenMP.
printf '%s\n' 'program invalid' 'use memspan_omp' \
    'integer, parameter :: right = 1 / merge(1, 0, omp_invalid_device == -2)' 'end program' >invalid.f90
"$flang" -w -fopenmp -fsyntax-only "$modules/memspan.f90" "$modules/memspan_omp.f90" invalid.f90

major=$("$flang" --version | sed -n 's/.*flang version \([0-9]*\).*/\1/p')
[ "$major" ] || { "$flang" --version; exit 1; }
for level in -O0 -O2; do
    if [ "$major" -ge 23 ]; then # whose assignments do not ask the runtime
        try fixed '' "$level" -mmlir -use-alloc-runtime -fno-realloc-lhs
        try refused no-realloc-lhs "$level" -mmlir -use-alloc-runtime
    else
        try placed '' "$level" -mmlir -use-alloc-runtime
    fi
    try refused use-alloc-runtime "$level"
done
