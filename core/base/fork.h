/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_FORK_H
#define MEMSPAN_CORE_BASE_FORK_H

/* The work around fork(), so that the child of a threaded process can use host memory: locks are
 * held while the process forks, so none stays held by a thread that the child does not have.
 *
 * Each room lists its own items: an item is a constant in the section "msp_fork", which the linker
 * makes an array of. So nothing has to be registered, and base names no room. Items are done in
 * ascending rank before a fork, and in descending rank after it. */

#include "core/base/lock.h"

struct msp_fork_item {
    enum msp_rank rank;
    msp_lock_t *lock; /* held during the fork; or: */
    void (*before)(void);
    void (*after_parent)(void);
    void (*after_child)(void);
    bool (*is_exempt)(void); /* true: nothing of any item is done for this fork */
};

/* Without the alignment a compiler may leave gaps between the items. */
#define MSP_FORK_ITEM(name)                                                                        \
    static const struct msp_fork_item fork_##name                                                  \
        __attribute__((section("msp_fork"), used, aligned(__alignof__(struct msp_fork_item))))

/* A lock of one file, held during a fork. */
#define MSP_LOCK_STATIC(name, rank_)                                                               \
    static msp_lock_t name = MSP_LOCK_INIT(rank_);                                                 \
    MSP_FORK_LOCK(name, rank_)
#define MSP_FORK_LOCK(name, rank_) MSP_FORK_ITEM(name) = {.rank = (rank_), .lock = &(name)}

/* Called before the first allocation; cheap afterwards. */
void msp_fork_prepare(void);

#endif /* MEMSPAN_CORE_BASE_FORK_H */
