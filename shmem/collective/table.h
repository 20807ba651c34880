/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_TABLE_H
#define MEMSPAN_SHMEM_COLLECTIVE_TABLE_H

/* The algorithm of a collective between hosts: a table of thresholds, by call, size and number of
 * groups. SHMEMX_COLLECTIVE puts rows before it. */

#include "core/base/platform.h"
#include <memspan/status.h>

/* X(symbol, name) */
#define MSP_TABLE_CALL_MAP(X)                                                                      \
    X(BROADCAST, "broadcast")                                                                      \
    X(REDUCE, "reduce")                                                                            \
    X(SCAN, "scan")                                                                                \
    X(FCOLLECT, "fcollect")                                                                        \
    X(COLLECT, "collect")                                                                          \
    X(ALLTOALL, "alltoall")                                                                        \
    X(ALLTOALLS, "alltoalls")
enum msp_table_call {
#define CALL_ENUM(symbol, name) MSP_TABLE_##symbol,
    MSP_TABLE_CALL_MAP(CALL_ENUM)
#undef CALL_ENUM
        MSP_TABLE_CALL_COUNT
};

/* X(symbol, name) */
#define MSP_ALGORITHM_MAP(X)                                                                       \
    X(TREE, "tree") /* broadcast: binomial */                                                      \
    X(SCATTER,                                                                                     \
      "scatter")        /* broadcast: scatter, then allgather; reduce: reduce-scatter likewise */  \
    X(GATHER, "gather") /* Bruck's allgather between leaders */                                    \
    X(DOUBLING, "doubling") /* recursive doubling between leaders; scan: between PEs */            \
    X(LEADERS, "leaders")   /* alltoall: packed, one message from leader to leader */              \
    X(BRUCK, "bruck")       /* alltoall: packed, log2 messages of a leader */                      \
    X(PAIRWISE, "pairwise") /* each part straight to where it belongs; reduce: of two PEs */
enum msp_algorithm {
#define ALGORITHM_ENUM(symbol, name) MSP_ALGORITHM_##symbol,
    MSP_ALGORITHM_MAP(ALGORITHM_ENUM)
#undef ALGORITHM_ENUM
        MSP_ALGORITHM_COUNT
};

/* Reads SHMEMX_COLLECTIVE: CALL=ALGORITHM[:BYTES[:HOSTS]], several with commas between. Up to that
 * many bytes and hosts, or any. */
memspan_status_t msp_table_open(void);

/* The first row for the call, @p size_bytes of a PE's part and @p group_count groups whose
 * algorithm is in the set @p possible, of 1 << enum msp_algorithm; else the highest of the set,
 * which is the one that needs no space. SHMEM_DEBUG logs it, once for each. */
enum msp_algorithm msp_table_choose(enum msp_table_call call, size_t size_bytes, int group_count,
                                    unsigned possible);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_TABLE_H */
