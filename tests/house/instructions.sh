#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# instructions.sh SOURCE-FOLDER RELEASE-FOLDER COMPILER [--print]: callgrind counts the instructions of
# the hot paths of allocation in the optimised library (of house.release). No count may be above that
# of instructions.txt. A count is the difference of a long and a short run, per pair, with the
# caller's loop. A change that lowers one lowers the table.
set -eu
source=$1 build=$2 compiler=$3 print=${4:-}
few=4000 more=24000
table=$source/tests/house/instructions.txt

skip() { echo "SKIP $1"; exit 77; }

command -v valgrind >/dev/null || skip "valgrind is not here"
[ "$(uname -m)" = x86_64 ] || skip "the table is of x86-64"
case $("$compiler" --version) in *clang*) skip "the table is of GCC 12" ;; esac
[ "$("$compiler" -dumpversion | cut -d. -f1)" = 12 ] || skip "the table is of GCC 12"
[ -e "$build/lib/libmemspan.so" ] || skip "house.release has not built the library"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$compiler" -O2 -std=c11 -fopenmp -I"$source/include" "$source/tests/house/instructions.c" -o "$folder/program" \
    -L"$build/lib" -lmemspan -Wl,--no-as-needed -Wl,-rpath,"$build/lib"

# The OpenMP runtime behind the library is there, as in most programs.
# No round of the decay: how many there are depends on the time that the run takes.
count() { # ALLOCATOR SIZE KIND N: instructions of such a run
    MEMSPAN_DECAY_MS=1000000 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$folder/program" "$@" 2>&1 |
        sed -n 's/.*Collected : //p'
}

failed=0
while read -r allocator size kind most; do
    case $allocator in '#'* | '') [ -z "$print" ] || echo "$allocator $size $kind $most"; continue ;; esac
    a=$(count "$allocator" "$size" "$kind" "$few")
    b=$(count "$allocator" "$size" "$kind" "$more")
    found=$(((b - a + more - few - 1) / (more - few)))
    if [ -n "$print" ]; then
        echo "$allocator $size $kind $found"
    elif [ "$found" -gt "$most" ]; then
        echo "$kind of $size bytes, $allocator: $found instructions; the table allows $most"
        failed=1
    fi
done <"$table"
exit $failed
