/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose pool_size is it: access=all (one for the allocator), cgroup (each contention group's),
 * pteam (each parallel team's) and thread (each thread's), in an OpenMP program with nested teams
 * and a league of teams. */

#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1000, OVERHEAD = 4, FIT = 4, OUTER = 2, INNER = 2, TRIES = 2 * FIT };

static int failures;

#define EXPECT(found, wanted, what)                                                                \
    do {                                                                                           \
        if ((found) != (wanted)) {                                                                 \
            printf("%s:%d: %s: %d, not %d\n", __FILE__, __LINE__, what, (int)(found),              \
                   (int)(wanted));                                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static memspan_allocator_h make(memspan_trait_value_t access)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, FIT * (SIZE + OVERHEAD)},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                     {MEMSPAN_TRAIT_ACCESS, access}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    if (memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 3, &allocator) != MEMSPAN_OK) {
        printf("no allocator: %s\n", memspan_error_text());
        exit(EXIT_FAILURE);
    }
    return allocator;
}

/* How many of TRIES the calling thread gets. */
static int take(memspan_allocator_h allocator, void **blocks)
{
    int count = 0;

    for (int i = 0; i < TRIES; i++) {
        blocks[i] = memspan_alloc(allocator, SIZE);
        count += (blocks[i] != NULL);
    }
    return count;
}

static void drop(void **blocks)
{
    for (int i = 0; i < TRIES; i++) {
        (void)memspan_free(blocks[i]);
    }
}

static void expect_all_back(memspan_allocator_h allocator, const char *what)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    (void)memspan_allocator_get_stats(allocator, &stats);
    EXPECT(stats.charged_bytes, 0, what);
    EXPECT(stats.live_count, 0, what);
}

/* One team: all that its threads get. */
static int one_team(memspan_allocator_h allocator)
{
    int total = 0;

#pragma omp parallel num_threads(OUTER) reduction(+ : total)
    {
        void *blocks[TRIES];

        total += take(allocator, blocks);
#pragma omp barrier
        drop(blocks);
    }
    return total;
}

/* Two teams at once, inside the outer one: what each gets, while both hold it. */
static void inner_teams(memspan_allocator_h allocator, int *totals)
{
    void *blocks[OUTER][INNER][TRIES];

#pragma omp parallel num_threads(OUTER)
    {
        int outer = omp_get_thread_num();
        int total = 0;

#pragma omp parallel num_threads(INNER) reduction(+ : total)
        total += take(allocator, blocks[outer][omp_get_thread_num()]);
        totals[outer] = total;
#pragma omp barrier
    }
    for (int i = 0; i < OUTER; i++) {
        for (int k = 0; k < INNER; k++) {
            drop(blocks[i][k]);
        }
    }
}

static void check_teams(memspan_trait_value_t access, const char *name, int in_one, int in_each,
                        int in_both)
{
    memspan_allocator_h allocator = make(access);
    int totals[OUTER]             = {0};

    for (int round = 0; round < 3; round++) {
        EXPECT(one_team(allocator), in_one, name);
        inner_teams(allocator, totals);
        EXPECT(totals[0] + totals[1], in_both, name);
        if (in_each >= 0) {
            EXPECT(totals[0], in_each, name);
            EXPECT(totals[1], in_each, name);
        }
        expect_all_back(allocator, name);
    }
    (void)memspan_allocator_destroy(allocator);
}

/* A league of two teams: each is a contention group of its own. */
static void check_league(memspan_trait_value_t access, const char *name, int in_both)
{
    memspan_allocator_h allocator = make(access);
    void *blocks[2][TRIES]        = {{NULL}};
    int counts[2]                 = {0, 0};
    int teams                     = 1;

#pragma omp teams num_teams(2)
    {
        int team = omp_get_team_num();

        if (team == 0) {
            teams = omp_get_num_teams();
        }
        counts[team] = take(allocator, blocks[team]);
    }
    if (teams == 2) {
        EXPECT(counts[0] + counts[1], in_both, name);
    }
    drop(blocks[0]);
    drop(blocks[1]);
    expect_all_back(allocator, name);
    (void)memspan_allocator_destroy(allocator);
}

/* A sequential part between two parallel ones is the initial thread's own team. */
static void check_sequential(memspan_trait_value_t access, const char *name)
{
    memspan_allocator_h allocator = make(access);
    void *blocks[TRIES];

    for (int round = 0; round < 3; round++) {
        EXPECT(take(allocator, blocks), FIT, name);
        drop(blocks);
        (void)one_team(allocator);
    }
    expect_all_back(allocator, name);
    (void)memspan_allocator_destroy(allocator);
}

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    check_teams(MEMSPAN_VALUE_ALL, "all", FIT, -1, FIT);
    check_teams(MEMSPAN_VALUE_CGROUP, "cgroup", FIT, -1, FIT);
    check_teams(MEMSPAN_VALUE_PTEAM, "pteam", FIT, FIT, OUTER * FIT);
    check_teams(MEMSPAN_VALUE_THREAD, "thread", OUTER * FIT, INNER * FIT, OUTER * INNER * FIT);
    check_league(MEMSPAN_VALUE_ALL, "all, league", FIT);
    check_league(MEMSPAN_VALUE_CGROUP, "cgroup, league", 2 * FIT);
    check_sequential(MEMSPAN_VALUE_PTEAM, "pteam, sequential");
    check_sequential(MEMSPAN_VALUE_CGROUP, "cgroup, sequential");
    check_sequential(MEMSPAN_VALUE_THREAD, "thread, sequential");
    if (memspan_check() != MEMSPAN_OK) {
        printf("%s\n", memspan_error_text());
        failures++;
    }
    return (failures == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
