#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh LIBRARY-FOLDER SUITE...: OpenMP target programs with memory of a partition for their mapped
# variables. A SUITE is a folder with public sources, such as OpenMP_VV or LLVM's offload/test; each
# C and C++ file with a target directive is a program. Each is built by Clang for the processor's own
# offload devices and run twice, stock and with from_partition.c preloaded. It must end with the
# same status, print the same but for addresses, and leave no more variables mapped.
#
# Programs run in parallel (JOBS=N, default 2). Results are in build/mapped-suites.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
place=$tree/build/mapped-suites
seconds=60

# try NAME KIND SETTING... : runs the program; its status is in NAME.KIND.status.
try() {
    out=$1.$2
    shift 2
    status=0
    MAPPED_REPORT=$out.report OMP_TARGET_OFFLOAD=MANDATORY OMP_NUM_THREADS=4 \
        timeout "$seconds" env "$@" "$name" >"$out.raw" 2>&1 </dev/null || status=$?
    echo "$status" >"$out.status"
    # Addresses differ; tables of what is mapped, and warnings of a runtime, are not the program's output.
    grep -avE '^(omptarget device [0-9]* info|OMP: Warning)' "$out.raw" | sed 's/0x[0-9a-f]*/ADDRESS/g' >"$out.out" || :
}

# A program: one line of results.
if [ "${1:-}" = --one ]; then
    library=$2 suite=$3 source=$4
    name=$place/$(echo "${source#"$suite"/}" | tr / -)
    compiler=clang-19
    [ "${source##*.}" = c ] || compiler=clang++-19
    # shellcheck disable=SC2046 # flags
    if ! "$compiler" -fopenmp -fopenmp-targets="$(uname -m)-pc-linux-gnu" -O0 -w -I"$suite/ompvv" \
        -I"$(dirname "$source")" "$source" -o "$name" -lm \
        -Wl,-rpath,"$(dirname $(clang-19 -print-file-name=libomptarget.so))" >"$name.build" 2>&1; then
        echo "not-built ${source#"$suite"/}"
        exit 0
    fi
    try "$name" stock MAPPED_STOCK=1 LD_PRELOAD="$place/from_partition.so"
    try "$name" mapped SHMEM_SYMMETRIC_SIZE=1m SHMEM_SYMMETRIC_PARTITION5=1g:KIND=LIBOMP \
        LD_PRELOAD="$place/from_partition.so:$library/libmemspan-shmem.so:$library/libmemspan.so"
    stock_left=$(grep -a '^omptarget device 0 info: 0x' "$name.stock.raw" | awk '$7 != "INF"' | wc -l)
    taken=0 left=0
    [ ! -s "$name.mapped.report" ] || read -r taken left <"$name.mapped.report"
    result=same
    cmp -s "$name.stock.out" "$name.mapped.out" || result="output-differs"
    [ "$left" -le "$stock_left" ] || result=leaks
    cmp -s "$name.stock.status" "$name.mapped.status" || result="status-differs"
    printf '%s %s stock %s mapped %s blocks %s left %s stock-left %s\n' "$result" "${source#"$suite"/}" \
        "$(cat "$name.stock.status")" "$(cat "$name.mapped.status")" "$taken" "$left" "$stock_left"
    rm -f "$name"
    exit 0
fi

[ $# -ge 2 ] || { sed -n '3,11s/^# //p' "$0" >&2; exit 2; }
library=$1
shift
rm -rf "$place"
mkdir -p "$place"
cc -shared -fPIC -O1 -D_GNU_SOURCE -I"$tree/include" "$here/from_partition.c" -o "$place/from_partition.so"
for suite in "$@"; do
    grep -rlE --include='*.c' --include='*.cpp' '#pragma omp .*target|_Pragma\("omp .*target' "$suite" | sort |
        xargs -P "${JOBS:-2}" -I '{}' "$0" --one "$library" "$suite" '{}' >>"$place/results"
done
grep -vE '^(same|not-built)' "$place/results" | sort || :
awk '{ n[$1]++ } $1 != "not-built" { blocks += $8; users += ($8 > 0); passed += ($4 == 0) }
     END { printf "%d the same, %d statuses differ, %d leak, %d outputs differ, %d not built; ", n["same"], n["status-differs"],
                  n["leaks"], n["output-differs"], n["not-built"]
           printf "%d end with 0 stock; %d took %d blocks\n", passed, users, blocks
           exit (n["status-differs"] + n["leaks"] > 0) || (users == 0) }' "$place/results"
