/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_SCALE_REPLAY_H
#define MEMSPAN_TESTS_SHMEM_SCALE_REPLAY_H

/* Replaying a tape: PEs go on as the messages that they wait for arrive, whatever their order. */

#include "tape.h"

/* What each PE must know of when its first exchange ends, and the calls. */
enum replay_closure {
    REPLAY_ALL,    /* all PEs have begun the exchange */
    REPLAY_BEFORE, /* those before it have; at the end all */
    REPLAY_ROOT,   /* the root has called; where there were exchanges, all */
};

/* Nanoseconds. */
struct replay_network {
    double latency;
    double overhead; /* of a processor, for each message sent or received */
    double gap;      /* between two messages of a PE */
    double byte_gap;
};

struct replay_result {
    int rounds;           /* messages that depend on one another */
    uint64_t sent;        /* messages of the PE that sends most */
    uint64_t hottest;     /* messages sent and received by the PE that has most */
    uint64_t sent_bytes;  /* of the PE that sends most */
    uint64_t least_bytes; /* received by the PE that receives least, the root apart */
    double us;
};

/* @p root: -1 but for REPLAY_ROOT. */
struct replay_result replay(enum replay_closure closure, int root,
                            const struct replay_network *network);

/* The sends of a PE that sends to all others, and the waits of one that all others send to: each
 * peer once by each counter. The last one that ran. */
void replay_check_wide(int pe);
/* All messages of a round have the same size; where @p is_uniform, also those that are counted. */
void replay_check_sizes(bool is_uniform);

#endif /* MEMSPAN_TESTS_SHMEM_SCALE_REPLAY_H */
