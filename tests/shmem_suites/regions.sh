#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# regions.sh BUILD SUITE...: C programs of public OpenSHMEM suites with their calls in target regions
# (to_region.py), on Clang's offload devices. A SUITE is a folder, below which each C file with main() is a program.
#
# A program is right where each run ends with the status of the program as it was, and prints the same lines, in any
# order, where two runs of that one do. Left out are programs that fail as they were, and those without a call that the
# device has. BUILD is a build folder of the preset dev.
#
# RUNS: PES or PES:TRANSPORT:PES_A_HOST, several. CLANG: clang-19. Results are in PLACE, build/region-suites:
# SUITE.table has, for each program, the calls moved, the regions, the calls of OpenSHMEM that stay, and the result.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
place=${PLACE:-$tree/build/region-suites}
runs=${RUNS:-2 4 8 2:tcp:1 4:tcp:1 8:tcp:1 2:ucx:1 4:ucx:2 8:ucx:4}
clang=${CLANG:-clang-19}

# Programs whose output no order determines: which PE is first, what another PE may have put, what is behind
# an array. Their status counts.
races() {
    case $name in
    shmem_atomic_compare_swap_example | shmem_lock_example | shmem_test_example1 | cswap | bar_pair | collect64 | test_lock | lip) ;;
    *) return 1 ;;
    esac
}

# run LOG PES[:TRANSPORT] PROGRAM: in its status and LOG.
run() {
    transport=${2#*:}
    [ "$transport" != "$2" ] || transport=
    (cd "${3%/*}" && SHMEM_SYMMETRIC_SIZE=256m OMP_NUM_THREADS=4 timeout 60 \
        env ${transport:+SHMEMX_TRANSPORT=$transport} oshrun --timeout 50 -n "${2%%:*}" "$3") >"$1.all" 2>&1 || return $?
    # Programs that find a mistake may print it alone.
    ! grep -qE 'FAILED|^FAIL|: Failed|WRONG' "$1.all" || return 1
    sed -e '/^memspan: PE 0 of .*warning/d' -e '/time =/d' -e "s|$3|PROGRAM|g" "$1.all" | LC_ALL=C sort >"$1"
}

# same PES: the program prints in a second run what the first one printed.
same() {
    run "$work/again" "$1" "$work/stock" && cmp -s "$work/again" "$work/once-$1"
}

# try_run PES[:TRANSPORT]: 0 right, 1 wrong, 2 the program fails as it was.
try_run() {
    pes=${1%%:*} log=$work/log-$(echo "$1" | tr : -)
    if [ ! -e "$work/status-$pes" ]; then
        code=0
        run "$work/once-$pes" "$pes" "$work/stock" || code=$?
        echo $code >"$work/status-$pes"
    fi
    [ "$(cat "$work/status-$pes")" -eq 0 ] || return 2
    code=0
    OMP_TARGET_OFFLOAD=MANDATORY run "$log" "$1" "$work/regions" || code=$?
    if [ $code -ne 0 ]; then
        run "$work/once" "$1" "$work/stock" || return 2
        return 1
    fi
    races || cmp -s "$log" "$work/once-$pes" || ! same "$pes"
}

# convert SOURCE: into the program as it was and the one with regions; else prints the reason.
convert() {
    set -- "$1" -D_GNU_SOURCE -I"$(dirname "$1")" -I"$tree/include"
    if ! "$clang" -w -O1 "$@" -o "$work/stock" "-L$libraries" "-Wl,-rpath,$libraries" -lmemspan-shmem -lmemspan -lm \
        -lpthread 2>"$work/errors"; then
        echo 'does not compile as it is'
    elif ! counts=$(python3 "$here/to_region.py" "$clang" "$1" "$work/regions.c" -D_GNU_SOURCE \
        -I"$(dirname "$1")" -I"$tree/include" 2>"$work/errors"); then
        echo 'is not converted'
    elif [ "${counts%% *}" -eq 0 ]; then
        echo 'calls nothing that the device has'
    else
        echo "$counts" >"$work/counts"
        "$clang" -w -O1 -fopenmp "-fopenmp-targets=${TARGET:-x86_64-pc-linux-gnu}" "$work/regions.c" \
            -o "$work/regions" "-L$libraries" "-Wl,-rpath,$libraries:$offload" -lmemspan-shmem -lmemspan -lm \
            -lpthread 2>"$work/errors" || echo 'does not compile with regions'
    fi
}

# try_program SOURCE: its line of the table.
try_program() {
    reason=$(convert "$1")
    if [ -n "$reason" ]; then
        case $reason in
        *'with regions' | 'is not'*) echo "- - - failed $reason" ;;
        *) echo "- - - skipped $reason" ;;
        esac
        return
    fi
    right=0 wrong=
    for of in $runs; do
        code=0
        try_run "$of" || code=$?
        [ $code -ne 0 ] || right=$((right + 1))
        [ $code -ne 1 ] || wrong="$wrong $of"
    done
    if [ -n "$wrong" ]; then
        echo "$(cat "$work/counts") failed runs$wrong"
    elif [ $right -eq 0 ]; then
        echo "$(cat "$work/counts") skipped fails as it is"
    else
        echo "$(cat "$work/counts") right $right runs"
    fi
}

[ $# -ge 2 ] || { sed -n '3,14s/^# *//p' "$0" >&2; exit 2; }
command -v "$clang" >/dev/null || { echo "there is no $clang"; exit 77; }
PATH=$(CDPATH='' cd -- "$1" && pwd)/bin:$PATH
libraries=$(CDPATH='' cd -- "$1/lib" && pwd)
offload=$(dirname "$("$clang" -print-file-name=libomptarget.so)")
export PATH
shift
for source in "$@"; do
    suite=$(basename "$source")
    rm -rf "${place:?}/$suite"
    mkdir -p "$place/$suite"
    grep -rlE --include='*.c' '\<main *\(' "$source" | sort | while read -r program; do
        name=$(basename "$program" .c)
        work=$place/$suite/$name
        mkdir -p "$work"
        echo "$name $(try_program "$program")"
    done | tee "$place/$suite.table"
    echo "$suite: $(awk '{ n[$5]++; if ($5 == "right") { calls += $2; regions += $3 } }
        END { printf "%d right with %d calls in %d regions, %d failed, %d skipped", n["right"], calls, regions,
            n["failed"], n["skipped"] }' "$place/$suite.table")"
    ! awk '$5 == "failed"' "$place/$suite.table" | grep -q . || failed=1
done
[ -z "${failed-}" ]
