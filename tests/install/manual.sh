#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# manual.sh PREFIX NM SOURCES: in what was installed, there is a manual page of the name of every public
# call, and each page that only leads to another leads to one that is there and names it.
set -eu
prefix=$1 nm=$2 sources=$3
bad=0
man=$(find "$prefix" -type d -name man3)

calls() {
    for library in libmemspan.so libmemspan-shmem.so; do
        find "$prefix" -name "$library" -exec "$nm" -D --defined-only {} \; |
            awk '$3 ~ /^(memspan|shmemx?)_/ && $3 !~ /^memspan_fortran_/ { print $3 }' # memspan-fortran(7)
    done
    tr '\n' ' ' <"$sources/include/memspan/omp.h" | grep -oE '[ *](llvm_)?omp_[a-z_0-9]+\(' | tr -d ' *('
}

[ "$(calls | sort -u | wc -l)" -gt 150 ] || { echo 'hardly any call was found'; exit 1; }
for call in $(calls | sort -u); do
    [ -e "$man/$call.3" ] || { echo "there is no page $call(3)"; bad=1; }
done
for page in "$man"/*.3; do
    read -r first <"$page" || true
    case $first in
    .so*) [ -e "${man%/man3}/${first#.so }" ] || { echo "$page leads nowhere: $first"; bad=1; } ;;
    esac
done
grep -q '^\.so man3/shmem_put.3$' "$man/shmem_long_put_nbi.3" 2>/dev/null || [ ! -e "$man/shmem_put.3" ] ||
    { echo 'shmem_long_put_nbi(3) is not that of shmem_put(3)'; bad=1; }
for page in memspan.hpp.3 omp_alloc.3; do
    [ -e "$man/$page" ] || { echo "no $page"; bad=1; }
done
for page in memquery memspan-bench; do
    [ -e "${man%/man3}/man1/$page.1" ] || { echo "no $page.1"; bad=1; }
done
exit "$bad"
