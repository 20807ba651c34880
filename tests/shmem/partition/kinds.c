/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c KIND [PAGE-BYTES] [BACKEND]: partition 5 is given as KIND says, and takes part in
 * everything that moves data: what arrives is what was sent. Nothing here touches its memory but
 * by OpenSHMEM's calls. A backend that is off, and pages that are not reserved, are a skip. */

#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <pthread.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITION = 5, LARGE = 300000, SMALL = 96, ROUNDS = 3, ADDS = 500, THREADS = 2 };

#ifdef KINDS_OFFLOAD
int offload_runs(void);
#endif

static int me;
static int count;
static int to;
static int from;
static long sent[LARGE];
static long got[LARGE];

static long number(int pe, int round, int i)
{
    return ((long)pe * 1000000007L) + ((long)round * 1000003L) + i;
}

static void fill(long *values, int n, int round)
{
    for (int i = 0; i < n; i++) {
        values[i] = number(me, round, i);
    }
}

static void verify(const char *what, const long *values, int n, int pe, int round)
{
    for (int i = 0; i < n; i++) {
        CHECK(values[i] == number(pe, round, i), "%s: element %d of PE %d is %ld", what, i, pe,
              values[i]);
    }
}

static long *allocate(size_t n)
{
    long *memory = shmemx_partition_malloc(n * sizeof(long), PARTITION);

    CHECK(memory != NULL, "%s", memspan_error_text());
    CHECK(shmemx_partition_of(memory) == PARTITION, "%d", shmemx_partition_of(memory));
    return memory;
}

/* ---- blocks ---- */

static void move_blocks(void)
{
    long *large = allocate(LARGE);

    for (int round = 0; round < ROUNDS; round++) {
        fill(sent, LARGE, round);
        shmem_long_put(large, sent, LARGE, to);
        shmem_barrier_all();
        memset(got, 0, sizeof got);
        shmem_long_get(got, large, LARGE, me);
        verify("own", got, LARGE, from, round);
        memset(got, 0, sizeof got);
        shmem_long_get(got, large, LARGE, to);
        verify("peer's", got, LARGE, me, round);
        shmem_barrier_all();
    }
    shmem_free(large);
}

/* Between partitions: an address that is given may be one that the host cannot touch. */
static void move_between(void)
{
    long *here = allocate(SMALL);
    long *host = shmem_malloc(SMALL * sizeof(long));

    fill(sent, SMALL, 7);
    shmem_long_put(here, sent, SMALL, me);
    shmem_barrier_all();
    shmem_long_put(host, here, SMALL, to);
    shmem_barrier_all();
    verify("from the partition", host, SMALL, from, 7);
    fill(host, SMALL, 8);
    shmem_barrier_all();
    shmem_long_get(here, host, SMALL, to);
    shmem_long_get(got, here, SMALL, me);
    verify("into the partition", got, SMALL, to, 8);
    shmem_barrier_all();
    shmem_long_put(here, here, SMALL, me == 0 ? me : 0); /* onto itself, and from all to one */
    shmem_barrier_all();
    shmem_free(host);
    shmem_free(here);
}

static void move_strided(void)
{
    long *memory = allocate((size_t)SMALL * 3);

    memset(got, 0, sizeof got);
    shmem_long_put(memory, got, (size_t)SMALL * 3, me);
    shmem_barrier_all();
    fill(sent, SMALL * 2, 4);
    shmem_long_iput(memory, sent, 3, 2, SMALL, to);
    shmem_barrier_all();
    shmem_long_get(got, memory, (size_t)SMALL * 3, me);
    for (int i = 0; i < SMALL * 3; i++) {
        long wanted = (i % 3 == 0) ? number(from, 4, i / 3 * 2) : 0;

        CHECK(got[i] == wanted, "element %d is %ld, not %ld", i, got[i], wanted);
    }
    shmem_barrier_all();
    shmem_free(memory);
}

/* ---- order ---- */

/* What a flag in host memory announces has arrived. */
static void keep_order(void)
{
    long *data         = allocate(LARGE);
    uint64_t *announce = shmem_calloc(1, sizeof *announce);
    uint64_t *back     = shmem_calloc(1, sizeof *back);

    for (int round = 1; round <= 20; round++) {
        int n = (round % 4 == 0) ? LARGE : SMALL;

        fill(sent, n, round);
        if (round % 2 == 0) {
            shmem_long_put_nbi(data, sent, (size_t)n, to);
            shmem_fence();
            shmem_uint64_p(announce, (uint64_t)round, to);
        } else {
            shmem_long_put_signal(data, sent, (size_t)n, announce, (uint64_t)round,
                                  SHMEM_SIGNAL_SET, to);
        }
        shmem_uint64_wait_until(announce, SHMEM_CMP_GE, (uint64_t)round);
        shmem_long_get(got, data, (size_t)n, me);
        verify("announced", got, n, from, round);
        shmem_uint64_p(back, (uint64_t)round, from);
        shmem_uint64_wait_until(back, SHMEM_CMP_GE, (uint64_t)round);
    }
    shmem_barrier_all();
    shmem_free(data);
    shmem_free(announce);
    shmem_free(back);
}

/* ---- atomics ---- */

static void count_together(void)
{
    long *word = shmemx_partition_calloc(2, sizeof *word, PARTITION);
    int *small = (int *)(word + 1);
    long sum   = 0;

    CHECK(word != NULL, "%s", memspan_error_text());
    for (int i = 0; i < ADDS; i++) {
        for (int pe = 0; pe < count; pe++) {
            shmem_long_atomic_add(word, pe + 1, pe);
        }
    }
    shmem_barrier_all();
    CHECK(shmem_long_atomic_fetch(word, me) == (long)ADDS * count * (me + 1), "%ld",
          shmem_long_atomic_fetch(word, me));
    shmem_barrier_all();
    for (int i = 0; i < ADDS; i++) { /* every value is had once */
        sum += shmem_int_atomic_fetch_inc(small, 0);
    }
    shmem_barrier_all();
    shmem_long_atomic_set(word, 0, me);
    shmem_barrier_all();
    shmem_long_atomic_add(word, sum, 0);
    shmem_barrier_all();
    long all = (long)ADDS * count;
    CHECK(shmem_long_atomic_fetch(word, 0) == all * (all - 1) / 2, "%ld",
          shmem_long_atomic_fetch(word, 0));
    shmem_barrier_all();
    shmem_long_atomic_set(word, 5, me);
    CHECK(shmem_long_atomic_compare_swap(word, 4, 6, me) == 5, "compared wrongly");
    CHECK(shmem_long_atomic_compare_swap(word, 5, 6, me) == 5, "compared wrongly");
    CHECK(shmem_long_atomic_swap(word, 9, me) == 6, "not swapped");
    shmem_ulong_atomic_xor((unsigned long *)word, 15, me);
    CHECK(shmem_long_g(word, me) == 6, "%ld", shmem_long_g(word, me));
    shmem_barrier_all();
    shmem_free(word);
}

/* ---- collectives ---- */

static void collect(void)
{
    long *source = allocate((size_t)SMALL * (size_t)count);
    long *dest   = allocate((size_t)SMALL * (size_t)count);

    fill(sent, SMALL * count, 2);
    shmem_long_put(source, sent, (size_t)SMALL * (size_t)count, me);
    shmem_barrier_all();
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, SMALL);
    shmem_long_get(got, dest, (size_t)SMALL * (size_t)count, me);
    for (int pe = 0; pe < count; pe++) {
        verify("fcollect", got + ((size_t)SMALL * (size_t)pe), SMALL, pe, 2);
    }
    shmem_barrier_all();
    shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, SMALL);
    shmem_long_get(got, dest, (size_t)SMALL * (size_t)count, me);
    for (int i = 0; i < SMALL * count; i++) {
        CHECK(got[i] == number(i / SMALL, 2, (SMALL * me) + (i % SMALL)), "alltoall %d: %ld", i,
              got[i]);
    }
    shmem_barrier_all();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, SMALL, count - 1);
    shmem_long_get(got, dest, SMALL, me);
    verify("broadcast", got, SMALL, count - 1, 2);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, SMALL);
    shmem_long_get(got, dest, SMALL, me);
    for (int i = 0; i < SMALL; i++) {
        long wanted = 0;

        for (int pe = 0; pe < count; pe++) {
            wanted += number(pe, 2, i);
        }
        CHECK(got[i] == wanted, "sum %d is %ld, not %ld", i, got[i], wanted);
    }
    shmem_barrier_all();
    shmem_free(dest);
    shmem_free(source);
}

/* ---- threads ---- */

static long *shared;

static void *run_thread(void *argument)
{
    int thread = (int)(intptr_t)argument;
    size_t n   = 20000;
    long *mine = shared + ((size_t)thread * n);
    long *data = malloc(n * sizeof *data);

    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < n; i++) {
            data[i] = number(me, (thread * 100) + round, (int)i);
        }
        shmem_long_put(mine, data, n, to);
        shmem_quiet();
        memset(data, 0, n * sizeof *data);
        shmem_long_get(data, mine, n, to);
        verify("thread's", data, (int)n, me, (thread * 100) + round);
    }
    free(data);
    return NULL;
}

static void share_between_threads(void)
{
    pthread_t threads[THREADS];

    shared = allocate((size_t)THREADS * 20000);
    for (intptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, run_thread, (void *)i) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    shmem_barrier_all();
    shmem_free(shared);
}

/* ---- what is said of it ---- */

static int is_on(const char *backend)
{
    for (int i = 0; i < memspan_backend_count(); i++) {
        memspan_backend_info_t info = {.struct_size = sizeof info};

        if ((strcmp(memspan_backend_name(i), backend) == 0) &&
            (memspan_backend_describe(i, &info) == MEMSPAN_OK)) {
            return info.on && (info.device_count > 0);
        }
    }
    return 0;
}

#ifdef KINDS_OFFLOAD
static int device_is_host(void)
{
    memspan_device_info_t info = {.struct_size = sizeof info};

    CHECK(memspan_device_describe(0, &info) == MEMSPAN_OK, "%s", memspan_error_text());
    return (info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL) != 0;
}
#endif

static void describe(const char *kind, size_t page_bytes)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};
    int touches;

    CHECK(shmemx_partition_info(PARTITION, &info) == 0, "%s", memspan_error_text());
    if ((page_bytes != 0) && (info.page_size_bytes != page_bytes)) {
        printf("skipped: %s\n", info.why);
        shmem_finalize();
        exit(77);
    }
    CHECK(strncmp(info.kind_name, kind, strlen(kind)) == 0, "given %s: %s", info.kind_name,
          info.why);
    CHECK((info.id == PARTITION) && !info.is_default && (info.size_bytes >= 4 << 20), "%zu",
          info.size_bytes);
    CHECK(info.why[0] != '\0', "no reason is given");
    touches = (info.capabilities & SHMEMX_CAP_DIRECT_ACCESS) != 0;
    if ((info.capabilities & SHMEMX_CAP_PEER_ACCESS) != 0) {
        CHECK((shmem_ptr(info.base, to) != NULL) == check_is_near(to), "peers should map it");
        CHECK(touches, "mapped by others, but not here");
    } else {
        CHECK((count == 1) || (shmem_ptr(info.base, to) == NULL), "peers should not map it");
    }
#ifdef KINDS_OFFLOAD
    CHECK((info.kind != SHMEMX_KIND_LIBOMP) || !device_is_host() ||
              (shmem_ptr(info.base, to) != NULL),
          "%s", info.why);
#endif
    if (me == 0) {
        printf("%s (%s): %s\n", info.kind_name, info.resource, info.why);
    }
}

/* ---- order between memory of the kind and variables ---- */

static uint64_t arrived;
static long lock;

/* The signal is in a variable, which may take another path than the data. */
static void signal_apart(void)
{
    long *large = allocate(LARGE);

    for (int round = 0; round < ROUNDS; round++) {
        fill(sent, LARGE, round);
        shmem_long_put_signal(large, sent, LARGE, &arrived, (uint64_t)round + 1, SHMEM_SIGNAL_SET,
                              to);
        (void)shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, (uint64_t)round + 1);
        shmem_long_get(got, large, LARGE, me);
        verify("signalled", got, LARGE, from, round);
        shmem_barrier_all();
    }
    shmem_free(large);
}

/* What was put before a lock is cleared is there for the next who has it. */
static void locked(void)
{
    long *large = allocate(LARGE);

    memset(got, 0, sizeof got);
    shmem_long_put(large, got, LARGE, me);
    shmem_barrier_all();
    for (int round = 0; round < 2 * ROUNDS; round++) {
        shmem_set_lock(&lock);
        if (me != 0) {
            fill(sent, LARGE, round);
            shmem_long_put(large, sent, LARGE, 0);
        } else {
            shmem_long_get(got, large, LARGE, 0);
            for (int i = 0; i < LARGE; i++) {
                CHECK((got[i] == 0) || (got[i] == got[0] + i), "locked: element %d is half new", i);
            }
        }
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    shmem_free(large);
}

int main(int argc, char **argv)
{
    const char *kind  = (argc > 1) ? argv[1] : "NORMALMEM";
    size_t page_bytes = (argc > 2) ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    int provided;

#ifdef KINDS_OFFLOAD
    if (!offload_runs()) {
        return 77;
    }
#endif
    if ((argc > 3) && !is_on(argv[3])) {
        printf("skipped: %s is off\n", argv[3]);
        return 77;
    }
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0) {
        return 1;
    }
    me    = shmem_my_pe();
    count = shmem_n_pes();
    to    = (me + 1) % count;
    from  = (me + count - 1) % count;
    describe(kind, page_bytes);
    move_blocks();
    move_between();
    move_strided();
    keep_order();
    signal_apart();
    locked();
    count_together();
    collect();
    share_between_threads();
    shmem_finalize();
    return 0;
}
