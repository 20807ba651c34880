#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh LIBRARY-FOLDER SUITE...: OpenMP target programs with memory of a partition for their mapped
# variables. A SUITE is a folder with public sources, such as OpenMP_VV, LLVM's offload/test or HeCBench;
# each folder with target directives whose Makefile has a target run is a program, and elsewhere each
# C and C++ file with them. Each is built by Clang for the processor's own offload devices and run
# twice, stock and with from_partition.c preloaded. It must end with the same status, print the same but
# for addresses, and leave no more mapped. Programs of folders are benchmarks: their arguments are 64 at
# most, and they print the same but for numbers.
#
# Programs run in parallel (JOBS=N, default 2). Results are in build/mapped-suites.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
self=$here/lane.sh
place=$tree/build/mapped-suites
seconds=${SECONDS_EACH:-60} # of a stock run

# --try OUT addresses|numbers SETTING... COMMAND : adds the command's status, and its output without
# these, to the files OUT.*.
if [ "${1:-}" = --try ]; then
    out=$2 pattern='0x[0-9a-f]*'
    if [ "$3" = numbers ]; then
        pattern='-?([0-9][0-9.]*(e[-+][0-9]+)?|nan|inf)'
        count=$#
        while [ "$count" -gt 0 ]; do
            # Those of GPUs take hours on a processor.
            case $1 in
            *[!0-9]* | "") set -- "$@" "$1" ;;
            *) set -- "$@" "$(($1 < 64 ? $1 : 64))" ;;
            esac
            shift
            count=$((count - 1))
        done
    fi
    shift 3
    status=0
    MAPPED_REPORT=$out.report OMP_TARGET_OFFLOAD=MANDATORY OMP_NUM_THREADS=4 \
        timeout "$seconds" env "$@" >"$out.raw.one" 2>&1 </dev/null || status=$?
    echo "$status" >>"$out.status"
    # Tables of what is mapped, and warnings of a runtime, are not the program's output.
    grep -avE '^(omptarget device [0-9]* info|OMP: Warning)' "$out.raw.one" | sed -E "s/$pattern/N/g" >>"$out.out" || :
    cat "$out.raw.one" >>"$out.raw"
    rm "$out.raw.one"
    exit 0
fi

# --compile ARGUMENT... : Clang instead of the compiler of a Makefile, for these devices.
if [ "${1:-}" = --compile ]; then
    shift
    count=$#
    while [ "$count" -gt 0 ]; do
        case $1 in
        -fiopenmp | -qopenmp | -fopenmp | -fopenmp-targets=*) ;;
        *) set -- "$@" "$1" ;;
        esac
        shift
        count=$((count - 1))
    done
    exec clang++-19 -w "$@" -fopenmp -fopenmp-targets="$(uname -m)-pc-linux-gnu" -lm \
        -Wl,-rpath,"$(dirname "$(clang-19 -print-file-name=libomptarget.so)")"
fi

# build_program: false when it cannot be built.
build_program() {
    if [ -d "$source" ]; then
        timeout 300 make -C "$source" DEVICE=cpu CC="$self --compile" CXX="$self --compile" >"$name.build" 2>&1
    else
        language=c
        [ "${source##*.}" = c ] || language=c++
        "$self" --compile -O0 -I"$suite/ompvv" -I"$(dirname "$source")" -x "$language" "$source" -x none \
            -o "$name" >"$name.build" 2>&1
    fi
}

# run_program KIND SETTING...
run_program() {
    kind=$1
    shift
    if [ -d "$source" ]; then
        make -C "$source" DEVICE=cpu CC="$self --compile" CXX="$self --compile" run \
            LAUNCHER="$self --try $name.$kind numbers $*" >"$name.$kind.make" 2>&1 || :
    else
        "$self" --try "$name.$kind" addresses "$@" "$name"
    fi
}

# A program: one line of results.
if [ "${1:-}" = --one ]; then
    library=$2 suite=$3 source=$4
    name=$place/$(echo "${source#"$suite"/}" | tr / -)
    if ! build_program; then
        echo "not-built ${source#"$suite"/}"
        exit 0
    fi
    run_program stock MAPPED_STOCK=1 LD_PRELOAD="$place/from_partition.so"
    # What such a program does depends on addresses, or on how fast it is.
    if grep -qE '^(124|13[4-9])$' "$name.stock.status"; then
        printf 'dies-stock %s stock %s\n' "${source#"$suite"/}" "$(paste -sd, "$name.stock.status")"
        exit 0
    fi
    export SECONDS_EACH=$((4 * seconds)) # the machine may be busier than for the first run
    run_program mapped SHMEM_SYMMETRIC_SIZE=1m SHMEM_SYMMETRIC_PARTITION5=1g:KIND=LIBOMP \
        LD_PRELOAD="$place/from_partition.so:$library/libmemspan-shmem.so:$library/libmemspan.so"
    stock_left=$(grep -a '^omptarget device 0 info: 0x' "$name.stock.raw" | awk '$7 != "INF"' | wc -l)
    taken=0 left=0
    [ ! -s "$name.mapped.report" ] ||
        read -r taken left <<.
$(awk '{ taken += $1; left += $2 } END { print taken, left }' "$name.mapped.report")
.
    result=same
    cmp -s "$name.stock.out" "$name.mapped.out" || result="output-differs"
    [ "$left" -le "$stock_left" ] || result=leaks
    cmp -s "$name.stock.status" "$name.mapped.status" || result="status-differs"
    printf '%s %s stock %s mapped %s blocks %s left %s stock-left %s\n' "$result" "${source#"$suite"/}" \
        "$(paste -sd, "$name.stock.status")" "$(paste -sd, "$name.mapped.status")" "$taken" "$left" "$stock_left"
    if [ -d "$source" ]; then
        make -C "$source" clean >/dev/null 2>&1 || :
    else
        rm -f "$name"
    fi
    exit 0
fi

# programs SUITE: a path a line.
programs() {
    grep -rlE --include='*.c' --include='*.cpp' '#pragma omp .*target|_Pragma\("omp .*target' "$1" |
        while read -r source; do
            folder=$(dirname "$source")
            if grep -qs '^run:' "$folder/Makefile"; then
                echo "$folder"
            else
                echo "$source"
            fi
        done | sort -u
}

[ $# -ge 2 ] || { sed -n '3,12s/^# *//p' "$0" >&2; exit 2; }
library=$1
shift
rm -rf "$place"
mkdir -p "$place"
cc -shared -fPIC -O1 -D_GNU_SOURCE -I"$tree/include" "$here/from_partition.c" -o "$place/from_partition.so"
for suite in "$@"; do
    programs "$suite" |
        xargs -P "${JOBS:-2}" -I '{}' "$self" --one "$library" "$suite" '{}' >>"$place/results"
done
grep -vE '^(same|not-built)' "$place/results" | sort || :
awk '{ n[$1]++ } $1 !~ /^(not-built|dies-stock)$/ { blocks += $8; users += ($8 > 0); passed += ($4 == 0) }
     END { printf "%d the same, %d statuses differ, %d leak, %d outputs differ, %d die stock, %d not built; ", n["same"],
                  n["status-differs"], n["leaks"], n["output-differs"], n["dies-stock"], n["not-built"]
           printf "%d end with 0 stock; %d took %d blocks\n", passed, users, blocks
           exit (n["status-differs"] + n["leaks"] > 0) || (users == 0) }' "$place/results"
