/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_FENCE_H
#define MEMSPAN_CORE_FENCE_H

/* The fence around a guarded block: bytes of a known pattern before and behind it, and, where the
 * host owns the mapping, pages that cannot be read or written. */

#include "core/provider.h"

/* Who may look at the pattern. */
enum memspan_fence_reach {
    MEMSPAN_FENCE_HOST,   /* loads and stores */
    MEMSPAN_FENCE_DRIVER, /* the backend's fill and copy */
    MEMSPAN_FENCE_NOBODY, /* there is no pattern: addresses alone are checked */
};

struct memspan_fence {
    struct memspan_provider *provider;
    unsigned char *raw; /* what the engine gave */
    size_t raw_bytes;
    size_t raw_align_bytes;
    unsigned char *address; /* what the program has */
    size_t size_bytes;
    size_t front_bytes;        /* raw to address */
    size_t closed_front_bytes; /* of those, pages that are closed, at the start */
    size_t closed_back_bytes;  /* pages that are closed, at the end */
    enum memspan_fence_reach reach;
    bool paged; /* the pages are its own and the host may close them */
    bool
        apart; /* a block by itself of a backend that checks: what is around and after it strikes */
};

/* What was overwritten. */
struct memspan_fence_damage {
    const void *address; /* of the byte nearest to the block */
    size_t bytes;        /* from there to the last that does not hold the pattern */
    bool before;         /* the block; else behind it */
};

/* Work out the fence of @p size_bytes on @p align_bytes. @p pages: pages may be closed, or a
 * backend that checks asked for some of its own. False when the sum overflows. raw and address are
 * set by memspan_fence_raise(). */
bool memspan_fence_plan(struct memspan_provider *provider, size_t size_bytes, size_t align_bytes,
                        bool pages, struct memspan_fence *fence_p);

/* Without any fence: raw_bytes are what the program gets, and whatever they exceed the block by. */
void memspan_fence_plan_bare(struct memspan_provider *provider, size_t size_bytes,
                             size_t align_bytes, size_t raw_bytes, struct memspan_fence *fence_p);

/* The engine gave @p raw: write the pattern, close the pages. What cannot be done (reserved huge
 * pages, too many mappings, no fill) is left out, and the fence says so. */
void memspan_fence_raise(struct memspan_fence *fence, void *raw);

/* False when the pattern is not whole. With @p host_only a driver is not asked. */
bool memspan_fence_check(const struct memspan_fence *fence, bool host_only,
                         struct memspan_fence_damage *damage_p);

/* The program has freed the block: nobody may touch it. */
void memspan_fence_close(struct memspan_fence *fence);

/* False when somebody wrote to a block that was closed by a pattern. */
bool memspan_fence_check_closed(const struct memspan_fence *fence,
                                struct memspan_fence_damage *damage_p);

/* Before the engine gets the memory back. False: it must not have it, pages would stay closed. */
bool memspan_fence_lower(struct memspan_fence *fence);

#endif /* MEMSPAN_CORE_FENCE_H */
