#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# containers.sh NAMESPACE PROGRAM [ARGUMENT...]: under mpirun, every other PE runs in a namespace of its own (pid, ipc), as
# in a container. They are hosts of their own: what they would open as the first PE's memory is another file. With
# tcp:4, all PEs of one host share memory, PEs of several do not.
set -u
namespace=$1
shift
# What PMIx keeps until a process ends is not ours.
[ -z "${ASAN_OPTIONS-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
command -v mpirun >/dev/null || { echo "skip: no mpirun"; exit 77; }
mpirun --version 2>/dev/null | grep -q "Open MPI" || { echo "skip: mpirun is not Open MPI's"; exit 77; }
case $namespace in
pid) own='--pid --fork --mount-proc' ;;
ipc) own=--ipc ;;
esac
# shellcheck disable=SC2086
unshare $own true 2>/dev/null || { echo "skip: unshare $own is not permitted"; exit 77; }

# shellcheck disable=SC2016
said=$(timeout 60 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 4 -x SHMEMX_TRANSPORT=tcp:4 \
    -x SHMEM_INFO=1 sh -c 'own=$0; [ $((OMPI_COMM_WORLD_RANK % 2)) = 0 ] || exec unshare $own "$@"; exec "$@"' \
    "$own" "$@" 2>&1) || { echo "status $?: $said"; exit 1; }
# PE 0 and PE 2 are one host, and PEs 1 and 3 are alone.
case $said in
*'4 PEs, 2 on this host'*) ;;
*) echo "PE 0 does not have two PEs on its host: $said"; exit 1 ;;
esac
