/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SHMEM_NETWORK_JUDGE_H
#define TESTS_SHMEM_NETWORK_JUDGE_H

/* The driver that judges:
 *
 *     judge_driver.c       queues, peers, memory and the table
 *     judge_operation.c    what is held, and when it goes on
 *     judge_message.c      which messages may pass each other */

#include "shmem/network/driver.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { HELD_MAX = 48, SERIALS = 1 << 16, PES = 1 << 10, STEPS = 24, STEPS_READ = 200 };

enum kind { PUT, GET, SEND, FLUSH };

enum state { HELD, BELOW, OVER };

/* An operation, from its call to its completion. */
struct held {
    struct msp_network_request below; /* first */
    struct held *next;
    struct msp_network_queue *queue;
    struct msp_network_peer *peer;
    struct msp_network_key *key;
    struct msp_network_request *request; /* the caller's; NULL: it was told DONE */
    enum kind kind;
    enum state state;
    memspan_status_t status;
    uint64_t due; /* the step of the queue before which it does not go on */
    uint64_t address;
    const void *header;
    size_t header_bytes;
    void *local;
    size_t size_bytes;
    bool fails;
    bool reads_early; /* a put that completes before it has an effect */
    bool passes;      /* a message that may overtake others, */
    bool is_passed;   /* and one that others may overtake */
    char copy[];
};

struct msp_network_queue {
    struct msp_network_queue *below;
    struct held *first;
    unsigned count;
    uint64_t step;
    uint64_t random;
    int held_fd;    /* an eventfd; -1: of another queue than the main one */
    int descriptor; /* both that and the one below; or -1 */
    bool is_main;
    atomic_flag is_used;
};

struct msp_network_peer {
    struct msp_network_peer *below;
    struct msp_network_queue *queue;
    const _Atomic uint8_t *released; /* by serial number, the owner's; NULL: unknown */
    int pe;
    bool has_failed_put;
};

/* Before the key of the driver below. */
struct label {
    uint64_t serial;
    uint64_t first;
    uint64_t end;
};

struct msp_network_key {
    struct msp_network_key *below;
    struct label label;
};

struct msp_network_memory {
    struct msp_network_memory *below;
    uint64_t serial;
};

/* Behind the address of the driver below: where the table of what is released is. */
struct place {
    pid_t pid;
    int fd;
};

struct judge {
    const struct msp_network_services *services;
    const struct msp_network_driver *real;
    struct msp_network_limits limits;
    uint64_t seed;
    uint64_t busy;               /* of eight calls */
    atomic_bool has_failed[PES]; /* by PE: the driver below has reported it */
    unsigned failing_kind;
    unsigned long failing_call; /* 0: none */
    bool fails_at_call;
    bool shuffles; /* messages too */
    bool is_lazy;
};

extern struct judge judge __attribute__((visibility("hidden")));
extern const char *const judge_names[] __attribute__((visibility("hidden"))); /* by enum kind */

#define JUDGE(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "judge: not so: %s: ", #condition);                                    \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            _Exit(3);                                                                              \
        }                                                                                          \
    } while (0)

/* One thread at a time is in a queue. */
void judge_enter(struct msp_network_queue *queue);
void judge_leave(struct msp_network_queue *queue);
bool judge_is_failed(const struct msp_network_peer *peer);
/* One step. @p all: whatever is due later, too. Nonzero: something is held. */
unsigned judge_step(struct msp_network_queue *queue, bool all);
/* Of one that is unlinked. */
void judge_complete(struct held *held);
/* A random number below @p below. */
uint64_t judge_draw(struct msp_network_queue *queue, uint64_t below);

/* Which order a message has, with judge.shuffles. The items of an aggregate, which are a copy,
 * change places. */
void judge_message_loosen(struct held *held);
/* With JUDGE_LAZY: a message that waits for the next flush of its queue. */
bool judge_message_is_atomic(const struct held *held);

enum msp_network_result judge_put(struct msp_network_peer *peer, struct msp_network_key *key,
                                  uint64_t address, const void *source, size_t size_bytes,
                                  struct msp_network_request *request);
enum msp_network_result judge_get(struct msp_network_peer *peer, struct msp_network_key *key,
                                  uint64_t address, void *dest, size_t size_bytes,
                                  struct msp_network_request *request);
enum msp_network_result judge_send(struct msp_network_peer *peer, const void *header,
                                   size_t header_bytes, const void *payload, size_t payload_bytes,
                                   struct msp_network_request *request);
enum msp_network_result judge_flush(struct msp_network_peer *peer,
                                    struct msp_network_request *request);

#endif /* TESTS_SHMEM_NETWORK_JUDGE_H */
