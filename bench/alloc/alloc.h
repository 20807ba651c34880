/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_ALLOC_H
#define MEMSPAN_BENCH_ALLOC_H

/* What allocation costs, beside the allocators of the machine. A row is measured for one peer in a
 * process of its own, a worker. */

#include "bench/common/bench.h"

/* X(symbol, name, help) */
#define ALLOC_ROW_MAP(X)                                                                           \
    X(PAIR, "pair", "one allocation and its free; ns")                                             \
    X(RANDOM, "random", "free one of 10,000 live blocks of 16..4096 B, allocate another; ns")      \
    X(THREADS, "threads", "2 threads at once; M operations a second")                              \
    X(MANY, "many", "16 threads, blocks of their own or common ones; 64 allocators; ns")           \
    X(PRODUCER, "producer-consumer", "one thread allocates 64 B, another frees")                   \
    X(FOOTPRINT, "footprint", "1 M live objects of 64 B, then all freed")                          \
    X(LIMIT, "limit", "a pool_size of 64 MiB, objects of 64 B")                                    \
    X(INIT, "init", "omp_init_allocator + omp_destroy_allocator; ns")                              \
    X(START, "start-up", "a process that allocates once; ms of processor time")                    \
    X(DEVICE, "device-mix", "memory without access: free + allocate; ns")                          \
    X(FILL, "fill", "256 MiB of it, random sizes to the first failure, then half freed")           \
    X(LOOKUP, "lookup", "from a pointer to its block; ns")                                         \
    X(RETENTION, "retention", "resident when (nearly) all is freed, and 3 s later; MiB")           \
    X(GROWTH, "growth", "a block grown by realloc: 4,000 steps of 16 KiB, 400 of 1 KiB")           \
    X(LARGE, "large", "200 blocks of 3 MiB, 3 pages of each touched; 32 written in full")          \
    X(ARRAYS, "arrays", "1 GiB touched here and there, or filled; sizes, all freed; MiB or ms")    \
    X(TEAM, "team", "pairs of 2 threads from one allocator with pteam and pool_size; ns of each")

enum alloc_row {
#define ALLOC_ROW_ENUM(symbol, name, help) ALLOC_##symbol,
    ALLOC_ROW_MAP(ALLOC_ROW_ENUM)
#undef ALLOC_ROW_ENUM
        ALLOC_ROW_COUNT
};

enum { ALLOC_MEMSPAN = 0, ALLOC_MEMSPAN_CUSTOM = 1 };

/* What alloc knows of a peer, by its index in the run. */
struct alloc_peer {
    const char *worker; /* program in the folder of workers */
    const char *device; /* the one for device-mix, fill and lookup */
    bool custom;        /* alignment 64, pool_size 4 GiB, null_fb */
    bool with_memkind;  /* libomp finds a libmemkind.so */
    unsigned rows;      /* bits: rows that it can be measured in */
    char preload[256];  /* LD_PRELOAD, or "" */
    char build[96];     /* of the worker */
};

extern struct alloc_peer alloc_peers[BENCH_PEERS_MAX];

/* --also: more peers, "NAME=LIBRARY,..."; or NULL. */
extern const char *alloc_also;

bool alloc_peers_list(struct bench_run *run);
void alloc_peers_find(struct bench_run *run);

/* The worker that measures @p row for @p peer. */
struct bench_command alloc_peer_command(const struct bench_run *run, const struct alloc_peer *peer,
                                        enum alloc_row row);

void alloc_measure(struct bench_run *run);

void alloc_print_peers(const struct bench_run *run);
void alloc_print_row(const struct bench_run *run, enum alloc_row row);

extern const struct bench_suite alloc_suite;

#endif /* MEMSPAN_BENCH_ALLOC_H */
