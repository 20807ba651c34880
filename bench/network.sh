#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# network.sh [-b BUILD] [-p FOLDER] [-w hosts|machine] [-m MPIRUN-OPTIONS] [-c CONTROL] [OPTION-OF-RMA...]
# What one-sided communication costs between hosts, in one interleaved run.
# -b: build folder (build/release). -p: where sos/ and osss/ of other libraries are installed.
# -w: "hosts", two hosts made of network namespaces (as root; the default); "machine", transports of
# one machine, by shared memory and by TCP. -c: congestion control of the hosts' TCP ("reno"): pacing,
# as of BBR, guesses the rate of a link without one wrong, and medians of all libraries vary by 2 to 4.
#
# With -w hosts: memspan as it chooses, memspan-tcp, memspan-ucx, memspan-ofi; the latter two's libraries
# alone (raw-ucx, raw-ofi) and ucx_perftest, both of UCX with the segments that our driver sets; Open MPI's oshmem, and
# Sandia OpenSHMEM and OSSS-UCX where they are installed.
set -eu

folder=$(dirname "$(readlink -f "$0")")
build=build/release peers='' where=hosts more=''
while [ $# -ge 2 ]; do
    case $1 in
    -b) build=$2 ;;
    -p) peers=$2 ;;
    -w) where=$2 ;;
    -m) more=$2 ;;
    -c) export TWO_HOSTS_CONTROL="$2" ;;
    *) break ;;
    esac
    shift 2
done
bin=$(cd "$build/bin" && pwd)
cc=$bin/oshcc

# Libraries that assume equal addresses of the data segment in all PEs
same='setarch -R'
flat='-no-pie'

# In the first of the two hosts
hosts() {
    run="$TWO_HOSTS_MPIRUN --host 10.9.0.1:64,10.9.0.2:64 --map-by node $more"
    segments='-x UCX_TCP_TX_SEG_SIZE=128k -x UCX_TCP_RX_SEG_SIZE=128k'
    set -- --peers "memspan,memspan-tcp,memspan-ucx,memspan-ofi,raw-ucx,raw-ofi,ucx_perftest,ompi${peers:+,sos,osss}" \
        --peer "memspan=$cc,$run" \
        --peer "memspan-tcp=$cc,env MEMSPAN_SHMEM_TRANSPORT=smp,tcp $run" \
        --peer "memspan-ucx=$cc,env MEMSPAN_SHMEM_TRANSPORT=smp,ucx $run" \
        --peer "memspan-ofi=$cc,env MEMSPAN_SHMEM_TRANSPORT=smp,ofi $run" \
        --beside "raw-ucx=raw-ucx,$run $segments" \
        --beside "raw-ofi=raw-ofi,$run" \
        --beside "ucx_perftest=ucx_perftest,$run $segments -x PERFTEST_SERVER=10.9.0.2" \
        --peer "ompi=oshcc,$run --mca opal_common_ucx_opal_mem_hooks 0" "$@"
    if [ -n "$peers" ]; then
        set -- --peer "sos=$peers/sos/bin/oshcc $flat,env SHMEM_OFI_PROVIDER='tcp;ofi_rxm' $same $run" \
            --peer "osss=$peers/osss/bin/oshcc $flat,$same $run" "$@"
    fi
    "$bin/memspan-bench" rma "$@"
}

machine() {
    mpi="mpirun --allow-run-as-root --oversubscribe --bind-to none $more"
    set -- --peers memspan,memspan-ucx-tcp,raw-ucx-tcp,memspan-ucx-sm,raw-ucx-sm,memspan-ofi-tcp,raw-ofi-tcp,memspan-ofi-shm,raw-ofi-shm \
        --peer "memspan-ucx-tcp=$cc,env SHMEMX_TRANSPORT=ucx:1 UCX_TLS=tcp $bin/oshrun" \
        --beside "raw-ucx-tcp=raw-ucx,env UCX_TLS=tcp $mpi" \
        --peer "memspan-ucx-sm=$cc,env SHMEMX_TRANSPORT=ucx:1 UCX_TLS=sm $bin/oshrun" \
        --beside "raw-ucx-sm=raw-ucx,env UCX_TLS=sm $mpi" \
        --peer "memspan-ofi-tcp=$cc,env SHMEMX_TRANSPORT=ofi:1 'FI_PROVIDER=tcp;ofi_rxm' $bin/oshrun" \
        --beside "raw-ofi-tcp=raw-ofi,env 'FI_PROVIDER=tcp;ofi_rxm' $mpi" \
        --peer "memspan-ofi-shm=$cc,env SHMEMX_TRANSPORT=ofi:1 FI_PROVIDER=shm $bin/oshrun" \
        --beside "raw-ofi-shm=raw-ofi,env FI_PROVIDER=shm $mpi" "$@"
    "$bin/memspan-bench" rma "$@"
}

case $where in
hosts)
    [ -n "${TWO_HOSTS_MPIRUN:-}" ] ||
        exec "$folder/../tests/shmem/fabrics/two_hosts.sh" exec "$0" -b "$build" -m "$more" ${peers:+-p "$peers"} "$@"
    hosts "$@"
    ;;
machine) machine "$@" ;;
*)
    sed -n '3s/^# //p' "$0" >&2
    exit 2
    ;;
esac
