#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# names.sh MODULES COMPILER GENERIC_H LIBRARY...: Fortran has every name that the libraries export, in the
# modules or in the compiler's omp_lib, and every generic name of C11, but for those of without.txt, which has
# the reasons. Prints how many; every name that Fortran lacks is an error, and so is a reason without a name.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
modules=$1 compiler=$2 generic=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

for library in "$@"; do
    nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//'
done | grep -Ev '^(_init|_fini|__(start|stop)_msp_fork)$' | sort -u >"$scratch/exported"
# C's name of each interface: a statement may be continued on the next line.
sed -e ':more' -e '/&$/{N;s/ *&\n */ /;bmore' -e '}' "$modules"/*.f90 >"$scratch/text"
sed -nE 's/^(subroutine|function) ([a-z_0-9]+)\(.*bind\(c\).*/\2/p
         s/^(subroutine|function) .*bind\(c, name="([^"]*)"\).*/\2/p' "$scratch/text" | sort -u >"$scratch/bound"
comm -23 "$scratch/exported" "$scratch/bound" >"$scratch/rest"

# Of the rest, those of omp_lib: the compiler says which.
grep '^omp_.*[^_]$' "$scratch/rest" >"$scratch/openmp" || :
while read -r name; do
    printf 'program p\nuse omp_lib, only: %s\nend program\n' "$name" >"$scratch/p.f90"
    "$compiler" -fsyntax-only "$scratch/p.f90" 2>/dev/null && echo "$name"
done <"$scratch/openmp" >"$scratch/omp_lib" || :
sort "$scratch/omp_lib" | comm -23 "$scratch/rest" - >"$scratch/lacking"

# shmem_put() of C11 is the generic interface shmem_put, or the routine of that name.
sed -nE 's/^#define (shmem_[a-z_]+)\(.*/\1/p' "$generic" | sort -u >"$scratch/macros"
[ "$(wc -l <"$scratch/macros")" -gt 50 ] || { echo 'no generic names found'; exit 2; }
sed -nE 's/^interface (shmem_[a-z_]+)$/\1/p' "$scratch/text" | sort -u |
    comm -23 "$scratch/macros" - | sed 's/$/(...)/' >>"$scratch/lacking"

bad=0
grep -v '^#' "$here/without.txt" | cut -d ' ' -f 1 >"$scratch/patterns"
grep -vxEf "$scratch/patterns" "$scratch/lacking" >"$scratch/unexplained" || :
[ ! -s "$scratch/unexplained" ] || { sed 's/^/Fortran lacks: /' "$scratch/unexplained"; bad=1; }
while read -r pattern; do
    grep -qxE "$pattern" "$scratch/lacking" || { echo "without.txt: $pattern is no name that Fortran lacks"; bad=1; }
done <"$scratch/patterns"
echo "$(wc -l <"$scratch/exported") exported names: $(comm -12 "$scratch/exported" "$scratch/bound" | wc -l) in the modules," \
    "$(wc -l <"$scratch/omp_lib") in omp_lib, $(grep -cv '(' "$scratch/lacking") without, for reasons"
exit "$bad"
