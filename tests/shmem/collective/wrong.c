/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong CASE: one mistake with teams, collectives or locks. wrong.sh says what must be answered. */

#include <shmem.h>
#include <string.h>

static long source[64];
static long dest[64];
static long lock;
static long sync_words[SHMEM_SYNC_SIZE];
static int work[64];
static int me;

static shmem_team_t destroyed(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
    shmem_team_destroy(team);
    return team;
}

static void root_wild(void)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 2);
}
static void team_stale(void)
{
    shmem_team_sync(destroyed());
}
static void team_twice(void)
{
    shmem_team_destroy(destroyed());
}
static void team_world(void)
{
    shmem_team_destroy(SHMEM_TEAM_WORLD);
}
static void team_not_mine(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 1, NULL, 0, &team);
    if (me == 0) {
        shmem_long_sum_reduce(team, dest, source, 1);
    }
    shmem_barrier_all();
}
static void set_not_mine(void)
{
    if (me == 0) {
        shmem_barrier(1, 0, 1, sync_words);
    }
    shmem_barrier_all();
}
static void set_too_large(void)
{
    shmem_int_sum_to_all(work, work, 1, 0, 1, 2, work, sync_words);
}
static void sync_null(void)
{
    shmem_barrier(0, 0, 2, NULL);
}
static void count_huge(void)
{
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, (size_t)1 << 61);
}
static void parts_huge(void)
{
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, (size_t)1 << 60);
}
static void set_root_wild(void)
{
    shmem_broadcast64(dest, source, 4, 2, 0, 0, 2, sync_words);
}
static void lock_unaligned(void)
{
    shmem_set_lock((long *)(void *)((char *)source + 4));
}
static void quiet_negative(void)
{
    const int pe = -1;

    shmem_pe_quiet(&pe, 1);
}
static void count_negative(void)
{
    shmem_int_sum_to_all(work, work, -1, 0, 0, 2, work, sync_words);
}
static void stride_zero(void)
{
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, dest, source, 0, 1, 4);
}
static void lock_twice(void)
{
    shmem_set_lock(&lock);
    shmem_set_lock(&lock);
}
static void lock_not_held(void)
{
    shmem_clear_lock(&lock);
}
static void lock_of_another(void)
{
    if (me == 1) {
        shmem_set_lock(&lock);
    }
    shmem_barrier_all();
    if (me == 0) {
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
}
static void lock_local(void)
{
    long local = 0;

    shmem_set_lock(&local);
}
static void sizes_differ(void)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, (size_t)(3 + me));
}
static void roots_differ(void)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, me);
}
static void calls_differ(void)
{
    if (me == 0) {
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
    } else {
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
    }
}
static void splits_differ(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, me, 1, 1, NULL, 0, &team);
}
static void set_sizes_differ(void)
{
    shmem_int_sum_to_all(work, work, 1 + me, 0, 0, 2, work, sync_words);
}
static void overlapping(void)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, dest + 1, 4);
}
static void local_dest(void)
{
    long local[4];

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, local, source, 4);
}
static void sync_local(void)
{
    long local[SHMEM_SYNC_SIZE] = {0};

    shmem_barrier(0, 0, 2, local);
}

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(root_wild),     CASE(team_stale),      CASE(team_twice),    CASE(team_world),
    CASE(team_not_mine), CASE(set_not_mine),    CASE(set_too_large), CASE(sync_null),
    CASE(count_huge),    CASE(count_negative),  CASE(stride_zero),   CASE(lock_twice),
    CASE(lock_not_held), CASE(lock_of_another), CASE(lock_local),    CASE(sizes_differ),
    CASE(roots_differ),  CASE(calls_differ),    CASE(splits_differ), CASE(set_sizes_differ),
    CASE(overlapping),   CASE(local_dest),      CASE(sync_local),    CASE(parts_huge),
    CASE(set_root_wild), CASE(lock_unaligned),  CASE(quiet_negative)};

int main(int argc, char **argv)
{
    size_t i;

    shmem_init();
    me = shmem_my_pe();
    for (i = 0; (argc == 2) && (i < sizeof cases / sizeof cases[0]); i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            shmem_finalize();
            return 0;
        }
    }
    return 2;
}
