/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_KIND_H
#define MEMSPAN_BENCH_KIND_H

/* malloc and free, called as any program calls them. LD_PRELOAD chooses the allocator. Every
 * kind.h has the same definitions. */

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define KIND_VERSION_SYMBOL "malloc"

typedef int kind_allocator; /* there is one */

enum { KIND_LIMITS = 0, KIND_DEVICE = 0, KIND_LOOKUP = 1 };

static inline void *kind_take(kind_allocator allocator, size_t size_bytes)
{
    (void)allocator;
    return malloc(size_bytes);
}

static inline void kind_give(kind_allocator allocator, void *pointer)
{
    (void)allocator;
    free(pointer);
}

static inline void *kind_grow(kind_allocator allocator, void *pointer, size_t size_bytes)
{
    (void)allocator;
    return realloc(pointer, size_bytes);
}

static inline bool kind_default(kind_allocator *allocator_p)
{
    *allocator_p = 0;
    return true;
}

static inline bool kind_make(size_t pool_size_bytes, kind_allocator *allocator_p)
{
    (void)pool_size_bytes;
    (void)allocator_p;
    return false;
}

static inline bool kind_make_team(size_t pool_size_bytes, kind_allocator *allocator_p)
{
    return kind_make(pool_size_bytes, allocator_p);
}

static inline void kind_unmake(kind_allocator allocator)
{
    (void)allocator;
}

/* In place of a device's memory: host memory, which the loops do not access. */
static inline bool kind_device(kind_allocator *allocator_p)
{
    return kind_default(allocator_p);
}

static inline uintptr_t kind_lookup(const void *block, const void *inside)
{
    (void)inside; /* only a block's start may be asked about */
    return malloc_usable_size((void *)(uintptr_t)block);
}

#endif /* MEMSPAN_BENCH_KIND_H */
