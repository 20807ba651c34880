#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# release.sh SOURCE-FOLDER BUILD-FOLDER COMPILER: both libraries and the tools, optimised as users get
# them, without a warning. The optimiser finds what a debug build does not: values that may be unset,
# uses after free.
set -eu
source=$1 build=$2 compiler=$3
log=$build.log
mkdir -p "$build"
if cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_C_FLAGS=-Werror -DMEMSPAN_BUILD_TESTS=OFF -DMEMSPAN_BUILD_BENCH=OFF >"$log" 2>&1 &&
    cmake --build "$build" >>"$log" 2>&1; then
    exit 0
fi
grep -E -A 8 'error|FAILED' "$log" || tail -n 40 "$log"
exit 1
