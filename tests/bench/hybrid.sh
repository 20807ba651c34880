#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hybrid.sh PES PROGRAM LAUNCHER...: every mini-app verifies its result, in the form of the program.
set -eu

pes=$1 program=$2
shift 2
launcher=$*

# app NAME SIZE SCALING POINT
app() {
    # shellcheck disable=SC2086 # a command with arguments
    lines=$($launcher -n "$pes" "$program" "$1" "$2" "$3" </dev/null) || {
        echo "FAILED: $1, $pes PEs, $3"
        exit 1
    }
    printf '%s\n' "$lines" | grep -q "^$4 [0-9.e+-]* [0-9.e+-]*\$" || {
        echo "FAILED: no $4 in: $lines"
        exit 1
    }
}

[ "$pes" -eq 1 ] || app put 8192 strong put-8192
for name in alltoall broadcast reduce; do
    app $name 1024 strong $name-1024
done
for scaling in strong weak; do
    app random 1000 $scaling "random-$scaling-$pes"
    app random-atomic 1000 $scaling "random-atomic-$scaling-$pes"
    app fft 32 $scaling "fft-$scaling-$pes"
    app matrix 40 $scaling "matrix-$scaling-$pes"
    app heat 12 $scaling "heat-$scaling-$pes"
done
