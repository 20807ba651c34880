#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# crash.sh OSHRUN LAUNCH-STORM [TIMES [PES]]: kill -9 of a PE, another one each time, after a time
# that differs each time, from before it has started to the midst of what it does. The job always
# ends with the right status, and within 1.5 s but where the machine is busy (calm: 10 ms): three of
# four must. Nothing is left, neither processes nor files; and the next job runs.
set -eu
oshrun=$1 storm=$2 times=${3:-20} pes=${4:-3}
for tool in pgrep ps; do
    command -v $tool >/dev/null || { echo "skip: no $tool"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A name of this run's own, so that its processes are distinct from others'.
program=$scratch/storm-$$
ln -s "$storm" "$program"
export TMPDIR="$scratch/tmp"
mkdir "$TMPDIR"
listed() { find "$TMPDIR" /dev/shm -mindepth 1 | grep -E 'oshrun|memspan|shmem' | sort || :; }
listed >"$scratch/before"

fail() {
    echo "round $round: $*"
    cat "$scratch/err"
    pgrep -f "$program" | xargs -r kill -9
    exit 1
}

ms() { echo $(($(date +%s%N) / 1000000)); }

round=0
slow=0
while [ $round -lt "$times" ]; do
    "$oshrun" -n "$pes" "$program" >"$scratch/out" 2>"$scratch/err" &
    launcher=$!
    # 0 to 180 ms, in an order that looks like none.
    sleep "$(printf 0.%03d $((round * 37 % 19 * 10)))"
    victim=
    while [ -z "$victim" ]; do
        victim=$(pgrep -f "^$program" | sed -n "$((round % pes + 1))p")
    done
    start=$(ms)
    kill -9 "$victim"
    status=0
    wait $launcher || status=$?
    took=$(($(ms) - start))
    [ $status -eq 137 ] || fail "status $status, not 137"
    [ $took -lt 1500 ] || slow=$((slow + 1))
    grep -q "PE [0-9]* (pid $victim) was killed by signal 9" "$scratch/err" || fail 'not told who died'
    ! pgrep -f "$program" >"$scratch/left" || fail "left behind: $(cat "$scratch/left")"
    round=$((round + 1))
done
[ $((slow * 4)) -le "$times" ] || fail "$slow of $times jobs took more than 1.5 s to end"
listed | cmp -s - "$scratch/before" || fail "files are left: $(listed)"
timeout 60 "$oshrun" -n "$pes" "$program" 50 >"$scratch/out" 2>"$scratch/err" || fail 'the next job fails'
echo "$times jobs were killed, each ended; the next one ran"
