/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_ACCOUNT_H
#define MEMSPAN_CORE_ENGINE_ACCOUNT_H

/* An account, to which one allocator's blocks are charged: its limit and its counters. An allocator
 * has one, or, where by the trait access its pool is a parallel team's or a contention group's, one
 * for each of those that have used it.
 *
 * pool_size is exact. A heap may hold credit, charged already but not yet used, and a slab be
 * charged for more than its live objects take, so that allocating needs no atomic instruction;
 * before anything is refused that the credit of others would allow, all credit is called back.
 * Close to the limit nothing is lent.
 *
 * Counters are the heaps' own and published here now and then; a reader stops the threads
 * first and has all published. */

#include "core/base/platform.h"
#include <stdatomic.h>

struct msp_allocator;
struct msp_heap;
struct msp_slab;

/* Charged against pool_size for each block beside its bytes: OpenMP programs count on more than
 * nothing, users on little. */
#define MSP_CHARGE_OVERHEAD_BYTES ((uint64_t)4)

#define MSP_SCOPE_UNUSED UINT64_MAX /* of an account that waits to be used again */

struct msp_account {
    struct msp_allocator *allocator;
    _Atomic(struct msp_account *) next; /* the allocator's others; read without the lock */
    uint64_t scope;                     /* whose pool it is */
    uint64_t limit_bytes;               /* pool_size; UINT64_MAX: none */
    bool by_thread;                     /* the limit is each thread's own */
    bool ends_with_null;                /* a refused request gets NULL, and no fallback is tried */
    bool begins_with_heaps;             /* else when it has served some blocks without */
    atomic_bool had_heaps;              /* some thread had a heap of it */
    atomic_bool closed;                 /* its allocator has been destroyed: no new heaps */
    atomic_bool is_shared;              /* several threads had heaps of it at once */
    atomic_bool lending;                /* some heap may hold credit */
    atomic_uint caution;                /* so many more charges without lending */
    _Atomic uint64_t charged_bytes;     /* with a limit: live blocks and credit */

    /* Published. Each thread's share may be negative, the sums never are. */
    _Atomic int64_t live_bytes;
    _Atomic int64_t live_count;
    _Atomic uint64_t allocated_count;
    _Atomic int64_t peak_bytes;
    _Atomic uint64_t failed_count;

    struct msp_heap *heaps; /* these under the lock of all accounts */
    struct msp_slab *orphans;
    atomic_size_t orphan_count;
};

/* No limit, nothing counted. */
void msp_account_init(struct msp_account *account, struct msp_allocator *allocator);

/* False: the calling thread has no heap of it; others may have been given one just now. */
static inline bool msp_account_had_heaps(const struct msp_account *account)
{
    return atomic_load_explicit(&account->had_heaps, memory_order_relaxed);
}

/* Whether a thread that uses the account is to have a heap of it. One with a single block would
 * cost a hundred times that block: the first ones come from the pool and are charged here. */
static inline bool msp_account_earns_heaps(const struct msp_account *account)
{
    enum { BLOCKS_WITHOUT = 64 };

    return account->begins_with_heaps || msp_account_had_heaps(account) ||
           (atomic_load_explicit(&account->allocated_count, memory_order_relaxed) >=
            BLOCKS_WITHOUT);
}

/* Neither an allocation was counted nor a refusal, nor was one undone. */
static inline bool msp_account_is_untouched(const struct msp_account *account)
{
    return (atomic_load_explicit(&account->allocated_count, memory_order_relaxed) == 0) &&
           (atomic_load_explicit(&account->failed_count, memory_order_relaxed) == 0) &&
           (atomic_load_explicit(&account->peak_bytes, memory_order_relaxed) == 0);
}

/* One lock for the lists of all accounts: they change when a thread first uses an allocator, when
 * one ends, and when memory of a thread that has ended is freed. */
void msp_account_lock(void);
void msp_account_unlock(void);

static inline bool msp_account_is_limited(const struct msp_account *account)
{
    return (account->limit_bytes != UINT64_MAX) && !account->by_thread;
}

/* Charge @p bytes; up to *extra_p more are charged if there is plenty, and *extra_p becomes their
 * number. False, and nothing charged, when they do not fit; *lent_p is then whether recalling
 * credit might help. */
bool msp_account_charge(struct msp_account *account, uint64_t bytes, uint64_t *extra_p,
                        bool *lent_p);

static inline void msp_account_uncharge(struct msp_account *account, uint64_t bytes)
{
    uint64_t charged =
        atomic_fetch_sub_explicit(&account->charged_bytes, bytes, memory_order_seq_cst);

    MSP_ASSERT(charged >= bytes);
    (void)charged;
}

/* Charge what is lent for a heap's next objects, if there is plenty; returns it. */
uint64_t msp_account_lend(struct msp_account *account);

/* Of an account that is as new: the bytes that may be lent to its first heap, which are charged. */
uint64_t msp_account_lend_first(struct msp_account *account);

/* No peak is to be seen: the bytes may be undone yet, or just were. */
#define MSP_NO_PEAK (INT64_MIN / 2)

/* Add to the published counters. @p above_bytes: how much higher than now the live bytes have been,
 * or MSP_NO_PEAK. */
void msp_account_publish(struct msp_account *account, int64_t live_bytes, int64_t live_count,
                         uint64_t allocated_count, int64_t above_bytes);

#endif /* MEMSPAN_CORE_ENGINE_ACCOUNT_H */
