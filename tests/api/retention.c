/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept of memory that was freed: no more than a bound while the program runs, and nothing
 * for ever. No call of memspan_trim() comes before the check. */

#include "api.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static uint64_t held(void)
{
    memspan_allocator_stats_t all = {.struct_size = sizeof(all)};

    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &all));
    return all.held_bytes;
}

TestSuite(retention, .fini = in_order, .timeout = 60);

static void decay_after(const char *milliseconds)
{
    cr_assert_eq(setenv("MEMSPAN_DECAY_MS", milliseconds, 1), 0);
}

static void take(memspan_allocator_h allocator, void **blocks, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        blocks[i] = memspan_alloc(allocator, size);
        cr_assert_neq(blocks[i], NULL, "%s", memspan_error_text());
    }
}

static void give(void **blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        DONE(memspan_free(blocks[i]));
    }
}

/* ---- a bound, however much time there is ---- */

enum { THREADS = 8, ALLOCATORS = 4 };

static memspan_allocator_h allocators[ALLOCATORS];

/* 20 MiB of each allocator, freed before the next is asked. */
static void *use_all(void *argument)
{
    enum { COUNT = 160, SIZE = 128 << 10 };
    sem_t *done = argument;
    void *blocks[COUNT];

    for (int a = 0; a < ALLOCATORS; a++) {
        take(allocators[a], blocks, COUNT, SIZE);
        give(blocks, COUNT);
    }
    sem_post(&done[0]);
    sem_wait(&done[1]); /* it lives on, and keeps what it keeps */
    return NULL;
}

Test(retention, many_threads_together_keep_little_of_what_they_have_freed)
{
    pthread_t threads[THREADS];
    sem_t done[2];

    decay_after("1000000");
    cr_assert(sem_init(&done[0], 0, 0) == 0 && sem_init(&done[1], 0, 0) == 0);
    for (int a = 0; a < ALLOCATORS; a++) {
        DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &allocators[a]));
    }
    for (int t = 0; t < THREADS; t++) { /* one after the other: 20 MiB live at most */
        cr_assert_eq(pthread_create(&threads[t], NULL, use_all, done), 0);
        sem_wait(&done[0]);
    }
    cr_expect_leq(held(), 160 * MIB, "%llu MiB are held", (unsigned long long)held() / MIB);
    for (int t = 0; t < THREADS; t++) {
        sem_post(&done[1]);
    }
    for (int t = 0; t < THREADS; t++) {
        cr_assert_eq(pthread_join(threads[t], NULL), 0);
    }
    for (int a = 0; a < ALLOCATORS; a++) {
        DONE(memspan_allocator_destroy(allocators[a]));
    }
}

/* Blocks that are all freed, with no time for decay: at most half of them is still held. */
static void expect_half_goes_back(size_t count, size_t size_bytes)
{
    void **blocks = calloc(count, sizeof(*blocks));

    decay_after("1000000");
    cr_assert_neq(blocks, NULL);
    take(MEMSPAN_ALLOCATOR_DEFAULT, blocks, count, size_bytes);
    cr_expect_geq(held(), (uint64_t)count * size_bytes);
    give(blocks, count);
    cr_expect_leq(held(), (uint64_t)count * size_bytes / 2, "%llu MiB are held",
                  (unsigned long long)held() / MIB);
    free(blocks);
}

Test(retention, a_thread_that_frees_much_keeps_a_part_of_it)
{
    expect_half_goes_back(1600, 256 << 10);
}

Test(retention, slabs_without_objects_go_back_when_their_objects_are_freed)
{
    expect_half_goes_back(100000, 4096);
}

/* ---- one allocates, another frees ---- */

enum { CRATE = 4000, CRATES = 60, OBJECT = 1000 };

static void *crate[CRATE];
static sem_t filled, emptied;

static void *free_crates(void *argument)
{
    (void)argument;
    for (int i = 0; i < CRATES; i++) {
        sem_wait(&filled);
        give(crate, CRATE);
        sem_post(&emptied);
    }
    return NULL;
}

Test(retention, what_another_thread_frees_is_used_again)
{
    pthread_t thread;

    decay_after("1000000");
    cr_assert(sem_init(&filled, 0, 0) == 0 && sem_init(&emptied, 0, 0) == 0);
    cr_assert_eq(pthread_create(&thread, NULL, free_crates, NULL), 0);
    for (int i = 0; i < CRATES; i++) {
        take(MEMSPAN_ALLOCATOR_DEFAULT, crate, CRATE, OBJECT);
        sem_post(&filled);
        sem_wait(&emptied);
    }
    cr_expect_leq(held(), (uint64_t)4 * CRATE * OBJECT, "%llu MiB are held",
                  (unsigned long long)held() / MIB);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* ---- nothing for ever ---- */

static void *free_and_wait(void *argument)
{
    enum { COUNT = 250, SIZE = 96 << 10, SMALL = 2000 };
    static void *blocks[COUNT];
    static void *objects[SMALL];
    sem_t *done = argument;

    take(MEMSPAN_ALLOCATOR_DEFAULT, blocks, COUNT, SIZE);
    take(MEMSPAN_ALLOCATOR_DEFAULT, objects, SMALL, OBJECT);
    give(blocks, COUNT);
    give(objects, SMALL);
    sem_post(&done[0]);
    sem_wait(&done[1]);
    return NULL;
}

static void wait_ms(long milliseconds)
{
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
}

/* The other thread is idle: a thread that allocates a little returns its memory. */
Test(retention, what_an_idle_thread_keeps_goes_back_when_the_decay_time_is_over)
{
    enum { SIZE = 20000, PAIRS = 100, TRIES = 500 };
    uint64_t least = UINT64_MAX;
    pthread_t thread;
    sem_t done[2];

    decay_after("40");
    cr_assert(sem_init(&done[0], 0, 0) == 0 && sem_init(&done[1], 0, 0) == 0);
    DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, SIZE)));
    cr_assert_eq(pthread_create(&thread, NULL, free_and_wait, done), 0);
    sem_wait(&done[0]);
    for (int i = 0; (i < TRIES) && (least > 17 * MIB); i++) {
        for (int n = 0; n < PAIRS; n++) {
            DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, SIZE)));
        }
        least = (held() < least) ? held() : least;
        wait_ms(10);
    }
    cr_expect_leq(least, 17 * MIB, "%llu KiB are held", (unsigned long long)least / 1024);
    sem_post(&done[1]);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* ---- pages of slabs in which little lives ---- */

enum { PHASE_BYTES = 4 << 20, LIVE_SHARE = 100, PAGES_MOST = 40000, LIVE_MOST = 20000 };

static uintptr_t pages[PAGES_MOST];
static unsigned char *live[LIVE_MOST];
static size_t live_size[LIVE_MOST];
static size_t page_count, live_count;

static int compare(const void *a, const void *b)
{
    const uintptr_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Those that are there, of all that were ever used. */
static size_t resident_bytes(void)
{
    size_t page  = (size_t)sysconf(_SC_PAGESIZE);
    size_t count = 0;

    for (size_t i = 0; i < page_count; i++) {
        unsigned char there = 0;

        count += ((mincore((void *)pages[i], page, &there) == 0) && ((there & 1) != 0)) ? 1 : 0;
    }
    return count * page;
}

static size_t touched_bytes(void)
{
    return page_count * (size_t)sysconf(_SC_PAGESIZE);
}

static void note_pages(unsigned char *const *blocks, size_t count)
{
    uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    size_t kept    = 0;

    for (size_t i = 0; i < count; i++) {
        uintptr_t at = (uintptr_t)blocks[i] & ~mask;

        if ((page_count == 0) || (pages[page_count - 1] != at)) {
            cr_assert_lt(page_count, PAGES_MOST);
            pages[page_count++] = at;
        }
    }
    qsort(pages, page_count, sizeof(pages[0]), compare);
    for (size_t i = 0; i < page_count; i++) {
        if ((kept == 0) || (pages[kept - 1] != pages[i])) {
            pages[kept++] = pages[i];
        }
    }
    page_count = kept;
}

static void check_live(void)
{
    for (size_t i = 0; i < live_count; i++) {
        cr_assert(live[i][0] == (unsigned char)i && live[i][live_size[i] - 1] == (unsigned char)i,
                  "object %zu of %zu bytes", i, live_size[i]);
    }
}

static void keep(unsigned char *object, size_t size)
{
    cr_assert_lt(live_count, LIVE_MOST);
    object[0] = object[size - 1] = (unsigned char)live_count;
    live_size[live_count]        = size;
    live[live_count++]           = object;
}

/* Objects of larger and larger sizes, of which one in a hundred lives on. */
static void run_phases(void)
{
    size_t most             = PHASE_BYTES / 64;
    unsigned char **objects = malloc(most * sizeof(*objects));

    cr_assert_neq(objects, NULL);
    for (size_t size = 64; size <= 8192; size += size / 4) {
        size_t count = PHASE_BYTES / size;

        take(MEMSPAN_ALLOCATOR_DEFAULT, (void **)objects, count, size);
        for (size_t i = 0; i < count; i++) {
            memset(objects[i], 1, size);
        }
        note_pages(objects, count);
        for (size_t i = 0; i < count; i++) {
            if ((i * 2654435761u >> 7) % LIVE_SHARE == 0) {
                keep(objects[i], size);
            } else {
                DONE(memspan_free(objects[i]));
            }
        }
    }
    free(objects);
}

static void end_phases(void)
{
    check_live();
    give((void **)live, live_count);
    DONE(memspan_check());
}

/* Objects that are done with before the next size comes: their pages do not add up, though there
 * was no time for any decay. */
Test(retention, pages_of_one_size_make_room_for_those_of_the_next)
{
    decay_after("1000000");
    run_phases();
    cr_expect_leq(resident_bytes(), touched_bytes() * 3 / 4, "%zu of %zu KiB are there",
                  resident_bytes() / 1024, touched_bytes() / 1024);
    end_phases();
}

Test(retention, pages_without_live_objects_go_back_when_the_decay_time_is_over)
{
    enum { SIZE = 20000, PAIRS = 100, TRIES = 500 };

    decay_after("40");
    run_phases();
    for (int i = 0; (i < TRIES) && (resident_bytes() > touched_bytes() / 4); i++) {
        for (int n = 0; n < PAIRS; n++) {
            DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, SIZE)));
        }
        wait_ms(10);
    }
    cr_expect_leq(resident_bytes(), touched_bytes() / 4, "%zu of %zu KiB are there",
                  resident_bytes() / 1024, touched_bytes() / 1024);
    end_phases();
}

Test(retention, trimming_gives_pages_without_live_objects_back)
{
    enum { SIZE = 3000, COUNT = 3000 };
    unsigned char *object;

    decay_after("1000000");
    run_phases();
    cr_expect_gt(memspan_trim(), 0);
    cr_expect_leq(resident_bytes(), touched_bytes() / 4, "%zu of %zu KiB are there",
                  resident_bytes() / 1024, touched_bytes() / 1024);
    check_live();
    /* What comes of such pages is zero where zeros are asked for, and can be used. */
    for (int i = 0; i < COUNT; i++) {
        object = memspan_calloc(MEMSPAN_ALLOCATOR_DEFAULT, 1, SIZE);
        cr_assert_neq(object, NULL);
        for (int n = 0; n < SIZE; n += 500) {
            cr_assert_eq(object[n], 0);
        }
        memset(object, 1, SIZE);
        if (i % 2 == 0) {
            DONE(memspan_free(object));
        } else {
            keep(object, SIZE);
        }
    }
    end_phases();
}

/* Between blocks that live on, in chunks that are in use. */
Test(retention, pages_of_free_blocks_go_back_when_the_decay_time_is_over)
{
    enum { COUNT = 120, SIZE = 300 << 10, SHARE = 8, PAIRS = 100, TRIES = 500 };
    static unsigned char *blocks[COUNT];
    static unsigned char *touched[COUNT * (SIZE / 4096)];
    size_t count = 0;

    decay_after("40");
    take(MEMSPAN_ALLOCATOR_DEFAULT, (void **)blocks, COUNT, SIZE);
    for (int i = 0; i < COUNT; i++) {
        memset(blocks[i], 1, SIZE);
        for (int at = 0; at < SIZE; at += 4096) {
            touched[count++] = blocks[i] + at;
        }
    }
    note_pages(touched, count);
    for (int i = 0; i < COUNT; i++) {
        if (i % SHARE == 0) {
            keep(blocks[i], SIZE);
        } else {
            DONE(memspan_free(blocks[i]));
        }
    }
    for (int i = 0; (i < TRIES) && (resident_bytes() > touched_bytes() / 2); i++) {
        for (int n = 0; n < PAIRS; n++) {
            DONE(memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 20000)));
        }
        wait_ms(10);
    }
    cr_expect_leq(resident_bytes(), touched_bytes() / 2, "%zu of %zu KiB are there",
                  resident_bytes() / 1024, touched_bytes() / 1024);
    end_phases();
}

/* A thread that has ended: its slabs are orphans. */
static void *run_phases_and_end(void *argument)
{
    run_phases();
    return argument;
}

Test(retention, pages_of_a_thread_that_has_ended_go_back_too)
{
    pthread_t thread;

    decay_after("1000000");
    cr_assert_eq(pthread_create(&thread, NULL, run_phases_and_end, NULL), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    (void)memspan_trim();
    cr_expect_leq(resident_bytes(), touched_bytes() / 4, "%zu of %zu KiB are there",
                  resident_bytes() / 1024, touched_bytes() / 1024);
    end_phases();
}

/* ---- beside threads that allocate ---- */

enum { WORKERS = 3, SHARED = 400, STEPS = 12000 };

struct piece {
    size_t size;
    unsigned char mark;
};

static _Atomic(struct piece *) shared[SHARED];
static atomic_bool over;

static struct piece *make_piece(uint32_t dice)
{
    size_t size         = 32 + ((dice % 16 == 0) ? (dice >> 8) % 200000 : (dice >> 8) % 4000);
    struct piece *piece = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, size);

    cr_assert_neq(piece, NULL);
    *piece = (struct piece){size, (unsigned char)dice};
    memset(piece + 1, piece->mark, size - sizeof(*piece));
    return piece;
}

static void end_piece(struct piece *piece)
{
    const unsigned char *bytes = (const unsigned char *)(piece + 1);
    size_t count               = piece->size - sizeof(*piece);

    for (size_t i = 0; i < count; i += (count > 512) ? 512 : 1) {
        cr_assert_eq(bytes[i], piece->mark, "byte %zu of %zu", i, count);
    }
    cr_assert_eq(bytes[count - 1], piece->mark);
    DONE(memspan_free(piece));
}

/* The thread that takes a piece out frees it; mostly not the one that made it. */
static void *exchange_pieces(void *argument)
{
    uint32_t dice = (uint32_t)(uintptr_t)argument;

    for (int i = 0; i < STEPS; i++) {
        struct piece *piece;

        dice  = dice * 1664525 + 1013904223;
        piece = atomic_exchange(&shared[(dice >> 4) % SHARED], make_piece(dice));
        if (piece != NULL) {
            end_piece(piece);
        }
    }
    return NULL;
}

static void *trim_all_the_time(void *argument)
{
    while (!atomic_load(&over)) {
        (void)memspan_trim();
        wait_ms(3);
    }
    return argument;
}

Test(retention, nothing_that_lives_goes_back)
{
    pthread_t threads[WORKERS + 1];

    decay_after("1");
    cr_assert_eq(pthread_create(&threads[WORKERS], NULL, trim_all_the_time, NULL), 0);
    for (uintptr_t t = 0; t < WORKERS; t++) {
        cr_assert_eq(pthread_create(&threads[t], NULL, exchange_pieces, (void *)(t + 1)), 0);
    }
    for (int t = 0; t < WORKERS; t++) {
        cr_assert_eq(pthread_join(threads[t], NULL), 0);
    }
    atomic_store(&over, true);
    cr_assert_eq(pthread_join(threads[WORKERS], NULL), 0);
    for (int i = 0; i < SHARED; i++) {
        if (atomic_load(&shared[i]) != NULL) {
            end_piece(atomic_load(&shared[i]));
        }
    }
    DONE(memspan_check());
}

/* Nothing is kept where nothing is to be kept. */
Test(retention, no_time_keeps_nothing)
{
    enum { COUNT = 250, SIZE = 96 << 10 };
    static void *blocks[COUNT];

    decay_after("0");
    take(MEMSPAN_ALLOCATOR_DEFAULT, blocks, COUNT, SIZE);
    give(blocks, COUNT);
    cr_expect_leq(held(), 1 * MIB, "%llu KiB are held", (unsigned long long)held() / 1024);
}
