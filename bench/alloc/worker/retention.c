/* SPDX-License-Identifier: BSD-3-Clause */
/* Retained memory: resident at the peak, when all is freed, and later, while one thread allocates a
 * little. Two programs that free nearly all: threads that use four allocators in turn, and objects
 * of sizes that rise by phase. */

#include "bench/alloc/worker/worker.h"
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

enum { THREADS = 16, ALLOCATORS = 4, BLOCKS_MOST = 8192, SIZES_LEAST = 16, SIZES_MOST = 8192 };

static void touch(void *block, size_t size)
{
    for (size_t at = 0; at < size; at += 64) {
        ((volatile char *)block)[at] = 1;
    }
}

/* Three seconds with some allocations. */
static void wait_a_while(const struct worker *worker)
{
    for (int i = 0; i < (worker->quick ? 2 : 60); i++) {
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        for (int n = 0; n < 100; n++) {
            void *block = kind_take(worker->allocator, 20000);

            worker_escape(block);
            kind_give(worker->allocator, block);
        }
    }
}

static void write_points(const struct worker *worker, const char *const names[3], double base,
                         double peak)
{
    const double mib = 1048576;

    worker_point(names[0], (peak - base) / mib);
    worker_point(names[1], (worker_resident_bytes() - base) / mib);
    wait_a_while(worker);
    worker_point(names[2], (worker_resident_bytes() - base) / mib);
}

/* ---- threads and allocators ---- */

struct user {
    kind_allocator *allocators;
    sem_t start;
    sem_t done;
    sem_t end;
    size_t bytes;
    double peak;
    bool failed;
};

/* Blocks of 8 to 264 KiB, @p bytes of them, from one allocator after the other. */
static void *use_allocators(void *argument)
{
    struct user *user       = argument;
    struct worker_dice dice = {271};
    void **blocks           = worker_blocks(BLOCKS_MOST);

    (void)sem_wait(&user->start);
    for (size_t a = 0; a < ALLOCATORS; a++) {
        size_t count = 0;

        for (size_t taken = 0; (taken < user->bytes) && (count < BLOCKS_MOST); count++) {
            size_t size   = 8193 + worker_below(&dice, 256 << 10);
            blocks[count] = kind_take(user->allocators[a], size);
            if (blocks[count] == NULL) {
                user->failed = true;
                break;
            }
            touch(blocks[count], size);
            taken += size;
        }
        if (worker_resident_bytes() > user->peak) {
            user->peak = worker_resident_bytes();
        }
        while (count > 0) {
            kind_give(user->allocators[a], blocks[--count]);
        }
    }
    (void)sem_post(&user->done);
    (void)sem_wait(&user->end); /* idle until the end */
    return NULL;
}

static bool threads(const struct worker *worker)
{
    static const char *const names[] = {"kept-peak", "kept", "kept-later"};
    kind_allocator allocators[ALLOCATORS];
    static struct user users[THREADS];
    pthread_t ids[THREADS];
    double base;
    double peak = 0;
    bool failed = false;

    for (size_t a = 0; a < ALLOCATORS; a++) {
        if (!kind_make((size_t)4 << 30, &allocators[a]) && !kind_default(&allocators[a])) {
            return worker_complain("no allocator for the row retention");
        }
    }
    for (size_t t = 0; t < THREADS; t++) {
        users[t] = (struct user){.allocators = allocators,
                                 .bytes      = worker->quick ? 1 << 20 : (size_t)40 << 20};
        if ((sem_init(&users[t].start, 0, 0) != 0) || (sem_init(&users[t].done, 0, 0) != 0) ||
            (sem_init(&users[t].end, 0, 0) != 0) ||
            (pthread_create(&ids[t], NULL, use_allocators, &users[t]) != 0)) {
            return worker_complain("no thread for the row retention");
        }
    }
    base = worker_resident_bytes();
    for (size_t t = 0; t < THREADS; t++) {
        (void)sem_post(&users[t].start);
        (void)sem_wait(&users[t].done);
        peak   = (users[t].peak > peak) ? users[t].peak : peak;
        failed = failed || users[t].failed;
    }
    write_points(worker, names, base, peak);
    for (size_t t = 0; t < THREADS; t++) {
        (void)sem_post(&users[t].end);
        (void)pthread_join(ids[t], NULL);
    }
    return !failed || worker_complain("an allocation of the row retention failed");
}

/* ---- phases ---- */

static bool phases(const struct worker *worker)
{
    static const char *const names[] = {"phases-peak", "phases", "phases-later"};
    size_t bytes                     = worker->quick ? 200000 : 20000000;
    void **blocks                    = worker_blocks(bytes / SIZES_LEAST);
    struct worker_dice dice          = {161};
    double base                      = worker_resident_bytes();
    double peak                      = base;

    if (blocks == NULL) {
        return false;
    }
    for (size_t size = SIZES_LEAST; size <= SIZES_MOST; size += (size < 128) ? 16 : size / 4) {
        size_t count = bytes / size;

        for (size_t i = 0; i < count; i++) {
            blocks[i] = kind_take(worker->allocator, size);
            if (blocks[i] == NULL) {
                return worker_complain("an allocation of the row retention failed");
            }
            touch(blocks[i], size);
        }
        peak = (worker_resident_bytes() > peak) ? worker_resident_bytes() : peak;
        for (size_t i = 0; i < count; i++) {
            if (worker_below(&dice, 100) != 0) { /* the others live to the end */
                kind_give(worker->allocator, blocks[i]);
            }
        }
    }
    write_points(worker, names, base, peak);
    return true;
}

bool worker_kept(const struct worker *worker)
{
    return threads(worker);
}

bool worker_phases(const struct worker *worker)
{
    return phases(worker);
}
