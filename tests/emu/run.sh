#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh PROGRAM MEMQUERY [SANITIZER]: what each mode of program.c must say.
set -eu
program=$1
memquery=$2
bad=0
MEMSPAN_DEVICES=emu:2
export MEMSPAN_DEVICES

complain() {
    echo "$*"
    bad=1
}

# stopped MODE WORDS...: ended by SIGSEGV, and each of the words was said.
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
    case $said in
    *memspan:*) complain "$1 got a diagnostic: $said" ;;
    *right*) ;;
    *) complain "$1: $said" ;;
    esac
}

# Of the devices that a program named, those that are still there; a zombie is not.
devices_left() {
    for device in $(echo "$1" | sed -n 's/^device //p'); do
        state=$(awk '/^State:/ { print $2 }' "/proc/$device/status" 2>/dev/null || true)
        case $state in '' | Z | X) ;; *) echo "$device" ;; esac
    done
}

stopped read_device 'the host read device memory' 'byte 24 of' 'rule ' 'memspan_copy()' 'read at ' \
    'read_it+' 'allocation  8000 bytes' 'over space {0}' 'called by   read_device+' 'called by   main+' \
    'allocated by take+' 'allocated by read_device+' 'allocated by main+'
line=$(grep -n 'return from\[3\]' "$(dirname "$0")/program.c" | cut -d: -f1)
echo "$said" | grep -q "read at 0x[0-9a-f]*, read_it+0x[0-9a-f]* at program.c:$line, by thread" ||
    complain "read_device: not line $line: $said"
# in_one_write WORDS: those of several processes do not interleave.
in_one_write() {
    first=$({ "$program" read_device 2>&1 >/dev/null || :; } | dd bs=64k count=1 2>/dev/null)
    case $first in
    *'omp_target_memcpy()'*"$1"*'called by   main+'*) ;;
    *) complain "read_device: not in one write: $first" ;;
    esac
}
in_one_write 'allocated by take+'
# Blocks that share a page have a call stack each.
stopped read_second_small 'allocation  800 bytes' 'allocated by take_small+' 'allocated by take_second+' \
    'allocated by read_second_small+'
stopped read_third_small 'allocation  1600 bytes' 'allocated by take_longer+' \
    'allocated by read_third_small+'
case $said in *'by take_second+'* | *'by take_small+'*) complain "read_third_small: another's stack: $said" ;; esac
# Memory that a network has registered is not freed.
said=$("$program" frees_open 2>&1) && code=0 || code=$?
[ "$code" -eq 134 ] || complain "frees_open: exit code $code: $said"
case $said in
*'may be used after its free'*'memspan_share_host_close()'*'memspan_share_host_open()'*take_open+*'a free by the host'*) ;;
*) complain "frees_open: $said" ;;
esac
runs frees_closed
# What is known stays said when the unwinder faults.
stopped read_device_unwinder_faults 'the host read device memory' 'read_unwindless+' 'allocated by main+'
stopped write_device 'the host wrote to device memory' 'write at ' 'write_it+'
stopped copy_device 'the host read device memory'
stopped read_managed 'the host read managed memory while a launch was not waited for' \
    'memspan_device_synchronize()' 'read_it+' 'over space {host,0}'
stopped write_managed_later 'the host wrote to managed memory' 'called by   write_managed_later+'
stopped read_freed 'the host read memory that was freed' 'byte 24 of 16777216' \
    'allocated by read_freed+'
stopped run_over 'addresses of a device behind the end of a block' '24 bytes past the end of 16777216' \
    'allocated by run_over+'
stopped many_threads 'the host read device memory' 'read_in_thread+'
stopped in_child 'a forked child used ' 'devices do not survive fork()'
# Not ours to explain, and ended by its handler: the system's, or a sanitizer's.
said=$("$program" elsewhere 2>&1) && complain "elsewhere: $said"
case $said in *memspan:* | *'went on'*) complain "elsewhere: $said" ;; esac
said=$("$program" many_threads 2>&1 | grep -c 'memspan: emu0' || true)
[ "$said" -eq 1 ] || complain "four threads got $said diagnostics"

# Where the block was allocated, where that is kept.
MEMSPAN_DEBUG=guard
export MEMSPAN_DEBUG
stopped read_device 'the host read device memory' 'allocated by thread' ' take+' 'read_it+'
in_one_write 'allocated by thread'
stopped read_device_unwinder_faults 'the host read device memory' 'read_unwindless+' 'allocated by thread'
# What the devices find alone is found with the guard too, and it says who freed the block.
stopped read_freed 'the host read memory that was freed' 'which was freed' 'freed by thread' \
    'read_freed+'
stopped read_freed_small 'the host read memory that was freed' 'freed by thread' 'read_freed_small+'
stopped run_over 'addresses of a device behind the end of a block'
said=$("$program" frees_twice 2>&1) && code=0 || code=$?
[ "$code" -eq 134 ] || complain "frees_twice: exit code $code: $said"
case $said in *'double free of 0x'*'freed by thread'*) ;; *) complain "frees_twice: $said" ;; esac
unset MEMSPAN_DEBUG

for mode in freed_blocks_come_again list_is_walked device_memory_by_copies both_sides_at_once allocates_during_a_launch; do
    runs "$mode"
    MEMSPAN_DEBUG=guard runs "$mode"
done
# Not with the thread sanitizer: its own thread stays, and the process with it.
if [ "${3:-}" != thread ]; then
    said=$(timeout -k 5 20 "$program" main_leaves 2>&1) || complain "main_leaves: exit code $?: $said"
    case $said in *right*) ;; *) complain "main_leaves: $said" ;; esac
fi
# A kernel has the devices' memory that is in use, and nothing else of the program's.
for debug in '' guard; do
    MEMSPAN_DEBUG=$debug runs kernel_reads_freed
    case $said in *'kernel chase'*'that was freed'*) ;; *) complain "kernel_reads_freed: $said" ;; esac
done
runs kernel_reads_variable
case $said in *'kernel chase'*) ;; *) complain "kernel_reads_variable: $said" ;; esac
runs files_are_the_programs
MEMSPAN_EMU_MEMORY=16m
export MEMSPAN_EMU_MEMORY
MEMSPAN_DEBUG=guard runs freed_blocks_come_again # the same addresses, within 64 MiB of them
runs out_of_memory
case $said in *'bytes of device memory on emu0: '*'are left'*) ;; *) complain "out_of_memory: $said" ;; esac

# Host pages for devices of two vendors, whichever imports first.
for devices in emu:1,opencl:0 opencl:0,emu:1; do
    said=$(MEMSPAN_DEVICES=$devices "$program" several_vendors 2>&1) || true
    case $said in
    *right*) ;;
    *'opencl:0 is not available'* | *'no opencl:0'*) echo "several_vendors: not tried: $said" ;;
    *) complain "several_vendors with $devices: $said" ;;
    esac
done

# Nothing is left of the devices after exit, or after exec of another program.
gone() {
    [ "$(echo "$2" | grep -c '^device ')" -eq 2 ] || complain "$1 named no two devices: $2"
    [ -z "$(devices_left "$2")" ] || complain "$1: devices are left: $(devices_left "$2")"
}
runs devices_by_process
sleep 0.1
gone devices_by_process "$said"
list=$(mktemp)
"$program" becomes_another >"$list" 2>&1 &
sleep 0.6
gone becomes_another "$(cat "$list")"
wait $!

# Nor of a device in the middle of a kernel, when the program is killed.
"$program" killed_during_a_kernel >"$list" 2>&1 || true
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -z "$(devices_left "$(cat "$list")")" ] && break
    sleep 0.5
done
gone killed_during_a_kernel "$(cat "$list")"
for device in $(devices_left "$(cat "$list")"); do kill -9 "$device"; done
rm -f "$list"

said=$("$memquery" 2>&1) || complain "memquery: $said"
for words in 'emu:0' 'emu:1' 'emulated device 1' 'MEMSPAN_EMU_MEMORY' '{host,0,1}'; do
    case $said in *"$words"*) ;; *) complain "memquery does not say $words: $said" ;; esac
done
unset MEMSPAN_DEVICES
said=$("$memquery" --why emu 2>&1) || true
case $said in *'not asked for'*) ;; *) complain "memquery --why emu: $said" ;; esac
exit "$bad"
