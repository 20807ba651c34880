/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_SCALE_TAPE_H
#define MEMSPAN_TESTS_SHMEM_SCALE_TAPE_H

/* The algorithms between hosts as they are shipped, linked against a tape in place of the network.
 *
 * They reach other hosts through msp_message_send() and msp_put_strided() alone, and their schedule
 * does not depend on data. So the PEs of a job run one after another in this process: the tape
 * records what each sends and waits for, and every wait is satisfied at once. replay.c then
 * verifies the schedule, values.c the data. */

#include "shmem/team.h"

enum tape_kind {
    TAPE_STORE,  /* a message: the peer's flag becomes the value */
    TAPE_ADD,    /* a message: the peer's flag rises by the value */
    TAPE_PUT,    /* a strided put, complete at the next quiet */
    TAPE_AWAIT,  /* for the value, or for so many more */
    TAPE_ARRIVE, /* msp_sync_gather() of the group */
    TAPE_LEAVE,  /* msp_sync_release() */
};

enum { TAPE_TURNS = 4, TAPE_CASTS = 16, TAPE_FLAG_MAX = 128 };

struct tape_event {
    enum tape_kind kind;
    int peer;
    uint32_t bytes;
    int flag;
    uint32_t value;
    uint32_t number; /* of the exchange, or broadcast, that the flag belongs to */
    uint32_t begun;  /* exchanges that the PE has begun */
};

/* One message is recorded wrong. */
enum tape_fault { TAPE_CORRECT, TAPE_PEER, TAPE_DROP, TAPE_FLAG, TAPE_HALF, TAPE_FAULT_COUNT };

struct tape {
    int groups;
    int members; /* of a group */
    int pes;
    struct tape_event *events;
    size_t count;
    size_t *first;         /* of each PE; of the one that runs, and pes: the end */
    const char *algorithm; /* the first that was chosen; NULL: there was no choice */
    bool has_values;       /* messages carry data */
    bool has_members;      /* the team has a table: its hosts are in another order */
    char *source;
    char *dest;
    size_t dest_bytes;
    enum tape_fault fault;
    int fault_pe;
    int fault_at; /* the PE's message */
    int failures;
    int failures_before; /* this call */
    bool is_silent;
};
extern struct tape tape;

/* A job of so many groups, of which the last one has fewer members. @p rule: SHMEMX_COLLECTIVE. */
void tape_job(int groups, int members, int missing, const char *rule);
/* PE @p pe makes the calls; it records them behind those of the PEs before it. */
void tape_run(int pe, void (*calls)(struct msp_team *team));
/* Nothing is recorded. */
void tape_rewind(void);

/* The schedule or the data is wrong. */
void tape_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether the flag is a counter, and whether one of broadcasts. */
bool tape_flag_adds(int flag);
bool tape_flag_is_cast(int flag);

/* values.c: of a message, and before the PE goes on after its wait. */
void values_keep(const struct tape_event *event, void *dest, const void *data);
void values_deliver(int pe, int flag, uint32_t number);

#endif /* MEMSPAN_TESTS_SHMEM_SCALE_TAPE_H */
