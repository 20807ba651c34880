#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# killed.sh OSHRUN PROGRAM TIMES: a PE is killed at a random moment, again and again: the job ends
# each time, says so, and leaves nothing behind; the next one works.
set -u
oshrun=$1
program=$2
times=$3
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
list_shared() {
    find /dev/shm -mindepth 1 2>/dev/null
}
list_shared >"$here/before"

i=0
while [ "$i" -lt "$times" ]; do
    i=$((i + 1))
    timeout 20 "$oshrun" -n 3 sh -c 'echo $$ >>"$0"; exec "$1" forever' "$here/pids" "$program" \
        >"$here/said" 2>&1 &
    job=$!
    while [ ! -s "$here/pids" ]; do
        sleep 0.002
    done
    # A moment between the first PE's start and well into the work.
    sleep "0.$(printf '%02d' "$(($(od -An -N1 -tu1 /dev/urandom) % 20))")"
    kill -9 "$(shuf -n 1 "$here/pids")"
    wait "$job"
    code=$?
    if [ "$code" -eq 0 ] || [ "$code" -eq 124 ]; then
        echo "round $i: exit $code: $(cat "$here/said")"
        exit 1
    fi
    if ! grep -q "signal 9" "$here/said"; then
        echo "round $i: no message names the killed PE: $(cat "$here/said")"
        exit 1
    fi
    while read -r pid; do
        if kill -0 "$pid" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; then
            echo "round $i: process $pid is still there"
            exit 1
        fi
    done <"$here/pids"
    # Others use /dev/shm at the same time; what a PE left would bear its number or our name.
    while read -r pid; do
        list_shared >"$here/after"
        if grep -vxFf "$here/before" "$here/after" | grep -E "memspan|(^|[^0-9])$pid([^0-9]|\$)"; then
            echo "round $i: left behind"
            exit 1
        fi
    done <"$here/pids"
    rm -f "$here/pids"
done
timeout 20 "$oshrun" -n 3 "$program" once || { echo "the next job does not work"; exit 1; }
