#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# killed.sh KILLS PROGRAM COMMAND...: jobs of COMMAND with PROGRAM, which are killed so many times (killed.c).
# PERSISTENT_PATH: where their memory is, instead of a folder of the test's own.
set -eu
kills=$1 program=$2
shift 2
scratch=$(mktemp -d "$PWD/persistent.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM
mkdir "$scratch/memory"
path=${PERSISTENT_PATH:-$scratch/memory}
if [ -d "$path" ] && [ "$(stat -f -c %T "$path")" = tmpfs ]; then
    echo "$path is on tmpfs, which is not persistent"
    exit 77
fi
SHMEM_SYMMETRIC_SIZE=1m SHMEM_SYMMETRIC_PARTITION2=1m:kind=PMEM:path=$path:name=killed
export SHMEM_SYMMETRIC_SIZE SHMEM_SYMMETRIC_PARTITION2
"$program" drive "$kills" "$scratch/ledger" "$path" "$@" "$program" work "$scratch/ledger"
