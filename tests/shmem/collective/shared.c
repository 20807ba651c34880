/* SPDX-License-Identifier: BSD-3-Clause */
/* SHMEM_TEAM_SHARED has all PEs of this host in the order of the world, also where their numbers
 * are no run with a stride: members, collectives, and teams that are split from it. */

#include "tests/shmem/check.h"

enum { PES_MAX = 64 };

static long sum, mine;
static long all[PES_MAX];
static int near[PES_MAX]; /* the world's PEs of this host */
static int count;

static void members(void)
{
    int pe;

    for (pe = 0; pe < shmem_n_pes(); pe++) {
        if (shmem_ptr(&mine, pe) != NULL) {
            CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) == count,
                  "PE %d is not %d", pe, count);
            CHECK(shmem_team_translate_pe(SHMEM_TEAM_SHARED, count, SHMEM_TEAM_WORLD) == pe,
                  "%d is not PE %d", count, pe);
            near[count++] = pe;
        } else {
            CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) == -1, "PE %d",
                  pe);
        }
    }
    CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) == count, "%d, not %d PEs",
          shmem_team_n_pes(SHMEM_TEAM_SHARED), count);
    CHECK(near[shmem_team_my_pe(SHMEM_TEAM_SHARED)] == shmem_my_pe(), "this PE");
}

/* Of a team whose members are every @p step-th of those near. */
static void collectives(shmem_team_t team, int step)
{
    int size  = shmem_team_n_pes(team);
    long want = 0;
    int i;

    CHECK(size == (count + step - 1) / step, "%d members", size);
    for (i = 0; i < size; i++) {
        want += near[i * step];
    }
    mine = shmem_my_pe();
    CHECK(shmem_sum_reduce(team, &sum, &mine, 1) == 0, "sum");
    CHECK(sum == want, "sum %ld, not %ld", sum, want);
    CHECK(shmem_fcollect(team, all, &mine, 1) == 0, "fcollect");
    for (i = 0; i < size; i++) {
        CHECK(all[i] == near[i * step], "%d has %ld", i, all[i]);
    }
    shmem_team_sync(team);
}

int main(void)
{
    shmem_team_t part;

    shmem_init();
    CHECK(shmem_n_pes() <= PES_MAX, "PEs");
    members();
    collectives(SHMEM_TEAM_SHARED, 1);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_SHARED, 0, 2, (count + 1) / 2, NULL, 0, &part) == 0,
          "split");
    if (part != SHMEM_TEAM_INVALID) {
        collectives(part, 2);
        shmem_team_destroy(part);
    }
    shmem_finalize();
    return 0;
}
