/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_KIND_H
#define MEMSPAN_BENCH_KIND_H

/* OpenMP's omp_alloc and omp_free. One object file, linked once with each library. Declared by the
 * numbers that all released runtimes share, so that no compiler's <omp.h> decides. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kind_omp_trait {
    unsigned key;
    uintptr_t value;
};

enum {
    KIND_OMP_ALIGNMENT = 2,
    KIND_OMP_ACCESS    = 3,
    KIND_OMP_POOL_SIZE = 4,
    KIND_OMP_FALLBACK  = 5,
    KIND_OMP_PTEAM     = 9,
    KIND_OMP_NULL_FB   = 12
};

void *omp_alloc(size_t size_bytes, uintptr_t allocator);
void *omp_realloc(void *pointer, size_t size_bytes, uintptr_t allocator, uintptr_t free_allocator);
void omp_free(void *pointer, uintptr_t allocator);
uintptr_t omp_init_allocator(uintptr_t space, int count, const struct kind_omp_trait *traits);
void omp_destroy_allocator(uintptr_t allocator);

#define KIND_VERSION_SYMBOL "omp_alloc"

typedef uintptr_t kind_allocator;

enum { KIND_LIMITS = 1, KIND_DEVICE = 0, KIND_LOOKUP = 0 };

static inline void *kind_take(kind_allocator allocator, size_t size_bytes)
{
    return omp_alloc(size_bytes, allocator);
}

static inline void kind_give(kind_allocator allocator, void *pointer)
{
    omp_free(pointer, allocator);
}

static inline void *kind_grow(kind_allocator allocator, void *pointer, size_t size_bytes)
{
    return omp_realloc(pointer, size_bytes, allocator, allocator);
}

static inline bool kind_default(kind_allocator *allocator_p)
{
    *allocator_p = 1; /* omp_default_mem_alloc */
    return true;
}

static inline bool kind_make(size_t pool_size_bytes, kind_allocator *allocator_p)
{
    const struct kind_omp_trait traits[] = {{KIND_OMP_ALIGNMENT, 64},
                                            {KIND_OMP_POOL_SIZE, pool_size_bytes},
                                            {KIND_OMP_FALLBACK, KIND_OMP_NULL_FB}};

    *allocator_p = omp_init_allocator(0, 3, traits);
    return *allocator_p != 0;
}

static inline bool kind_make_team(size_t pool_size_bytes, kind_allocator *allocator_p)
{
    const struct kind_omp_trait traits[] = {{KIND_OMP_ACCESS, KIND_OMP_PTEAM},
                                            {KIND_OMP_POOL_SIZE, pool_size_bytes},
                                            {KIND_OMP_FALLBACK, KIND_OMP_NULL_FB}};

    *allocator_p = omp_init_allocator(0, 3, traits);
    return *allocator_p != 0;
}

static inline void kind_unmake(kind_allocator allocator)
{
    omp_destroy_allocator(allocator);
}

static inline bool kind_device(kind_allocator *allocator_p)
{
    (void)allocator_p;
    return false;
}

static inline uintptr_t kind_lookup(const void *block, const void *inside)
{
    (void)block;
    (void)inside;
    return 0;
}

#endif /* MEMSPAN_BENCH_KIND_H */
