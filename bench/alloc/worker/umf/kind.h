/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_KIND_H
#define MEMSPAN_BENCH_KIND_H

/* The disjoint pool of the Unified Memory Framework, which keeps its records outside the memory:
 * over the operating system's, and over a fixed range without access. Frees name the pool, which is
 * the fast path. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <umf/memory_pool.h>
#include <umf/pools/pool_disjoint.h>
#include <umf/providers/provider_fixed_memory.h>
#include <umf/providers/provider_os_memory.h>

#define KIND_VERSION_SYMBOL "umfPoolCreate"

typedef umf_memory_pool_handle_t kind_allocator;

enum { KIND_LIMITS = 0, KIND_DEVICE = 1, KIND_LOOKUP = 1 };

static inline void *kind_take(kind_allocator allocator, size_t size_bytes)
{
    return umfPoolMalloc(allocator, size_bytes);
}

static inline void kind_give(kind_allocator allocator, void *pointer)
{
    (void)umfPoolFree(allocator, pointer);
}

static inline void *kind_grow(kind_allocator allocator, void *pointer, size_t size_bytes)
{
    return umfPoolRealloc(allocator, pointer, size_bytes);
}

static inline bool kind_pool(const umf_memory_provider_ops_t *ops, const void *provider_params,
                             kind_allocator *allocator_p)
{
    umf_disjoint_pool_params_handle_t params;
    umf_memory_provider_handle_t provider;

    return (umfMemoryProviderCreate(ops, provider_params, &provider) == UMF_RESULT_SUCCESS) &&
           (umfDisjointPoolParamsCreate(&params) == UMF_RESULT_SUCCESS) &&
           (umfPoolCreate(umfDisjointPoolOps(), provider, params, UMF_POOL_CREATE_FLAG_OWN_PROVIDER,
                          allocator_p) == UMF_RESULT_SUCCESS);
}

static inline bool kind_default(kind_allocator *allocator_p)
{
    umf_os_memory_provider_params_handle_t params;

    return (umfOsMemoryProviderParamsCreate(&params) == UMF_RESULT_SUCCESS) &&
           kind_pool(umfOsMemoryProviderOps(), params, allocator_p);
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
    (void)umfPoolDestroy(allocator);
}

static inline bool kind_device(kind_allocator *allocator_p)
{
    const size_t capacity_bytes = (size_t)256 << 20;
    umf_fixed_memory_provider_params_handle_t params;
    void *range =
        mmap(NULL, capacity_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return (range != MAP_FAILED) &&
           (umfFixedMemoryProviderParamsCreate(range, capacity_bytes, &params) ==
            UMF_RESULT_SUCCESS) &&
           kind_pool(umfFixedMemoryProviderOps(), params, allocator_p);
}

static inline uintptr_t kind_lookup(const void *block, const void *inside)
{
    umf_memory_pool_handle_t pool;

    (void)block;
    return (umfPoolByPtr(inside, &pool) == UMF_RESULT_SUCCESS) ? (uintptr_t)pool : 0;
}

#endif /* MEMSPAN_BENCH_KIND_H */
