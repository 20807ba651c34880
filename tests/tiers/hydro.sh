#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hydro.sh ADVISE PROGRAM: the unmodified mini-app is watched; the proposal puts its bandwidth-bound arrays into the
# fast node of the machine of lane.sh as far as they fit, by the pages of the running program.
set -eu
[ "$(cat /sys/devices/system/node/has_memory /sys/devices/system/node/has_cpu 2>/dev/null | tr '\n' ' ')" = '0-3 0 ' ] ||
    { echo 'skip: needs the virtual machine of ./cmake/bootstrap tiers'; exit 77; }
advise=$1 program=$2 capacity=11
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

fail() {
    echo "FAILED: $*"
    cat out
    exit 1
}

# pages NODE: those of the running program there, in MiB, without its files.
pages() {
    grep -v ' file=' "/proc/$child/numa_maps" | tr ' ' '\n' | awk -F= -v node="N$1" '$1 == node { n += $2 } END { print int(n / 256) }'
}

# Arrays of 2 MiB, of which five fit; the initial state has 8, the visits 1.
"$advise" --capacity ${capacity}m -o file "$program" --side 512 --steps 6 >out 2>&1 || fail "status $?"
! grep -q 'no effect here' out || fail 'the kinds of memory are not seen'
[ "$(grep -c ' bandwidth  high_bw .*hydro' out)" -ge 5 ] || fail 'fewer arrays are proposed than fit'
grep -q ' 8.0 .* cold       large_cap' out || fail 'the initial state is not cold'
grep -q ' 1.0 .* latency    low_lat' out || fail 'the visits are not bound by latency'
mib=$(awk '/ high_bw / { n += $1 } END { print int(n) }' out)
"$program" --side 512 --steps 100000 >plain 2>&1 &
child=$!
sleep 8
[ "$(pages 1) $(pages 2)" = '0 0' ] || fail "without the proposal: $(pages 1) MiB on node 1, $(pages 2) on node 2"
kill $child
"$advise" --apply file "$program" --side 512 --steps 100000 >plain 2>&1 &
parent=$!
sleep 20
child=$(tr -d " " </proc/$parent/task/$parent/children)
fast=$(pages 1) large=$(pages 2)
kill "$child"
echo "proposed $mib MiB of $capacity; on node 1 $fast MiB, on node 2 $large MiB"
[ "$fast" -ge $((mib - 1)) ] && [ "$fast" -le $capacity ] || fail 'the arrays are not in the fast node'
[ "$large" -ge 7 ] && [ "$large" -le 9 ] || fail 'the initial state is not in the large node'
cat out
