#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# choice.sh OSHRUN PROGRAM [UCX] [OFI]: without RDMA, tcp carries a job, also when the default order is given as a
# value; UCX and libfabric over TCP, where they are built, only where they are named alone or their variables ask for
# it, with one warning. SHMEM_INFO says who may connect.
set -u
oshrun=$1
program=$2
shift 2
bad=0
unset UCX_TLS UCX_NET_DEVICES FI_PROVIDER FI_TCP_IFACE SHMEMX_TRANSPORT

for devices in /sys/class/infiniband/* /sys/class/cxi/*; do
    [ ! -e "$devices" ] || { echo "skipped: this host has RDMA: $devices"; exit 77; }
done

# taken TRANSPORT WARNINGS VAR=value...: what carries the job, and how often it is called trusted.
taken() {
    wanted=$1
    count=$2
    shift 2
    said=$(env SHMEM_INFO=1 "$@" timeout 100 "$oshrun" -n 2 "$program" 2>&1) || { echo "$*: status $?: $said"; bad=1; }
    echo "$said" | grep -q "^transport $wanted: PEs of other hosts" || { echo "$*: not $wanted: $said"; bad=1; }
    case $count in
    0) security='PEs of the job alone connect' ;;
    *) security="any process that reaches a port of a PE can change the job's memory" ;;
    esac
    echo "$said" | grep -q "^    $security.*; nothing is encrypted" || { echo "$*: no \"$security\": $said"; bad=1; }
    words='partition 1 \(default: it is partition 1\): [0-9]+ bytes at 0x[0-9a-f]+, asked for [A-Z]+ [A-Z]+, given [A-Z]+ \('
    echo "$said" | grep -qE "^$words" || { echo "$*: no \"$words\": $said"; bad=1; }
    found=$(echo "$said" | grep -c 'this network is trusted')
    [ "$found" -eq "$count" ] || { echo "$*: $found warnings: $said"; bad=1; }
}

# Without smp, PEs of this host are reached by the network.
taken tcp 0 MEMSPAN_SHMEM_TRANSPORT=ucx,ofi,tcp
taken tcp 0 MEMSPAN_SHMEM_TRANSPORT=ucx,ofi,tcp,smp
taken tcp 0 MEMSPAN_SHMEM_TRANSPORT=tcp
for name; do
    taken "$name" 1 MEMSPAN_SHMEM_TRANSPORT="$name"
    taken "$name" 1 SHMEMX_TRANSPORT="$name"
    taken tcp 0 MEMSPAN_SHMEM_TRANSPORT="$name,tcp"
done
case $* in
*ucx*)
    taken ucx 1 MEMSPAN_SHMEM_TRANSPORT=ucx,ofi,tcp UCX_TLS=tcp
    taken ucx 1 MEMSPAN_SHMEM_TRANSPORT=ucx UCX_TLS=tcp,self # which is on the loopback interface too
    taken ucx 1 MEMSPAN_SHMEM_TRANSPORT=ucx UCX_NET_DEVICES=lo
    taken ucx 1 MEMSPAN_SHMEM_TRANSPORT=ucx,ofi,tcp UCX_NET_DEVICES=lo
    ;;
esac
case $* in
*ofi*) taken ofi 1 MEMSPAN_SHMEM_TRANSPORT=ucx,ofi,tcp FI_PROVIDER=tcp ;;
esac
if [ $# -eq 2 ]; then
    said=$(MEMSPAN_SHMEM_TRANSPORT=ucx,ofi timeout 100 "$oshrun" -n 2 "$program" 2>&1) && { echo "two: $said"; bad=1; }
    echo "$said" | grep -q 'ofi finds no RDMA device here' || { echo "two: $said"; bad=1; }
fi
exit $bad
