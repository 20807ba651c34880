#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# refused.sh OSHRUN PROGRAM: partitions that a node cannot hold end the start of every PE, with words that
# name the variable and the reason. 32 MiB of huge pages are reserved on node 1 alone.
set -u
oshrun=$1
program=$2
bad=0
[ "$(cat /sys/devices/system/node/has_memory /sys/devices/system/node/has_cpu 2>/dev/null | tr '\n' ' ')" = '0-3 0 ' ] ||
    { echo 'skip: needs the virtual machine of ./cmake/bootstrap tiers'; exit 77; }

# refused VALUE WORDS...: of partition 2.
refused() {
    value=$1
    shift
    said=$(SHMEM_SYMMETRIC_PARTITION2=$value timeout 60 "$oshrun" -n 2 "$program" 1 2>&1)
    code=$?
    [ "$code" -eq 1 ] || { echo "$value: status $code: $said"; bad=1; }
    for words in SHMEM_SYMMETRIC_PARTITION2 "$@"; do
        case $said in
        *"$words"*) ;;
        *) echo "$value: \"$words\" is not in: $said"; bad=1 ;;
        esac
    done
}

refused 400m:kind=FASTMEM:policy=MANDATORY '2 PEs of'
refused 1200m:kind=LARGEMEM:policy=MANDATORY '2 PEs of'
refused 8m:kind=LARGEMEM:policy=MANDATORY:pgsize=2m 'huge pages' node2
refused 8m:kind=NORMALMEM:policy=MANDATORY:pgsize=2m 'huge pages'
refused 24m:kind=FASTMEM:policy=MANDATORY:pgsize=2m 'huge pages'
exit $bad
