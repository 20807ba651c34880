/* SPDX-License-Identifier: BSD-3-Clause */
/* account.c: limits and counters. */

#include "core/engine/account.h"
#include "core/base/fork.h"

enum { LENT_MOST = 1 << 20, LENT_LEAST = 4 << 10, LENT_SHARE = 16 };

MSP_LOCK_STATIC(lists_lock, MSP_RANK_ACCOUNTS);

void msp_account_lock(void)
{
    msp_lock(&lists_lock);
}

void msp_account_unlock(void)
{
    msp_unlock(&lists_lock);
}

void msp_account_init(struct msp_account *account, struct msp_allocator *allocator)
{
    if (account->allocator != allocator) { /* it never changes: late frees still look it up */
        account->allocator = allocator;
    }
    account->limit_bytes       = UINT64_MAX;
    account->by_thread         = false;
    account->ends_with_null    = false;
    account->begins_with_heaps = false;
    atomic_store_explicit(&account->closed, false, memory_order_relaxed);
    atomic_store_explicit(&account->had_heaps, false, memory_order_relaxed);
    atomic_store_explicit(&account->is_shared, false, memory_order_relaxed);
    atomic_store_explicit(&account->lending, false, memory_order_relaxed);
    atomic_store_explicit(&account->caution, 0, memory_order_relaxed);
    atomic_store_explicit(&account->charged_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&account->live_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&account->live_count, 0, memory_order_relaxed);
    atomic_store_explicit(&account->allocated_count, 0, memory_order_relaxed);
    atomic_store_explicit(&account->peak_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&account->failed_count, 0, memory_order_relaxed);
}

/* The bytes that may be lent on top: a share of the rest, in pieces worth the trouble. */
static uint64_t choose_extra(struct msp_account *account, uint64_t left_bytes)
{
    uint64_t extra   = left_bytes / LENT_SHARE;
    unsigned caution = atomic_load_explicit(&account->caution, memory_order_relaxed);

    if (caution > 0) {
        atomic_store_explicit(&account->caution, caution - 1, memory_order_relaxed);
        return 0;
    }
    extra = (extra > LENT_MOST) ? LENT_MOST : extra;
    return (extra < LENT_LEAST) ? 0 : extra;
}

bool msp_account_charge(struct msp_account *account, uint64_t bytes, uint64_t *extra_p,
                        bool *lent_p)
{
    uint64_t charged = atomic_load_explicit(&account->charged_bytes, memory_order_seq_cst);
    uint64_t extra;
    uint64_t left_bytes;

    do {
        left_bytes = account->limit_bytes - charged;
        if (bytes > left_bytes) {
            *lent_p = (bytes <= account->limit_bytes) &&
                      atomic_load_explicit(&account->lending, memory_order_seq_cst);
            return false;
        }
        extra = (*extra_p == 0) ? 0 : choose_extra(account, left_bytes - bytes);
        if ((extra > 0) && !atomic_load_explicit(&account->lending, memory_order_relaxed)) {
            /* Before it is charged: a request that fails must see that some may be called back. */
            atomic_store_explicit(&account->lending, true, memory_order_seq_cst);
        }
    } while (!atomic_compare_exchange_weak_explicit(&account->charged_bytes, &charged,
                                                    charged + bytes + extra, memory_order_seq_cst,
                                                    memory_order_seq_cst));
    *extra_p = extra;
    return true;
}

uint64_t msp_account_lend(struct msp_account *account)
{
    uint64_t extra = LENT_MOST;
    bool lent;

    return msp_account_charge(account, 0, &extra, &lent) ? extra : 0;
}

uint64_t msp_account_lend_first(struct msp_account *account)
{
    uint64_t lent;

    atomic_store_explicit(&account->caution, 0, memory_order_relaxed);
    lent = choose_extra(account, account->limit_bytes);
    atomic_store_explicit(&account->lending, lent > 0, memory_order_relaxed);
    atomic_store_explicit(&account->charged_bytes, lent, memory_order_relaxed);
    return lent;
}

void msp_account_publish(struct msp_account *account, int64_t live_bytes, int64_t live_count,
                         uint64_t allocated_count, int64_t above_bytes)
{
    int64_t top =
        atomic_fetch_add_explicit(&account->live_bytes, live_bytes, memory_order_relaxed) +
        live_bytes + above_bytes;
    int64_t peak = atomic_load_explicit(&account->peak_bytes, memory_order_relaxed);

    /* What each heap had at most it had at another time: together they never pass the limit. */
    if (!account->by_thread && (top > 0) && ((uint64_t)top > account->limit_bytes)) {
        top = (int64_t)account->limit_bytes;
    }
    /* live_count decides that a destroyed allocator is at its end: it comes last. */
    if (allocated_count != 0) {
        atomic_fetch_add_explicit(&account->allocated_count, allocated_count, memory_order_relaxed);
    }
    while ((top > peak) &&
           !atomic_compare_exchange_weak_explicit(&account->peak_bytes, &peak, top,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
    atomic_fetch_add_explicit(&account->live_count, live_count, memory_order_seq_cst);
}
