/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_ALLOC_H
#define MEMSPAN_BENCH_ALLOC_H

/* What allocation costs, beside the allocators of the machine.
 *
 * A row ("pair") is measured for one peer ("mimalloc") in a process of its own, a worker, and gives
 * one value a point ("pair-64"). A round measures a row for every peer in turn, and the next round
 * begins with the next peer. Here: what rows, points and peers there are, and what was measured. */

#include "bench/common/child.h"
#include "bench/common/machine.h"
#include "bench/common/options.h"
#include "bench/common/stats.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- rows and points: rows.c ---- */

/* X(symbol, name, second name at the worker, help): a pool must be fresh, so fill's two are two */
#define ALLOC_ROW_MAP(X)                                                                           \
    X(PAIR, "pair", NULL, "one allocation and its free; ns")                                       \
    X(RANDOM, "random", NULL,                                                                      \
      "free one of 10,000 live blocks of 16..4096 B, allocate another; ns")                        \
    X(THREADS, "threads", NULL, "2 threads at once; M operations a second")                        \
    X(PRODUCER, "producer-consumer", NULL, "one thread allocates 64 B, another frees")             \
    X(FOOTPRINT, "footprint", NULL, "1 M live objects of 64 B, then all freed")                    \
    X(LIMIT, "limit", NULL, "a pool_size of 64 MiB, objects of 64 B")                              \
    X(INIT, "init", NULL, "omp_init_allocator + omp_destroy_allocator; ns")                        \
    X(START, "start-up", NULL, "a process that allocates once; ms of processor time")              \
    X(DEVICE, "device-mix", NULL, "memory that nobody may touch: free + allocate; ns")             \
    X(FILL, "fill", "fill-log",                                                                    \
      "256 MiB of it, random sizes to the first failure, then half freed")                         \
    X(LOOKUP, "lookup", NULL, "from a pointer to what it is; ns")                                  \
    X(RETENTION, "retention", "retention-phases",                                                  \
      "resident when (nearly) all is freed, and 3 s later; MiB")                                   \
    X(GROWTH, "growth", NULL, "a block grown by 4,000 calls of realloc, 16 KiB each; us a call")

enum alloc_row {
#define ALLOC_ROW_ENUM(symbol, name, second, help) ALLOC_##symbol,
    ALLOC_ROW_MAP(ALLOC_ROW_ENUM)
#undef ALLOC_ROW_ENUM
        ALLOC_ROW_COUNT
};

struct alloc_row_facts {
    const char *name;
    const char *help;
    const char *workers[2]; /* what the worker calls it; the second may be NULL */
};

struct alloc_point {
    enum alloc_row row;
    const char *name;
    const char *label; /* in the row's table */
    const char *unit;
    bool more; /* more is better */
};

enum { ALLOC_POINTS_MAX = 64 };

extern const struct alloc_row_facts alloc_rows[ALLOC_ROW_COUNT];
extern const char *const alloc_row_names[ALLOC_ROW_COUNT];
extern const struct alloc_point alloc_points[];
extern const size_t alloc_point_count;

/* The index of a point, or alloc_point_count. */
size_t alloc_point_find(const char *name, size_t name_length);

/* ---- peers: peers.c ---- */

enum { ALLOC_PEERS_MAX = 24, ALLOC_ALSO_MAX = 6, ALLOC_MEMSPAN = 0, ALLOC_MEMSPAN_CUSTOM = 1 };

struct alloc_peer {
    char name[32];
    const char *worker; /* program in the folder of workers */
    const char *device; /* the one for device-mix, fill and lookup */
    bool custom;        /* alignment 64, pool_size 4 GiB, null_fb */
    bool with_memkind;  /* libomp finds a libmemkind.so */
    unsigned rows;      /* bits: rows that it can be measured in */
    char preload[256];  /* LD_PRELOAD, or "" */
    bool present;
    char why[256]; /* why it is absent */
    char version[64];
    char library[256];
    char build[96]; /* of the worker */
};

struct alloc_peers {
    struct alloc_peer list[ALLOC_PEERS_MAX];
    size_t count;
    const char *names[ALLOC_PEERS_MAX]; /* for the choice of options.h */
    char workers[256];                  /* the folder of workers */
};

/* All that are known, and those of @p also ("NAME=LIBRARY,..."; NULL: none), none looked at yet.
 * @p workers: their folder, or NULL for alloc/ beside this program. False after saying why. */
bool alloc_peers_list(struct alloc_peers *peers_p, const char *also, const char *workers);

/* Find out which of those in @p mask are on this machine, and which version. */
void alloc_peers_look(struct alloc_peers *peers, unsigned mask, size_t timeout_s);

/* What a worker needs to measure @p row for @p peer. Good until the next call. */
struct bench_command alloc_peer_command(const struct alloc_peers *peers,
                                        const struct alloc_peer *peer, enum alloc_row row);

/* ---- a run: run.c ---- */

struct alloc_plan {
    size_t rounds;
    size_t timeout_s;
    bool quick;
    bool aims;
    bool help;
    struct bench_choice rows;
    struct bench_choice peers;
    const char *peer_words; /* --peers, which --also may extend */
    const char *also;
    const char *workers;
    const char *csv;
    const char *json;
    const char *svg;
    char command[512];
};

struct alloc_run {
    const struct alloc_plan *plan;
    struct alloc_peers peers;
    struct bench_machine machine;
    struct bench_samples samples[ALLOC_POINTS_MAX][ALLOC_PEERS_MAX];
    char failures[ALLOC_ROW_COUNT][ALLOC_PEERS_MAX][192];
    FILE *text; /* where tables go: not where a file goes */
};

/* Bit @p index of a choice. */
static inline bool alloc_chosen(const struct bench_choice *choice, size_t index)
{
    return (choice->mask & (1u << index)) != 0;
}

/* Measure one row: all peers, all rounds. */
void alloc_measure_row(struct alloc_run *run, enum alloc_row row);

/* The best median of a point among the peers whose names begin with a word of @p families
 * ("jemalloc,mimalloc"; NULL: everyone's); NAN where nobody has one. */
double alloc_best(const struct alloc_run *run, size_t point, const char *families, size_t *peer_p);

/* ---- output ---- */

/* For people: text.c. */
void alloc_print_head(const struct alloc_run *run);
void alloc_print_row(const struct alloc_run *run, enum alloc_row row);
void alloc_print_notes(const struct alloc_run *run);

/* The table of aims: aims.c. */
void alloc_print_aims(const struct alloc_run *run);

/* CSV, JSON and SVG, those that the plan wants: files.c. False after saying why. */
bool alloc_write_files(const struct alloc_run *run);

int alloc_main(int argument_count, char *const *arguments);

#endif /* MEMSPAN_BENCH_ALLOC_H */
