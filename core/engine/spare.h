/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_SPARE_H
#define MEMSPAN_CORE_ENGINE_SPARE_H

/* Programs make an allocator, use it for a few blocks and destroy it, in a loop, in all threads at
 * once. Where a thread makes equal ones again and again, the one that it destroys becomes its
 * spare: it stays, with the thread's heap of it, and is the next that the thread gets, under
 * another handle. Both ends are sections: no lock, and one atomic read-modify-write.
 *
 * Only plain allocators become spares, whose request means the same whenever it is made, and only
 * while no other thread has a heap of them. */

#include "core/engine/allocator_record.h"

enum { MSP_SPARE_TRAITS_MAX = 4 };

/* A thread's. Only its thread uses it, but for the number. */
struct msp_spare {
    memspan_space_h space; /* the request that comes again and again, or may */
    size_t trait_count;
    memspan_trait_t traits[MSP_SPARE_TRAITS_MAX];
    int times;                       /* that it came in a row; below 0: it is not worth it */
    uint64_t number;                 /* of the request, in the process; 0: none */
    struct msp_allocator *allocator; /* destroyed, and waits; NULL: none */
};

/* The thread's spare, if it was made by an equal request: its handle from now on; else 0. */
uintptr_t msp_spare_take(memspan_space_h space, const memspan_trait_t *traits, size_t count);

/* A request that no spare served: the number that its allocator is to have, if it may become one;
 * else 0. */
uint64_t msp_spare_ask(memspan_space_h space, const memspan_trait_t *traits, size_t count);

enum msp_spare_answer {
    MSP_SPARE_NO,     /* nothing has changed */
    MSP_SPARE_CLOSED, /* it is closed to calls, and the caller ends it */
    MSP_SPARE_KEPT
};

/* An allocator is destroyed, of which only the calling thread may have a heap. */
enum msp_spare_answer msp_spare_keep(memspan_allocator_h handle);

/* One that has ended otherwise: whether the calling thread may keep it, and keeping it, when
 * nothing of it is left and its account is as new. */
bool msp_spare_may_keep(const struct msp_allocator *allocator);
void msp_spare_keep_first(struct msp_allocator *allocator);

/* The calling thread ends. */
void msp_spare_end(void);

#endif /* MEMSPAN_CORE_ENGINE_SPARE_H */
