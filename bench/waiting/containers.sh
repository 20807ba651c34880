#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# containers.sh HOSTS COMMAND [ARGUMENT...]: the command with $CONTAINERS_MPIRUN, a launcher over HOSTS containers of this
# machine, for root. Each has namespaces of its own (network, UTS, IPC, mounts, processes) and counts as a node; all use
# all processors. They end with this script.
set -eu
self=$(readlink -f "$0")
what=$1
shift

mount_own() {
    mount -t tmpfs none /dev/shm
    mount -t sysfs none /sys
}

case $what in
inside) # the first container, which has the bridge
    hosts=$1
    shift
    mount_own
    mount -t tmpfs none /mnt
    hostname container1
    ip link set lo up
    ip link add br0 type bridge
    ip addr add 10.9.0.1/24 dev br0
    ip link set br0 up
    list=10.9.0.1:64
    for i in $(seq 2 "$hosts"); do
        unshare -n -u -i -m -p -f --kill-child --mount-proc "$self" hold "$i" &
        tries=0
        while [ ! -e "/mnt/$i" ] && [ $tries -lt 200 ]; do
            sleep 0.05
            tries=$((tries + 1))
        done
        pid=$(pgrep -P $!)
        echo "$pid" >"/mnt/pid$i"
        ip link add "v$i" type veth peer name veth0 netns "$pid"
        ip link set "v$i" master br0 up
        nsenter -t "$pid" -n sh -c "ip link set lo up; ip addr add 10.9.0.$i/24 dev veth0; ip link set veth0 up"
        list=$list,10.9.0.$i:64
    done
    printf '#!/bin/sh\nexec "%s" rsh "$@"\n' "$self" >/mnt/rsh
    chmod +x /mnt/rsh
    sleep 1
    export CONTAINERS_MPIRUN="mpirun --allow-run-as-root --bind-to none --mca plm_rsh_agent /mnt/rsh \
--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include 10.9.0.0/24 --mca btl_tcp_if_include 10.9.0.0/24 \
--mca routed direct --mca orte_tmpdir_base /mnt --host $list --map-by node"
    "$@"
    ;;
hold)
    mount_own
    hostname "container$1"
    : >"/mnt/$1"
    exec sleep 100000
    ;;
rsh) # HOST COMMAND...
    i=${1##*.}
    shift
    exec nsenter -t "$(cat "/mnt/pid$i")" -n -u -i -m -p sh -c "$*"
    ;;
*)
    exec unshare -n -u -i -m -p -f --kill-child --mount-proc "$self" inside "$what" "$@"
    ;;
esac
