#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# died.sh OSHRUN PROGRAM: a kernel that waits ends when a PE has died, and the job ends with the
# number of that PE.
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
SHMEMX_PEER_TIMEOUT=2 "$1" -n 3 "$2" >"$log" 2>&1 &
launcher=$!
dead=0
tries=0
while [ "$dead" -lt 3 ] && [ "$tries" -lt 200 ]; do
    sleep 0.1
    tries=$((tries + 1))
    dead=$(pgrep -c -r Z -P "$launcher")
done
kill -CONT "$launcher"
wait "$launcher" && { echo 'the job has succeeded'; exit 1; }
[ "$dead" -eq 3 ] || { echo "only $dead processes have ended"; cat "$log"; exit 1; }
[ "$(grep -c '^the kernel has ended' "$log")" -eq 2 ] || { echo 'not both kernels have ended'; cat "$log"; exit 1; }
grep -qE '^memspan: PE [01] of 3: PE 2 ' "$log" || { cat "$log"; exit 1; }
