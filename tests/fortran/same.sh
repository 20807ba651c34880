#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# same.sh C-PROGRAM FORTRAN-PROGRAM: they print the same sizes, offsets and constants.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
"$1" >"$scratch/c"
"$2" >"$scratch/fortran"
[ "$(wc -l <"$scratch/c")" -gt 500 ] || { echo 'C prints next to nothing'; exit 1; }
diff "$scratch/c" "$scratch/fortran"
