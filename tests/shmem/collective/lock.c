/* SPDX-License-Identifier: BSD-3-Clause */
/* lock: they exclude, also many at once; PEs are served in the order of their arrival; one that
 * tries does not wait; what was put while it was held has come when the next one has it. */

#include "tests/shmem/check.h"
#include <time.h>

enum { LOCKS = 7, ROUNDS = 300 };

static long locks[LOCKS];
static long guarded[LOCKS][8];
static long order;
static long place;
static long ticket;
static int me;
static int count;

/* Counters without atomics, on PE 0: a lost turn is a lost number. */
static void exclude(int rounds)
{
    uint64_t state = 99 + (uint64_t)me;
    long sum       = 0;
    int i;

    for (i = 0; i < rounds; i++) {
        unsigned which = (unsigned)(check_random(&state) % LOCKS);
        long seen[8];

        if (check_random(&state) % 4 == 0) {
            while (shmem_test_lock(&locks[which]) != 0) {
            }
        } else {
            shmem_set_lock(&locks[which]);
        }
        CHECK(shmem_test_lock(&locks[which]) == 1, "it is held, by this PE");
        shmem_long_get(seen, guarded[which], 8, 0);
        CHECK(seen[0] == seen[7], "%ld %ld: half of a put", seen[0], seen[7]);
        seen[0]++;
        seen[7] = seen[0];
        shmem_long_put(guarded[which], seen, 8, 0);
        shmem_clear_lock(&locks[which]);
    }
    shmem_barrier_all();
    for (i = 0; i < LOCKS; i++) {
        sum += shmem_long_g(&guarded[i][0], 0);
        CHECK(locks[i] == 0, "lock %d is %lx though no PE has it", i, (unsigned long)locks[i]);
    }
    CHECK(sum == (long)rounds * count, "%ld turns of %ld", sum, (long)rounds * count);
    shmem_barrier_all();
}

/* PE 0 holds it while the others queue up one after the other: each says so once it must be there
 * (it is told apart by the next being let in only after it has been seen asleep or spinning). */
static void queue_is_fair(void)
{
    static long one;
    long turn;
    int i;

    if (count < 2) {
        return;
    }
    if (me == 0) {
        shmem_set_lock(&one);
    }
    shmem_barrier_all();
    if (me == 0) {
        for (i = 1; i < count; i++) {
            uint64_t spins;

            shmem_long_p(&ticket, 1, i);
            shmem_long_wait_until(&place, SHMEM_CMP_GE, i);
            /* From there to the queue are some ten instructions: ample time for them. */
            for (spins = 0; spins < 40; spins++) {
                struct timespec pause = {0, 250000};

                nanosleep(&pause, NULL);
            }
        }
        shmem_clear_lock(&one);
    } else {
        shmem_long_wait_until(&ticket, SHMEM_CMP_EQ, 1);
        shmem_long_atomic_inc(&place, 0);
        shmem_set_lock(&one);
        turn = shmem_long_atomic_fetch_inc(&order, 0);
        CHECK(turn == me - 1, "PE %d came as number %d and was served as number %ld", me, me,
              turn + 1);
        shmem_clear_lock(&one);
    }
    shmem_barrier_all();
}

/* A lock that is tried in vain is its holder's, who can clear it. */
static void try_in_vain(void)
{
    static long one;
    int i;

    if (me == 0) {
        shmem_set_lock(&one);
    }
    shmem_barrier_all();
    for (i = 0; (me != 0) && (i < 3); i++) {
        CHECK(shmem_test_lock(&one) == 1, "it is held by PE 0");
    }
    shmem_barrier_all();
    if (me == 0) {
        shmem_clear_lock(&one);
    }
    shmem_set_lock(&one);
    shmem_clear_lock(&one);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me    = shmem_my_pe();
    count = shmem_n_pes();
    exclude((count > 8) ? 20 : ROUNDS);
    queue_is_fair();
    try_in_vain();
    shmem_finalize();
    return 0;
}
