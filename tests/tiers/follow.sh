#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# follow.sh ADVISE PROGRAM: memory that follows its use, on the machine of lane.sh: at the end as much of what is used
# is on the fast node as with the proposal that was made from a run before.
set -u
[ "$(cat /sys/devices/system/node/has_memory /sys/devices/system/node/has_cpu 2>/dev/null | tr '\n' ' ')" = '0-3 0 ' ] ||
    { echo 'skip: needs the virtual machine of ./cmake/bootstrap tiers'; exit 77; }
advise=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work" || exit 1

# hot COMMAND...: MiB of the used memory on the fast node.
hot() {
    "$@" >out 2>err || { echo "FAILED: $*: status $?"; cat out err; exit 1; }
    sed -n 's/^hot \([0-9]*\) cold.*/\1/p' out
}

plain=$(hot "$program" 5)
"$advise" --capacity 440m -o file "$program" 15 >out 2>report || { echo 'FAILED: advise'; cat out report; exit 1; }
offline=$(hot "$advise" --apply file "$program" 5)
export MEMSPAN_STATS=exit MEMSPAN_LOG=info
live=$(hot "$advise" --live "$program" 90)
cat out
grep placement err
echo "of 128 MiB that are used, on the fast node: plain $plain, offline advice $offline, live $live"
[ "$plain" -eq 0 ] || { echo 'FAILED: without any of them'; exit 1; }
[ "$live" -ge 115 ] && [ "$live" -ge $((offline * 9 / 10)) ] || { echo 'FAILED: live'; cat err; exit 1; }
sampling=$(sed -n 's/.* placement .*sampling_percent=\([0-9]*\).*/\1/p' err)
[ "$sampling" -le 2 ] || { echo "FAILED: sampling took $sampling %"; exit 1; }
