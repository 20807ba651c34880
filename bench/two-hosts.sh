#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# two-hosts.sh up NAME | down NAME | run NAME MPIRUN-OPTION... PROGRAM ARGUMENT...
# Two hosts on one machine, as root: network namespaces NAME-a and NAME-b with a pair of virtual Ethernet
# devices between them. "run" is mpirun with one daemon on each; PEs take turns between the two.
#
# A host has names, System V and POSIX shared memory, and process numbers of its own: network
# libraries would find another way than the network. Processes are not bound, because each daemon
# would bind its first one to the same processor.
set -eu

self=$(readlink -f "$0")
[ $# -ge 2 ] || { sed -n '3s/^# //p' "$0" >&2; exit 2; }
command=$1 name=$2
shift 2
# hosts of another name have other addresses: two such pairs do not disturb each other
net=10.$(printf '%s' "$name" | cksum | awk '{print 64 + $1 % 128 "." int($1 / 128) % 256}')

# on HOST COMMAND...: as a process of that host
on() {
    host=$1
    shift
    # shellcheck disable=SC2016 # for the inner shell
    exec ip netns exec "$host" unshare --uts --ipc --mount --pid --fork --kill-child --mount-proc \
        sh -c 'hostname "$0" && mount -t tmpfs none /dev/shm && exec "$@"' "$host" "$@"
}

case $command in
up)
    for side in a b; do
        ip netns add "$name-$side"
        ip netns exec "$name-$side" ip link set lo up
    done
    ip link add veth0 netns "$name-a" type veth peer name veth0 netns "$name-b"
    ip netns exec "$name-a" ip address add "$net.1/24" dev veth0
    ip netns exec "$name-b" ip address add "$net.2/24" dev veth0
    for side in a b; do
        ip netns exec "$name-$side" ip link set veth0 up
    done
    for side in a b; do # UCX takes no device that is not up yet
        until ip -n "$name-$side" link show veth0 | grep -q 'state UP'; do
            sleep 0.1
        done
    done
    ;;
down)
    for side in a b; do
        ip netns delete "$name-$side" 2>/dev/null || true
    done
    ;;
agent) # what mpirun takes for ssh: HOST COMMAND
    shift
    on "$name-b" sh -c "$*"
    ;;
run)
    on "$name-a" mpirun --allow-run-as-root --mca plm_rsh_agent "$self agent $name" \
        --mca oob_tcp_if_include "$net.0/24" --mca routed direct --host "$net.1:64,$net.2:64" \
        --map-by node --bind-to none "$@"
    ;;
*)
    sed -n '3s/^# //p' "$0" >&2
    exit 2
    ;;
esac
