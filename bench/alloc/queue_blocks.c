/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan-bench-queue-blocks [quick]: memory in the order of queues, by the patterns of RMM's
 * published benchmarks (random allocations; allocations on several streams), on the first device.
 *
 *   pair      one block on one queue, allocated and freed again: ns
 *   random    blocks of 1 byte to a size, freed in any order, on one queue or on one each of four:
 *             us for an operation, and the most bytes that the pool held, over the most that lived
 *   streams   for each of 4 kernels a block of 8 bytes on the next queue: us for the 4 kernels,
 * with fresh pools, and when each queue has freed a block before
 *
 * The kernel of `streams` is one thread that follows pointers, so that kernels of several queues
 * run at once where the order of the blocks allows it. */

#include "cmd/common/clock.h"
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUES = 4, KERNELS = 4, ROUNDS = 25, LIVE_MAX = 4096, ALLOC_SHARE = 73 };

static memspan_queue_h queues[QUEUES];
static memspan_allocator_h allocator;
static memspan_space_h space;
static int device;
static uint64_t dice;

static void must(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "memspan-bench-queue-blocks: %s: %s\n", what, memspan_error_text());
        exit(1);
    }
}

static uint64_t roll(uint64_t below)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (dice >> 11) % below;
}

/* An allocator without memory, and queues that keep none. */
static void begin(void)
{
    memspan_trait_t trait = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};

    (void)memspan_trim();
    must(memspan_allocator_create(space, &trait, 1, &allocator) == MEMSPAN_OK, "allocator");
    for (int i = 0; i < QUEUES; i++) {
        must(memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &queues[i]) == MEMSPAN_OK,
             "queue");
    }
}

static void end(void)
{
    for (int i = 0; i < QUEUES; i++) {
        (void)memspan_queue_close(queues[i]);
    }
    (void)memspan_allocator_destroy(allocator);
    (void)memspan_trim();
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(values[0]), compare);
    return values[ROUNDS / 2];
}

/* ---- pairs ---- */

static void pair(size_t size_bytes, int count)
{
    double values[ROUNDS];

    begin();
    for (int r = 0; r < ROUNDS; r++) {
        int64_t start = cli_clock_ns();
        for (int i = 0; i < count; i++) {
            void *block = memspan_alloc_on(allocator, size_bytes, queues[0]);
            must((block != NULL) && (memspan_free_on(block, queues[0]) == MEMSPAN_OK), "pair");
        }
        values[r] = (double)(cli_clock_ns() - start) / count;
    }
    printf("pair    %8zu bytes                    %9.1f ns\n", size_bytes, median(values));
    end();
}

/* ---- random sizes ---- */

struct block {
    void *address;
    size_t size_bytes;
    int queue;
};

static struct {
    struct block blocks[LIVE_MAX];
    int count;
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t held_bytes; /* the most that the pool held */
} all;

static void note_held(void)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    (void)memspan_allocator_get_stats(allocator, &stats);
    all.held_bytes = (stats.held_bytes > all.held_bytes) ? stats.held_bytes : all.held_bytes;
}

static void allocate(size_t size_bytes, int queue)
{
    void *address = memspan_alloc_on(allocator, size_bytes, queues[queue]);

    must(address != NULL, "random");
    all.blocks[all.count++] = (struct block){address, size_bytes, queue};
    all.live_bytes += size_bytes;
    all.peak_bytes = (all.live_bytes > all.peak_bytes) ? all.live_bytes : all.peak_bytes;
}

static void release(void)
{
    int i = (int)roll((uint64_t)all.count);

    must(memspan_free_on(all.blocks[i].address, queues[all.blocks[i].queue]) == MEMSPAN_OK, "free");
    all.live_bytes -= all.blocks[i].size_bytes;
    all.blocks[i] = all.blocks[--all.count];
}

/* 73 allocations of 100 operations while there are any to make and the sum allows it. */
static void run_random(int count, size_t size_max, size_t live_max, int queue_count)
{
    int64_t spent_ns = 0;
    int allocated    = 0;

    begin();
    dice = 88172645463325252u;
    memset(&all, 0, sizeof(all));
    for (int i = 0; i < 2 * count; i++) {
        size_t size   = 1 + roll(size_max);
        int64_t start = cli_clock_ns();

        if ((all.count == 0) || ((roll(100) < ALLOC_SHARE) && (allocated < count) &&
                                 (all.count < LIVE_MAX) && (all.live_bytes + size < live_max))) {
            allocate(size, (int)roll((uint64_t)queue_count));
            allocated++;
        } else {
            release();
        }
        spent_ns += cli_clock_ns() - start;
        if (i % 16 == 0) {
            note_held();
        }
    }
    printf("random  %8zu bytes at most, %d queue%s  %9.2f us   held/peak %.3f\n", size_max,
           queue_count, (queue_count == 1) ? " " : "s", (double)spent_ns / 1e3 / (2.0 * count),
           (double)all.held_bytes / (double)all.peak_bytes);
    while (all.count > 0) {
        release();
    }
    end();
}

/* ---- kernels on several queues ---- */

static void *ring; /* of one pointer, to itself */

static void launch(memspan_queue_h queue, void *result, size_t steps)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = MEMSPAN_KERNEL_CHASE,
                                  .count       = steps,
                                  .x           = ring,
                                  .z           = result};

    must(memspan_kernel_launch_on(queue, &call) == MEMSPAN_OK, "kernel");
}

static void run_kernels(int queue_count, size_t steps)
{
    for (int i = 0; i < KERNELS; i++) {
        memspan_queue_h queue = queues[i % queue_count];
        void *buffer          = memspan_alloc_on(allocator, sizeof(void *), queue);

        must(buffer != NULL, "buffer");
        launch(queue, buffer, steps);
        must(memspan_free_on(buffer, queue) == MEMSPAN_OK, "buffer");
    }
    for (int i = 0; i < queue_count; i++) {
        must(memspan_queue_synchronize(queues[i]) == MEMSPAN_OK, "synchronize");
    }
}

static void prewarm(int queue_count)
{
    void *buffers[QUEUES];

    for (int i = 0; i < queue_count; i++) {
        buffers[i] = memspan_alloc_on(allocator, sizeof(void *), queues[i]);
        must(buffers[i] != NULL, "buffer");
    }
    for (int i = 0; i < queue_count; i++) {
        must(memspan_free_on(buffers[i], queues[i]) == MEMSPAN_OK, "buffer");
    }
}

/* The pool has its memory, but no queue has any: not the driver's allocation is compared. */
static double measure(int queue_count, size_t steps, bool is_warm)
{
    double values[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        void *first;
        int64_t start;

        begin();
        first = memspan_alloc(allocator, sizeof(void *));
        must(first != NULL, "buffer");
        if (is_warm) {
            prewarm(queue_count);
        }
        start = cli_clock_ns();
        run_kernels(queue_count, steps);
        values[r] = (double)(cli_clock_ns() - start) / 1e3;
        must(memspan_free(first) == MEMSPAN_OK, "buffer");
        end();
    }
    return median(values);
}

static void run_streams(size_t steps)
{
    begin();
    ring = memspan_alloc(allocator, sizeof(void *));
    must((ring != NULL) && (memspan_copy(ring, &ring, sizeof(ring)) == MEMSPAN_OK), "ring");
    run_kernels(QUEUES, steps); /* loads the kernel */
    for (int n = 1; n <= QUEUES; n *= 2) {
        double cold;
        double warm;

        measure(n, steps, false); /* clocks of the device go up */
        cold = measure(n, steps, false);
        warm = measure(n, steps, true);
        printf("streams %8d kernels, %d queue%s         %9.1f us   warm %.1f us, cold/warm %.3f\n",
               KERNELS, n, (n == 1) ? " " : "s", cold, warm, cold / warm);
    }
    must(memspan_free(ring) == MEMSPAN_OK, "ring");
}

int main(int argc, char **argv)
{
    bool is_quick                = (argc > 1) && (strcmp(argv[1], "quick") == 0);
    int count                    = is_quick ? 500 : 10000;
    memspan_device_info_t info   = {.struct_size = sizeof(info)};
    static const size_t mebibyte = (size_t)1 << 20;

    if ((memspan_device_at(0, &device) != MEMSPAN_OK) ||
        (memspan_device_describe(device, &info) != MEMSPAN_OK) ||
        (memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK)) {
        printf("skipped: no device (%s)\n", memspan_error_text());
        return 77;
    }
    printf("# %s, %s\n", info.name, info.driver);
    pair(8, is_quick ? 1000 : 1000000);
    pair(65536, is_quick ? 1000 : 1000000);
    for (int n = 1; n <= QUEUES; n += QUEUES - 1) {
        size_t live_max = info.capacity_bytes / 2;

        run_random(count, mebibyte / 16, live_max, n);
        run_random(count, mebibyte, live_max, n);
        if (info.capacity_bytes > ((uint64_t)8 << 30)) {
            run_random(count, 4 * mebibyte, live_max, n);
            run_random(count, 64 * mebibyte, (size_t)16000 * mebibyte, n);
        }
    }
    if ((info.capabilities & MEMSPAN_CAN_KERNELS) != 0) {
        run_streams(is_quick ? 1000 : 2000);
    }
    return 0;
}
