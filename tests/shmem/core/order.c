/* SPDX-License-Identifier: BSD-3-Clause */
/* What one PE has made complete or ordered, others see so: messages and flags, signals, quiet as a
 * barrier between two PEs that look at each other, counters that all add to. */

#include "tests/shmem/check.h"

static int rounds;

static long message[16];
static long flag;
static uint64_t signal_word;
static long mine;
static long theirs;
static long both_missed;
static long counter;
static long put_first;
static long put_second;
static long lock;
static long guarded;

/* Put, fence, put: who sees the second has the first. */
static void flags_follow_messages(int me, int peer)
{
    long i;

    for (i = 1; i <= rounds; i++) {
        if (me == 0) {
            long out[16] = {[0] = i, [15] = -i};

            shmem_long_put(message, out, 16, peer);
            shmem_fence();
            shmem_long_p(&flag, i, peer);
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, i);
        } else {
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, i);
            CHECK(message[0] == i && message[15] == -i, "round %ld: %ld %ld", i, message[0],
                  message[15]);
            shmem_long_atomic_set(&flag, i, peer);
        }
    }
}

static void signals_follow_data(int me, int peer)
{
    uint64_t i;

    for (i = 1; i <= (uint64_t)rounds; i++) {
        long out = (long)(3 * i);

        if (me == 0) {
            shmem_long_put_signal(&message[3], &out, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, peer);
            shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, i);
        } else {
            CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, i) == i, "signal %lu",
                  (unsigned long)i);
            CHECK(message[3] == out, "signal %lu came before its data", (unsigned long)i);
            shmem_signal_set(&signal_word, i, peer);
        }
    }
}

/* Each stores to the other, then reads its own word: at least one sees the other's store. */
static void quiet_is_seen(int me, int peer)
{
    long i;

    for (i = 1; i <= rounds / 4; i++) {
        mine = 0;
        shmem_sync_all();
        shmem_long_p(&mine, i, peer);
        shmem_quiet();
        theirs = __atomic_load_n(&mine, __ATOMIC_RELAXED);
        shmem_sync_all();
        if (me == 0 && theirs == 0 && shmem_long_g(&theirs, peer) == 0) {
            both_missed++;
        }
        shmem_sync_all();
    }
    CHECK(both_missed == 0, "%ld times neither saw the other's put after its own quiet",
          both_missed);
}

/* Got one after the other, of words that are put in that order: the second get is no older. */
static void gets_are_in_order(int me, int peer)
{
    long second = 0;
    long i;

    for (i = 1; (me == 0) && (i <= rounds); i++) {
        shmem_long_p(&put_first, i, me);
        shmem_fence();
        shmem_long_p(&put_second, i, me);
    }
    while ((me != 0) && (second < rounds)) {
        long first;

        second = shmem_long_g(&put_second, peer);
        first  = shmem_long_g(&put_first, peer);
        CHECK(first >= second, "%ld was got before %ld", second, first);
    }
}

static void counters_add_up(int count)
{
    int i;

    for (i = 0; i < rounds; i++) {
        shmem_long_atomic_inc(&counter, i % count);
    }
    shmem_barrier_all();
    {
        long sum = 0;
        int pe;

        for (pe = 0; pe < count; pe++) {
            sum += shmem_long_atomic_fetch(&counter, pe);
        }
        CHECK(sum == (long)rounds * count, "%ld", sum);
    }
    shmem_barrier_all();
}

static void locks_exclude(int count)
{
    int i;

    for (i = 0; i < rounds / 40; i++) {
        long seen;

        shmem_set_lock(&lock);
        seen = shmem_long_g(&guarded, 0);
        shmem_long_p(&guarded, seen + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&guarded, 0) == (long)(rounds / 40) * count, "%ld",
          shmem_long_g(&guarded, 0));
}

int main(void)
{
    int me;
    int count;

    shmem_init();
    me     = shmem_my_pe();
    count  = shmem_n_pes();
    rounds = check_rounds(20000);
    if (me < 2 && count > 1) {
        flags_follow_messages(me, 1 - me);
        signals_follow_data(me, 1 - me);
        gets_are_in_order(me, 1 - me);
    }
    shmem_barrier_all();
    if (count == 2) {
        quiet_is_seen(me, 1 - me);
    }
    counters_add_up(count);
    locks_exclude(count);
    shmem_finalize();
    return 0;
}
