#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pmix.sh WHO OSHRUN LAUNCH-PE TRY: PEs that find each other by PMIx, under oshrun as the server or under
# mpirun. TRY has starts that fail.
set -eu
who=$1 oshrun=$2 pe=$3 try=$4
# What PMIx keeps until a process ends is not ours, and cannot always be told from what is.
[ -z "${ASAN_OPTIONS-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "$who: $*"
    cat out err
    exit 1
}

run() {
    expected=$1
    shift
    status=0
    timeout 60 "$@" >out 2>err || status=$?
    [ "$status" -eq "$expected" ] || fail "status $status, not $expected: $*"
}

case $who in
mpirun)
    command -v mpirun >/dev/null || { echo 'skip: no mpirun'; exit 77; }
    mpirun --version 2>/dev/null | grep -q 'Open MPI' || { echo 'skip: mpirun is not Open MPI'"'"'s'; exit 77; }
    launch() { mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$@"; }
    by="Open MPI's mpirun"
    ;;
oshrun)
    "$oshrun" --pmix=on -n 1 true 2>why || {
        cat why
        grep -q 'built without PMIx\|cannot open libpmix' why && exit 77
        exit 1
    }
    # Without the job file, PMIx is all there is.
    launch() { count=$1; shift; "$oshrun" --pmix=on -n "$count" env -u SHMEMX_LAUNCH "$@"; }
    by='a PMIx launcher'
    ;;
esac

launch 1 "$pe" print >out 2>err || {
    # A build without PMIx says so, and finds out that it is not alone.
    grep -q 'built without PMIx' err && { echo 'skip: built without PMIx'; exit 77; }
    fail "status $?"
}

launch 3 "$pe" print rounds again >out 2>err || fail "status $?"
[ "$(grep -c "^PE [0-2] of 3, local [0-2] of 3, by $by" out)" -eq 3 ] || fail 'not three PEs of three'

launch 3 "$try" 3 >out 2>err || fail "status $? of starts that fail"
SHMEMX_TRANSPORT=tcp:1 launch 2 "$try" 2 >out 2>err || fail "status $? of starts on two hosts that fail"

launch 3 "$pe" quick 1 >out 2>err || fail "status $? after quick_exit()"
status=0
launch 3 "$pe" again exit=0 2 >out 2>err || status=$?
[ $status -ne 0 ] || fail 'status 0 after a PE has left its last job'

status=0
launch 3 "$pe" abort=7 1 hang >out 2>err || status=$?
[ $status -eq 7 ] || fail "status $status, not 7, after an abort"

if [ "$who" = oshrun ]; then
    launch 3 "$pe" abort=0 1 hang >out 2>err || fail "status $?, not 0"
    # PMIx's event library has words of its own about a connection that is gone.
    ! grep -v '^\[warn\] Epoll' err || fail 'something was complained about'
fi

status=0
launch 3 "$pe" kill=9 2 hang >out 2>err || status=$?
[ $status -ne 0 ] || fail 'status 0 after a death'

if [ "$who" = oshrun ]; then
    status=0
    launch 3 "$pe" exit=0 2 >out 2>err || status=$?
    [ $status -ne 0 ] || fail 'status 0 after a PE has left'
    # Either the launcher is first to see it, or those who were waiting are.
    grep -qE "PE 2 .* exited without finalizing|the PEs' barrier failed" err || fail 'not told why'
    # Nothing is left of the server.
    env TMPDIR="$scratch" "$oshrun" --pmix=on -n 2 true
    # From before the server's start to after that of the PEs.
    for after in 0 0.01 0.02 0.03 0.04 0.05 0.06 0.08 0.12 0.3; do
        env TMPDIR="$scratch" "$oshrun" --pmix=on -n 2 sleep 30 &
        launcher=$!
        sleep $after
        kill -9 $launcher
        wait $launcher 2>/dev/null || :
    done
    tries=0
    while ls -d oshrun-* >/dev/null 2>&1 && [ $tries -lt 100 ]; do
        sleep 0.2
        tries=$((tries + 1))
    done
    ! ls -d oshrun-* >out 2>err || fail 'the server'"'"'s folder is left behind'
fi
