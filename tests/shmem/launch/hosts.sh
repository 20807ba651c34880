#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hosts.sh OSHRUN PROGRAM: oshrun --hosts and --hostfile over two hosts, which are namespaces, by mpirun or
# TWO_HOSTS_LAUNCHER: numbers of PEs of each host, variables, the working directory, the time limit, network interfaces.
set -u
oshrun=$1
program=$2
[ -z "${ASAN_OPTIONS-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

if [ "${HOSTS_TEST-}" != inside ]; then
    HOSTS_TEST=inside exec "$(dirname "$0")/../fabrics/two_hosts.sh" exec "$0" "$@"
fi

fail() {
    echo "$*"
    cat out
    exit 1
}

cd /mnt || exit 1
export OMPI_MCA_plm_rsh_agent="$TWO_HOSTS_RSH" OMPI_MCA_oob_tcp_if_include=veth0 OMPI_MCA_routed=direct
export OMPI_MCA_orte_tmpdir_base=/mnt
export PRTE_MCA_plm_ssh_agent="$TWO_HOSTS_RSH" PRTE_MCA_prte_if_include=veth0 PRTE_MCA_prte_tmpdir_base=/mnt
export OSHRUN_LAUNCHER="${TWO_HOSTS_LAUNCHER:-mpirun}"
SHMEM_INFO=1 timeout 60 "$oshrun" --hosts 10.9.0.1:3,10.9.0.2:1 --timeout 50 "$program" >out 2>&1 || fail "status $?"
grep -qE '^4 PEs, 3 on this host, started by (Open MPI|PRRTE)' out || fail 'not 3 of 4 PEs on host a'
grep -qE '^transport (ucx|ofi|tcp): PEs of other hosts, 1;' out || fail 'not said which network'

# Interfaces: loopback does not lead to another host.
export MEMSPAN_SHMEM_TRANSPORT=smp,tcp
SHMEMX_TCP_INTERFACE=veth0,lo timeout 60 "$oshrun" --hosts 10.9.0.1:1,10.9.0.2:1 "$program" >out 2>&1 || fail "status $?"
SHMEMX_TCP_INTERFACE=lo timeout 60 "$oshrun" --hosts 10.9.0.1:1,10.9.0.2:1 "$program" >out 2>&1 && fail 'not lo alone'
grep -q 'has no address that this host reaches' out || fail 'not said why'
unset MEMSPAN_SHMEM_TRANSPORT

printf '10.9.0.1 slots=1\n10.9.0.2 slots=1\n' >file
timeout 60 "$oshrun" --hostfile file --wdir / -x WORD=said sh -c 'echo "$(hostname) $WORD $(pwd)"' >out 2>&1 || fail "status $?"
[ "$(grep ' said ' out | sort)" = 'host-a said /
host-b said /' ] || fail 'other words'
timeout 60 "$oshrun" --hostfile file --timeout 1 sleep 50 >out 2>&1
[ $? -eq 124 ] || fail 'no time limit'
# PRRTE 5.0 takes a PE that ends while others start for a failed start, in a third of the runs: 255, or it hangs.
starts=0
! prterun --version 2>/dev/null | grep -q 'PRRTE) [5-9]' || starts=1
timeout 60 "$oshrun" --hostfile file sh -c "sleep $starts; exit 5" >out 2>&1
[ $? -eq 5 ] || fail 'another status'
