#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh [BACKEND [RESULTS [STEP...]]]: the conformance suite and the benchmarks on this machine's
# devices, in a folder that pack.sh made. Writes what it did to RESULTS (a folder; "results" beside
# this script if not given). STEP: about, suite, share, program, daxpy, blocks; none: all of them,
# in this order, about five minutes on a fast GPU. Exit code 0: what was run is green; 77: there is no such device.
#
# DAXPY_N and DAXPY_N_LARGE are the sizes that daxpy runs with: the first ones with 1, 10 and 100
# repetitions, the large one with few, for bandwidth.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
backend=${1:-cuda}
results=${2:-$here/results}
steps='about suite share program daxpy blocks'
if [ $# -gt 2 ]; then
    shift 2
    steps=$*
fi
mkdir -p "$results"
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
bad=0

about() {
    echo "date      $(date -u '+%Y-%m-%d %H:%M UTC')"
    echo "commit    $(cat "$here/commit")"
    echo "system    $(uname -srm), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
    echo "processor $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) threads"
    head -n 1 /proc/driver/nvidia/version 2>/dev/null || true
    nvidia-smi --query-gpu=index,name,driver_version,memory.total,compute_mode --format=csv 2>/dev/null || true
    sed 's/^/amdgpu    /' /sys/module/amdgpu/version 2>/dev/null || true
    rocm-smi --showproductname --showdriverversion 2>/dev/null || true
}

# How many devices the backend has. A driver's first start can be slow.
"$here/bin/memquery" --timeout 60 >"$results/memquery.txt" 2>&1 || true
count=$(grep -cE "^d[0-9]+ +[0-9]+ +$backend:" "$results/memquery.txt" || true)
if [ "$count" -eq 0 ]; then
    "$here/bin/memquery" --timeout 60 --why "$backend" || true
    echo "no device of $backend"
    exit 77
fi

run_about() {
    about | tee "$results/about.txt"
    cat "$results/memquery.txt"
    "$here/bin/memquery" --timeout 60 -o json >"$results/memquery.json" || true
}

run_suite() {
    device=0
    while [ "$device" -lt "$count" ]; do
        echo "conformance: $backend:$device"
        if MEMSPAN_DEVICES=$backend:$device CONFORM_BACKEND=$backend \
            "$here/bin/conform" -j1 >"$results/conform-$device.txt" 2>&1; then
            tail -n 1 "$results/conform-$device.txt"
        else
            bad=1
            grep -B 3 -E '\[FAIL\]|CRASH|Synthesis' "$results/conform-$device.txt" || true
        fi
        device=$((device + 1))
    done
}

# Memory of each device for another process, by moving data: as it is found, no case for red.
run_share() {
    "$here/bin/memquery" --timeout 60 --probe=full >"$results/share.txt" 2>&1 || bad=1
    cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null | sed 's/^/kernel.yama.ptrace_scope /' || true
    cat "$results/share.txt"
}

# A program that captures, resets and ends beside the library. Others than CUDA's are not written.
run_program() {
    [ "$backend" = cuda ] || return 0
    MEMSPAN_DEVICES=cuda:0 "$here/bin/cuda-program" >"$results/program.txt" 2>&1 || bad=1
    cat "$results/program.txt"
}

# measure NAME COMMAND...: on the first device; what it says goes to NAME.txt.
measure() {
    name=$1
    program=$2
    shift 2
    echo "$name:"
    echo "MEMSPAN_DEVICES=$backend:0 $program $*" >"$results/$name.txt"
    MEMSPAN_DEVICES=$backend:0 "$here/bin/$program" "$@" >>"$results/$name.txt" 2>&1 || bad=1
    cat "$results/$name.txt"
}

run_daxpy() {
    measure daxpy memspan-bench daxpy --n "${DAXPY_N:-1m,16m}" --reps 1,10,100 \
        --csv "$results/daxpy.csv" --svg "$results/daxpy.svg"
    measure daxpy-large memspan-bench daxpy --n "${DAXPY_N_LARGE:-64m}" --reps 1,10 --rounds 1 \
        --csv "$results/daxpy-large.csv"
}

# The programs for other drivers' own calls are not written.
run_blocks() {
    [ "$backend" != cuda ] || measure blocks memspan-bench-cuda-blocks
}

for step in $steps; do
    echo "== $step, $(date -u '+%H:%M:%S')"
    "run_$step"
done
[ "$bad" -eq 0 ] && echo "green on $count device(s) of $backend: $steps"
exit "$bad"
