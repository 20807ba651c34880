#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# repeat.sh BUILT INSTALLED INCLUDE SCRIPT...: the script gives the modules that were built and
# installed once more, with Clang where it is here; it ends with an error at a declaration that it does
# not understand.
set -eu
built=$1 installed=$2 include=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
compiler=$(command -v clang-19 || command -v cc)
"$@" --cc "$compiler" "$include" "$scratch/again"
for module in "$scratch/again"/*.f90; do
    cmp "$module" "$built/${module##*/}"
    cmp "$module" "$installed/${module##*/}"
done
cp -R "$include" "$scratch/include"
sed -i 's/^MEMSPAN_API int memspan_device_count(void);/MEMSPAN_API wide_t memspan_device_count(void);/' \
    "$scratch/include/memspan/device.h"
if "$@" --cc "$compiler" "$scratch/include" "$scratch/other" 2>"$scratch/said"; then
    echo 'a type that it does not know is no error'
    exit 1
fi
grep -q 'not understood: type wide_t' "$scratch/said" || { cat "$scratch/said"; exit 1; }
