/* SPDX-License-Identifier: BSD-3-Clause */
/* counters.c [UPDATES [THREADS]]: UPDATES (10^7) atomic updates of the counters of every PE, by
 * every atomic operation that changes a word, from THREADS (2) threads of each PE with contexts of
 * all kinds. Half of them come from PEs of the owner's host, half across. Not one is lost or done
 * twice: each thread knows what its updates make of a counter, whatever the order. */

#include "tests/shmem/check.h"
#include <pthread.h>
#include <stdlib.h>

enum {
    PES_MAX         = 64,
    THREADS_MAX     = 8,
    DEFAULT_UPDATES = 10000000,
    DEFAULT_THREADS = 2,
    LATER_MAX       = 64
};

/* What the updates of a thread, a PE, then the job make of the counters of one PE. */
struct effect {
    long sum;
    long sum32;
    long successes;
    long tokens; /* those put in, less those taken out */
    long tokens32;
    long signals;
    uint64_t parity;
    uint64_t parity32;
};

struct counters {
    long sum;
    int sum32;
    unsigned parity32;
    uint64_t parity;
    uint64_t bits; /* one for each thread of the job */
    long compared;
    long token;
    int token32;
    uint64_t signal;
    long payload[PES_MAX]; /* one for each thread of the job */
};

struct updater {
    shmem_ctx_t context;
    int index; /* of the thread in the job: its bit */
    uint64_t state;
    uint64_t is_set[PES_MAX]; /* its bit of each PE's */
    struct effect effect[PES_MAX];
    long fetched[LATER_MAX]; /* by operations that are outstanding */
    unsigned later;
};

static struct counters counters;
static struct counters *heap_counters; /* of another segment */
static struct updater updaters[THREADS_MAX];
static struct effect mine[PES_MAX];
static struct effect all[PES_MAX];
static int near[PES_MAX];
static int far[PES_MAX];
static int near_count;
static int far_count;
static long updates_of_thread;

/* ---- one update ---- */

static void add(struct updater *by, struct counters *at, int pe, long value, unsigned which)
{
    switch (which % 8) {
    case 0:
        shmem_ctx_long_atomic_inc(by->context, &at->sum, pe);
        value = 1;
        break;
    case 1:
        (void)shmem_ctx_long_atomic_fetch_inc(by->context, &at->sum, pe);
        value = 1;
        break;
    case 2:
        (void)shmem_ctx_long_atomic_fetch_add(by->context, &at->sum, value, pe);
        break;
    case 3:
        if (++by->later % LATER_MAX == 0) {
            shmem_ctx_quiet(by->context);
        }
        shmem_ctx_long_atomic_fetch_add_nbi(by->context, &by->fetched[by->later % LATER_MAX],
                                            &at->sum, value, pe);
        break;
    default:
        shmem_ctx_long_atomic_add(by->context, &at->sum, value, pe);
        break;
    }
    by->effect[pe].sum += value;
}

static void add32(struct updater *by, struct counters *at, int pe, int value, unsigned which)
{
    switch (which % 4) {
    case 0:
        (void)shmem_ctx_int_atomic_fetch_add(by->context, &at->sum32, value, pe);
        break;
    case 1:
        shmem_ctx_int_atomic_inc(by->context, &at->sum32, pe);
        value = 1;
        break;
    default:
        shmem_ctx_int_atomic_add(by->context, &at->sum32, value, pe);
        break;
    }
    by->effect[pe].sum32 += value;
}

static void flip(struct updater *by, struct counters *at, int pe, uint64_t value, unsigned which)
{
    switch (which % 4) {
    case 0:
        (void)shmem_ctx_uint64_atomic_fetch_xor(by->context, &at->parity, value, pe);
        break;
    case 1:
        shmem_ctx_uint_atomic_xor(by->context, &at->parity32, (unsigned)value, pe);
        by->effect[pe].parity32 ^= (unsigned)value;
        return;
    default:
        shmem_ctx_uint64_atomic_xor(by->context, &at->parity, value, pe);
        break;
    }
    by->effect[pe].parity ^= value;
}

/* Its own bit, which only it changes; a lost update of another thread would change it back. */
static void change_bit(struct updater *by, struct counters *at, int pe)
{
    uint64_t bit = UINT64_C(1) << by->index;
    uint64_t old;

    if (by->is_set[pe] != 0) {
        old = shmem_ctx_uint64_atomic_fetch_and(by->context, &at->bits, ~bit, pe);
    } else {
        old = shmem_ctx_uint64_atomic_fetch_or(by->context, &at->bits, bit, pe);
    }
    CHECK((old & bit) == by->is_set[pe], "bit %d of PE %d has changed", by->index, pe);
    by->is_set[pe] ^= bit;
}

static void exchange(struct updater *by, struct counters *at, int pe, unsigned which)
{
    int token = (int)(check_random(&by->state) & 0xffff);

    if (which % 2 == 0) {
        by->effect[pe].tokens +=
            token - shmem_ctx_long_atomic_swap(by->context, &at->token, token, pe);
    } else {
        by->effect[pe].tokens32 +=
            token - shmem_ctx_int_atomic_swap(by->context, &at->token32, token, pe);
    }
}

static void compare(struct updater *by, struct counters *at, int pe)
{
    long old = shmem_ctx_long_atomic_fetch(by->context, &at->compared, pe);

    if (shmem_ctx_long_atomic_compare_swap(by->context, &at->compared, old, old + 1, pe) == old) {
        by->effect[pe].successes++;
    }
}

/* Of 32 updates 7 fetch on average: most do not wait for their target. */
static void update(struct updater *by, int pe)
{
    uint64_t x          = check_random(&by->state);
    unsigned which      = (unsigned)(x >> 32) % 1024;
    struct counters *at = (pe % 2 == 0) ? &counters : heap_counters;
    int value           = (int)(x & 0xff) - 100;

    switch (x >> 59) {
    case 0:
        change_bit(by, at, pe);
        break;
    case 1:
        exchange(by, at, pe, which);
        break;
    case 2:
        compare(by, at, pe);
        break;
    case 3:
        shmem_ctx_long_put_signal(by->context, &at->payload[by->index], &by->effect[pe].signals, 1,
                                  &at->signal, 1, SHMEM_SIGNAL_ADD, pe);
        by->effect[pe].signals++;
        break;
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
        flip(by, at, pe, x, which);
        break;
    case 9:
    case 10:
    case 11:
    case 12:
        add32(by, at, pe, value, which);
        break;
    default:
        add(by, at, pe, value, which);
        break;
    }
}

/* ---- threads ---- */

static shmem_ctx_t context_of(int index)
{
    static const long options[] = {SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, 0};
    shmem_ctx_t context         = SHMEM_CTX_DEFAULT;

    if (index % 4 != 3) {
        CHECK(shmem_ctx_create(options[index % 4], &context) == 0, "no context");
    }
    return context;
}

static void *run_thread(void *argument)
{
    struct updater *by = argument;

    by->context = context_of(by->index);
    for (long i = 0; i < updates_of_thread; i++) {
        if ((i % 2 == 0) || (far_count == 0)) {
            update(by, near[(i / 2) % near_count]);
        } else {
            update(by, far[(i / 2) % far_count]);
        }
    }
    shmem_ctx_quiet(by->context);
    if (by->context != SHMEM_CTX_DEFAULT) {
        shmem_ctx_destroy(by->context);
    }
    return NULL;
}

static void run_threads(int threads)
{
    pthread_t id[THREADS_MAX];

    for (int i = 0; i < threads; i++) {
        updaters[i].index = (shmem_my_pe() * threads) + i;
        updaters[i].state = (uint64_t)updaters[i].index;
        CHECK(pthread_create(&id[i], NULL, run_thread, &updaters[i]) == 0, "no thread");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(id[i], NULL);
    }
}

/* ---- the result ---- */

static void merge(struct effect *into, const struct effect *more)
{
    into->sum += more->sum;
    into->sum32 += more->sum32;
    into->successes += more->successes;
    into->tokens += more->tokens;
    into->tokens32 += more->tokens32;
    into->signals += more->signals;
    into->parity ^= more->parity;
    into->parity32 ^= more->parity32;
}

/* What all PEs have done to this one's. */
static struct effect expected(int threads)
{
    struct effect sum = {0};
    int me            = shmem_my_pe();

    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        for (int i = 0; i < threads; i++) {
            merge(&mine[pe], &updaters[i].effect[pe]);
        }
    }
    shmem_alltoallmem(SHMEM_TEAM_WORLD, all, mine, sizeof mine[0]);
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        merge(&sum, &all[pe]);
    }
    CHECK(me < PES_MAX, "too many PEs");
    return sum;
}

static void verify(const struct effect *wanted)
{
    struct counters *at = (shmem_my_pe() % 2 == 0) ? &counters : heap_counters;

    CHECK(at->sum == wanted->sum, "%ld, not %ld", at->sum, wanted->sum);
    CHECK(at->sum32 == (int)wanted->sum32, "%d, not %d", at->sum32, (int)wanted->sum32);
    CHECK(at->parity == wanted->parity, "%#lx, not %#lx", (unsigned long)at->parity,
          (unsigned long)wanted->parity);
    CHECK(at->parity32 == (unsigned)wanted->parity32, "%#x, not %#x", at->parity32,
          (unsigned)wanted->parity32);
    CHECK(at->compared == wanted->successes, "%ld, not %ld", at->compared, wanted->successes);
    CHECK(at->token == wanted->tokens, "%ld, not %ld", at->token, wanted->tokens);
    CHECK(at->token32 == (int)wanted->tokens32, "%d, not %d", at->token32, (int)wanted->tokens32);
    CHECK(at->signal == (uint64_t)wanted->signals, "%lu, not %ld", (unsigned long)at->signal,
          wanted->signals);
}

static void find_peers(void)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        if (!check_is_near(pe)) {
            far[far_count++] = pe;
        } else if (pe != shmem_my_pe()) {
            near[near_count++] = pe;
        }
    }
    if (near_count == 0) {
        near[near_count++] = shmem_my_pe();
    }
}

int main(int argc, char **argv)
{
    long updates = (argc > 1) ? strtol(argv[1], NULL, 10) : DEFAULT_UPDATES;
    int threads  = (argc > 2) ? (int)strtol(argv[2], NULL, 10) : DEFAULT_THREADS;
    struct effect wanted;
    int provided;

    (void)shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    CHECK((threads >= 1) && (threads <= THREADS_MAX) && (shmem_n_pes() * threads <= PES_MAX),
          "a thread has a bit of 64");
    updates_of_thread = updates / ((long)shmem_n_pes() * threads);
    heap_counters     = shmem_calloc(1, sizeof *heap_counters);
    find_peers();
    shmem_barrier_all();
    run_threads(threads);
    shmem_barrier_all();
    wanted = expected(threads);
    verify(&wanted);
    if (shmem_my_pe() == 0) {
        printf("%ld updates of %d PEs, %d threads each: exact\n",
               updates_of_thread * threads * shmem_n_pes(), shmem_n_pes(), threads);
    }
    shmem_barrier_all();
    shmem_free(heap_counters);
    shmem_finalize();
    return 0;
}
