/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_KIND_H
#define MEMSPAN_BENCH_KIND_H

/* The library's own interface: what OpenMP has no names for (device memory, lookup), and
 * memspan_alloc and memspan_free beside omp_alloc and omp_free. */

#include <memspan/memspan.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIND_VERSION_SYMBOL "memspan_alloc"
#define KIND_QUEUES         /* memory in the order of a queue */

typedef memspan_allocator_h kind_allocator;

enum { KIND_LIMITS = 1, KIND_DEVICE = 1, KIND_LOOKUP = 1 };

static inline void *kind_take(kind_allocator allocator, size_t size_bytes)
{
    return memspan_alloc(allocator, size_bytes);
}

static inline void kind_give(kind_allocator allocator, void *pointer)
{
    (void)allocator;
    (void)memspan_free(pointer);
}

static inline void *kind_grow(kind_allocator allocator, void *pointer, size_t size_bytes)
{
    return memspan_realloc(allocator, pointer, size_bytes);
}

static inline bool kind_default(kind_allocator *allocator_p)
{
    *allocator_p = MEMSPAN_ALLOCATOR_DEFAULT;
    return true;
}

static inline bool kind_make(size_t pool_size_bytes, kind_allocator *allocator_p)
{
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_ALIGNMENT, 64},
                                      {MEMSPAN_TRAIT_POOL_SIZE, pool_size_bytes},
                                      {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};

    return memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 3, allocator_p) == MEMSPAN_OK;
}

static inline bool kind_make_team(size_t pool_size_bytes, kind_allocator *allocator_p)
{
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_ACCESS, MEMSPAN_VALUE_PTEAM},
                                      {MEMSPAN_TRAIT_POOL_SIZE, pool_size_bytes},
                                      {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};

    return memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 3, allocator_p) == MEMSPAN_OK;
}

static inline void kind_unmake(kind_allocator allocator)
{
    (void)memspan_allocator_destroy(allocator);
}

/* The first device's own memory (MEMSPAN_DEVICES and MEMSPAN_BACKEND_PATH say whose), and nothing
 * else when it is used up. */
static inline bool kind_device(kind_allocator *allocator_p)
{
    const memspan_trait_t trait   = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_space_h space;
    int device;

    return (memspan_device_at(0, &device) == MEMSPAN_OK) &&
           (memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK) &&
           (memspan_allocator_create(space, &trait, 1, allocator_p) == MEMSPAN_OK) &&
           (memspan_allocator_describe(*allocator_p, &info) == MEMSPAN_OK) &&
           (info.kind_given == MEMSPAN_KIND_DEVICE);
}

typedef memspan_queue_h kind_queue;

/* A queue of the first device. */
static inline bool kind_queue_open(kind_queue *queue_p)
{
    int device;

    return (memspan_device_at(0, &device) == MEMSPAN_OK) &&
           (memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, queue_p) == MEMSPAN_OK);
}

static inline void kind_queue_close(kind_queue queue)
{
    (void)memspan_queue_close(queue);
}

static inline void *kind_take_on(kind_allocator allocator, size_t size_bytes, kind_queue queue)
{
    return memspan_alloc_on(allocator, size_bytes, queue);
}

static inline void kind_give_on(void *pointer, kind_queue queue)
{
    (void)memspan_free_on(pointer, queue);
}

static inline uintptr_t kind_lookup(const void *block, const void *inside)
{
    (void)block;
    return (uintptr_t)memspan_pointer_kind(inside);
}

#endif /* MEMSPAN_BENCH_KIND_H */
