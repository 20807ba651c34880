#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# capacity.sh OSHRUN PROGRAM: partitions beyond the memory that there is. PROGRAM starts a job on a
# machine of the size that its environment says.
set -u
oshrun=$1
program=$2
bad=0
P=SHMEM_SYMMETRIC_PARTITION5
H=SHMEM_SYMMETRIC_SIZE=1m # the heap, beside it

# try STATUS NAME TOTAL-MIB FREE-MIB "VARIABLE=VALUE ..." [WORDS...]: two PEs; no words: nothing is said.
try() {
    wanted=$1 name=$2 total=$3 free=$4 settings=$5
    shift 5
    # shellcheck disable=SC2086 # a list of settings
    said=$(env CAPACITY_TOTAL_KB=$((total * 1024)) \
        CAPACITY_FREE_KB=$((free * 1024)) $settings timeout 30 "$oshrun" -n 2 "$program" 2>&1)
    code=$?
    [ "$code" = "$wanted" ] || { echo "$name: status $code, not $wanted: $said"; bad=1; }
    [ $# -gt 0 ] || [ -z "$said" ] || { echo "$name: says: $said"; bad=1; }
    for words in "$@"; do
        case $said in
        *"$words"*) ;;
        *) echo "$name: \"$words\" is not in: $said"; bad=1 ;;
        esac
    done
}

# Locked pages have to be free at once, for both PEs.
try 1 pinned 1024 15 "$H $P=8m:kind=PINNED:policy=M" "$P: 2 PEs of 8388608 bytes" "free to be locked" meminfo
try 0 pinned_fits 1024 16 "$H $P=8m:kind=PINNED:policy=M"
try 0 pinned_preferred 1024 15 "$H $P=8m:kind=PINNED" "warning: $P" "ordinary memory instead" "free to be locked"
# What a driver imports is locked by it.
try 1 imported 1024 15 "$H $P=8m:kind=COHERENT MEMSPAN_DEVICES=emu:1" "$P: 2 PEs" "free to be locked"
# Insisting on what can never be there is refused; not insisting is warned.
try 1 mandatory 64 64 "$H $P=40m:policy=M" "$P: 2 PEs of 41943040 bytes" "that there are"
try 0 mandatory_fits 64 10 "$H $P=30m:policy=M"
try 0 preferred 64 64 "$H $P=40m" "warning: $P: symmetric memory of 2 PEs" "67108864 bytes that there are"
try 0 several 64 64 "$H $P=20m SHMEM_SYMMETRIC_PARTITION6=20m" "warning: " "symmetric memory of 2 PEs"
try 0 heap 64 64 SHMEM_SYMMETRIC_SIZE=40m "warning: SHMEM_SYMMETRIC_SIZE: symmetric memory of 2 PEs"
try 0 heap_fits 64 64 SHMEM_SYMMETRIC_SIZE=30m
try 0 default_size 64 64 UNUSED=
# A control group may allow less than the machine has.
try 1 group 1024 1024 "$H $P=8m:policy=M CAPACITY_GROUP_BYTES=10000000" "10000000 bytes that there are (cgroup limit)"
try 1 pinned_group 1024 1024 "$H $P=8m:kind=PINNED:policy=M CAPACITY_GROUP_BYTES=10000000" "(cgroup limit)"
# While the job runs.
try 0 space 64 64 "$H CAPACITY_SPACE_BYTES=1000000"
try 3 space_too_large 64 64 "$H CAPACITY_SPACE_BYTES=40000000"
[ $bad = 0 ] && echo "what is beyond the memory that there is is refused or said"
exit $bad
