#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# died.sh OSHRUN PROGRAM: PEs notice that a PE has died, without the launcher, which the program
# stops. What they say goes through the launcher. SHMEMX_TRANSPORT makes every PE a host.
# Where the transport notices nothing, as in shared memory, it is that the PE does not answer.
set -u
said=$(mktemp)
trap 'rm -f "$said"' EXIT
SHMEMX_PEER_TIMEOUT=2 "$1" -n 3 "$2" >"$said" 2>&1 &
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
grep -qE '^memspan: PE [01] of 3: PE 2 (\(process [0-9]+\) )?(has died|on .* (has failed|does not answer))' "$said" || { cat "$said"; exit 1; }
