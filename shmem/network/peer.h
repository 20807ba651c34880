/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_PEER_H
#define MEMSPAN_SHMEM_NETWORK_PEER_H

/* Channels: a queue of the driver, and the peers that it has contacted.
 *
 * The main channel is that of the default context, of the library and of all that is received; its
 * lock is held for each use. Private and serialized contexts have a channel each, without a lock
 * where it is one thread's. A thread that waits advances those that it has used since their quiet.
 * Tables grow with the peers contacted. */

#include "shmem/control/wait.h"
#include "shmem/network/message.h"
#include "shmem/network/record.h"
#include <pthread.h>

/* A chunk of a peer's segment, and how it is reached. */
struct msp_network_reach {
    unsigned segment;
    unsigned generation; /* of the segment's index */
    uint64_t first_bytes;
    uint64_t end_bytes;
    uint64_t address;            /* of first_bytes, the owner's */
    struct msp_network_key *key; /* NULL: by messages */
};

/* A channel's record of a PE. */
struct msp_network_contact {
    int pe;
    struct msp_network_channel *channel;
    struct msp_network_peer *peer; /* NULL: it has sent something, and is not connected */
    uint64_t token;                /* of messages to it */
    unsigned flags;                /* of the library's, sent to it */
    uint64_t puts;                 /* of the driver: how many so far, */
    uint64_t flushed;              /* and how many are known to have taken effect */
    bool is_dirty;                 /* in the channel's list: there may be puts to flush */
    struct msp_network_contact *next_dirty;
    struct msp_network_reach *reaches; /* by segment, then by first_bytes */
    size_t reach_count;
    size_t reach_max;
    struct {
        unsigned context;
        unsigned count;
    } acks[4]; /* executed messages that are not acknowledged */
    unsigned ack_count;
    bool is_ack_pending;
    struct msp_network_contact *next_ack_pending;
    struct msp_network_aggregate *aggregate; /* messages that wait (stream.h); NULL: none */
    bool is_waiting;                         /* in the channel's list: it may have one */
    struct msp_network_contact *next_waiting;
    unsigned silent_ms; /* since its last ping (alive.c) */
    bool is_asked;
    bool is_sent;        /* the driver has taken the question */
    uint64_t state;      /* its wait (deadlock.c), */
    unsigned same_count; /* in so many answers more than one */
};

struct msp_network_counters {
    uint64_t messages; /* sent, without replies */
    uint64_t message_bytes;
    uint64_t puts;
    uint64_t put_bytes;
    uint64_t gets;
    uint64_t get_bytes;
    uint64_t keys;
};

struct msp_network_channel {
    struct msp_network_channel *next; /* of all */
    struct msp_network_queue *queue;
    bool is_main;
    bool is_shared;           /* by threads: the main one, those of serialized contexts */
    bool is_taken;            /* by a context, or the main one */
    const void *_Atomic user; /* of one but main: the thread with operations that no quiet has
                                 completed, by its msp_network_self; NULL: none */
    pthread_mutex_t lock;     /* of one that is shared */
    struct msp_network_contact **contacts; /* hash table by PE, open addressing */
    unsigned contact_count;
    unsigned contact_mask;
    struct msp_network_contact *dirty;
    struct msp_network_contact *waiting;
    struct msp_network_operation *idle;
    unsigned in_flight; /* requests that the driver has */
    unsigned sends;     /* since replies were looked for */
    struct msp_network_counters counters;
};

/* One request to the driver. */
struct msp_network_operation {
    struct msp_network_request request; /* first */
    struct msp_network_operation *next; /* of the idle */
    struct msp_network_channel *channel;
    const char *call;
    int pe;
    atomic_bool *is_done;        /* set when it completes; or NULL */
    _Atomic uint64_t *transfers; /* decremented when it completes; or NULL */
    struct msp_network_contact *flushed;
    uint64_t flushed_puts;
    void *owned;   /* freed when it completes */
    bool may_wait; /* for others to the same PE (stream.h) */
    struct msp_network_header header;
};

static inline void msp_network_lock(struct msp_network_channel *channel)
{
    if (channel->is_shared) {
        pthread_mutex_lock(&channel->lock);
    }
}
static inline bool msp_network_try_lock(struct msp_network_channel *channel)
{
    return !channel->is_shared || (pthread_mutex_trylock(&channel->lock) == 0);
}
static inline void msp_network_unlock(struct msp_network_channel *channel)
{
    if (channel->is_shared) {
        pthread_mutex_unlock(&channel->lock);
    }
}

/* Its address is the calling thread. */
extern _Thread_local char msp_network_self MSP_HIDDEN;

/* The calling thread uses the channel, which is locked or its own; false: a quiet has completed
 * all. */
static inline void msp_network_use(struct msp_network_channel *channel, bool uses)
{
    if (!channel->is_main) {
        atomic_store_explicit(&channel->user, uses ? &msp_network_self : NULL,
                              memory_order_relaxed);
    }
}

/* A channel that no context uses, or a new one. */
memspan_status_t msp_network_channel_open(bool is_main, bool is_shared,
                                          struct msp_network_channel **channel_p);
/* Its context has ended. The channel and its connections are kept for another one. */
void msp_network_channel_leave(struct msp_network_channel *channel);
/* The list of all, those that no context uses included; none is removed before the end. */
struct msp_network_channel *msp_network_channel_first(void);
/* Ends all, without the peers' help. */
void msp_network_channel_close_all(void);

/* The functions below are called with the channel locked.
 *
 * The PE's contact, made (not connected) where there is none; fatal without memory. */
struct msp_network_contact *msp_network_contact_find(struct msp_network_channel *channel, int pe);

/* The same, connected. Unlocks meanwhile, and is fatal, for @p call, when it fails. */
struct msp_network_contact *msp_network_contact_open(const char *call,
                                                     struct msp_network_channel *channel, int pe);

/* How @p offset_bytes of the peer's segment is reached; queries the owner at first. Unlocks
 * meanwhile; *reach_p is a copy. Fatal for the call of @p target. */
void msp_network_reach_find(const struct msp_target *target, struct msp_network_channel *channel,
                            struct msp_network_contact *contact, uint64_t offset_bytes,
                            struct msp_network_reach *reach_p);

/* Keys of that segment are not used any more; any thread, without locks. */
void msp_network_reach_forget(unsigned segment);

/* An operation, cleared but for its header. Fatal without memory. */
struct msp_network_operation *msp_network_operation_take(struct msp_network_channel *channel,
                                                         const char *call, int pe);
/* After the driver's answer, which is not BUSY. */
void msp_network_operation_started(struct msp_network_operation *operation,
                                   enum msp_network_result result);

/* A message with the operation's header. Unlocks while the driver is busy. */
void msp_network_send(struct msp_network_contact *contact, struct msp_network_operation *operation,
                      const void *payload, size_t payload_bytes);

/* Messages of the channel that wait for others, as many as the driver takes. */
void msp_network_send_waiting(struct msp_network_channel *channel);
/* All messages to that PE, before an operation that must not overtake them. Unlocks while the
 * driver is busy. */
void msp_network_send_waiting_to(struct msp_network_contact *contact);

/* There are puts to flush. */
static inline void msp_network_mark_dirty(struct msp_network_channel *channel,
                                          struct msp_network_contact *contact)
{
    contact->puts++;
    if (!contact->is_dirty) {
        contact->is_dirty   = true;
        contact->next_dirty = channel->dirty;
        channel->dirty      = contact;
    }
}

/* ---- progress (progress.c) ---- */

memspan_status_t msp_network_progress_open(void);
void msp_network_progress_close(void);

/* struct msp_transport: progress, sleeping. */
bool msp_network_progress(bool is_wait);
void msp_network_left(void);
void msp_network_sleeping(void);

/* The thread has something to send or to connect. */
void msp_network_wake(void);

/* Without the lock: advance the channel, and the main one. True when anything has happened. */
bool msp_network_poll(struct msp_network_channel *channel);

/* With the lock, when the driver is busy: unlocks, polls, locks again. */
void msp_network_relieve(struct msp_network_channel *channel);

/* Until @p condition holds, which completions of the channel or replies bring about. */
#define MSP_NETWORK_WAIT(channel, condition)                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            struct msp_waiter msp_waiter_ = {.polls_elsewhere = true,                              \
                                             .is_unnotified   = !(channel)->is_main};                \
            for (;;) {                                                                             \
                if (msp_network_poll(channel)) {                                                   \
                    msp_wait_renew(&msp_waiter_);                                                  \
                }                                                                                  \
                if (condition) {                                                                   \
                    break;                                                                         \
                }                                                                                  \
                msp_wait_step(&msp_waiter_);                                                       \
            }                                                                                      \
            msp_wait_end(&msp_waiter_);                                                            \
        }                                                                                          \
    } while (0)

/* ---- a program that waits for ever (deadlock.c) ---- */

/* The functions are called with the main channel locked.
 *
 * The wait of a peer, from its ping or reply. */
void msp_network_deadlock_heard(struct msp_network_contact *contact, uint64_t state);

/* Before the contacts are pinged, from a thread that waits; may unlock meanwhile. True: the job
 * waits for ever, PE *ending_p at its end and *waiting_p in another wait. */
bool msp_network_deadlock_look(int *ending_p, int *waiting_p);

#endif /* MEMSPAN_SHMEM_NETWORK_PEER_H */
