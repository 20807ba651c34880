/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_RMA_H
#define MEMSPAN_BENCH_RMA_H

/* What one-sided communication costs, beside the OpenSHMEM libraries of the machine.
 *
 * A peer is a compiler wrapper and a launcher. The program that measures, worker/, is compiled
 * by each peer's own wrapper and started by its own launcher, one peer after the other, and then
 * all again: what disturbs a round disturbs everybody. A point ("put-8") is one figure of it.
 * Beside the peers stands the limit, which does the same to plain shared memory. */

#include "bench/common/child.h"
#include "bench/common/machine.h"
#include "bench/common/options.h"
#include "bench/common/stats.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- rows and points: rows.c ---- */

/* X(symbol, name, where it is measured, help) */
#define RMA_ROW_MAP(X)                                                                             \
    X(MEMORY, "memory", APART, "resident memory of a PE after start-up, MiB")                      \
    X(PUT, "put", BOTH, "put + quiet, by bytes; to the heap, to the executable's data; ns")        \
    X(GET, "get", BOTH, "get, by bytes; from the heap, from the executable's data; ns")            \
    X(SCALAR, "scalar", BOTH, "single values and to oneself; ns")                                  \
    X(NBI, "nbi", BOTH, "64 non-blocking puts or gets, then quiet")                                \
    X(ATOMIC, "atomic", BOTH, "atomic operations on a word of the other PE; ns")                   \
    X(BARRIER, "barrier", BOTH, "barrier_all and sync_all; ns")                                    \
    X(COLLECTIVE, "collective", BOTH, "collectives, by bytes of each PE; ns")                      \
    X(SUM, "sum", BOTH, "sum of int, by elements; ns")                                             \
    X(MALLOC, "malloc", BOTH, "a block of the symmetric heap and its free; ns")                    \
    X(VISIBLE, "visible", BOTH, "until the other PE has seen it: half of there and back; ns")      \
    X(START, "start", APART, "a program that does nothing, from its launcher's start to its end")  \
    X(PARTITION, "partition", OURS, "put + quiet to a partition drawn at random; ns")              \
    X(STENCIL, "stencil", OURS, "a stencil step on a partition of each kind; us")

enum rma_row {
#define RMA_ROW_ENUM(symbol, name, where, help) RMA_##symbol,
    RMA_ROW_MAP(RMA_ROW_ENUM)
#undef RMA_ROW_ENUM
        RMA_ROW_COUNT
};

/* APART: each PE on a processor. BOTH: and once more with all PEs on one. OURS: of partitions,
 * which nobody else has; apart. */
enum rma_where { RMA_APART, RMA_BOTH, RMA_OURS };

enum rma_placement { RMA_PLACE_APART, RMA_PLACE_TOGETHER, RMA_PLACE_COUNT };

struct rma_row_facts {
    const char *name;
    enum rma_where where;
    const char *help;
};

struct rma_point {
    enum rma_row row;
    const char *name;
    const char *label; /* in the row's table */
    const char *unit;
    bool more; /* more is better */
};

enum { RMA_POINTS_MAX = 80 };

extern const struct rma_row_facts rma_rows[RMA_ROW_COUNT];
extern const char *const rma_row_names[RMA_ROW_COUNT];
extern const char *const rma_placement_names[RMA_PLACE_COUNT];
extern const struct rma_point rma_points[];
extern const size_t rma_point_count;

/* The index of a point, or rma_point_count. */
size_t rma_point_find(const char *name, size_t name_length);

/* ---- peers: peers.c ---- */

enum { RMA_PEERS_MAX = 8, RMA_MEMSPAN = 0, RMA_LIMIT = 1 };

struct rma_peer {
    char name[24];
    char compiler[512]; /* words for a shell; "" for the limit */
    char launcher[512]; /* the same: what comes before "-n 2 PROGRAM" */
    const char *family; /* the library's file name must begin with it; NULL: with anything */
    bool present;
    char why[256]; /* why it is absent */
    char program[352];
    char library[256];
    char version[128]; /* what the library says of itself, and the standard it follows */
    char built_by[64];
};

struct rma_peers {
    struct rma_peer list[RMA_PEERS_MAX];
    size_t count;
    const char *names[RMA_PEERS_MAX]; /* for the choice of options.h */
    char tools[256];                  /* the folder of this program */
    char workers[320];                /* the folder of workers */
    char folder[64];                  /* where programs are built; "" before and after */
};

/* Those that are known, and those of @p more ("NAME=COMPILER,LAUNCHER" each), none looked at yet. A
 * name that is known already takes its place. False after saying why. */
bool rma_peers_list(struct rma_peers *peers_p, const struct bench_texts *more, const char *workers);

/* Build the program of each peer in @p mask and ask it who answers. */
void rma_peers_build(struct rma_peers *peers, unsigned mask, size_t timeout_s);

/* Remove what was built. */
void rma_peers_release(struct rma_peers *peers);

/* Run @p program of a peer (NULL: its own) with @p words. */
struct rma_job {
    const char *program;
    const char *words;
    const char *settings; /* "NAME=VALUE ..." for the environment; NULL: none */
    size_t pe_count;
    size_t timeout_s;
    bool one_processor;
};
bool rma_peer_run(const struct rma_peer *peer, const struct rma_job *job,
                  struct bench_child *child_p);

/* Compile @p sources (a folder of the workers') with the wrapper of @p peer. */
bool rma_peer_compile(const struct rma_peers *peers, const struct rma_peer *peer,
                      const char *sources, const char *program, size_t timeout_s,
                      struct bench_child *child_p);

/* ---- a run: run.c ---- */

struct rma_plan {
    size_t rounds;
    size_t timeout_s;
    bool quick;
    bool aims;
    bool help;
    struct bench_choice rows;
    struct bench_choice placements;
    struct bench_choice peers;
    const char *peer_words; /* --peers, which --peer may extend */
    struct bench_texts more;
    const char *workers;
    const char *csv;
    const char *json;
    const char *svg;
    char command[1024];
};

/* Of one point, peer and placement. */
struct rma_figure {
    struct bench_samples medians; /* one a round */
    double best;                  /* of all batches of all rounds; counts where there are medians */
};

struct rma_run {
    const struct rma_plan *plan;
    struct rma_peers peers;
    struct bench_machine machine;
    struct rma_figure figures[RMA_PLACE_COUNT][RMA_POINTS_MAX][RMA_PEERS_MAX];
    char failures[RMA_PLACE_COUNT][RMA_ROW_COUNT][RMA_PEERS_MAX][192];
    char given[RMA_POINTS_MAX][64];   /* of ours: what memory a partition's point was measured on */
    char waived[RMA_POINTS_MAX][192]; /* why there is no such memory here */
    FILE *text;                       /* where tables go: not where a file goes */
};

/* Bit @p index of a choice. */
static inline bool rma_chosen(const struct bench_choice *choice, size_t index)
{
    return (choice->mask & (1u << index)) != 0;
}

/* Whether the plan has this row there. */
bool rma_is_measured(const struct rma_run *run, enum rma_row row, enum rma_placement placement);

/* Measure all that the plan wants. */
void rma_measure(struct rma_run *run);

/* Partitions: partitions.c. One round of both rows, where the plan wants them. */
void rma_measure_partitions(struct rma_run *run, size_t round);

/* Add the points that a worker wrote. */
void rma_add_points(struct rma_run *run, enum rma_placement placement, size_t peer,
                    const char *output);
void rma_add(struct rma_run *run, enum rma_placement placement, size_t point, size_t peer,
             double best, double median);

/* Best of all batches; NAN where there is none. */
double rma_best(const struct rma_run *run, enum rma_placement placement, size_t point, size_t peer);

/* The best among the others: not ours, not the limit. NAN where nobody has one. */
double rma_best_peer(const struct rma_run *run, enum rma_placement placement, size_t point,
                     size_t *peer_p);

/* ---- output ---- */

/* For people: text.c. */
void rma_print_head(const struct rma_run *run);
void rma_print_row(const struct rma_run *run, enum rma_row row, enum rma_placement placement);
void rma_print_notes(const struct rma_run *run);

/* The table of aims: aims.c. */
void rma_print_aims(const struct rma_run *run);

/* CSV, JSON and SVG, those that the plan wants: files.c. False after saying why. */
bool rma_write_files(const struct rma_run *run);

int rma_main(int argument_count, char *const *arguments);

#endif /* MEMSPAN_BENCH_RMA_H */
