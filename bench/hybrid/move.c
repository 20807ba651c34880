/* SPDX-License-Identifier: BSD-3-Clause */
/* move.c: latencies by size: half a round trip between two PEs, and an all-to-all exchange. */

#include "bench/hybrid/move.h"

static const size_t sizes[] = {8, 64, 1024, 8192, 65536, 1048576, 4194304};

enum { SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0]) };

/* PE p's source holds p * 31 + i; dest becomes something else. */
static void fill(char *dest, char *source, size_t count, int pe)
{
#pragma omp target teams distribute parallel for
    for (size_t i = 0; i < count; i++) {
        source[i] = (char)((size_t)pe * 31 + i);
        dest[i]   = (char)~source[i];
    }
}

/* Bytes that are not PE @p pe's, from the first-th of its source on. */
static size_t count_errors(const char *dest, size_t count, int pe, size_t first)
{
    size_t errors = 0;

#pragma omp target teams distribute parallel for map(tofrom : errors) reduction(+ : errors)
    for (size_t i = 0; i < count; i++) {
        errors += (dest[i] == (char)((size_t)pe * 31 + first + i)) ? 0 : 1;
    }
    return errors;
}

static bool verify(char *dest, char *source, size_t size_bytes, bool all)
{
    size_t blocks = all ? (size_t)job_count : 1;
    size_t errors = 0;

    fill(dest, source, blocks * size_bytes, job_pe);
    job_barrier();
    (all ? move_blocks : move_ping_pong)(dest, source, size_bytes, 1);
    for (size_t i = 0; all && (i < blocks); i++) {
        errors +=
            count_errors(dest + i * size_bytes, size_bytes, (int)i, (size_t)job_pe * size_bytes);
    }
    if (!all && (job_pe < 2)) {
        errors = count_errors(dest, size_bytes, 1 - job_pe, 0);
    }
    return job_verify(all ? "alltoall" : "put", job_sum((double)errors), 0);
}

/* In us; a ping-pong is two moves. All PEs take the slowest one's time and so agree on the next. */
static void measure(char *dest, char *source, size_t size_bytes, bool all)
{
    struct batches batches = {.count = 0};
    size_t count           = 1;

    while (count > 0) {
        double began_ns;

        job_barrier();
        began_ns = batch_now_ns();
        (all ? move_blocks : move_ping_pong)(dest, source, size_bytes, count);
        count = batches_next(&batches, count, job_max(batch_now_ns() - began_ns), false);
    }
    if (job_pe == 0) {
        char point[32];
        double unit_ns = all ? 1e3 : 2e3;

        (void)snprintf(point, sizeof(point), "%s-%zu", all ? "alltoall" : "put", size_bytes);
        batch_print(point, batches.per_operation_ns[0] / unit_ns,
                    batches_median(&batches) / unit_ns);
    }
}

static bool run(const char *app, size_t most_bytes, bool all)
{
    size_t room_bytes = most_bytes * (all ? (size_t)job_count : 1);
    char *dest        = job_array(room_bytes);
    char *source      = job_array(room_bytes);
    bool good         = true;

    for (size_t i = 0; good && (i < SIZE_COUNT) && (sizes[i] <= most_bytes); i++) {
        job_progress(app, i, SIZE_COUNT);
        good = verify(dest, source, sizes[i], all);
        measure(dest, source, sizes[i], all);
    }
    job_progress(app, SIZE_COUNT, SIZE_COUNT);
    job_array_free(source);
    job_array_free(dest);
    return good;
}

bool move_put(size_t size_bytes, bool weak)
{
    (void)weak;
    if (job_count < 2) {
        fprintf(stderr, "put: needs two PEs\n");
        return false;
    }
    return run("put", size_bytes, false);
}

bool move_alltoall(size_t size_bytes, bool weak)
{
    (void)weak;
    return run("alltoall", size_bytes, true);
}
