/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_ALLOC_H
#define MEMSPAN_BENCH_ALLOC_H

/* What allocation costs, beside the allocators found on the machine. A peer is a table of function
 * pointers; everyone, the library too, is called through one, so that the call costs all alike. */

#include <memspan/memspan.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alloc_peer {
    const char *name;
    bool present;
    void *(*alloc)(const struct alloc_peer *peer, size_t size_bytes);
    void (*release)(const struct alloc_peer *peer, void *pointer);
    void *(*malloc)(size_t size_bytes); /* of malloc-like peers */
    void (*free)(void *pointer);
    void *(*omp_alloc)(size_t size_bytes, uintptr_t allocator);
    void (*omp_free)(void *pointer, uintptr_t allocator);
    void *omp_init; /* omp_init_allocator, omp_destroy_allocator */
    void *omp_destroy;
    void *(*kind_malloc)(void *kind, size_t size_bytes);
    void (*kind_free)(void *kind, void *pointer);
    void *kind;
    uintptr_t allocator;
};

/* X(symbol, name): the first two are the library itself. */
#define ALLOC_PEER_MAP(X)                                                                          \
    X(MEMSPAN, "memspan")                                                                          \
    X(MEMSPAN_CUSTOM, "memspan-custom")                                                            \
    X(GLIBC, "glibc")                                                                              \
    X(JEMALLOC, "jemalloc")                                                                        \
    X(MIMALLOC, "mimalloc")                                                                        \
    X(MEMKIND, "memkind")                                                                          \
    X(LIBGOMP, "libgomp")                                                                          \
    X(LIBGOMP_CUSTOM, "libgomp-custom")                                                            \
    X(LIBOMP, "libomp")                                                                            \
    X(LIBOMP_CUSTOM, "libomp-custom")

enum alloc_peer_index {
#define ALLOC_PEER_ENUM(symbol, name) ALLOC_##symbol,
    ALLOC_PEER_MAP(ALLOC_PEER_ENUM)
#undef ALLOC_PEER_ENUM
        ALLOC_PEER_COUNT
};

/* Fill in @p peers, those that are not on this machine as absent. */
void alloc_peers_open(struct alloc_peer peers[ALLOC_PEER_COUNT]);

/* An allocator of @p peer with alignment 64, @p pool_size_bytes and null_fb; 0 where the peer makes
 * none. */
uintptr_t alloc_peer_make(const struct alloc_peer *peer, size_t pool_size_bytes);
void alloc_peer_unmake(const struct alloc_peer *peer, uintptr_t allocator);

int alloc_main(int argument_count, char *const *arguments);

#endif /* MEMSPAN_BENCH_ALLOC_H */
