#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh [BACKEND [RESULTS]]: the conformance suite and the benchmarks on this machine's devices, in
# a folder that pack.sh made. Writes what it did to RESULTS (a folder; "results" beside this script
# if not given). Exit code 0: the suite is green on every device.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
backend=${1:-cuda}
results=${2:-$here/results}
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

about | tee "$results/about.txt"
"$here/bin/memquery" | tee "$results/memquery.txt"
"$here/bin/memquery" -o json >"$results/memquery.json" || true

count=$("$here/bin/memquery" | grep -cE "^d[0-9]+ +[0-9]+ +$backend:" || true)
if [ "$count" -eq 0 ]; then
    "$here/bin/memquery" --why "$backend" || true
    echo "no device of $backend"
    exit 77
fi

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

echo 'daxpy:'
command="memspan-bench daxpy --n 1m,16m,64m --reps 1,10,100"
echo "MEMSPAN_DEVICES=$backend:0 $command" >"$results/daxpy.txt"
MEMSPAN_DEVICES=$backend:0 "$here/bin/"$command --csv "$results/daxpy.csv" \
    --svg "$results/daxpy.svg" >>"$results/daxpy.txt" 2>&1 || bad=1
cat "$results/daxpy.txt"

if [ "$backend" = cuda ]; then
    echo 'small blocks:'
    MEMSPAN_DEVICES=cuda:0 "$here/bin/memspan-bench-cuda-blocks" >"$results/blocks.txt" 2>&1 || bad=1
    cat "$results/blocks.txt"
fi
[ "$bad" -eq 0 ] && echo "green on $count device(s) of $backend"
exit "$bad"
