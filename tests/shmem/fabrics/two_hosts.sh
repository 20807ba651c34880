#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# two_hosts.sh run PES PROGRAM [ARGUMENT...]      PES processes over two hosts
# two_hosts.sh exec COMMAND [ARGUMENT...]         a command on host a
#
# Two hosts on one machine, for root: namespaces of network, UTS, IPC, mounts and processes, joined by a
# veth pair: a is 10.9.0.1, b is 10.9.0.2. Each has its own /dev/shm. The namespaces have no names: they
# and all that runs in them end with this script, also when it is killed. Several runs do not collide.
#
# Commands on host a have $TWO_HOSTS_RSH, which runs a command on the other (`$TWO_HOSTS_RSH 10.9.0.2
# COMMAND`, as ssh would), $TWO_HOSTS_MPIRUN, the launcher over both, and the interface veth0 on either host.
# TWO_HOSTS_LAUNCHER: mpirun of Open MPI 4 (the default), or prterun of PRRTE and Open MPI 5.
# TWO_HOSTS_CONTROL: congestion control of the hosts' TCP (the machine's).
# TWO_HOSTS_MAP=slot: PEs 0 and 1 of 4 are on a; node (the default): 0 and 2.
#
# --bind-to none: each daemon of the launcher takes the machine for its own, and both would bind their PEs to
# the same processor.
set -eu

self=$(readlink -f "$0")
launcher=${TWO_HOSTS_LAUNCHER:-mpirun} map=${TWO_HOSTS_MAP:-node}
case $launcher:$(mpirun --version 2>/dev/null | head -n 1) in
mpirun:*'Open MPI) '[5-9]*) launcher=prterun ;;
esac

skip() {
    echo "skipped: $*"
    exit 77
}

# /sys names the network interfaces of the namespace that mounted it, and UCX looks for its there.
mount_own() {
    mount -t tmpfs none /dev/shm
    mount -t sysfs none /sys
}

# ---- on host b: a process that keeps its namespaces ----

# Reaps what the daemon of the launcher leaves.
hold() {
    mount_own
    hostname host-b
    : >"$1/b"
    while :; do
        sleep 1000 &
        wait $! || :
    done
}

# ---- on host a ----

# The process of the namespaces of b, as host a's processes see it.
find_b() {
    tries=0
    while [ $tries -lt 200 ]; do
        b=$(pgrep -P "$1") || b=
        [ -z "$b" ] || [ ! -e "$scratch/b" ] || return 0
        sleep 0.05
        tries=$((tries + 1))
    done
    echo "host b does not come up"
    return 1
}

# Both ends say that they run a while after both are up; UCX takes no interface before.
join_hosts() {
    ip link set lo up
    ip link add veth0 type veth peer name veth0 netns "$b"
    ip addr add 10.9.0.1/24 dev veth0
    ip link set veth0 up
    if [ -n "${TWO_HOSTS_CONTROL:-}" ]; then
        sysctl -q -w "net.ipv4.tcp_congestion_control=$TWO_HOSTS_CONTROL"
        nsenter -t "$b" -n sysctl -q -w "net.ipv4.tcp_congestion_control=$TWO_HOSTS_CONTROL"
    fi
    nsenter -t "$b" -n sh -c 'ip link set lo up; ip addr add 10.9.0.2/24 dev veth0; ip link set veth0 up'
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        if ip link show veth0 | grep -q 'state UP' &&
            nsenter -t "$b" -n ip link show veth0 | grep -q 'state UP'; then
            return 0
        fi
        sleep 0.1
    done
    echo 'the link between the hosts does not come up'
    return 1
}

# The first process of its namespace: when it ends, the kernel kills all others.
be_host_a() {
    what=$1
    shift
    mount_own
    mount -t tmpfs none /mnt
    hostname host-a
    scratch=/mnt
    unshare -n -u -i -m -p -f --kill-child --mount-proc "$self" hold "$scratch" &
    find_b $!
    join_hosts
    printf '#!/bin/sh\nexec "%s" rsh %s "$@"\n' "$self" "$b" >"$scratch/rsh"
    chmod +x "$scratch/rsh"
    TWO_HOSTS_RSH=$scratch/rsh
    case $launcher in
    mpirun)
        TWO_HOSTS_MPIRUN="mpirun --allow-run-as-root --bind-to none --mca plm_rsh_agent $scratch/rsh \
--mca oob_tcp_if_include veth0 --mca btl_tcp_if_include veth0 --mca routed direct --mca orte_tmpdir_base $scratch"
        ;;
    prterun)
        TWO_HOSTS_MPIRUN="prterun --allow-run-as-root --bind-to none --prtemca plm_ssh_agent $scratch/rsh \
--prtemca prte_if_include veth0 --prtemca prte_tmpdir_base $scratch"
        map=$map:OVERSUBSCRIBE # it takes its processors for the slots of its own host
        ;;
    esac
    export TWO_HOSTS_RSH TWO_HOSTS_MPIRUN
    if [ "$what" = run ]; then
        pes=$1
        shift
        per_host=$(((pes + 1) / 2))
        [ "$map" != slot:OVERSUBSCRIBE ] || map=ppr:$per_host:node:OVERSUBSCRIBE
        # shellcheck disable=SC2086 # a command with arguments
        set -- $TWO_HOSTS_MPIRUN --host 10.9.0.1:$per_host,10.9.0.2:$per_host -n "$pes" \
            --map-by "$map" "$@"
    fi
    # A process with number 1 has no signals but those that it asks for.
    trap 'exit 130' INT TERM HUP
    status=0
    "$@" &
    wait $! || status=$?
    exit $status
}

# ---- from outside ----

check() {
    [ "$(id -u)" -eq 0 ] || skip 'namespaces of networks need root'
    for tool in unshare nsenter setpriv ip pgrep "$launcher"; do
        command -v "$tool" >/dev/null || skip "no $tool"
    done
    case $launcher in
    mpirun) mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "mpirun is not Open MPI's" ;;
    prterun) ;;
    *)
        echo "TWO_HOSTS_LAUNCHER=$launcher: mpirun and prterun are known" >&2
        exit 2
        ;;
    esac
    why=$(unshare -n -u -i -m -p -f --mount-proc sh -c 'mount -t tmpfs none /mnt &&
        ip link add veth0 type veth peer name veth1' 2>&1) ||
        skip "two hosts need namespaces and veth: $why"
}

what=${1-}
[ $# -eq 0 ] || shift
case $what in
run | exec)
    check
    # unshare ignores SIGTERM and SIGINT; it is killed with this process, and host a with it.
    setpriv --pdeathsig KILL unshare -n -u -i -m -p -f --kill-child --mount-proc \
        "$self" "a-$what" "$@" &
    hosts=$!
    trap 'kill -9 $hosts; exit 143' INT TERM HUP
    status=0
    wait $hosts || status=$?
    exit $status
    ;;
a-run | a-exec) be_host_a "${what#a-}" "$@" ;;
hold) hold "$@" ;;
rsh) # PROCESS HOST COMMAND...: a launcher's words are for a shell
    b=$1 host=$2
    shift 2
    case $host in
    10.9.0.1 | host-a) exec sh -c "$*" ;;
    # -r: the tree may be in a chroot, and a namespace of mounts begins outside it.
    *) exec nsenter -t "$b" -n -u -i -m -p -r -w sh -c "$*" ;;
    esac
    ;;
*)
    sed -n '3,18s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
