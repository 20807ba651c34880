#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpi.sh SOURCES LIBRARIES NAME MPICC LAUNCHER OPTION...: MPI and OpenSHMEM in one program, which either library
# starts and ends first, on one host and with two PEs a host. Debian: libmpich-dev, libopenmpi-dev.
set -eu
sources=$1 libraries=$2 name=$3 compiler=$4
shift 4
for tool in "$compiler" "$1"; do
    command -v "$tool" >/dev/null || { echo "skip: no $tool"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$compiler" -std=c11 -Wall -Wextra -Werror -I"$sources" -I"$sources/include" -o "$scratch/$name" \
    "$sources/tests/shmem/launch/mpi.c" -L"$libraries" -lmemspan-shmem -lmemspan -Wl,-rpath,"$libraries"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
bad=0
orders='m-s/smp s-s/tcp:2 m-m/tcp:2 m-m/ucx:1 s-m/ucx:1'
# Open MPI 5 and 6 do not start where another library was first to connect to PMIx: what is said is all that is tested.
case $name in
*openmpi)
    "$compiler" -w -o "$scratch/alone" "$sources/tests/shmem/launch/mpi_alone.c" -ldl
    status=0
    timeout 100 "$@" -n 2 "$scratch/alone" >"$scratch/out" 2>&1 || status=$?
    if [ $status -ne 0 ]; then
        orders='m-s/smp m-m/tcp:2 m-m/ucx:1'
        SHMEMX_TRANSPORT=smp timeout 100 "$@" -n 2 "$scratch/$name" s-s >"$scratch/out" 2>&1 || :
        grep -q 'warning: .*call MPI_Init() before shmem_init()' "$scratch/out" || {
            cat "$scratch/out"
            bad=1
        }
    fi
    ;;
esac
for try in $orders; do
    if ! SHMEMX_TRANSPORT=${try#*/} timeout 100 "$@" -n 4 "$scratch/$name" "${try%/*}" >"$scratch/out" 2>&1; then
        echo "$name, $try:"
        cat "$scratch/out"
        bad=1
    fi
done
exit $bad
