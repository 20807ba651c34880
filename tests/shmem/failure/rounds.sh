#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rounds.sh CASE ROUNDS PROGRAM: a job of two PEs on each of two hosts ends within its limit, names what has failed, and
# leaves nothing: no process on either host, no file in /dev/shm. CASE is what happens to it:
#
#   cut       the link between the hosts goes down
#   stuck     the same, and the launcher stops
#   pe        a PE is killed
#   daemon    the launcher's daemon on the other host is killed
#   launcher  mpirun or prterun is killed
#   start     the link loses all packets while PEs wait for the last one in shmem_init()
#   late      none; the last PE does not call shmem_init()
#   global    none; the last PE calls shmem_global_exit(), and no PE says that another has failed
#
# The other PEs wait in a barrier, and one computes.
set -u
case_name=$1
rounds=$2
program=$3
hosts=$(dirname "$0")/../fabrics/two_hosts.sh
name=$(basename "$program")
[ -z "${ASAN_OPTIONS-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

find_left() {
    for of in "$name" orted prted 'memspan end'; do
        pgrep -a -x "$of"
    done
}

arguments=pause limit=SHMEMX_PEER_TIMEOUT=2
case $case_name in
global) arguments='global add' ;;
start | late) arguments='late 3' limit=SHMEMX_START_TIMEOUT=3 ;;
esac

# One round, on host a.
round() {
    cd /mnt || exit 1
    : >out
    # shellcheck disable=SC2086 # commands with arguments
    $TWO_HOSTS_MPIRUN --host localhost:2,10.9.0.2:2 -n 4 --map-by slot:OVERSUBSCRIBE -x $limit \
        -x MEMSPAN_SHMEM_TRANSPORT "$program" $arguments >out 2>&1 &
    mpirun=$!
    tries=0
    while [ "$(grep -c 'is process' out)" -lt 4 ] && [ $tries -lt 600 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    [ $tries -lt 600 ] || { echo 'the job does not start'; cat out; exit 1; }
    sleep 0.2
    case $case_name in
    cut) ip link set veth0 down ;;
    stuck)
        kill -STOP $mpirun
        ip link set veth0 down
        ;;
    start) # a PE that finds its interface down says so
        ip neigh replace 10.9.0.2 lladdr 02:00:00:00:00:01 dev veth0
        $TWO_HOSTS_RSH 10.9.0.2 ip neigh replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev veth0
        ;;
    pe) $TWO_HOSTS_RSH 10.9.0.2 pkill -9 -o -x "$name" ;;
    daemon) $TWO_HOSTS_RSH 10.9.0.2 pkill -9 '"^(orted|prted)$"' ;;
    launcher) kill -9 $mpirun ;;
    esac
    tries=0
    while kill -0 $mpirun 2>/dev/null && [ $tries -lt 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -9 $mpirun 2>/dev/null && { echo 'the launcher does not end'; cat out; exit 1; }
    status=0
    wait $mpirun || status=$?
    # PRRTE 3.0 (Debian 13) says that it has lost a daemon, and ends with 0.
    [ $status -ne 0 ] || { [ "$case_name" = daemon ] && grep -q 'PRTE has lost communication' out; } ||
        { echo 'status 0'; cat out; exit 1; }
    # Processes of b are seen from here, too.
    tries=0
    left=$(find_left)
    while [ -n "$left" ] && [ $tries -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
        left=$(find_left)
    done
    [ -z "$left" ] || { echo "left: $left"; cat out; exit 1; }
    left=$(ls /dev/shm; $TWO_HOSTS_RSH 10.9.0.2 ls /dev/shm)
    [ -z "$left" ] || { echo "left in /dev/shm: $left"; cat out; exit 1; }
    case $case_name in
    cut) words='^memspan: PE [01] of 4: PE [23] on host-b does not answer for 2 s' ;;
    pe) words='PE [0-3] on host-[ab] |rank [23] .*signal 9|process rank [23]' ;;
    daemon) words='lost communication with a remote daemon|daemon on this host has died|Remote host: *host-b' ;;
    start) words='^memspan: PE [01] of 4: PE 2 on .* does not answer the launcher for 3 s' ;;
    late) words='^memspan: PE [0-2] of 4: PE [23] on .* does not answer the launcher for 3 s' ;;
    launcher | stuck) words= ;; # what PEs say goes through the launcher
    global)
        words=
        ! grep '^memspan: PE [0-9]* of 4: PE' out || { echo 'a PE has said something'; cat out; exit 1; }
        [ "$status" -eq 9 ] || { echo "status $status"; cat out; exit 1; }
        ;;
    esac
    grep -qE -- "$words" out || { echo "not said: $words"; cat out; exit 1; }
}

if [ "${FAILURE_ROUND-}" = inside ]; then
    round
    exit 0
fi
done=0
while [ $done -lt "$rounds" ]; do
    FAILURE_ROUND=inside timeout 120 "$hosts" exec "$0" "$case_name" 1 "$program" || {
        code=$?
        [ $code -eq 77 ] || echo "$case_name: round $done of $rounds"
        exit $code
    }
    done=$((done + 1))
done
echo "$case_name: $rounds rounds"
