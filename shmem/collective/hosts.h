/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_HOSTS_H
#define MEMSPAN_SHMEM_COLLECTIVE_HOSTS_H

#include "core/base/platform.h"
#include "shmem/collective/combine.h"
#include "shmem/collective/exchange.h"
#include <memspan/status.h>

/* The algorithm of a collective between hosts: a table of thresholds, by call, size and number of
 * groups. SHMEMX_COLLECTIVE puts rows before it. */

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

/* ---- collectives ---- */

/* Collectives of teams on several hosts: shared memory inside a group, messages between groups
 * (exchange.h). The table above chooses the algorithm.
 *
 * OpenSHMEM requires programs to have dest ready in all PEs before any of them calls: data that is
 * not small goes there at once. */

enum { MSP_HOSTS_VOTE_BYTES = 2 << 10 };

/* As those of collective.h. */
int msp_hosts_broadcast(struct msp_team *team, void *dest, const void *source, size_t size_bytes,
                        int root);
int msp_hosts_fcollect(struct msp_team *team, void *dest, const void *source, size_t size_bytes);
int msp_hosts_collect(struct msp_team *team, void *dest, const void *source, size_t size_bytes);
int msp_hosts_alltoall(struct msp_team *team, void *dest, const void *source, size_t size_bytes);
int msp_hosts_alltoalls(struct msp_team *team, void *dest, const void *source,
                        ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t element_bytes,
                        size_t count);
int msp_hosts_reduce(struct msp_team *team, msp_combine_t combine, void *dest, const void *source,
                     size_t element_bytes, size_t count);
int msp_hosts_scan(struct msp_team *team, msp_combine_t combine, bool inclusive, void *dest,
                   const void *source, size_t element_bytes, size_t count);

/* Of any team: @p values of all members are reduced, in this PE's memory; at most
 * MSP_HOSTS_VOTE_BYTES. */
void msp_hosts_vote(struct msp_team *team, enum msp_reduction operation, enum msp_number type,
                    void *values, size_t count);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_HOSTS_H */
