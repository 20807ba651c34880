/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_RMA_H
#define MEMSPAN_BENCH_RMA_H

/* What one-sided communication costs, beside the OpenSHMEM libraries of the machine.
 *
 * A peer is a compiler wrapper and a launcher. Its wrapper compiles the program that measures, in
 * worker/, and its launcher starts it. The peer "limit" does the same to plain shared memory, and
 * programs of --beside (raw/) to a network library. */

#include "bench/common/bench.h"

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
    X(VISIBLE, "visible", BOTH, "until the other PE has seen it: half a round trip; ns")           \
    X(PUT_SIZES, "put-sizes", SIZES, "put + quiet, 1 B to 4 MiB; us")                              \
    X(GET_SIZES, "get-sizes", SIZES, "get, 1 B to 4 MiB; us")                                      \
    X(STREAM, "stream", SIZES, "64 non-blocking puts (16 above 64 KiB), then quiet; MB/s")         \
    X(RATE, "rate", SIZES, "the puts of stream: millions of messages a second")                    \
    X(GET_RATE, "get-rate", SIZES, "as many non-blocking gets: millions of messages a second")     \
    X(PING_PONG, "ping-pong", SIZES, "put, fence, flag, and back: half a round trip; us")          \
    X(START, "start", APART, "an empty program, from its launcher's start to its end")             \
    X(PARTITION, "partition", OURS, "put + quiet to a partition drawn at random; ns")              \
    X(STENCIL, "stencil", OURS, "a stencil step on a partition of each kind; us")                  \
    X(CALL, "call", OURS, "calls of a handler on the other PE, and their quiet; ns")               \
    X(QUEUE, "queue", OURS, "puts by blocking calls and on a queue; MB/s, % of the host's work")

enum rma_row {
#define RMA_ROW_ENUM(symbol, name, where, help) RMA_##symbol,
    RMA_ROW_MAP(RMA_ROW_ENUM)
#undef RMA_ROW_ENUM
        RMA_ROW_COUNT
};

/* Each PE on a processor; all PEs on one. */
enum rma_placement { RMA_APART, RMA_TOGETHER };

enum { RMA_MEMSPAN = 0, RMA_LIMIT = 1 };

/* The sizes of the rows by size. */
#define RMA_SIZE_MAP(X)                                                                            \
    X(1)                                                                                           \
    X(2)                                                                                           \
    X(4)                                                                                           \
    X(8)                                                                                           \
    X(16)                                                                                          \
    X(32)                                                                                          \
    X(64)                                                                                          \
    X(128)                                                                                         \
    X(256)                                                                                         \
    X(512)                                                                                         \
    X(1024)                                                                                        \
    X(2048)                                                                                        \
    X(4096)                                                                                        \
    X(8192)                                                                                        \
    X(16384)                                                                                       \
    X(32768)                                                                                       \
    X(65536)                                                                                       \
    X(131072)                                                                                      \
    X(262144)                                                                                      \
    X(524288)                                                                                      \
    X(1048576)                                                                                     \
    X(2097152)                                                                                     \
    X(4194304)

/* What rma knows of a peer, by its index in the run. */
struct rma_peer {
    char compiler[512]; /* words for a shell; "": the program is there */
    char launcher[512]; /* the same: what comes before "-n 2 PROGRAM"; "": nothing */
    const char *family; /* the library's file name must begin with it; NULL: any */
    char program[352];
    char built_by[64];
    char origin[1040]; /* compiler and launcher */
};

extern struct rma_peer rma_peers[BENCH_PEERS_MAX];

/* --peer: more peers, "NAME=COMPILER,LAUNCHER" each; one with a known name takes its place. */
extern struct cli_texts rma_more;

/* --beside: programs that show what no library can do better, "NAME=PROGRAM,LAUNCHER" each. */
extern struct cli_texts rma_beside;

bool rma_peers_list(struct bench_run *run);

/* Build the program of each chosen peer, and ask it which library it runs with. */
void rma_peers_find(struct bench_run *run);

/* Remove what was built. */
void rma_peers_release(void);

/* Run @p program of a peer (NULL: its own) with @p words. */
struct rma_job {
    const char *program;
    const char *words;
    const char *settings; /* "NAME=VALUE ..." for the environment; NULL: none */
    bool one_processor;
};
bool rma_peer_run(const struct bench_run *run, size_t peer, const struct rma_job *job,
                  struct bench_child *child_p);

/* Compile @p sources (a folder of the workers') for a peer; @p program is the path of the result.
 */
bool rma_peer_compile(const struct bench_run *run, size_t peer, const char *sources,
                      const char *name, char *program, size_t program_size,
                      struct bench_child *child_p);
/* With target regions: the wrapper calls the compiler that the build has found. */
bool rma_peer_compile_regions(const struct bench_run *run, size_t peer, const char *sources,
                              const char *name, char *program, size_t program_size,
                              struct bench_child *child_p);

void rma_measure(struct bench_run *run);

/* One round of the rows partition, stencil, call and queue, where they are chosen. */
void rma_measure_partitions(struct bench_run *run, size_t round);

/* What shows how fast @p peer could be: "raw-X" for "memspan-X"; for "memspan" the limit, else a
 * "raw-X" without a "memspan-X". The number of peers: nothing does. */
size_t rma_limit_of(const struct bench_run *run, size_t peer);

/* Targets of runs between hosts: against the network library and against the best peer. False:
 * this is no such run. */
bool rma_print_network_targets(const struct bench_run *run);

void rma_print_peers(const struct bench_run *run);

/* --osu: a row by size as tables of size and value, one for each peer. Other rows: nothing. */
extern bool rma_osu;
void rma_print_osu(const struct bench_run *run, size_t row, unsigned placement);

extern const struct bench_suite rma_suite;

#endif /* MEMSPAN_BENCH_RMA_H */
