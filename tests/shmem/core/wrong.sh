#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# wrong.sh OSHRUN PROGRAM MEMORY-PROGRAM: every mistake ends the job, or is answered, with words that
# name the call and what was wrong; none hangs or is taken.
set -u
oshrun=$1
program=$2
memory=$3
bad=0

# expect CASE RESULT WORDS...: RESULT is "fatal" or "answered"; the words stand in what is said.
expect() {
    case=$1; result=$2; shift 2
    said=$(timeout 20 "$oshrun" -n 2 "$program" "$case" 2>&1)
    code=$?
    if [ "$code" -eq 124 ]; then
        echo "$case: hangs"; bad=1; return
    fi
    if [ "$result" = fatal ] && [ "$code" -eq 0 ]; then
        echo "$case: was taken"; bad=1
    fi
    if [ "$result" = answered ] && [ "$code" -ne 0 ]; then
        echo "$case: exit $code: $said"; bad=1
    fi
    if [ "$code" -gt 128 ]; then
        echo "$case: a signal ended it ($code): $said"; bad=1
    fi
    # The first PE that ends the job says why; each PE says once what was answered.
    if [ "$result" = fatal ]; then
        twice=$(echo "$said" | grep '^memspan: PE' | sed 1d)
    else
        twice=$(echo "$said" | grep '^memspan: PE' | sort | uniq -d)
    fi
    if [ -n "$twice" ]; then
        echo "$case: said more than once: $said"; bad=1
    fi
    for words in "$@"; do
        case $said in
        *"$words"*) ;;
        *) echo "$case: \"$words\" is not in: $said"; bad=1 ;;
        esac
    done
}

expect before_init fatal shmem "before shmem_init()"
expect malloc_before_init fatal shmem_malloc "before shmem_init()"
expect after_finalize fatal "after shmem_finalize()"
expect finalize_twice answered shmem_finalize "once more"
expect leave_early fatal "PE 0 is at its end"
expect finalize_early fatal "PE 0 is at its end"
SHMEMX_TRANSPORT=carrier expect pe_negative fatal "SHMEMX_TRANSPORT=carrier: there is no such transport"
MEMSPAN_SHMEM_TRANSPORT=smp,carrier expect pe_negative fatal "MEMSPAN_SHMEM_TRANSPORT=carrier: there is no such transport"
SHMEMX_TRANSPORT=tcp:x expect pe_negative fatal "SHMEMX_TRANSPORT=tcp:x" "tcp:2"
expect no_files_in_one fatal shmem_init "open files"
expect few_addresses_in_one answered
expect pe_negative fatal "shmem_long_p: pe -1 does" "PEs are 0 to 1"
expect pe_too_large fatal "shmem_long_p: pe 2 does" "PEs are 0 to 1"
expect get_pe_wild fatal "shmem_long_g: pe 1073741824 does" "PEs are 0 to 1"
expect atomic_pe_wild fatal "shmem_long_atomic_inc: pe -5 does" "PEs are 0 to 1"
expect context_pe fatal "shmem_ctx_long_g: pe 1 is not in the context's team: its PEs are 0 to 0"
expect stack_address fatal "shmem_long_p: 0x" "not symmetric" shmem_malloc
expect library_address fatal "shmem_long_p: 0x" "shared library" libc shmem_malloc
expect const_address fatal "shmem_long_g: 0x" "not symmetric" "const"
expect malloc_address fatal "shmem_long_atomic_fetch_add: 0x" "not symmetric"
expect collective_address fatal "shmem_long_alltoall: 0x" "not symmetric"
expect null_address fatal shmem_long_p "not symmetric"
expect past_the_end fatal "shmem_putmem: 1048576 bytes" "past the end"
expect stride_negative fatal shmem_long_iput "not symmetric"
expect stride_too_large fatal shmem_long_iput "not symmetric"
expect stride_wraps fatal shmem_long_iput "past the end"
expect stride_past_the_end fatal "shmem_long_iput: 72 bytes" "past the end"
expect strided_get_address fatal "shmem_long_iget: 0x" "not symmetric"
expect put_signal_address fatal "shmem_long_put_signal: 0x" "not symmetric"
expect signal_address fatal "shmem_ctx_long_put_signal_nbi: 0x" "not symmetric"
expect signal_pe_wild fatal "shmem_signal_add: pe 9 does" "PEs are 0 to 1"
expect fetch_nbi_address fatal "shmem_long_atomic_fetch_inc_nbi: 0x" "not symmetric"
expect printed_before fatal "this was printed " "before" "shmem_long_p: pe 7 does"
expect printed_while_reading fatal "this was printed " "shmem_long_p: pe 7 does"
expect space_outsider fatal "shmem_long_p: 0x" "a space of a team; PE 1 is not in that team"
OUTSIDER=1 expect space_outsider fatal "PE 0 is not in that team"
expect info_version_null fatal "shmem_info_get_version: minor is NULL"
expect info_name_null fatal "shmem_info_get_name: name is NULL"
expect query_thread_null fatal "shmem_query_thread: provided is NULL"
expect query_initialized_null fatal "shmem_query_initialized: initialized is NULL"
expect wait_null fatal "shmem_long_wait_until: ivar is NULL"
expect test_any_null fatal "shmem_int_test_any: ivar is NULL"
expect signal_wait_null fatal "shmem_signal_wait_until: ivar is NULL"
expect indices_null fatal "shmem_long_wait_until_some: indices is NULL"
expect values_null fatal "shmem_long_wait_until_all_vector: cmp_values is NULL"
expect words_none answered
expect space_null fatal "shmemx_space_create: space is NULL"
expect result_null fatal shmem_ctx_create "ctx is NULL"
expect new_team_null fatal shmem_team_split_strided "new_team is NULL"
expect free_twice fatal shmem_free 0x
expect free_inside fatal shmem_free 0x
expect free_foreign fatal shmem_free
expect out_of_heap answered shmem_malloc 1099511627776 largest SHMEM_SYMMETRIC_SIZE
expect context_destroyed_twice fatal shmem_ctx_destroy
expect team_null fatal shmem_team_sync
expect partition_unknown answered "warning: shmemx_partition_malloc: there is no partition 77"
expect mapped_unknown answered "__tgt_set_shmem_allocator: no partition has KIND=LIBOMP and device 0" \
    "memspan_map_symmetric is refused: mapped variables have no allocator"
expect handler_null answered "warning: shmemx_handler_add: handler is NULL"
expect properties answered
expect call_unknown fatal "shmemx_call: id 1 is no handler of this PE, which has added 1"
expect call_too_large fatal "shmemx_call: size is 2049, and at most 2048"
expect call_pe fatal "shmemx_call: pe 2 is not in the context's team"
expect call_waits fatal "a handler completes or orders operations, or waits"
expect call_not_added fatal "PE 0 calls handler 1, which this PE has not added"
SHMEMX_TRANSPORT=tcp:1 expect call_not_added fatal "PE 0 calls handler 1, which this PE has not added"
expect call_none_added fatal "PE 1 has not added handler 0"
SHMEMX_TRANSPORT=tcp:1 expect call_none_added fatal "PE 0 calls handler 0, which this PE has not added"
# Without a reader of standard error.
code=$({ { sleep 0.3; "$program" pe_negative; echo $? >&3; } 2>&1 | true; } 3>&1)
[ "$code" -eq 1 ] || { echo "a broken pipe: exit $code"; bad=1; }
export SHMEMX_CHECK=1
expect context_stale fatal context
expect context_reused fatal "is no context, or was destroyed"
expect overlapping fatal overlap
program=$memory
expect sizes_differ fatal "shmem_malloc: size is " " 4321 " " 8642 " "of the team"
expect omp_sizes_differ fatal "omp_alloc: size is " "of the team"
expect frees_differ fatal "shmem_free: ptr is " "of the team"
expect malloc_alone fatal "shmem_malloc: PE 1 of the team is in another collective call"
expect malloc_at_end fatal "PE 1 is at its end" "while this PE, in shmem_malloc, and all others"
expect past_the_block fatal "shmem_putmem: 8 bytes at 0x" "past the end of a block of 4096 bytes"
expect get_past_the_block fatal "shmem_getmem: no live block of partition 1 is at 0x"
expect stride_past_the_block fatal "shmem_long_iput: 4104 bytes at 0x" "a block of 4096 bytes"
expect atomic_in_freed fatal "shmem_long_atomic_inc: no live block of partition 1 is at 0x"
expect whole_blocks answered
unset SHMEMX_CHECK
expect free_at_end fatal "PE 0 is at its end" "while this PE, in shmem_free, and all others"
exit $bad
