#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pmix_strangers.sh OSHRUN LAUNCH-PE LAUNCH-KNOCK: malformed and silent connections to the port of
# oshrun's PMIx server, before and while the PEs connect to it.
set -eu
oshrun=$1 pe=$2 knock=$3
# What PMIx keeps until a process ends is not ours, and cannot always be told from what is.
[ -z "${ASAN_OPTIONS-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
why=$("$oshrun" --pmix=on -n 1 true 2>&1) || {
    echo "$why"
    case $why in *'built without PMIx'* | *'cannot open libpmix'*) exit 77 ;; esac
    exit 1
}
# One PE of two knocks 100 times in each way first. Without the job file, PMIx is all that they have.
timeout 60 "$oshrun" --pmix=on -n 2 env -u SHMEMX_LAUNCH sh -c '
    [ "$PMIX_RANK" = 0 ] || exec "$2" print rounds
    exec "$1" 100 "$2" print rounds' - "$knock" "$pe" ||
    { echo "status $? after the connections of strangers"; exit 1; }
