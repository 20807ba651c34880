#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# self_test.sh BUILD: run.sh, on the pretended CUDA driver that LD_LIBRARY_PATH leads to, makes
# every file and says every number that a run on a GPU is made for.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
mkdir "$folder/bin" "$folder/lib"
for program in tests/conform/conform bin/memquery bin/memspan-bench bin/memspan-bench-cuda-blocks \
    tests/fakes/cuda/cuda-program; do
    ln -s "$1/$program" "$folder/bin/"
done
cp "$here/run.sh" "$folder/"
echo none >"$folder/commit"

DAXPY_N=10k DAXPY_N_LARGE=20k "$folder/run.sh" cuda "$folder/out" >"$folder/said" 2>&1 || {
    cat "$folder/said"
    exit 1
}
bad=0
# In FILE stand the WORDS.
has() {
    grep -q "$2" "$folder/out/$1" || {
        echo "$1 lacks \"$2\""
        bad=1
    }
}
has about.txt '^commit    none'
has memquery.txt '^d0 .*cuda:0'
has memquery.json '"cuda"'
has conform-0.txt 'Synthesis.*Failing: 0'
for variant in host naive copy-once host-pinned managed coherent device-resident; do
    has daxpy.txt "^$variant .*verified"
done
has daxpy.txt 'the device copies within its own memory at'
for repetitions in 1 10 100; do
    has daxpy.txt "a repetition of $repetitions:.*device-resident [0-9]"
    has daxpy.txt "(managed) vs .* at $repetitions repetitions"
    has daxpy.txt "(host-pinned) vs .* at $repetitions repetitions"
done
has daxpy-large.txt 'device-resident [0-9.]* %'
has daxpy.svg '<svg'
has share.txt 'proved'
has program.txt '^right: the capture ends with 0'
has program.txt '^right: memory is freed when the process ends'
has blocks.txt 'cuMemAlloc'
has blocks.txt '^ *256 '
"$folder/run.sh" cuda "$folder/out2" blocks >"$folder/said" 2>&1 || bad=1
[ ! -e "$folder/out2/daxpy.txt" ] || { echo 'a step that was not asked for'; bad=1; }
code=0
FAKE_CUDA_DEVICES=0 "$folder/run.sh" cuda "$folder/out3" >"$folder/said" 2>&1 || code=$?
[ "$code" -eq 77 ] || { echo "without a device: $code"; bad=1; }
exit "$bad"
