/* SPDX-License-Identifier: BSD-3-Clause */
/* move.c: latencies by size: half a round trip between two PEs, and collectives. */

#include "bench/hybrid/job.h"

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

/* Bytes that are not those of PEs @p pe and up to @p pes after it, combined, from the first-th of
 * their sources on. */
static size_t count_errors(const char *dest, size_t count, int pe, int pes, size_t first)
{
    size_t errors = 0;

#pragma omp target teams distribute parallel for map(tofrom : errors) reduction(+ : errors)
    for (size_t i = 0; i < count; i++) {
        char wanted = 0;

        for (int p = pe; p < pe + pes; p++) {
            wanted ^= (char)((size_t)p * 31 + first + i);
        }
        errors += (dest[i] == wanted) ? 0 : 1;
    }
    return errors;
}

static size_t check_put(const char *dest, size_t size_bytes)
{
    return (job_pe < 2) ? count_errors(dest, size_bytes, 1 - job_pe, 1, 0) : 0;
}

static size_t check_blocks(const char *dest, size_t size_bytes)
{
    size_t errors = 0;

    for (int i = 0; i < job_count; i++) {
        errors += count_errors(dest + (size_t)i * size_bytes, size_bytes, i, 1,
                               (size_t)job_pe * size_bytes);
    }
    return errors;
}

/* After one broadcast, by PE 0. The form of MPI has no dest at the root. */
static size_t check_to_all(const char *dest, size_t size_bytes)
{
    return (job_pe == 0) ? 0 : count_errors(dest, size_bytes, 0, 1, 0);
}

static size_t check_combined(const char *dest, size_t size_bytes)
{
    return count_errors(dest, size_bytes, 0, job_count, 0);
}

enum { PUT, ALLTOALL, BROADCAST, REDUCE };

static const struct exchange {
    const char *name;
    void (*run)(char *dest, char *source, size_t size_bytes, size_t count);
    size_t (*check)(const char *dest, size_t size_bytes);
    bool has_blocks; /* one for each PE */
    double unit_ns;  /* of one: a ping-pong is two moves */
} exchanges[] = {
    [PUT]       = {"put", move_ping_pong, check_put, false, 2e3},
    [ALLTOALL]  = {"alltoall", move_blocks, check_blocks, true, 1e3},
    [BROADCAST] = {"broadcast", move_to_all, check_to_all, false, 1e3},
    [REDUCE]    = {"reduce", move_combined, check_combined, false, 1e3},
};

static bool verify(const struct exchange *exchange, char *dest, char *source, size_t size_bytes)
{
    fill(dest, source, (exchange->has_blocks ? (size_t)job_count : 1) * size_bytes, job_pe);
    job_barrier();
    exchange->run(dest, source, size_bytes, 1);
    return job_verify(exchange->name, job_sum((double)exchange->check(dest, size_bytes)), 0);
}

/* In us. All PEs take the slowest one's time and so agree on the next. */
static void measure(const struct exchange *exchange, char *dest, char *source, size_t size_bytes)
{
    struct batches batches = {.count = 0};
    size_t count           = 1;

    while (count > 0) {
        double began_ns;

        job_barrier();
        began_ns = batch_now_ns();
        exchange->run(dest, source, size_bytes, count);
        count = batches_next(&batches, count, job_max(batch_now_ns() - began_ns), false);
    }
    if (job_pe == 0) {
        char point[32];

        (void)snprintf(point, sizeof(point), "%s-%zu", exchange->name, size_bytes);
        batch_print(point, batches.per_operation_ns[0] / exchange->unit_ns,
                    batches_median(&batches) / exchange->unit_ns);
    }
}

static bool run(const struct exchange *exchange, size_t most_bytes)
{
    size_t buffer_bytes = most_bytes * (exchange->has_blocks ? (size_t)job_count : 1);
    char *dest          = job_array(buffer_bytes);
    char *source        = job_array(buffer_bytes);
    bool good           = true;

    for (size_t i = 0; good && (i < SIZE_COUNT) && (sizes[i] <= most_bytes); i++) {
        job_progress(exchange->name, i, SIZE_COUNT);
        good = verify(exchange, dest, source, sizes[i]);
        measure(exchange, dest, source, sizes[i]);
    }
    job_progress(exchange->name, SIZE_COUNT, SIZE_COUNT);
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
    return run(&exchanges[PUT], size_bytes);
}

bool move_alltoall(size_t size_bytes, bool weak)
{
    (void)weak;
    return run(&exchanges[ALLTOALL], size_bytes);
}

bool move_broadcast(size_t size_bytes, bool weak)
{
    (void)weak;
    return run(&exchanges[BROADCAST], size_bytes);
}

bool move_reduce(size_t size_bytes, bool weak)
{
    (void)weak;
    return run(&exchanges[REDUCE], size_bytes);
}
