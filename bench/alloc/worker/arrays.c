/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that a program keeps: arrays of which it touches little, arrays that it fills, and blocks
 * of one and of many sizes, all freed. Each part is a process of its own: what an allocator learnt
 * from one must not help it with the next. */

#include "bench/alloc/worker/worker.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ARRAYS     = 3,
    STEP_BYTES = 2 << 20,
    WRITES     = 20000,
    FILLS      = 3,
    SIZE_LEAST = 100000,
    SIZE_MOST  = 200000
};
static const size_t array_bytes = (size_t)1 << 30;
static const size_t full_bytes  = (size_t)512 << 20;
static const size_t sizes_bytes = (size_t)400 << 20;
static const double mib         = 1 << 20;

static bool touch_by_step(const struct worker *worker)
{
    double base = worker_resident_bytes();

    for (size_t i = 0; i < ARRAYS; i++) {
        volatile char *array = kind_take(worker->allocator, array_bytes);

        if (array == NULL) {
            return false;
        }
        for (size_t at = 0; at < array_bytes; at += STEP_BYTES) {
            array[at] = 1;
        }
    }
    worker_point("arrays-step", (worker_resident_bytes() - base) / mib);
    return true;
}

static bool touch_at_random(const struct worker *worker)
{
    struct worker_dice dice = {88};
    double base             = worker_resident_bytes();
    volatile char *array    = kind_take(worker->allocator, array_bytes);

    for (size_t i = 0; (array != NULL) && (i < WRITES); i++) {
        array[worker_below(&dice, array_bytes)] = 1;
    }
    worker_point("arrays-hash", (worker_resident_bytes() - base) / mib);
    return array != NULL;
}

/* The first and the last time. */
static bool fill(const struct worker *worker)
{
    static const char *const names[FILLS] = {"arrays-full", NULL, "arrays-full-again"};
    size_t bytes                          = worker->quick ? full_bytes / 8 : full_bytes;

    for (size_t i = 0; i < FILLS; i++) {
        double start = worker_now_ns();
        void *array  = kind_take(worker->allocator, bytes);

        if (array == NULL) {
            return false;
        }
        memset(array, 1, bytes);
        worker_escape(array);
        if (names[i] != NULL) {
            worker_point(names[i], (worker_now_ns() - start) / 1e6);
        }
        kind_give(worker->allocator, array);
    }
    return true;
}

/* Blocks of @p count sizes, evenly from SIZE_LEAST to SIZE_MOST. */
static bool free_sizes(const struct worker *worker, const char *name, size_t count)
{
    struct worker_dice dice = {5};
    size_t most             = worker->quick ? sizes_bytes / 8 : sizes_bytes;
    void **blocks           = worker_blocks(most / SIZE_LEAST + 1);
    double base             = worker_resident_bytes();
    size_t used             = 0;
    size_t bytes            = 0;

    while ((blocks != NULL) && (bytes < most)) {
        size_t size = SIZE_LEAST + (SIZE_MOST - SIZE_LEAST) / count * worker_below(&dice, count);

        blocks[used] = kind_take(worker->allocator, size);
        if (blocks[used] == NULL) {
            return false;
        }
        memset(blocks[used++], 1, size);
        bytes += size;
    }
    while (used > 0) {
        kind_give(worker->allocator, blocks[--used]);
    }
    worker_point(name, (worker_resident_bytes() - base) / mib);
    return blocks != NULL;
}

static bool one_size(const struct worker *worker)
{
    return free_sizes(worker, "sizes-1", 1);
}

static bool few_sizes(const struct worker *worker)
{
    return free_sizes(worker, "sizes-5", 5);
}

static bool many_sizes(const struct worker *worker)
{
    return free_sizes(worker, "sizes-many", 10000);
}

static bool run_apart(worker_row_fn part, const struct worker *worker)
{
    int status  = -1;
    pid_t child = fork();

    if (child == 0) {
        _exit(part(worker) ? 0 : 1);
    }
    return (child > 0) && (waitpid(child, &status, 0) == child) && (status == 0);
}

bool worker_arrays(const struct worker *worker)
{
    static const worker_row_fn parts[] = {touch_by_step, touch_at_random, fill,
                                          one_size,      few_sizes,       many_sizes};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!run_apart(parts[i], worker)) {
            return worker_complain("a part of the row arrays failed");
        }
    }
    return true;
}
