#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# slurm.sh OSHRUN PROGRAM LOST: a cluster of two hosts under Slurm, whose srun starts PEs by itself and for oshrun;
# LOST ends when one of its PEs is killed. Debian: slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge.
set -u
oshrun=$1
program=$2
lost=$3
[ -z "${ASAN_OPTIONS-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
for tool in slurmctld slurmd srun munged; do
    command -v $tool >/dev/null || { echo "skip: no $tool"; exit 77; }
done
[ "${SLURM_TEST-}" = inside ] ||
    SLURM_TEST=inside exec "$(dirname "$0")/../fabrics/two_hosts.sh" exec "$0" "$@"

fail() {
    echo "$*"
    cat out
    tail -n 5 ./*.log
    exit 1
}

# Both hosts see this folder. PMIx's plug-in needs one of each host; /dev/shm is.
cd /mnt || exit 1
export SLURM_CONF=/mnt/slurm.conf
echo 'PMIxCliTmpDirBase=/dev/shm' >mpi.conf
echo 'CgroupPlugin=cgroup/v1' >cgroup.conf
cat >slurm.conf <<'CONF'
ClusterName=test
SlurmctldHost=host-a(10.9.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=/mnt/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
StateSaveLocation=/mnt
SlurmdSpoolDir=/mnt/%n
SlurmctldPidFile=/mnt/ctld.pid
SlurmdPidFile=/mnt/%n.pid
SlurmdParameters=config_overrides
NodeName=host-a NodeAddr=10.9.0.1 CPUs=4
NodeName=host-b NodeAddr=10.9.0.2 CPUs=4
PartitionName=all Nodes=ALL Default=YES
CONF
chmod 755 /mnt
head -c 64 /dev/urandom >key
chmod 600 key
munged --force --key-file=/mnt/key --socket=/mnt/munge --pid-file=/mnt/munged.pid --log-file=/mnt/munged.log \
    --seed-file=/mnt/seed || fail 'no munged'
mkdir host-a host-b
: >out
slurmctld -D >ctld.log 2>&1 &
for host in 1:host-a 2:host-b; do
    $TWO_HOSTS_RSH 10.9.0.${host%:*} "mount -t tmpfs none /sys/fs/cgroup; exec slurmd -D -N ${host#*:}" >${host#*:}.log 2>&1 &
done
tries=0
while [ "$(sinfo -h -N -o %t 2>/dev/null | grep -c idle)" -ne 2 ]; do
    [ $tries -lt 100 ] || fail 'the cluster does not come up'
    sleep 0.2
    tries=$((tries + 1))
done

# Debian 14's Slurm has no plug-in of PMIx.
if srun --mpi=list 2>&1 | grep -q pmix; then
    SHMEM_INFO=1 timeout 60 srun --mpi=pmix --overcommit -N 2 -n 4 "$program" >out 2>&1 || fail "status $?"
    grep -q "^4 PEs, 2 on this host, started by Slurm's srun" out || fail 'not 2 of 4 PEs on a host'
fi
# The plug-in of PMI-2 takes PMI-1 on the same socket.
SHMEM_INFO=1 timeout 60 srun --mpi=pmi2 --overcommit -N 2 -n 4 "$program" >out 2>&1 || fail "status $? with pmi2"
grep -q '^4 PEs, 2 on this host, started by .*PMI-1' out || fail 'not 2 of 4 PEs on a host by PMI-1'
SHMEM_INFO=1 timeout 60 "$oshrun" --launcher srun --hosts host-a:3,host-b:1 "$program" >out 2>&1 || fail "status $?"
grep -q '^4 PEs, 3 on this host' out || fail 'not 3 of 4 PEs on host a'
timeout 60 "$oshrun" --launcher srun --hosts host-a:2,host-b:2 "$lost" kill >out 2>&1
code=$?
{ [ $code -ne 0 ] && [ $code -ne 124 ]; } || fail "status $code of a job with a killed PE" # srun: a signal's, of any PE
grep -qE 'PE 3 |task 3|tasks 2-3' out || fail 'the killed PE is not named'
! pgrep -x "$(basename "$lost")" >out || fail 'PEs are left'
