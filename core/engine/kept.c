/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.c: bins of blocks that wait for the next request of a queue. */

#include "core/engine/kept.h"
#include "core/engine/allocator_record.h"
#include "core/engine/heap.h"
#include "core/engine/pointer_map.h"
#include "core/engine/pool.h"

enum {
    BINS_ABOVE          = 4, /* blocks of these serve a request, too: an eighth larger at most */
    LOOKS               = 8, /* at blocks of one bin */
    WASTE_IGNORED_BYTES = 1024,
    WASTE_SHARE         = 8,
};

static _Atomic(msp_kept_owner_fn *) the_owner;

void msp_kept_set_owner(msp_kept_owner_fn *owner)
{
    atomic_store_explicit(&the_owner, owner, memory_order_release);
}

void msp_kept_call_owner(enum msp_kept_task task)
{
    msp_kept_owner_fn *owner = atomic_load_explicit(&the_owner, memory_order_acquire);

    if (owner != NULL) {
        owner(task);
    }
}

void msp_kept_publish(struct msp_kept *kept)
{
    msp_pool_count_waiting(kept->pool, (int64_t)kept->bytes - (int64_t)kept->published_bytes);
    kept->published_bytes = kept->bytes;
}

/* ---- from the program, and back ---- */

static inline struct msp_record *find_block(const void *pointer)
{
    uintptr_t entry = msp_map_find(pointer);
    struct msp_record *r;

    if ((entry == 0) || ((entry & MSP_ENTRY_SLAB) != 0)) {
        return NULL;
    }
    r = msp_pool_find(msp_entry_record(entry), pointer);
    return ((r == NULL) || (msp_record_address(r) != pointer) ||
            ((msp_chunk_of(r)->provider->spec.device->table->flags & MEMSPAN_BACKEND_CHECKS) != 0))
               ? NULL
               : r;
}

bool msp_kept_may_claim(const void *pointer)
{
    const struct msp_record *r = find_block(pointer);

    return (r != NULL) && (atomic_load_explicit(&r->use, memory_order_relaxed) == MSP_USE_BLOCK);
}

struct msp_record *msp_kept_claim(void *pointer, struct msp_kept_charge *charge_p)
{
    struct msp_record *r = find_block(pointer);
    uint8_t use          = MSP_USE_BLOCK;

    if (r == NULL) {
        return NULL;
    }
    *charge_p = (struct msp_kept_charge){r->account,
                                         (uint64_t)r->requested_bytes + MSP_CHARGE_OVERHEAD_BYTES};
    msp_record_leave(r);
    /* Of two threads that free it, one does. */
    return atomic_compare_exchange_strong_explicit(&r->use, &use, MSP_USE_CACHED,
                                                   memory_order_acq_rel, memory_order_relaxed)
               ? r
               : NULL;
}

/* The calling thread's heap of the account, in a section that is left by the caller; NULL: it has
 * no fast path. */
static inline struct msp_heap *enter_heap(const struct msp_account *account)
{
    uintptr_t handle      = atomic_load_explicit(&account->allocator->handle, memory_order_relaxed);
    struct msp_heap *heap = msp_heap_at(msp_thread_enter_fast(), handle);

    return ((heap != NULL) && (heap->account == account)) ? heap : NULL;
}

void msp_kept_give_charge(const struct msp_kept_charge *charge)
{
    struct msp_heap *heap = enter_heap(charge->account);

    if (MSP_LIKELY((heap != NULL) &&
                   (heap->credit + (int64_t)charge->bytes <= heap->credit_most))) {
        msp_heap_note_least(heap);
        heap->credit += (int64_t)charge->bytes;
        heap->freed_count++;
        msp_thread_leave();
        return;
    }
    msp_thread_leave();
    msp_heap_credit(charge->account, charge->bytes, 1, 0);
}

static inline bool take_charge(struct msp_account *account, int64_t bytes)
{
    struct msp_heap *heap = enter_heap(account);

    if (MSP_LIKELY((heap != NULL) && (heap->credit >= bytes))) {
        heap->credit -= bytes;
        heap->allocated_count++;
        msp_thread_leave();
        return true;
    }
    msp_thread_leave();
    return msp_heap_debit(account, (uint64_t)bytes, 1);
}

void *msp_kept_hand_out(struct msp_record *r, struct msp_account *account, size_t size_bytes)
{
    if (!take_charge(account, (int64_t)(size_bytes + MSP_CHARGE_OVERHEAD_BYTES))) {
        return NULL;
    }
    r->account         = account;
    r->requested_bytes = size_bytes;
    r->fallback        = false;
    r->grown           = false;
    atomic_store_explicit(&r->use, MSP_USE_BLOCK, memory_order_release);
    return msp_record_address(r);
}

/* ---- bins ---- */

static uint32_t units_of(size_t size_bytes)
{
    size_t units = (size_bytes + MSP_UNIT_BYTES - 1) >> MSP_UNIT_SHIFT;

    return (units > UINT32_MAX) ? UINT32_MAX : (uint32_t)units;
}

static uint32_t bin_of(const struct msp_record *r)
{
    return msp_fit_bin((uint32_t)units_of(msp_block_capacity(r)));
}

static void unlink_from(struct msp_kept *kept, uint32_t bin, struct msp_record **link)
{
    struct msp_record *r = *link;
    size_t bytes         = msp_block_capacity(r);

    *link = r->kept_after;
    if (kept->first[bin] == NULL) {
        kept->filled[bin / 64] &= ~(UINT64_C(1) << (bin % 64));
    }
    kept->bytes -= bytes;
}

void msp_kept_put(struct msp_kept *kept, struct msp_record *r, uint64_t mark)
{
    uint32_t bin = bin_of(r);
    size_t bytes = msp_block_capacity(r);

    r->zeroed        = false;
    r->queue_mark    = mark;
    r->kept_after    = kept->first[bin];
    kept->first[bin] = r;
    kept->filled[bin / 64] |= UINT64_C(1) << (bin % 64);
    kept->bytes += bytes;
}

static bool serves(const struct msp_record *r, size_t size_bytes, size_t align_bytes,
                   uint64_t mark_max)
{
    size_t capacity = msp_block_capacity(r);

    return (r->queue_mark <= mark_max) && (capacity >= size_bytes) &&
           (capacity - size_bytes <= size_bytes / WASTE_SHARE + WASTE_IGNORED_BYTES) &&
           (((uintptr_t)msp_record_address(r) & (align_bytes - 1)) == 0);
}

struct msp_record *msp_kept_take(struct msp_kept *kept, size_t size_bytes, size_t align_bytes,
                                 uint64_t mark_max)
{
    uint32_t bin  = msp_fit_bin(units_of(size_bytes));
    uint32_t last = (bin + BINS_ABOVE < MSP_KEPT_BINS) ? bin + BINS_ABOVE : MSP_KEPT_BINS - 1;
    struct msp_record **link;
    struct msp_record *r;
    int looks;

    for (; bin <= last; bin++) {
        looks = 0;
        for (link = &kept->first[bin]; (*link != NULL) && (looks < LOOKS); looks++) {
            r = *link;
            if (serves(r, size_bytes, align_bytes, mark_max)) {
                unlink_from(kept, bin, link);
                return r;
            }
            link = &r->kept_after;
        }
    }
    return NULL;
}

/* Of one bin. */
static struct msp_record *take_bin(struct msp_kept *kept, uint32_t bin, uint64_t mark_max,
                                   size_t *bytes_p, struct msp_record *list)
{
    struct msp_record **link = &kept->first[bin];
    struct msp_record *r;
    size_t bytes;

    while ((*link != NULL) && (*bytes_p > 0)) {
        r = *link;
        if (r->queue_mark > mark_max) {
            link = &r->kept_after;
            continue;
        }
        bytes = msp_block_capacity(r);
        unlink_from(kept, bin, link);
        r->kept_after = list;
        list          = r;
        *bytes_p -= (bytes < *bytes_p) ? bytes : *bytes_p;
    }
    return list;
}

struct msp_record *msp_kept_take_bytes(struct msp_kept *kept, uint64_t mark_max, size_t *bytes_p,
                                       struct msp_record *list)
{
    uint32_t word;
    uint64_t bits;

    for (word = 0; word < MSP_KEPT_WORDS; word++) {
        for (bits = kept->filled[word]; bits != 0; bits &= bits - 1) {
            list = take_bin(kept, word * 64 + (uint32_t)__builtin_ctzll(bits), mark_max, bytes_p,
                            list);
        }
    }
    return list;
}

void msp_kept_release(struct msp_record *list)
{
    struct msp_record *next;

    for (; list != NULL; list = next) {
        next = list->kept_after;
        atomic_store_explicit(&list->use, MSP_USE_NONE, memory_order_relaxed);
        msp_pool_free(list);
    }
}
