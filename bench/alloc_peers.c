/* SPDX-License-Identifier: BSD-3-Clause */
/* The peers, opened by name so that nothing depends on them. */

#include "bench/alloc.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PEERS_FOREIGN 0 /* a sanitizer ends a program that opens a library with RTLD_DEEPBIND */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PEERS_FOREIGN 0
#endif
#endif
#ifndef PEERS_FOREIGN
#define PEERS_FOREIGN 1
#endif

struct omp_trait {
    unsigned key;
    uintptr_t value;
};

typedef uintptr_t (*omp_init_fn)(uintptr_t space, int count, const struct omp_trait *traits);
typedef void (*omp_destroy_fn)(uintptr_t allocator);

static void *memspan_take(const struct alloc_peer *peer, size_t size_bytes)
{
    return memspan_alloc((memspan_allocator_h)peer->allocator, size_bytes);
}

static void memspan_give(const struct alloc_peer *peer, void *pointer)
{
    (void)peer;
    (void)memspan_free(pointer);
}

static void *malloc_take(const struct alloc_peer *peer, size_t size_bytes)
{
    return peer->malloc(size_bytes);
}

static void malloc_give(const struct alloc_peer *peer, void *pointer)
{
    peer->free(pointer);
}

static void *omp_take(const struct alloc_peer *peer, size_t size_bytes)
{
    return peer->omp_alloc(size_bytes, peer->allocator);
}

static void omp_give(const struct alloc_peer *peer, void *pointer)
{
    peer->omp_free(pointer, peer->allocator);
}

static void *kind_take(const struct alloc_peer *peer, size_t size_bytes)
{
    return peer->kind_malloc(peer->kind, size_bytes);
}

static void kind_give(const struct alloc_peer *peer, void *pointer)
{
    peer->kind_free(peer->kind, pointer);
}

static void *open_library(const char *name)
{
    return PEERS_FOREIGN ? dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
}

/* ISO C has no conversion from an object's address to a function's. */
static void find(void *library, const char *name, void *function_p)
{
    void *symbol = dlsym(library, name);

    memcpy(function_p, &symbol, sizeof(symbol));
}

static void open_malloc(struct alloc_peer *peer, const char *library, const char *take,
                        const char *give)
{
    void *handle = open_library(library);

    if (handle != NULL) {
        find(handle, take, &peer->malloc);
        find(handle, give, &peer->free);
    }
    peer->present = (peer->malloc != NULL) && (peer->free != NULL);
    peer->alloc   = malloc_take;
    peer->release = malloc_give;
}

static void open_memkind(struct alloc_peer *peer)
{
    void *handle = open_library("libmemkind.so.0");
    void **kind_p;

    if (handle != NULL) {
        find(handle, "memkind_malloc", &peer->kind_malloc);
        find(handle, "memkind_free", &peer->kind_free);
        kind_p     = dlsym(handle, "MEMKIND_DEFAULT");
        peer->kind = (kind_p != NULL) ? *kind_p : NULL;
    }
    peer->present =
        (peer->kind_malloc != NULL) && (peer->kind_free != NULL) && (peer->kind != NULL);
    peer->alloc   = kind_take;
    peer->release = kind_give;
}

static void open_omp(struct alloc_peer *peer, const char *library, bool custom)
{
    void *handle = open_library(library);

    if (handle != NULL) {
        find(handle, "omp_alloc", &peer->omp_alloc);
        find(handle, "omp_free", &peer->omp_free);
        peer->omp_init    = dlsym(handle, "omp_init_allocator");
        peer->omp_destroy = dlsym(handle, "omp_destroy_allocator");
    }
    peer->present = (peer->omp_alloc != NULL) && (peer->omp_free != NULL) &&
                    (peer->omp_init != NULL) && (peer->omp_destroy != NULL);
    peer->alloc     = omp_take;
    peer->release   = omp_give;
    peer->allocator = 1;
    if (peer->present && custom) {
        peer->allocator = alloc_peer_make(peer, (size_t)4 << 30);
    }
}

static void open_memspan(struct alloc_peer *peer, bool custom)
{
    peer->alloc     = memspan_take;
    peer->release   = memspan_give;
    peer->allocator = (uintptr_t)MEMSPAN_ALLOCATOR_DEFAULT;
    if (custom) {
        peer->allocator = alloc_peer_make(peer, (size_t)4 << 30);
    }
    peer->present = (peer->allocator != 0);
}

uintptr_t alloc_peer_make(const struct alloc_peer *peer, size_t pool_size_bytes)
{
    const struct omp_trait omp_traits[]    = {{2, 64}, {4, pool_size_bytes}, {5, 12}};
    const memspan_trait_t memspan_traits[] = {{MEMSPAN_TRAIT_ALIGNMENT, 64},
                                              {MEMSPAN_TRAIT_POOL_SIZE, pool_size_bytes},
                                              {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h allocator          = 0;
    omp_init_fn init;

    if (peer->alloc == memspan_take) {
        (void)memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, memspan_traits, 3, &allocator);
        return (uintptr_t)allocator;
    }
    if (peer->omp_init == NULL) {
        return 0;
    }
    memcpy(&init, &peer->omp_init, sizeof(init));
    return init(0, 3, omp_traits);
}

void alloc_peer_unmake(const struct alloc_peer *peer, uintptr_t allocator)
{
    omp_destroy_fn destroy;

    if (peer->alloc == memspan_take) {
        (void)memspan_allocator_destroy((memspan_allocator_h)allocator);
        return;
    }
    memcpy(&destroy, &peer->omp_destroy, sizeof(destroy));
    destroy(allocator);
}

void alloc_peers_open(struct alloc_peer peers[ALLOC_PEER_COUNT])
{
    memset(peers, 0, ALLOC_PEER_COUNT * sizeof(*peers));
#define PEER_NAME(symbol, text) peers[ALLOC_##symbol].name = (text);
    ALLOC_PEER_MAP(PEER_NAME)
#undef PEER_NAME
    open_memspan(&peers[ALLOC_MEMSPAN], false);
    open_memspan(&peers[ALLOC_MEMSPAN_CUSTOM], true);
    peers[ALLOC_GLIBC].malloc  = malloc;
    peers[ALLOC_GLIBC].free    = free;
    peers[ALLOC_GLIBC].alloc   = malloc_take;
    peers[ALLOC_GLIBC].release = malloc_give;
    peers[ALLOC_GLIBC].present = true;
    open_malloc(&peers[ALLOC_JEMALLOC], "libjemalloc.so.2", "malloc", "free");
    open_malloc(&peers[ALLOC_MIMALLOC], "libmimalloc.so.2", "mi_malloc", "mi_free");
    open_memkind(&peers[ALLOC_MEMKIND]);
    open_omp(&peers[ALLOC_LIBGOMP], "libgomp.so.1", false);
    open_omp(&peers[ALLOC_LIBGOMP_CUSTOM], "libgomp.so.1", true);
    open_omp(&peers[ALLOC_LIBOMP], "libomp.so.5", false);
    open_omp(&peers[ALLOC_LIBOMP_CUSTOM], "libomp.so.5", true);
}
