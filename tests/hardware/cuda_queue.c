/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_queue.c: memory in the order of CUDA streams, on the device 0. Each kind of stream serves as
 * a queue, also one whose work is being captured; then medians in nanoseconds of an allocation and
 * its free, beside the driver's own stream-ordered calls, which keep what is freed. Ends with 1
 * when something is not as it should be, 77 without a driver. */

#include "tests/hardware/cuda.h"
#include <memspan/memspan.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 21, PAIRS = 500, BYTES = 65536, LARGE_BYTES = 64 << 20 };

static memspan_allocator_h allocator;
static int bad;

__attribute__((format(printf, 2, 3))) static void check(bool fine, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("%s: ", fine ? "right" : "WRONG");
    vprintf(format, args);
    printf("%s%s\n", fine ? "" : ": ", fine ? "" : memspan_error_text());
    va_end(args);
    bad |= fine ? 0 : 1;
}

static bool has_driver_pool(void)
{
    void *pool     = NULL;
    uint64_t bytes = UINT64_MAX;

    return (cu.pool_of != NULL) && (cu.pool_set != NULL) && (cu.alloc != NULL) &&
           (cu.free != NULL) && (cu.pool_of(&pool, 0) == 0) &&
           (cu.pool_set(pool, 4, &bytes) == 0); /* CU_MEMPOOL_ATTR_RELEASE_THRESHOLD */
}

/* ---- streams as queues ---- */

static memspan_queue_h open_queue(memspan_queue_type_t type, void *stream, unsigned flags)
{
    memspan_queue_h queue = MEMSPAN_QUEUE_NULL;

    check(memspan_queue_open(0, type, stream, flags, &queue) == MEMSPAN_OK, "a queue is opened");
    return queue;
}

/* A byte goes through a block of the first queue and one of the second, which is the same block
 * where the second one's work waits for the free. */
static void try_queues(const char *what, memspan_queue_h first, memspan_queue_h second)
{
    static unsigned char seen[LARGE_BYTES];
    void *one = memspan_alloc_on(allocator, LARGE_BYTES, first);
    void *two;
    bool fine = (one != NULL) && (memspan_fill_on(first, one, 1, LARGE_BYTES) == MEMSPAN_OK) &&
                (memspan_copy_on(first, seen, one, LARGE_BYTES) == MEMSPAN_OK) &&
                (memspan_free_on(one, first) == MEMSPAN_OK);

    two  = memspan_alloc_on(allocator, LARGE_BYTES, second);
    fine = fine && (two != NULL) && (memspan_fill_on(second, two, 2, LARGE_BYTES) == MEMSPAN_OK) &&
           (memspan_queue_synchronize(first) == MEMSPAN_OK) && (seen[0] == 1) &&
           (memcmp(seen, seen + 1, LARGE_BYTES - 1) == 0) &&
           (memspan_copy_on(second, seen, two, LARGE_BYTES) == MEMSPAN_OK) &&
           (memspan_free_on(two, second) == MEMSPAN_OK) &&
           (memspan_queue_synchronize(second) == MEMSPAN_OK) && (seen[0] == 2) &&
           (memcmp(seen, seen + 1, LARGE_BYTES - 1) == 0);
    check(fine, "%s%s", what, (one == two) ? ", by the same block" : "");
}

static void *make_stream(void)
{
    void *stream = NULL;

    check(cu.stream_create(&stream, 1) == 0, "a stream is created");
    return stream;
}

static void try_streams(void)
{
    void *stream            = make_stream();
    void *brief             = make_stream();
    memspan_queue_h own     = open_queue(MEMSPAN_QUEUE_OWN, NULL, 0);
    memspan_queue_h lasting = open_queue(MEMSPAN_QUEUE_CUDA, stream, MEMSPAN_QUEUE_LASTING);
    memspan_queue_h foreign = open_queue(MEMSPAN_QUEUE_CUDA, brief, 0);
    memspan_queue_h legacy  = open_queue(MEMSPAN_QUEUE_CUDA, NULL, 0);

    try_queues("two queues, one of them the program's stream", own, lasting);
    try_queues("two streams of the program's", foreign, lasting);
    try_queues("the legacy default stream and a queue", legacy, own);
    try_queues("a queue and the legacy default stream", own, legacy);
    check(cu.stream_destroy(brief) == 0, "a stream ends before its queue");
    check(memspan_queue_close(own) == MEMSPAN_OK, "a queue is closed");
    check(memspan_queue_close(lasting) == MEMSPAN_OK, "a queue of a stream is closed");
    check(memspan_queue_close(legacy) == MEMSPAN_OK, "the default stream's queue is closed");
    (void)memspan_queue_close(foreign); /* its stream is gone: a status, no crash */
    (void)cu.stream_destroy(stream);
}

/* Work on a queue while its stream is captured has a status, and the queue serves afterwards. */
static void try_capture(int mode)
{
    static unsigned char seen[4096];
    void *stream          = make_stream();
    memspan_queue_h queue = open_queue(MEMSPAN_QUEUE_CUDA, stream, MEMSPAN_QUEUE_LASTING);
    void *block           = memspan_alloc_on(allocator, sizeof(seen), queue);
    void *graph           = NULL;
    void *other           = NULL;
    memspan_status_t status;
    int code;

    check(cu.capture(stream, mode) == 0, "a capture of mode %d begins", mode);
    other  = memspan_alloc_on(allocator, sizeof(seen), queue);
    status = memspan_fill_on(queue, block, 1, sizeof(seen));
    printf("in a capture: a fill has the status %d, an allocation %s\n", (int)status,
           (other != NULL) ? "memory" : memspan_error_text());
    status = (other != NULL) ? memspan_free_on(other, queue) : MEMSPAN_OK;
    code   = cu.end_capture(stream, &graph);
    printf("in a capture: a free has the status %d; the capture ends with %d\n", (int)status, code);
    if (graph != NULL) {
        (void)cu.graph_destroy(graph);
    }
    check((memspan_fill_on(queue, block, 2, sizeof(seen)) == MEMSPAN_OK) &&
              (memspan_copy_on(queue, seen, block, sizeof(seen)) == MEMSPAN_OK) &&
              (memspan_queue_synchronize(queue) == MEMSPAN_OK) && (seen[4095] == 2),
          "the queue serves after a capture");
    check(memspan_free_on(block, queue) == MEMSPAN_OK, "a block is freed after a capture");
    check(memspan_queue_close(queue) == MEMSPAN_OK, "the queue is closed after a capture");
    (void)cu.stream_destroy(stream);
}

/* ---- costs ---- */

static struct {
    memspan_queue_h queues[2];
    void *streams[2];
    void *event;
} bench;

static bool our_pair(unsigned index)
{
    void *block = memspan_alloc_on(allocator, BYTES, bench.queues[index]);

    return (block != NULL) && (memspan_free_on(block, bench.queues[index]) == MEMSPAN_OK);
}

static bool their_pair(unsigned index)
{
    unsigned long long address = 0;

    return (cu.alloc(&address, BYTES, bench.streams[index]) == 0) &&
           (cu.free(address, bench.streams[index]) == 0);
}

static bool ours_on_one(void)
{
    return our_pair(0);
}

static bool theirs_on_one(void)
{
    return their_pair(0);
}

/* What one stream frees serves the other, with the wait that this needs. */
static bool ours_in_turn(void)
{
    static unsigned index;

    return our_pair(index++ % 2);
}

static bool theirs_in_turn(void)
{
    static unsigned index;
    unsigned mine = index++ % 2;

    return their_pair(mine) && (cu.event_record(bench.event, bench.streams[mine]) == 0) &&
           (cu.event_wait(bench.streams[1 - mine], bench.event, 0) == 0);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_ns(bool (*call)(void))
{
    double times[ROUNDS];
    int i;
    int k;

    for (i = -2; i < ROUNDS; i++) {
        struct timespec from;
        struct timespec to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (k = 0; k < PAIRS; k++) {
            if (!call()) {
                return -1;
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        if ((cu.wait(bench.streams[0]) != 0) || (cu.wait(bench.streams[1]) != 0)) {
            return -1;
        }
        if (i >= 0) {
            times[i] =
                ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
                PAIRS;
        }
    }
    qsort(times, ROUNDS, sizeof(times[0]), compare);
    return times[ROUNDS / 2];
}

static void measure(const char *what, unsigned flags, bool (*ours)(void), bool (*theirs)(void))
{
    double our_ns;
    unsigned i;

    for (i = 0; i < 2; i++) {
        bench.queues[i] = open_queue(MEMSPAN_QUEUE_CUDA, bench.streams[i], flags);
    }
    our_ns = median_ns(ours);
    check(our_ns >= 0, "%s: ours %.0f ns, the driver's %.0f ns", what, our_ns,
          (theirs != NULL) ? median_ns(theirs) : -1);
    for (i = 0; i < 2; i++) {
        (void)memspan_queue_close(bench.queues[i]);
    }
}

static void measure_all(void)
{
    bool has_pool = has_driver_pool();

    bench.streams[0] = make_stream();
    bench.streams[1] = make_stream();
    check(cu.event_create(&bench.event, 2) == 0, "an event is created"); /* without times */
    measure("64 KiB on one stream", MEMSPAN_QUEUE_LASTING, ours_on_one,
            has_pool ? theirs_on_one : NULL);
    measure("64 KiB on two streams in turn", MEMSPAN_QUEUE_LASTING, ours_in_turn,
            has_pool ? theirs_in_turn : NULL);
    measure("64 KiB on a stream that may end at any time", 0, ours_on_one, NULL);
}

int main(void)
{
    static const int device[] = {0};
    memspan_space_h space     = MEMSPAN_SPACE_NULL;
    void *context             = NULL;

    if (!find_driver() ||
        (memspan_space_get(device, 1, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) ||
        (memspan_allocator_create(space, NULL, 0, &allocator) != MEMSPAN_OK)) {
        printf("no CUDA device: %s\n", memspan_error_text());
        return 77;
    }
    if ((cu.retain(&context, 0) != 0) || (cu.push(context) != 0)) {
        printf("no context\n");
        return 1;
    }
    try_streams();
    try_capture(1); /* this thread's */
    try_capture(2); /* relaxed */
    measure_all();
    return bad;
}
