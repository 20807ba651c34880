/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments CASE: a program that gives one argument that cannot be right. arguments.sh says what
 * must be answered. */

#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long words[64];
static long other[64];
static uint64_t sig;
static long sync_words[SHMEM_SYNC_SIZE];

/* X(case, what is done). */
#define CASE_MAP(X)                                                                                \
    X(comparison, shmem_long_wait_until(words, 17, 0))                                             \
    X(comparison_of_many, (void)shmem_long_test_any(words, 4, NULL, 0, 1))                         \
    X(signal_operator, shmem_long_put_signal(words, other, 1, &sig, 1, 5, 0))                      \
    X(count_overflows, shmem_long_put(words, other, SIZE_MAX / 2, 0))                              \
    X(count_wraps, shmem_long_get(words, other, (SIZE_MAX / 8) + 2, 0))                            \
    X(collective_overflows, (void)shmem_long_fcollect(SHMEM_TEAM_WORLD, words, other, SIZE_MAX))   \
    X(root, (void)shmem_long_broadcast(SHMEM_TEAM_WORLD, words, other, 1, 9))                      \
    X(team_invalid, (void)shmem_long_sum_reduce(SHMEM_TEAM_INVALID, words, other, 1))              \
    X(team_wild, (void)shmem_team_sync((shmem_team_t)(uintptr_t)0x12345))                          \
    X(team_world_destroyed, shmem_team_destroy(SHMEM_TEAM_WORLD))                                  \
    X(alltoalls_stride, (void)shmem_long_alltoalls(SHMEM_TEAM_WORLD, words, other, 0, 1, 1))       \
    X(set_too_large, shmem_barrier(0, 0, 99, sync_words))                                          \
    X(reduce_negative, shmem_long_sum_to_all(words, other, -1, 0, 0, 2, other, sync_words))        \
    X(context_invalid, shmem_ctx_long_p(SHMEM_CTX_INVALID, words, 1, 0))                           \
    X(context_wild, shmem_ctx_long_p((shmem_ctx_t)(uintptr_t)0x7777, words, 1, 0))                 \
    X(misaligned, shmem_long_p((long *)((char *)words + 1), 1, 0))                                 \
    X(stride_zero, shmem_long_iput(words, other, 0, 1, 4, 0))                                      \
    X(stride_in_block, shmem_long_ibput(words, other, 2, 4, 4, 2, 0))                              \
    X(source_null, shmem_long_put(words, NULL, 1, 0))                                              \
    X(sizes_differ,                                                                                \
      (void)shmem_long_fcollect(SHMEM_TEAM_WORLD, words, other, 1 + (size_t)shmem_my_pe()))        \
    X(roots_differ, (void)shmem_long_broadcast(SHMEM_TEAM_WORLD, words, other, 1, shmem_my_pe()))  \
    X(parts_overlap, (void)shmem_long_fcollect(SHMEM_TEAM_WORLD, words, words + 1, 2))             \
    X(reduce_of_stack, (void)shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, (long[2]){0, 1}, 2))   \
    X(lock_of_stack, shmem_set_lock((long[1]){0}))

#define DEFINE_CASE(name, action)                                                                  \
    static void do_##name(void)                                                                    \
    {                                                                                              \
        action;                                                                                    \
    }
CASE_MAP(DEFINE_CASE)

int main(int argc, char **argv)
{
    if (argc != 2) {
        return 2;
    }
    shmem_init();
#define RUN_CASE(name, action)                                                                     \
    if (strcmp(argv[1], #name) == 0) {                                                             \
        do_##name();                                                                               \
        shmem_barrier_all();                                                                       \
        shmem_finalize();                                                                          \
        return 0;                                                                                  \
    }
    CASE_MAP(RUN_CASE)
    return 2;
}
