/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_KIND_H
#define MEMSPAN_BENCH_KIND_H

/* memkind's default kind. Declared here: its development package need not be installed. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memkind;
extern struct memkind *MEMKIND_DEFAULT;
void *memkind_malloc(struct memkind *kind, size_t size_bytes);
void *memkind_realloc(struct memkind *kind, void *pointer, size_t size_bytes);
void memkind_free(struct memkind *kind, void *pointer);
size_t memkind_malloc_usable_size(struct memkind *kind, void *pointer);

#define KIND_VERSION_SYMBOL "memkind_malloc"

typedef struct memkind *kind_allocator;

enum { KIND_LIMITS = 0, KIND_DEVICE = 0, KIND_LOOKUP = 1 };

static inline void *kind_take(kind_allocator allocator, size_t size_bytes)
{
    return memkind_malloc(allocator, size_bytes);
}

static inline void kind_give(kind_allocator allocator, void *pointer)
{
    memkind_free(allocator, pointer);
}

static inline void *kind_grow(kind_allocator allocator, void *pointer, size_t size_bytes)
{
    return memkind_realloc(allocator, pointer, size_bytes);
}

static inline bool kind_default(kind_allocator *allocator_p)
{
    *allocator_p = MEMKIND_DEFAULT;
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

static inline bool kind_device(kind_allocator *allocator_p)
{
    return kind_default(allocator_p);
}

static inline uintptr_t kind_lookup(const void *block, const void *inside)
{
    (void)inside;
    return memkind_malloc_usable_size(MEMKIND_DEFAULT, (void *)(uintptr_t)block);
}

#endif /* MEMSPAN_BENCH_KIND_H */
