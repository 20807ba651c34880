#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pmix_start.sh OSHRUN PURE MIXED LIBRARY: a libpmix in the folder LIBRARY whose server starts with the plug-ins that
# PMIx 7 has, or does not start. PURE needs no server; MIXED links MPI, and does not connect.
set -eu
oshrun=$1 pure=$2 mixed=$3 library=$4
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LD_LIBRARY_PATH="$library"

# said WORDS COMMAND...: it ends well and says that, or nothing.
said() {
    words=$1
    shift
    "$@" >"$scratch/out" 2>&1 || { echo "status $? of $*"; cat "$scratch/out"; exit 1; }
    if [ -n "$words" ]; then grep -q -- "$words" "$scratch/out"; else [ ! -s "$scratch/out" ]; fi ||
        { echo "\"$words\" is not what is said of $*:"; cat "$scratch/out"; exit 1; }
}

said '' "$oshrun" --pmix=on -n 2 true
said '' "$oshrun" -n 2 true
said 'links libmpi.so, but no PE has connected to the PMIx server' "$oshrun" -n 2 "$mixed"
said server "$oshrun" -n 1 "$mixed"

export FAKE_PMIX=refuse
said 'no PMIx server: PMIx_server_init: NOT-FOUND$' "$oshrun" -n 2 true
said 'no PMIx server: PMIx_server_init: NOT-FOUND; .* links libmpi.so' "$oshrun" -n 2 "$mixed"
said none "$oshrun" -n 1 "$pure"
# That is no reason for other tests to skip.
for test in 'pmix.sh oshrun' pmix_auto.sh pmix_strangers.sh; do
    status=0
    # shellcheck disable=SC2086 # a script and its first argument
    sh "$here"/$test "$oshrun" "$pure" "$mixed" >"$scratch/out" 2>&1 || status=$?
    [ $status -eq 1 ] || { echo "status $status of $test"; cat "$scratch/out"; exit 1; }
done

# No libpmix: said where the program is known to need it.
: >"$scratch/libpmix.so.2"
export LD_LIBRARY_PATH="$scratch"
said '' "$oshrun" -n 2 true
said 'no PMIx server: cannot open libpmix.so.2' "$oshrun" -v -n 2 true
said 'no PMIx server: cannot open libpmix.so.2.* links libmpi.so' "$oshrun" -n 2 "$mixed"
