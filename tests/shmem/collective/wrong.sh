#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# wrong.sh OSHRUN PROGRAM: every mistake ends the job with words that name the call and the value;
# none hangs, crashes or is taken.
set -u
oshrun=$1
program=$2
bad=0

# expect CASE WORDS...: the words stand in what is said.
expect() {
    case=$1; shift
    said=$(timeout 20 "$oshrun" -n 2 "$program" "$case" 2>&1)
    code=$?
    case $code in
    0) echo "$case: was taken"; bad=1 ;;
    1) ;;
    124) echo "$case: hangs"; bad=1 ;;
    *) echo "$case: exit $code: $said"; bad=1 ;;
    esac
    for words in "$@"; do
        case $said in
        *"$words"*) ;;
        *) echo "$case: \"$words\" is not in: $said"; bad=1 ;;
        esac
    done
}

expect root_wild shmem_long_broadcast "PE_root 2"
expect team_stale shmem_team_sync "was destroyed"
expect team_twice shmem_team_destroy "was destroyed"
expect team_world shmem_team_destroy SHMEM_TEAM_WORLD
expect team_not_mine shmem_long_sum_reduce SHMEM_TEAM_INVALID
expect set_not_mine shmem_barrier "PE 0 is not in"
expect set_too_large shmem_int_sum_to_all "logPE_stride 1"
expect sync_null shmem_barrier "pSync is NULL"
expect count_huge shmem_long_fcollect 2305843009213693952
expect parts_huge shmem_long_fcollect 1152921504606846976
expect set_root_wild shmem_broadcast64 "PE_root 2"
expect lock_unaligned shmem_set_lock "not on a boundary"
expect count_negative shmem_int_sum_to_all "nreduce -1"
expect stride_zero shmem_long_alltoalls "dst is 0"
expect lock_twice shmem_set_lock already
expect lock_not_held shmem_clear_lock "does not hold"
expect lock_of_another shmem_clear_lock "does not hold"
expect lock_local shmem_set_lock "not symmetric"
export SHMEMX_CHECK=1
expect sizes_differ shmem_long_sum_reduce 24 32
expect roots_differ shmem_long_broadcast PE_root 0 1
expect calls_differ shmem_long_sum_reduce shmem_long_max_reduce
expect splits_differ shmem_team_split_strided start
expect set_sizes_differ shmem_int_sum_to_all 4 8
expect quiet_negative shmem_pe_quiet "target_pes[0] is -1"
expect overlapping shmem_long_sum_reduce overlap
expect local_dest shmem_long_sum_reduce "not symmetric"
expect sync_local shmem_barrier "not symmetric"
exit $bad
