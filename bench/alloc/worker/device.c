/* SPDX-License-Identifier: BSD-3-Clause */
/* Device-style memory, without access: no record can be in it. Peers with records inside their
 * memory run the same loops on host memory, for orientation. And lookup: the kind of a pointer. */

#include "bench/alloc/worker/worker.h"
#include <errno.h>
#include <unistd.h>

enum { BATCHES = 5, POINTERS = 8192 };

static const size_t capacity_bytes = (size_t)256 << 20; /* the box's, see box.c */

/* ---- mixed sizes ---- */

typedef size_t (*size_fn)(struct worker_dice *dice);

static size_t uniform_64k(struct worker_dice *dice)
{
    return 256 + worker_below(dice, 65536 - 256 + 1);
}

static size_t uniform_1m(struct worker_dice *dice)
{
    return 256 + worker_below(dice, 1048576 - 256 + 1);
}

WORKER_LOOP static bool exchange(kind_allocator allocator, void **blocks, size_t live, size_t count,
                                 struct worker_dice *dice, size_fn next_size)
{
    for (size_t i = 0; i < count; i++) {
        size_t slot = worker_below(dice, live);
        size_t size = next_size(dice);

        if (blocks[slot] != NULL) {
            kind_give(allocator, blocks[slot]);
        }
        blocks[slot] = kind_take(allocator, size);
        if (blocks[slot] == NULL) {
            return worker_complain("device memory ran out within the row device-mix");
        }
    }
    return true;
}

static bool mix(const struct worker *worker, kind_allocator allocator, const char *name,
                size_t live, size_fn next_size)
{
    size_t count            = worker->quick ? 300 : 60000;
    void **blocks           = worker_blocks(live);
    struct worker_dice dice = {4711};
    double values[BATCHES];

    if ((blocks == NULL) || !exchange(allocator, blocks, live, 8 * live, &dice, next_size)) {
        return false;
    }
    for (size_t b = 0; b < BATCHES; b++) {
        double start = worker_now_ns();
        if (!exchange(allocator, blocks, live, count, &dice, next_size)) {
            return false;
        }
        values[b] = (worker_now_ns() - start) / (double)count;
    }
    worker_point(name, worker_median(values, BATCHES));
    for (size_t i = 0; i < live; i++) {
        if (blocks[i] != NULL) {
            kind_give(allocator, blocks[i]);
        }
    }
    return true;
}

WORKER_LOOP static double pair_batch(kind_allocator allocator, size_t size_bytes, size_t count)
{
    double start = worker_now_ns();

    for (size_t i = 0; i < count; i++) {
        void *block = kind_take(allocator, size_bytes);
        worker_escape(block);
        kind_give(allocator, block);
    }
    return (worker_now_ns() - start) / (double)count;
}

/* In a pool that is otherwise empty. */
static bool pair(const struct worker *worker, kind_allocator allocator, const char *name,
                 size_t size_bytes)
{
    size_t count = worker->quick ? 200 : 100000;
    void *block  = kind_take(allocator, size_bytes);
    double values[BATCHES];

    if (block == NULL) {
        return worker_complain("device memory ran out within the row device-mix");
    }
    kind_give(allocator, block);
    (void)pair_batch(allocator, size_bytes, count / 4);
    for (size_t b = 0; b < BATCHES; b++) {
        values[b] = pair_batch(allocator, size_bytes, count);
    }
    worker_point(name, worker_median(values, BATCHES));
    return true;
}

/* ---- in the order of queues ---- */

#ifdef KIND_QUEUES
/* On one queue, or on two in turn. */
WORKER_LOOP static double queue_batch(kind_allocator allocator, const kind_queue *queues,
                                      size_t queue_count, size_t count)
{
    double start = worker_now_ns();

    for (size_t i = 0; i < count; i++) {
        kind_queue queue = queues[i % queue_count];
        void *block      = kind_take_on(allocator, 65536, queue);
        worker_escape(block);
        kind_give_on(block, queue);
    }
    return (worker_now_ns() - start) / (double)count;
}

static bool queue_pairs(const struct worker *worker, kind_allocator allocator)
{
    size_t count = worker->quick ? 200 : 100000;
    kind_queue queues[2];
    double values[BATCHES];

    if (!kind_queue_open(&queues[0]) || !kind_queue_open(&queues[1])) {
        return worker_complain("no queues");
    }
    for (size_t n = 1; n <= 2; n++) {
        (void)queue_batch(allocator, queues, n, count / 4);
        for (size_t b = 0; b < BATCHES; b++) {
            values[b] = queue_batch(allocator, queues, n, count);
        }
        worker_point((n == 1) ? "device-queue" : "device-queues", worker_median(values, BATCHES));
    }
    kind_queue_close(queues[0]);
    kind_queue_close(queues[1]);
    return true;
}
#else
static bool queue_pairs(const struct worker *worker, kind_allocator allocator)
{
    (void)worker;
    (void)allocator;
    return true;
}
#endif

/* A system call reports the fault that a load would die of. */
static bool is_closed(kind_allocator allocator)
{
    void *block = kind_take(allocator, 4096);
    bool closed = (block != NULL) && (access(block, F_OK) != 0) && (errno == EFAULT);

    kind_give(allocator, block);
    return closed;
}

bool worker_device(const struct worker *worker)
{
    kind_allocator allocator;

    if (!kind_device(&allocator)) {
        return KIND_DEVICE ? worker_complain("no device memory") : true;
    }
    if (KIND_DEVICE && !is_closed(allocator)) {
        return worker_complain("the device memory is accessible: it is not the box");
    }
    return pair(worker, allocator, "device-pair-256", 256) &&
           pair(worker, allocator, "device-pair-4k", 4096) &&
           pair(worker, allocator, "device-pair-1m", 1048576) && queue_pairs(worker, allocator) &&
           mix(worker, allocator, "device-mix-64k", 2000, uniform_64k) &&
           mix(worker, allocator, "device-mix-1m", 500, worker_log_size);
}

/* ---- fill ---- */

/* By bisection; a lower bound where success is not monotone in the size. */
static size_t largest_block(kind_allocator allocator)
{
    size_t low  = 0;
    size_t high = capacity_bytes + 1;

    while (high - low > 4096) {
        size_t middle = low + (high - low) / 2;
        void *block   = kind_take(allocator, middle);
        if (block != NULL) {
            kind_give(allocator, block);
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool fill(const char *name, const char *largest_name, size_fn next_size)
{
    size_t capacity         = capacity_bytes / 256;
    void **blocks           = KIND_DEVICE ? worker_blocks(capacity) : NULL;
    struct worker_dice dice = {31415};
    size_t count            = 0;
    double bytes            = 0;
    kind_allocator allocator;

    if (!KIND_DEVICE) {
        return true;
    }
    if ((blocks == NULL) || !kind_device(&allocator)) {
        return worker_complain("no device memory");
    }
    while (count < capacity) {
        size_t size   = next_size(&dice);
        blocks[count] = kind_take(allocator, size);
        if (blocks[count] == NULL) {
            break;
        }
        bytes += (double)size;
        count++;
    }
    worker_point(name, 100 * bytes / (double)capacity_bytes);
    for (size_t i = 0; i < count; i++) {
        if ((worker_roll(&dice) & 1) != 0) {
            kind_give(allocator, blocks[i]);
            blocks[i] = NULL;
        }
    }
    worker_point(largest_name, (double)largest_block(allocator) / 1048576);
    for (size_t i = 0; i < count; i++) {
        if (blocks[i] != NULL) {
            kind_give(allocator, blocks[i]);
        }
    }
    return true;
}

bool worker_fill_uniform(const struct worker *worker)
{
    (void)worker;
    return fill("fill", "fill-largest", uniform_1m);
}

bool worker_fill_log(const struct worker *worker)
{
    (void)worker;
    return fill("fill-log", "fill-log-largest", worker_log_size);
}

/* ---- lookup ---- */

WORKER_LOOP static double lookup_batch(void *const *asked, size_t count, uintptr_t *sum_p)
{
    double start  = worker_now_ns();
    uintptr_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        const size_t n = i % POINTERS;
        sum += kind_lookup(asked[2 * n], asked[2 * n + 1]);
    }
    *sum_p = sum;
    return (worker_now_ns() - start) / (double)count;
}

static bool lookup(const struct worker *worker, const char *name, size_t regions)
{
    size_t count            = worker->quick ? POINTERS : 40 * POINTERS;
    void **blocks           = worker_blocks(regions);
    void **asked            = worker_blocks((size_t)2 * POINTERS);
    struct worker_dice dice = {2718};
    double values[BATCHES];
    uintptr_t sum = 0;

    if ((blocks == NULL) || (asked == NULL)) {
        return false;
    }
    for (size_t i = 0; i < regions; i++) {
        blocks[i] = kind_take(worker->allocator, 65536);
        if (blocks[i] == NULL) {
            return worker_complain("no region for the row lookup");
        }
    }
    for (size_t i = 0; i < POINTERS; i++) {
        asked[2 * i]     = blocks[worker_below(&dice, regions)];
        asked[2 * i + 1] = (char *)asked[2 * i] + worker_below(&dice, 65536);
    }
    for (size_t b = 0; b < BATCHES; b++) {
        values[b] = lookup_batch(asked, count, &sum);
    }
    if (sum < count) {
        return worker_complain("a lookup found nothing");
    }
    worker_point(name, worker_median(values, BATCHES));
    for (size_t i = 0; i < regions; i++) {
        kind_give(worker->allocator, blocks[i]);
    }
    return true;
}

bool worker_lookup(const struct worker *worker)
{
    size_t many = worker->quick ? 1000 : 10000;

    return !KIND_LOOKUP || (lookup(worker, "lookup-1", 1) && lookup(worker, "lookup-64", 64) &&
                            lookup(worker, "lookup-10000", many));
}
