#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# arguments.sh OSHRUN PROGRAM: every argument that cannot be right ends the job, by no signal, with
# words that name the call and the argument.
set -u
oshrun=$1
program=$2
bad=0

# refused CASE WORDS...
refused() {
    case=$1
    shift
    said=$(timeout 20 "$oshrun" -n 2 "$program" "$case" 2>&1)
    code=$?
    if [ "$code" -eq 0 ] || [ "$code" -eq 124 ] || [ "$code" -gt 128 ]; then
        echo "$case: exit $code: $said"
        bad=1
    fi
    for words in "$@"; do
        case $said in
        *"$words"*) ;;
        *)
            echo "$case: \"$words\" is not in: $said"
            bad=1
            ;;
        esac
    done
}

refused comparison shmem_long_wait_until 'cmp 17' SHMEM_CMP_EQ
refused comparison_of_many shmem_long_test_any 'cmp 0'
refused signal_operator shmem_long_put_signal 'sig_op 5'
refused count_overflows 'past the end'
refused count_wraps 'past the end'
refused collective_overflows shmem_long_fcollect 'more than there can be'
refused root shmem_long_broadcast 'PE_root 9' '0 to 1'
refused team_invalid shmem_long_sum_reduce SHMEM_TEAM_INVALID
refused team_wild shmem_team_sync 0x12345
refused team_world_destroyed shmem_team_destroy SHMEM_TEAM_WORLD
refused alltoalls_stride shmem_long_alltoalls 'dst is 0'
refused set_too_large shmem_barrier 99
refused reduce_negative shmem_long_sum_to_all 'nreduce -1'
refused context_invalid 'ctx is SHMEM_CTX_INVALID'

export SHMEMX_CHECK=1
refused count_overflows shmem_long_put 'past the end'
refused context_invalid shmem_ctx_long_p SHMEM_CTX_INVALID
refused context_wild shmem_ctx_long_p 0x7777
refused misaligned shmem_long_p dest 'boundary of 8'
refused stride_zero shmem_long_iput 'dst 0'
refused stride_in_block shmem_long_ibput 'dst 2' 4
refused source_null shmem_long_put 'source is NULL'
refused sizes_differ shmem_long_fcollect 'number of bytes' 'must be the same'
refused roots_differ shmem_long_broadcast PE_root 'must be the same'
refused parts_overlap shmem_long_fcollect overlap
refused reduce_of_stack shmem_long_sum_reduce 'not symmetric'
refused lock_of_stack shmem_set_lock 'not symmetric'
exit $bad
