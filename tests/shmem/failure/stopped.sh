#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stopped.sh OSHRUN PROGRAM: a PE of another host that does not answer any more, because it is stopped, ends the job
# within the limit, whatever the others are doing; and not before it.
set -u
oshrun=$1
program=$2
bad=0
for how in barrier put wait; do
    start=$(date +%s%N)
    said=$(SHMEMX_PEER_TIMEOUT=2 timeout 60 "$oshrun" -n 3 "$program" stop $how 2>&1)
    code=$?
    ms=$((($(date +%s%N) - start) / 1000000))
    { [ $code -ne 0 ] && [ $code -lt 124 ]; } || { echo "$how: status $code: $said"; bad=1; }
    echo "$said" | grep -q '^memspan: PE [01] of 3: PE 2 on .* does not answer for 2 s' ||
        { echo "$how: not said: $said"; bad=1; }
    [ $ms -ge 2000 ] || { echo "$how: after $ms ms"; bad=1; }
done
# One that is at its end while the others wait for something else.
for how in 'exit wait' 'finalize barrier'; do
    # shellcheck disable=SC2086 # two arguments
    said=$(SHMEMX_PEER_TIMEOUT=5 timeout 60 "$oshrun" -n 3 "$program" $how 2>&1)
    code=$?
    { [ $code -ne 0 ] && [ $code -lt 124 ]; } || { echo "$how: status $code: $said"; bad=1; }
    echo "$said" | grep -q '^memspan: PE 0 of 3: PE 2 is at its end' || { echo "$how: not said: $said"; bad=1; }
done
# A PE that does something else for longer than that answers. So do those that are stopped together: an answer that
# is outstanding then is not waited for meanwhile.
said=$(mktemp)
trap 'rm -f "$said"' EXIT
SHMEMX_PEER_TIMEOUT=2 timeout 60 "$oshrun" -n 3 "$program" sleep >"$said" 2>&1 &
job=$!
tries=0
while [ "$(grep -c 'is process' "$said")" -lt 3 ] && [ $tries -lt 500 ]; do
    sleep 0.02
    tries=$((tries + 1))
done
pids=$(sed -n 's/^PE [01] is process //p' "$said")
last=$(sed -n 's/^PE 2 is process //p' "$said")
kill -STOP "$last"
sleep 0.5
# shellcheck disable=SC2086 # two numbers
kill -STOP $pids
sleep 2.3
# shellcheck disable=SC2086
kill -CONT $pids
sleep 0.4 # they look for answers meanwhile
kill -CONT "$last"
wait $job || { echo "sleep: $(cat "$said")"; bad=1; }
exit $bad
