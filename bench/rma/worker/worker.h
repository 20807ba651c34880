/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_RMA_WORKER_H
#define MEMSPAN_BENCH_RMA_WORKER_H

/* One PE of a program that measures an OpenSHMEM library. Its sources are compiled by each
 * library's own compiler wrapper when the benchmark runs, so it uses names of the standard alone,
 * of version 1.4 where it can, which every peer has. */

#include <shmem.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORKER_ROOM = 4 << 20, WORKER_INTS = 131072 };

struct worker {
    int pe;
    int pe_count;
    int peer; /* the next PE, which is the other one of two */
    bool quick;
    char *source; /* WORKER_ROOM bytes each, on the symmetric heap */
    char *target;
};

struct worker_job;
typedef void (*worker_run_fn)(const struct worker *worker, const struct worker_job *job,
                              size_t operations);

/* What one point measures. */
struct worker_job {
    const char *point;
    worker_run_fn run;
    size_t size_bytes;
    char *target; /* NULL: the heap's */
    bool all;     /* every PE works; else PE 0 does, and the others wait for it in a barrier */
    /* ns; us; M a second; GiB/s; MB/s */
    enum { WORKER_NS, WORKER_US, WORKER_RATE, WORKER_BANDWIDTH, WORKER_MEGABYTES } unit;
    size_t messages; /* of one operation; 0: one */
};

/* Rows: false after a message. */
typedef bool (*worker_row_fn)(const struct worker *worker);

bool worker_put(const struct worker *worker);
bool worker_get(const struct worker *worker);
bool worker_scalar(const struct worker *worker);
bool worker_nbi(const struct worker *worker);
bool worker_atomic(const struct worker *worker);
bool worker_barrier(const struct worker *worker);
bool worker_collective(const struct worker *worker);
bool worker_sum(const struct worker *worker);
bool worker_malloc(const struct worker *worker);
bool worker_visible(const struct worker *worker);
bool worker_put_sizes(const struct worker *worker);
bool worker_get_sizes(const struct worker *worker);
bool worker_stream(const struct worker *worker);
bool worker_rate(const struct worker *worker);
bool worker_get_rate(const struct worker *worker);
bool worker_ping_pong(const struct worker *worker);
bool worker_memory(const struct worker *worker);

/* Measure and print. Collective; all PEs name the same job. */
void worker_measure(const struct worker *worker, const struct worker_job *job);

/* A message on standard error; always false. */
bool worker_complain(const struct worker *worker, const char *point, const char *what);

/* True on every PE where @p good is true on every PE. */
bool worker_agree(const struct worker *worker, bool good);

/* Sizes in names: "put-8k". */
struct worker_size {
    const char *name;
    size_t bytes;
};

/* A buffer of the executable's own data, as large as the heap's. */
extern char worker_static[WORKER_ROOM];

#endif /* MEMSPAN_BENCH_RMA_WORKER_H */
