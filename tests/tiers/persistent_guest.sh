#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# persistent_guest.sh: in the virtual machine of persistent.sh: the tests of persistent partitions on a DAX device, on
# ext4 with -o dax, and on ext4 without.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TMPDIR=/tmp
share=/tmp/share
tests=$(cat $share/tests)
kills=$(cat $share/kills)
result=0
cd /tmp || exit

fail() {
    echo "persistent: $*"
    result=1
}

# The machine's power is cut while a job works. What it leaves is checked by the job that follows; the ledger is on the
# same memory, and has its stores in the same order.
if [ -e $share/cuts ]; then
    mkdir -p /tmp/dax
    if [ -e $share/made ]; then
        mount -o dax /dev/pmem0 /tmp/dax || { echo 1 >$share/result; exit 1; }
    else
        { ndctl create-namespace -f -m fsdax -e namespace0.0 && mkfs.ext4 -q -b 4096 /dev/pmem0 100M &&
            mount -o dax /dev/pmem0 /tmp/dax && truncate -s 65536 /tmp/dax/ledger && sync; } >/tmp/log 2>&1 || cat /tmp/log
        echo >$share/made
    fi
    export SHMEM_SYMMETRIC_SIZE=1m SHMEM_SYMMETRIC_PARTITION2=1m:kind=PMEM:path=/tmp/dax:name=killed
    "$tests/shmem-persistent-killed" work /tmp/dax/ledger
    echo 'persistent: the job has ended'
    echo 1 >$share/result
    exit 1
fi

ndctl create-namespace -f -m devdax -e namespace0.0 >/tmp/log 2>&1 || { fail 'no DAX device'; cat /tmp/log; }
ndctl create-namespace -f -m fsdax -e namespace1.0 >/tmp/log 2>&1 || { fail 'no fs-DAX'; cat /tmp/log; }
mkdir -p /tmp/dax /tmp/plain
mkfs.ext4 -q -b 4096 /dev/pmem1 100M >/tmp/log 2>&1 && mount -o dax /dev/pmem1 /tmp/dax || { fail 'no ext4 with -o dax'; cat /tmp/log; }
truncate -s 100M /tmp/image
mkfs.ext4 -q /tmp/image && mount -o loop /tmp/image /tmp/plain || fail 'no ext4 on a loop device'

# on PATH STRENGTH: the same program on each.
on() {
    line=$(SHMEM_INFO=1 SHMEM_SYMMETRIC_SIZE=1m SHMEM_SYMMETRIC_PARTITION2=1m:kind=PMEM:path=$1:name=killed \
        "$tests/shmem-persistent-found" none | grep '^partition 2') || fail "$1: no job"
    echo "$line"
    case $line in *"$2"*) ;; *) fail "$1: not $2" ;; esac
    rm -f "$1"/*.memspan 2>/dev/null
    PERSISTENT_PATH=$1 "$tests/killed.sh" "$kills" "$tests/shmem-persistent-killed" || fail "$1: killed"
}

on /tmp/dax 'cache lines by'
on /tmp/plain 'pages by msync'
on /dev/dax0.0 'cache lines by'
echo $result >$share/result
