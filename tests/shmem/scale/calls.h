/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_SCALE_CALLS_H
#define MEMSPAN_TESTS_SHMEM_SCALE_CALLS_H

/* The collectives: the call of each, its data, its result, and its bounds. */

#include "replay.h"

enum call_rounds {
    CALL_LOG,  /* log2 of the groups, rounded up */
    CALL_FOLD, /* rounded down, and two beyond a power of two */
    CALL_ONE,
    CALL_TWO,
    CALL_SCAN, /* CALL_LOG and a barrier */
};

struct call {
    const char *name;
    const char *rule; /* SHMEMX_COLLECTIVE; "": the table's own choice */
    int least_groups;
    int most_groups;
    size_t bytes; /* of a PE's part */
    size_t block; /* that a PE sends for each other one, at most; 0: so many in each message */
    void (*run)(struct msp_team *team);
    /* Before and after a PE's run; false: the result is wrong. NULL: there is none. */
    void (*prepare)(int pe);
    bool (*check)(int pe);
    enum replay_closure closure;
    enum call_rounds rounds;
    bool is_uniform; /* all messages of a round have the same size */
    bool is_wide;    /* a PE sends to all others */
    bool has_sizes;  /* who sends depends on gathered sizes: data is needed */
    bool is_piped;   /* made of pieces, one after another */
};

extern const struct call calls[];
extern const int call_count;

/* The call that the functions of the table work for. */
extern const struct call *call_now;

/* The memory of a job's PEs; then the results of its operands, which values are compared with. */
void calls_open(void);
void calls_expect(void);
void calls_close(void);
int call_root(void);
/* Bytes that a PE receives at least. */
uint64_t call_least_bytes(void);
/* Bytes that a PE sends in so many messages at most. */
uint64_t call_most_bytes(uint64_t messages);
/* Messages that depend on one another, at most, in each piece. */
int call_most_rounds(void);

#endif /* MEMSPAN_TESTS_SHMEM_SCALE_CALLS_H */
