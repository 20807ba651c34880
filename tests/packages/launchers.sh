#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# launchers.sh PROGRAM INCLUDE: an OpenSHMEM program by the installed packages, which an ordinary user starts by the
# launchers of Debian: mpirun of Open MPI, mpiexec.hydra of MPICH, and srun of a Slurm of one host, which root starts.
# Debian's Slurm loads libpmix.so, which libpmix-dev has.
set -eu
if [ "${LAUNCHERS-}" != inside ]; then
    LAUNCHERS=inside exec unshare --net --uts "$0" "$@"
fi
# Slurm listens where the host has an address beside 127.0.0.1.
ip link set lo up
ip link add one0 type veth peer name one1
ip addr add 10.9.0.1/24 dev one0
ip link set one0 up
ip link set one1 up
hostname one
echo '10.9.0.1 one' >/etc/hosts
work=$(mktemp -d)
cd "$work"
chmod 755 .
oshcc.memspan -I"$2" "$1" -o program

fail() {
    echo "FAILED: $*" >&2
    tail -n 20 out ./*.log >&2
    exit 1
}

# started NAME LAUNCHER...: 4 PEs, by shared memory and by TCP, that know the launcher by this name.
started() {
    name=$1
    shift
    for transport in smp tcp:1; do
        timeout -k 5 100 setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp SHMEM_INFO=1 \
            "SHMEMX_TRANSPORT=$transport" "$@" ./program >out 2>&1 || fail "$name, $transport: status $?"
        grep -q "^4 PEs, .* started by .*$name" out || fail "$name, $transport: no 4 PEs"
    done
    echo "  $*"
}

: >out
started "Open MPI's mpirun" mpirun.openmpi --oversubscribe -n 4
started PMI-1 mpiexec.hydra -n 4

SLURM_CONF=$work/slurm.conf
export SLURM_CONF
mount -t tmpfs none /sys/fs/cgroup
echo 'CgroupPlugin=cgroup/v1' >cgroup.conf
echo 'PMIxCliTmpDirBase=/tmp' >mpi.conf
cat >slurm.conf <<CONF
ClusterName=test
SlurmctldHost=one(10.9.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/one
SlurmctldPidFile=$work/ctld.pid
SlurmdPidFile=$work/one.pid
SlurmdParameters=config_overrides
NodeName=one NodeAddr=10.9.0.1 CPUs=4
PartitionName=all Nodes=ALL Default=YES
CONF
mkdir state one
head -c 64 /dev/urandom >key
chmod 600 key
munged --force --key-file="$work/key" --socket="$work/munge" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/seed" || fail 'no munged'
slurmctld -D >ctld.log 2>&1 &
slurmd -D -N one >one.log 2>&1 &
tries=0
until sinfo -h -o %t 2>/dev/null | grep -q idle; do
    [ $tries -lt 100 ] || fail 'Slurm does not start'
    sleep 0.2
    tries=$((tries + 1))
done
chmod 644 slurm.conf cgroup.conf mpi.conf; chmod 711 state one
started "Slurm's srun" srun --mpi=pmix --overcommit -n 4
started PMI-1 srun --mpi=pmi2 --overcommit -n 4
