/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_KEPT_H
#define MEMSPAN_CORE_ENGINE_KEPT_H

/* Blocks of one pool that a program has freed in the order of a queue's work, and that wait for the
 * next request of that order. Such a block is in use by no allocator: its charge went back with the
 * free, and a pointer to it is not live. It stands in a bin by its capacity.
 *
 * Every block has a mark, by which its queue knows what must be complete before others use it.
 *
 * Threads: nothing here locks but the pool, when a block is released; the owner of a struct
 * msp_kept has a lock for it. */

#include "core/engine/fit.h"

struct msp_account;
struct msp_pool;

enum {
    MSP_KEPT_BINS  = MSP_FIT_FL_COUNT << MSP_FIT_SL_SHIFT,
    MSP_KEPT_WORDS = MSP_KEPT_BINS / 64,
};

struct msp_kept {
    struct msp_kept *next; /* the owner's, of other pools */
    struct msp_pool *pool;
    uint64_t filled[MSP_KEPT_WORDS]; /* a bit for each bin with blocks */
    struct msp_record *first[MSP_KEPT_BINS];
    size_t bytes;
    size_t published_bytes; /* of these, those that the pool counts as waiting */
};

/* The charge of a claimed block. */
struct msp_kept_charge {
    struct msp_account *account;
    uint64_t bytes;
};

/* The block that starts at @p pointer leaves the program's hands: nothing else finds it. Its charge
 * is the caller's to give back. NULL: no live block of a pool starts there, or its driver checks
 * accesses. */
struct msp_record *msp_kept_claim(void *pointer, struct msp_kept_charge *charge_p);

/* Whether that is such a block now. */
bool msp_kept_may_claim(const void *pointer);

/* The charge goes back, without the lock of a queue: it may have been a destroyed allocator's last.
 */
void msp_kept_give_charge(const struct msp_kept_charge *charge);

/* A claimed block is in use again, charged to @p account; NULL, and it stays claimed, when the
 * limit refuses it. */
void *msp_kept_hand_out(struct msp_record *record, struct msp_account *account, size_t size_bytes);

void msp_kept_put(struct msp_kept *kept, struct msp_record *record, uint64_t mark);

/* A block for @p size_bytes on a boundary of @p align_bytes whose mark is at most @p mark_max, not
 * much larger; NULL: none. */
struct msp_record *msp_kept_take(struct msp_kept *kept, size_t size_bytes, size_t align_bytes,
                                 uint64_t mark_max);

/* Blocks whose marks are at most @p mark_max, the smallest first, until they have *bytes_p bytes,
 * which is reduced by their bytes; they precede those of @p list, linked by kept_after. */
struct msp_record *msp_kept_take_bytes(struct msp_kept *kept, uint64_t mark_max, size_t *bytes_p,
                                       struct msp_record *list);

/* Such a list goes back to its pools. May call drivers. */
void msp_kept_release(struct msp_record *list);

/* The pool's count of waiting bytes follows. */
void msp_kept_publish(struct msp_kept *kept);

/* What the owner of all that is kept does for the engine. */
enum msp_kept_task {
    MSP_KEPT_PUBLISH,         /* publish everything, for statistics */
    MSP_KEPT_RETURN_COMPLETE, /* release what no work uses any more, for memspan_trim() */
    MSP_KEPT_RETURN_ALL       /* the same after waiting for that work, before memory is refused */
};
typedef void msp_kept_owner_fn(enum msp_kept_task task);
void msp_kept_set_owner(msp_kept_owner_fn *owner);
void msp_kept_call_owner(enum msp_kept_task task);

#endif /* MEMSPAN_CORE_ENGINE_KEPT_H */
