#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pmi.sh LAUNCH-PE PROGRAM TRY: PEs that find each other by PMI-1, under MPICH's launcher; PROGRAM uses the whole
# library, TRY has starts that fail.
# Debian: mpich.
set -eu
pe=$1 program=$2 try=$3
command -v mpiexec.hydra >/dev/null || { echo 'skip: no mpiexec.hydra'; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "$*"
    cat out
    exit 1
}

launch() {
    timeout 100 mpiexec.hydra "$@" >out 2>&1
}

launch -n 1 "$pe" print || fail "status $? alone"
launch -n 3 "$pe" print rounds again || fail "status $?"
[ "$(grep -c "^PE [0-2] of 3, local [0-2] of 3, by .*PMI-1" out)" -eq 3 ] || fail 'not three PEs of three'
launch -n 3 "$pe" quick 1 || fail "status $? after quick_exit()"

# Two nodes, as far as the launcher knows: two in turn, and three at a time.
nodes='-launcher fork -hosts localhost,127.0.0.2'
# shellcheck disable=SC2086 # options
launch $nodes -n 5 "$pe" print again || fail "status $? on two nodes"
[ "$(grep -c "^PE [024] of 5, local [0-2] of 3" out)$(grep -c "^PE [13] of 5, local [01] of 2" out)" = 32 ] ||
    fail 'not three PEs and two'
# shellcheck disable=SC2086
launch $nodes -ppn 3 -n 5 "$pe" print || fail "status $? with three a node"
[ "$(grep -c "^PE [0-2] of 5, local [0-2] of 3" out)$(grep -c "^PE [34] of 5, local [01] of 2" out)" = 32 ] ||
    fail 'not the first three PEs and two'
# shellcheck disable=SC2086
launch $nodes -n 3 "$program" || fail "status $? with a node of one PE"
SHMEMX_TRANSPORT=tcp:1 launch -n 4 "$program" || fail "status $? with a host for each PE"
# shellcheck disable=SC2086
SHMEMX_TRANSPORT=tcp:1 launch $nodes -n 3 "$program" || fail "status $? with hosts on one of two nodes"

launch -n 3 "$try" 3 || fail "status $? of starts that fail"
# shellcheck disable=SC2086
SHMEMX_TRANSPORT=tcp:1 launch $nodes -n 3 "$try" 3 || fail "status $? of starts on hosts that fail"

status=0
launch -n 3 "$pe" abort=7 1 hang || status=$?
[ $status -eq 7 ] || fail "status $status, not 7, after an abort"
! launch -n 3 "$pe" kill=9 2 hang || fail 'status 0 after a death'
# The launcher ends the others; its status is 9, or 0.
for first in print again; do
    status=0
    launch -n 3 "$pe" $first exit=0 2 hang || status=$?
    [ $status -ne 124 ] || fail 'the job goes on when a PE has left'
done

# The descriptor is not open: a shell between has closed it.
# A launcher may drop the output of a job that fails: each PE writes to a file of its own.
# shellcheck disable=SC2016 # the PE's shell expands it
! launch -n 2 env PMI_FD=999 sh -c 'exec "$0" print >"remedy.$$" 2>&1' "$pe" || fail 'two jobs of one'
cat remedy.* >>out
grep -q 'PMI_FD must reach\|descriptor of PMI_FD' out || fail 'no remedy'
