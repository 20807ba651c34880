/* SPDX-License-Identifier: BSD-3-Clause */
/* Data from PE to PE: put and get over sizes, to the heap and to the executable's own data, single
 * values, and many at once. */

#include "worker.h"
#include <stdio.h>
#include <string.h>

static const struct worker_size sizes[] = {{"8", 8},       {"64", 64},     {"1k", 1024},
                                           {"8k", 8192},   {"64k", 65536}, {"1m", 1 << 20},
                                           {"4m", 4 << 20}};
static const struct worker_size few[]   = {
      {"8", 8}, {"1k", 1024}, {"8k", 8192}, {"64k", 65536}, {"1m", 1 << 20}};

enum { WINDOW = 64, WINDOW_LARGE = 16, LARGE_BYTES = 64 << 10 };

static long static_word;
static volatile long seen; /* keeps the loops */

static void put_many(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    char *target = job->target;
    size_t size  = job->size_bytes;

    for (size_t i = 0; i < operations; i++) {
        shmem_putmem(target, worker->source, size, worker->peer);
        shmem_quiet();
    }
}

static void get_many(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    char *source = job->target;
    size_t size  = job->size_bytes;

    for (size_t i = 0; i < operations; i++) {
        shmem_getmem(worker->source, source, size, worker->peer);
    }
}

static void put_self(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        shmem_putmem(worker->target, worker->source, job->size_bytes, worker->pe);
        shmem_quiet();
    }
}

static void put_window(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        for (size_t w = 0; w < job->messages; w++) {
            shmem_putmem_nbi(worker->target, worker->source, job->size_bytes, worker->peer);
        }
        shmem_quiet();
    }
}

static void get_window(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        for (size_t w = 0; w < job->messages; w++) {
            shmem_getmem_nbi(worker->source, worker->target, job->size_bytes, worker->peer);
        }
        shmem_quiet();
    }
}

static void p_quiet(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        shmem_long_p((long *)(void *)job->target, (long)i, worker->peer);
        shmem_quiet();
    }
}

static void p_many(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        for (int w = 0; w < WINDOW; w++) {
            shmem_long_p((long *)(void *)job->target + w, (long)i, worker->peer);
        }
        shmem_quiet();
    }
}

static void g_many(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        seen = shmem_long_g((long *)(void *)job->target, worker->peer);
    }
}

/* True where @p size bytes are all @p value. */
static bool holds(const char *bytes, int value, size_t size)
{
    return (bytes[0] == (char)value) && (memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Every byte arrives, and no byte more; checked before timing. */
static bool put_arrives(const struct worker *worker, char *target, size_t size)
{
    int from = (worker->pe + worker->pe_count - 1) % worker->pe_count;
    bool good;

    memset(target, 0, WORKER_ROOM);
    memset(worker->source, worker->pe + 1, size);
    shmem_barrier_all();
    shmem_putmem(target, worker->source, size, worker->peer);
    shmem_barrier_all();
    good = holds(target, from + 1, size) && ((size == WORKER_ROOM) || (target[size] == 0));
    return worker_agree(worker, good);
}

static bool get_brings(const struct worker *worker, char *source, size_t size)
{
    bool good;

    memset(source, worker->pe + 1, size);
    memset(worker->source, 0, WORKER_ROOM);
    shmem_barrier_all();
    shmem_getmem(worker->source, source, size, worker->peer);
    good = holds(worker->source, worker->peer + 1, size) &&
           ((size == WORKER_ROOM) || (worker->source[size] == 0));
    return worker_agree(worker, good);
}

static bool measure_sizes(const struct worker *worker, const char *prefix, bool get, char *target,
                          const struct worker_size *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char point[32];
        struct worker_job job = {.point      = point,
                                 .run        = get ? get_many : put_many,
                                 .size_bytes = list[i].bytes,
                                 .target     = target};

        (void)snprintf(point, sizeof(point), "%s-%s", prefix, list[i].name);
        if (!(get ? get_brings(worker, target, list[i].bytes)
                  : put_arrives(worker, target, list[i].bytes))) {
            return worker_complain(worker, point, "the data is not what was sent");
        }
        worker_measure(worker, &job);
    }
    return true;
}

bool worker_put(const struct worker *worker)
{
    return measure_sizes(worker, "put", false, worker->target, sizes,
                         sizeof(sizes) / sizeof(sizes[0])) &&
           measure_sizes(worker, "put-data", false, worker_static, few,
                         sizeof(few) / sizeof(few[0]));
}

bool worker_get(const struct worker *worker)
{
    return measure_sizes(worker, "get", true, worker->target, sizes,
                         sizeof(sizes) / sizeof(sizes[0])) &&
           measure_sizes(worker, "get-data", true, worker_static, few,
                         sizeof(few) / sizeof(few[0]));
}

/* All powers of two. */
static bool measure_powers(const struct worker *worker, const char *prefix, bool get)
{
    for (size_t size = 1; size <= WORKER_ROOM; size *= 2) {
        char point[32];
        const struct worker_job job = {.point      = point,
                                       .run        = get ? get_many : put_many,
                                       .size_bytes = size,
                                       .target     = worker->target,
                                       .unit       = WORKER_US};

        (void)snprintf(point, sizeof(point), "%s-%zu", prefix, size);
        if (!(get ? get_brings : put_arrives)(worker, worker->target, size)) {
            return worker_complain(worker, point, "the data is not what was sent");
        }
        worker_measure(worker, &job);
    }
    return true;
}

bool worker_put_sizes(const struct worker *worker)
{
    return measure_powers(worker, "put-size", false);
}

bool worker_get_sizes(const struct worker *worker)
{
    return measure_powers(worker, "get-size", true);
}

static bool measure_windows(const struct worker *worker, const char *prefix, worker_run_fn run,
                            bool rate)
{
    for (size_t size = 1; size <= WORKER_ROOM; size *= 2) {
        char point[32];
        const struct worker_job job = {.point      = point,
                                       .run        = run,
                                       .size_bytes = size,
                                       .unit       = rate ? WORKER_RATE : WORKER_MEGABYTES,
                                       .messages   = (size > LARGE_BYTES) ? WINDOW_LARGE : WINDOW};

        (void)snprintf(point, sizeof(point), "%s-%zu", prefix, size);
        worker_measure(worker, &job);
    }
    return true;
}

bool worker_stream(const struct worker *worker)
{
    return measure_windows(worker, "stream", put_window, false);
}

bool worker_rate(const struct worker *worker)
{
    return measure_windows(worker, "rate", put_window, true);
}

bool worker_get_rate(const struct worker *worker)
{
    return measure_windows(worker, "get-rate", get_window, true);
}

static bool values_arrive(const struct worker *worker, long *target)
{
    int from = (worker->pe + worker->pe_count - 1) % worker->pe_count;
    bool good;

    *target = -1;
    shmem_barrier_all();
    shmem_long_p(target, 1000 + worker->pe, worker->peer);
    shmem_barrier_all();
    good = (*target == 1000 + from) && (shmem_long_g(target, worker->peer) == 1000 + worker->pe);
    return worker_agree(worker, good);
}

bool worker_scalar(const struct worker *worker)
{
    const struct worker_job jobs[] = {
        {.point = "p", .run = p_quiet, .target = worker->target},
        {.point = "p-64", .run = p_many, .target = worker->target, .messages = WINDOW},
        {.point = "p-data", .run = p_quiet, .target = (char *)&static_word},
        {.point = "g", .run = g_many, .target = worker->target},
        {.point = "g-data", .run = g_many, .target = (char *)&static_word},
        {.point = "put-self-8", .run = put_self, .size_bytes = 8}};

    if (!values_arrive(worker, (long *)(void *)worker->target) ||
        !values_arrive(worker, &static_word)) {
        return worker_complain(worker, "p", "the value is not what was sent");
    }
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        worker_measure(worker, &jobs[i]);
    }
    return true;
}

static bool window_arrives(const struct worker *worker)
{
    int from = (worker->pe + worker->pe_count - 1) % worker->pe_count;
    bool good;

    memset(worker->source, worker->pe + 1, WORKER_ROOM);
    memset(worker->target, 0, WORKER_ROOM);
    shmem_barrier_all();
    for (size_t i = 0; i < WORKER_ROOM; i += 65536) {
        shmem_putmem_nbi(worker->target + i, worker->source + i, 65536, worker->peer);
    }
    shmem_quiet();
    shmem_barrier_all();
    good = holds(worker->target, from + 1, WORKER_ROOM);
    return worker_agree(worker, good);
}

bool worker_nbi(const struct worker *worker)
{
    static const struct worker_job jobs[] = {
        {"nbi-8", put_window, 8, NULL, false, WORKER_RATE, WINDOW},
        {"nbi-1k", put_window, 1024, NULL, false, WORKER_RATE, WINDOW},
        {"nbi-get-8", get_window, 8, NULL, false, WORKER_RATE, WINDOW},
        {"nbi-64k", put_window, 65536, NULL, false, WORKER_BANDWIDTH, WINDOW},
        {"nbi-1m", put_window, 1 << 20, NULL, false, WORKER_BANDWIDTH, WINDOW},
        {"nbi-4m", put_window, 4 << 20, NULL, false, WORKER_BANDWIDTH, WINDOW}};

    if (!window_arrives(worker)) {
        return worker_complain(worker, "nbi", "the data is not what was sent");
    }
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        worker_measure(worker, &jobs[i]);
    }
    return true;
}
