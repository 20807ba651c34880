#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# prototypes.sh INCLUDE LIBRARY COMPILER...: in C and in C++, every routine of the lists has exactly
# the type that the standard's synopsis gives it, by both of its names; and a program that takes all
# the addresses links and runs. A compiler that is not here is left out and said so.
set -eu
include=$1 library=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
tried=0

awk -v version=1.6 -f "$here/prototypes.awk" "$here/families.txt" >"$scratch/prototypes"
{
    echo '#include <shmem.h>'
    echo '#include <pshmem.h>'
    awk -F ' [|] ' '{
        printf "%s (*const routine_%d)(%s) = &%s;\n", $1, NR, $3, $2
        printf "%s (*const profiled_%d)(%s) = &p%s;\n", $1, NR, $3, $2
    }' "$scratch/prototypes" | sed 's/^/static /'
    echo 'int main(void) {'
    awk '{ printf "if (!routine_%d || !profiled_%d) return 1;\n", NR, NR }' "$scratch/prototypes"
    echo 'return 0; }'
} >"$scratch/prototypes.c"
cp "$scratch/prototypes.c" "$scratch/prototypes.cpp"

folder=$(dirname "$library")
for compiler in "$@"; do
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "$compiler is not here"
        continue
    fi
    # The complex types are an extension of C++; comparing an address with null is what is done here.
    case $compiler in
    *++*) suffix=cpp flags='-std=c++17 -Wno-c99-extensions' ;;
    *) suffix=c flags=-std=c11 ;;
    esac
    tried=$((tried + 1))
    # shellcheck disable=SC2086 # a list of flags
    "$compiler" $flags -Wall -Wextra -Werror -Wno-address -I"$include" "$scratch/prototypes.$suffix" \
        -o "$scratch/program" ${LINK_FLAGS-} -L"$folder" -lmemspan-shmem -lmemspan -Wl,-rpath,"$folder"
    "$scratch/program"
done
[ $tried -gt 0 ] || exit 77
echo "$(wc -l <"$scratch/prototypes") prototypes, as they should be, by $tried compilers"
