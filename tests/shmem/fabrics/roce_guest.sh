#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# roce_guest.sh: in the virtual machine of roce.sh: a soft RoCE device over a network that goes nowhere,
# the tests over it, and whether it was the device that moved the data.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TMPDIR=/tmp
share=/tmp/share
build=$(cat $share/build)
tests=$(cat $share/tests)
result=0
counters=/sys/class/infiniband/rxe0/ports/1/hw_counters

fail() {
    echo "roce: $*"
    result=1
}

ip link add roce0 type dummy
ip link set roce0 mtu 4200 up
ip addr add 10.9.1.1/24 dev roce0
rdma link add rxe0 type rxe netdev roce0 || fail 'no soft RoCE device'
mount -t tmpfs none "$build/Testing"

# over FABRIC: while PEs are away for some seconds, their memory is registered with the device, is pinned,
# and the device counts packets.
prove() {
    before=$(cat $counters/sent_pkts)
    ctest --test-dir "$build" -R "^shmem-asleep-sleep-$1" --no-tests=error >/tmp/asleep 2>&1 &
    asleep=$!
    regions=0
    while kill -0 $asleep 2>/dev/null; do
        now=$(rdma resource show mr 2>/dev/null | grep -c 'shmem-asleep')
        if [ "$now" -gt "$regions" ]; then
            regions=$now
            rdma resource show mr >/tmp/regions
            grep -H VmPin /proc/[0-9]*/status 2>/dev/null | grep -v ' 0 kB' >/tmp/pinned
        fi
        sleep 0.5
    done
    wait $asleep || { fail "$1: operations on PEs that are away"; cat /tmp/asleep; }
    packets=$(($(cat $counters/sent_pkts) - before))
    echo "roce: $1: $regions registered regions, $packets packets; pinned:"
    cat /tmp/regions /tmp/pinned
    [ "$regions" -gt 0 ] || fail "$1: no memory was registered with the device"
    [ "$packets" -gt 1000 ] || fail "$1: the device has sent $packets packets"
}

for fabric in roce-ucx roce-ofi; do
    prove $fabric
done
ctest --test-dir "$build" --output-on-failure --no-tests=error -L '^roce$' -R "$tests" || result=1
grep -H . $counters/sent_pkts $counters/rcvd_pkts $counters/rdma_sends $counters/rdma_recvs 2>/dev/null
echo $result >$share/result
