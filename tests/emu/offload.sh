#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# offload.sh PROGRAM: what each mode of offload.c must say.
set -eu
program=$1
bad=0
MEMSPAN_DEVICES=emu:1
OMP_TARGET_OFFLOAD=MANDATORY
export MEMSPAN_DEVICES OMP_TARGET_OFFLOAD

complain() {
    echo "$*"
    bad=1
}

stopped() {
    mode=$1
    shift
    said=$("$program" "$mode" 2>&1) && code=0 || code=$?
    [ "$code" -eq 139 ] || complain "$mode: exit code $code, not 139: $said"
    case $said in *'went on'*) complain "$mode went on: $said" ;; esac
    for words; do
        case $said in
        *"$words"*) ;;
        *) complain "$mode did not say \"$words\": $said" ;;
        esac
    done
}

runs() {
    said=$("$program" "$1" 2>&1) && code=0 || code=$?
    [ "$code" -eq 0 ] || complain "$1: exit code $code: $said"
    case $said in *memspan:*) complain "$1 got a diagnostic: $said" ;; esac
}

stopped read_device 'the host read device memory' 'read_it+' 'called by   read_device+'
stopped read_target_alloc 'the host read device memory' 'called by   read_target_alloc+'
stopped read_llvm_alloc 'the host read device memory' 'called by   read_llvm_alloc+'
stopped read_managed 'the host read managed memory while a launch was not waited for' 'read_it+' \
    'memspan_device_synchronize()'
for mode in no_taskwait no_taskwait_after_depend; do
    stopped "$mode" 'the host read managed memory while a target region was not waited for' 'read_it+' \
        "called by   $mode+" 'taskwait'
done
for mode in device_memory shared_memory take_turns mapped_data nowait_waited_for nowait_in_parallel \
    two_buffers region_waits; do
    runs "$mode"
done
# Without offloading regions are the host's code.
OMP_TARGET_OFFLOAD=DISABLED
for mode in nowait_waited_for two_buffers mapped_data; do
    runs "$mode"
done
exit "$bad"
