/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SOAK_H
#define MEMSPAN_TESTS_SOAK_H

/* Random operations over all memory there is, held to a model of what the headers promise.
 *
 *   main.c    options, threads that come and go, quiet moments
 *   world.c   the allocators: every kind of every device, limited ones, short-lived ones
 *   model.c   what an allocator's counters must be; what a limit must allow and must refuse
 *   block.c   one block: taken, used, resized, given back, all of it checked
 *   step.c    what a step does
 *   bytes.c   contents, and who owns which bytes
 *
 * Step n of thread t does the same in every run with the same seed, as far as what other threads
 * gave it in the meantime lets it: its random numbers come from (seed, t, n) alone. */

#include <memspan/memspan.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SOAK_THREADS_MAX  = 16,
    SOAK_SHARED_MAX   = 64,
    SOAK_OWN          = 4,    /* short-lived allocators of a thread */
    SOAK_SLOTS        = 192,  /* blocks of a thread */
    SOAK_BURST        = 1601, /* small blocks of one size at once, so that slabs are full; prime */
    SOAK_INBOX        = 32,   /* blocks on their way to a thread */
    SOAK_CHAIN_MAX    = 4,
    SOAK_OVERHEAD     = 4, /* bytes charged for a block beyond its size */
    SOAK_ALIGN_ALWAYS = 16
};

/* ---- random numbers ---- */

struct soak_random {
    uint64_t state;
};
struct soak_random soak_random_at(uint64_t seed, unsigned thread, uint64_t step);
uint64_t soak_random_next(struct soak_random *r);
size_t soak_random_below(struct soak_random *r, size_t limit);
/* True once in @p n times. */
bool soak_random_once_in(struct soak_random *r, size_t n);

/* ---- an allocator and its model ---- */

struct soak_pool {
    memspan_allocator_h handle;
    char name[48];
    memspan_kind_t kind;     /* of its memory */
    int device;              /* whose memory it is */
    bool touch;              /* the host may touch it */
    bool keep;               /* its blocks stay with their thread */
    bool life;               /* and end with it: sync_hint=private, access=thread or pteam */
    bool may_run_out;        /* for reasons that the model does not know, such as RLIMIT_MEMLOCK */
    bool host;               /* served without a driver, so that a forked child may use it */
    size_t align_bytes;      /* promised to every block */
    size_t pool_size;        /* SIZE_MAX: none */
    size_t size_max;         /* of one request */
    struct soak_pool *next;  /* asked when it says no, or NULL */
    struct soak_pool *older; /* in its thread's list of all that it made */
    bool dead;               /* destroyed; there may be live blocks */

    atomic_uint_fast64_t live_bytes;
    atomic_uint_fast64_t live_count;
    atomic_uint_fast64_t allocated;
    atomic_uint_fast64_t failed;
    atomic_uint_fast64_t fallbacks;
    atomic_uint_fast64_t maybe_allocated; /* resizes that may have moved a block */
    atomic_uint_fast64_t maybe_fallbacks; /* as one in the middle of a chain */

    /* Each thread has a share of pool_size, so that what it may have is known exactly whatever
     * the others do. left: not used of the share. returning: of blocks that are being freed. */
    atomic_int_fast64_t left[SOAK_THREADS_MAX];
    atomic_int_fast64_t returning[SOAK_THREADS_MAX];
    int64_t share;
};

struct soak_block {
    unsigned char *address;
    size_t size_bytes;
    size_t align_bytes; /* promised to this block */
    struct soak_pool *pool;
    uint64_t pattern;
    unsigned marks;      /* that were written */
    unsigned charged_to; /* the thread of whose share it is */
    bool fallback;
};

/* ---- the run ---- */

struct soak_options {
    unsigned seconds;
    unsigned threads;
    uint64_t seed;
    bool forks;
};

struct soak_thread {
    unsigned index;
    uint64_t step;
    struct soak_random random;
    uint64_t live_bytes; /* roughly */
    struct soak_block slots[SOAK_SLOTS];
    struct soak_block burst[SOAK_BURST];
    size_t burst_count;
    struct soak_pool *own[SOAK_OWN];
    struct soak_pool *made;    /* all that it made and that is not yet forgotten */
    memspan_allocator_h stale; /* once a handle */
    _Atomic(struct soak_block *) inbox[SOAK_INBOX];
};

extern struct soak_options soak_options;
extern struct soak_thread soak_threads[SOAK_THREADS_MAX];
extern struct soak_pool soak_shared[SOAK_SHARED_MAX];
extern size_t soak_shared_count;

/* Says seed, thread and step, and ends the process. @p t NULL: outside of any step. */
void soak_fail(const struct soak_thread *t, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* ---- world.c ---- */

void soak_world_make(void);
/* A short-lived allocator of the thread's own; the model of a refused one is not kept. */
void soak_world_make_own(struct soak_thread *t, size_t place);
void soak_world_destroy_own(struct soak_thread *t, size_t place);
void soak_world_end_own(struct soak_thread *t);
struct soak_pool *soak_world_pick(struct soak_thread *t);
/* Nothing runs: drops models of destroyed allocators. */
void soak_world_forget(struct soak_thread *t);
void soak_world_end(void);

/* ---- model.c ---- */

/* The allocators of a request, and how much each had left before. */
struct soak_chain {
    struct soak_pool *pools[SOAK_CHAIN_MAX];
    int64_t left[SOAK_CHAIN_MAX];
    size_t count;
};

int64_t soak_left(const struct soak_pool *p, unsigned thread);
void soak_charge(struct soak_pool *p, unsigned thread, int64_t bytes);
/* Around the call that gives bytes back. */
void soak_return_begin(struct soak_pool *p, unsigned thread, int64_t bytes);
void soak_return_end(struct soak_pool *p, unsigned thread, int64_t bytes);

void soak_chain_begin(const struct soak_thread *t, struct soak_pool *first,
                      struct soak_chain *chain);
/* @p giver NULL: the request was refused. Checks every refusal and the limit of who gave, and
 * counts what failed. need: bytes charged for the block; need_first: how many more than before,
 * where it had some of the first already (which are "returning" all the while). */
void soak_chain_end(const struct soak_thread *t, const struct soak_chain *chain,
                    struct soak_pool *giver, int64_t need_first, int64_t need);

void soak_count_alloc(struct soak_pool *p, size_t bytes);
void soak_count_free(struct soak_pool *p, size_t bytes);

/* Nothing runs: keeps the counts of an allocator whose model is dropped. */
void soak_model_gone(struct soak_pool *p);
/* Nothing runs: every allocator's counters against the model's. */
void soak_compare_all(void);

/* ---- bytes.c ---- */

/* Each 16 bytes have one owner; a second one is the failure that this is all about. */
void soak_claim(const struct soak_thread *t, const struct soak_block *b);
void soak_unclaim(const struct soak_thread *t, const struct soak_block *b);

void soak_write(const struct soak_thread *t, struct soak_block *b);
/* Compares what lies in the first @p size_bytes; the pattern was written for @p written_bytes. */
void soak_verify(const struct soak_thread *t, const struct soak_block *b, size_t written_bytes,
                 size_t size_bytes);
void soak_verify_zero(const struct soak_thread *t, const struct soak_block *b);
/* Leaves something that is not zero for the next block with these bytes. */
void soak_soil(const struct soak_block *b);

/* ---- block.c ---- */

/* False when it was refused, rightly. */
bool soak_block_take(struct soak_thread *t, struct soak_pool *p, struct soak_block *b);
/* The same of a size, by the plain call. */
bool soak_block_take_plain(struct soak_thread *t, struct soak_pool *p, size_t size_bytes,
                           struct soak_block *b);
void soak_block_resize(struct soak_thread *t, struct soak_block *b);
void soak_block_free(struct soak_thread *t, struct soak_block *b);
void soak_block_describe(struct soak_thread *t, const struct soak_block *b);

/* ---- step.c ---- */

void soak_step(struct soak_thread *t);
/* The thread ends: frees what no other may free. */
void soak_end_life(struct soak_thread *t);
/* Frees all that the thread has and was sent. */
void soak_empty(struct soak_thread *t);

#endif /* MEMSPAN_TESTS_SOAK_H */
