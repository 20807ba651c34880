#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# queues.sh PROGRAM: what each mode of queues.c must report.
set -u
program=$1
bad=0
MEMSPAN_DEVICES=emu:1
export MEMSPAN_DEVICES

complain() {
    echo "$*"
    bad=1
}

# stopped MODE HEADLINE WORDS...: ended by SIGABRT (SIGSEGV with $code 139) after a report with each of the words.
code=134
stopped() {
    mode=$1
    shift
    said=$("$program" "$mode" 2>&1) && got=0 || got=$?
    [ "$got" -eq "$code" ] || complain "$mode: exit code $got, not $code: $said"
    for words; do
        case $said in
        *"$words"*) ;;
        *) complain "$mode did not report \"$words\": $said" ;;
        esac
    done
}

runs() {
    said=$("$program" "$1" 2>&1) && got=0 || got=$?
    case $got/$said in
    0/*memspan:*) complain "$1 got a diagnostic: $said" ;;
    0/*'went on') ;;
    *) complain "$1: exit code $got: $said" ;;
    esac
}

for queues in in_order late:3; do
    export MEMSPAN_EMU_QUEUES=$queues
    early='memory may be used before its allocation'
    stopped use_early "$early" 'memspan_queue_wait()' 'an allocation, operation 1 of queue 1' \
        'called by   take+' 'a copy, operation 1 of queue 2' 'called by   use_early+'
    stopped use_early_small "$early" 'operation 1 of queue 1' 'operation 1 of queue 2'
    stopped use_early_old_edge "$early" 'an allocation, operation 3 of queue 1' 'a fill, operation 1 of queue 2'
    stopped use_early_by_host "$early" "a copy, operation 1 of the device's own queue"
    stopped use_early_kernel "$early" 'a kernel, operation 1 of queue 2'
    stopped use_early_after_free "$early" 'an allocation, operation 1 of queue 1'
    late='memory may be used after its free'
    stopped use_late "$late" 'memspan_used_on()' 'a fill, operation 1 of queue 2' 'a free, operation 3 of queue 1'
    stopped use_late_small "$late" 'a fill, operation 1 of queue 2' 'a free, operation 3 of queue 1'
    stopped use_late_old_edge "$late" 'a copy, operation 2 of queue 2' 'a free, operation 3 of queue 1'
    stopped use_late_plain "$late" 'a fill, operation 1 of queue 2' 'a free, operation 1 of queue 1'
    stopped free_by_host "$late" 'a fill, operation 2 of queue 1' 'a free by the host'
    stopped use_after 'memory is used after its free' 'a free, operation 3 of queue 1' \
        'a copy, operation 1 of queue 2'
    other='memory of a queue is used by other work'
    stopped attached_other_kernel "$other" 'is for the work of that queue alone' 'an attachment, operation 1 of queue 1' \
        'called by   take_attached+' 'a kernel, operation 1 of queue 2' 'called by   attached_other_kernel+'
    stopped attached_other_copy "$other" 'a copy, operation 1 of queue 2'
    stopped attached_own_copy "$other" "a copy, operation 1 of the device's own queue"
    stopped attached_early 'memory may be in use by another queue' 'a kernel, operation 1 of queue 1' \
        'an attachment, operation 1 of queue 2'
    stopped detached_early 'memory may be in use by its queue' 'a kernel, operation 2 of queue 1' 'a detachment'
    code=139
    stopped attached_host_early 'the host read memory of a queue while its launch was not waited for' \
        'memspan_queue_synchronize() of that queue' 'called by   attached_host_early+'
    code=134
    runs attached_right
    runs right
    runs late_copy
done
case $said in '0 copies of 20'*) complain "late:3: nothing is late: $said" ;; esac
first=$said
runs late_copy
[ "$said" = "$first" ] || complain "one seed has two orders: $first, $said"
MEMSPAN_EMU_QUEUES=in_order runs late_copy
case $said in '0 copies of 20'*) ;; *) complain "in_order: $said" ;; esac
said=$(MEMSPAN_EMU_QUEUES=later "$program" right 2>&1) && complain "a wrong value is accepted: $said"
case $said in *'"later" is not in_order, late or late:SEED'*) ;; *) complain "a wrong value: $said" ;; esac
exit "$bad"
