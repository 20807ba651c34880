/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TRAIT_H
#define MEMSPAN_TRAIT_H

#include <memspan/status.h>
#include <stddef.h>
#include <stdint.h>

/** @file trait.h
 * Allocator traits: keys and values. Numbers and layout equal omp_alloctrait_t of GCC and LLVM, so
 * one array serves both interfaces. Numbers of extensions begin at 0x4d01, above the standard's.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** X(name, number, text, form of its value). memquery --plan and messages use the text. */
#define MEMSPAN_TRAIT_KEY_MAP(X)                                                                   \
    X(MEMSPAN_TRAIT_SYNC_HINT, 1, "sync_hint", WORD)                                               \
    X(MEMSPAN_TRAIT_ALIGNMENT, 2, "alignment", SIZE)                                               \
    X(MEMSPAN_TRAIT_ACCESS, 3, "access", WORD)                                                     \
    X(MEMSPAN_TRAIT_POOL_SIZE, 4, "pool_size", SIZE)                                               \
    X(MEMSPAN_TRAIT_FALLBACK, 5, "fallback", WORD)                                                 \
    X(MEMSPAN_TRAIT_FB_DATA, 6, "fb_data", HANDLE)                                                 \
    X(MEMSPAN_TRAIT_PINNED, 7, "pinned", WORD)                                                     \
    X(MEMSPAN_TRAIT_PARTITION, 8, "partition", WORD)                                               \
    X(MEMSPAN_TRAIT_PIN_DEVICE, 9, "pin_device", DEVICE)                                           \
    X(MEMSPAN_TRAIT_PREFERRED_DEVICE, 10, "preferred_device", DEVICE)                              \
    X(MEMSPAN_TRAIT_DEVICE_ACCESS, 11, "device_access", WORD)                                      \
    X(MEMSPAN_TRAIT_TARGET_ACCESS, 12, "target_access", WORD)                                      \
    X(MEMSPAN_TRAIT_ATOMIC_SCOPE, 13, "atomic_scope", WORD)                                        \
    X(MEMSPAN_TRAIT_PART_SIZE, 14, "part_size", SIZE)                                              \
    X(MEMSPAN_TRAIT_PARTITIONER, 15, "partitioner", HANDLE)                                        \
    X(MEMSPAN_TRAIT_PARTITIONER_ARG, 16, "partitioner_arg", HANDLE)                                \
    X(MEMSPAN_TRAIT_MEMORY_ACCESS, 0x4d01, "memory_access", WORD)                                  \
    X(MEMSPAN_TRAIT_PREFERRED_LOCATION, 0x4d02, "preferred_location", DEVICE)                      \
    X(MEMSPAN_TRAIT_PREFERRED_PLACE, 0x4d03, "preferred_place", NUMBER)                            \
    X(MEMSPAN_TRAIT_GUARANTEE, 0x4d04, "guarantee", WORD)                                          \
    X(MEMSPAN_TRAIT_PAGE_SIZE, 0x4d05, "page_size", SIZE)                                          \
    X(MEMSPAN_TRAIT_SHAREABLE, 0x4d06, "shareable", WORD)

/** Keys. 1 to 16: OpenMP 5.2 §6.2, 6.0 §8.2, "Memory Allocators". Extensions:
 *  memory_access       managed | coherent (default): proposal §4.2
 *  preferred_location  device number: where the memory resides at first; proposal §4.3
 *  preferred_place     place number in OMP_PLACES order; proposal §4.3
 *  guarantee           preferred (default) | required: null allocator unless exactly the requested
 *                      memory is available (the query that proposal §4.3 asks for)
 *  page_size           bytes of a page, e.g. 2 MiB for huge pages
 *  shareable           true | false (default): device memory for other processes and network cards,
 *                      see share.h
 * "Proposal": "OpenMP device memory spaces". */
typedef enum memspan_trait_key {
#define MEMSPAN_TRAIT_ENUM(name, number, text, form) name = (number),
    MEMSPAN_TRAIT_KEY_MAP(MEMSPAN_TRAIT_ENUM)
#undef MEMSPAN_TRAIT_ENUM
} memspan_trait_key_t;

/** X(name, number, text). 7 is "all" in the headers of GCC and of LLVM up to 19, "device" in OpenMP
 * 6.0; on the devices of one allocator both mean the same threads. */
#define MEMSPAN_TRAIT_VALUE_MAP(X)                                                                 \
    X(MEMSPAN_VALUE_FALSE, 0, "false")                                                             \
    X(MEMSPAN_VALUE_TRUE, 1, "true")                                                               \
    X(MEMSPAN_VALUE_CONTENDED, 3, "contended")                                                     \
    X(MEMSPAN_VALUE_UNCONTENDED, 4, "uncontended")                                                 \
    X(MEMSPAN_VALUE_SERIALIZED, 5, "serialized")                                                   \
    X(MEMSPAN_VALUE_PRIVATE, 6, "private")                                                         \
    X(MEMSPAN_VALUE_DEVICE, 7, "device")                                                           \
    X(MEMSPAN_VALUE_THREAD, 8, "thread")                                                           \
    X(MEMSPAN_VALUE_PTEAM, 9, "pteam")                                                             \
    X(MEMSPAN_VALUE_CGROUP, 10, "cgroup")                                                          \
    X(MEMSPAN_VALUE_DEFAULT_MEM_FB, 11, "default_mem_fb")                                          \
    X(MEMSPAN_VALUE_NULL_FB, 12, "null_fb")                                                        \
    X(MEMSPAN_VALUE_ABORT_FB, 13, "abort_fb")                                                      \
    X(MEMSPAN_VALUE_ALLOCATOR_FB, 14, "allocator_fb")                                              \
    X(MEMSPAN_VALUE_ENVIRONMENT, 15, "environment")                                                \
    X(MEMSPAN_VALUE_NEAREST, 16, "nearest")                                                        \
    X(MEMSPAN_VALUE_BLOCKED, 17, "blocked")                                                        \
    X(MEMSPAN_VALUE_INTERLEAVED, 18, "interleaved")                                                \
    X(MEMSPAN_VALUE_ALL, 19, "all")                                                                \
    X(MEMSPAN_VALUE_SINGLE, 20, "single")                                                          \
    X(MEMSPAN_VALUE_MULTIPLE, 21, "multiple")                                                      \
    X(MEMSPAN_VALUE_MEMSPACE, 22, "memspace")                                                      \
    X(MEMSPAN_VALUE_PARTITIONER, 23, "partitioner")                                                \
    X(MEMSPAN_VALUE_MANAGED, 0x4d01, "managed")                                                    \
    X(MEMSPAN_VALUE_COHERENT, 0x4d02, "coherent")                                                  \
    X(MEMSPAN_VALUE_PREFERRED, 0x4d03, "preferred")                                                \
    X(MEMSPAN_VALUE_REQUIRED, 0x4d04, "required")

typedef enum memspan_trait_value {
#define MEMSPAN_VALUE_ENUM(name, number, text) name = (number),
    MEMSPAN_TRAIT_VALUE_MAP(MEMSPAN_VALUE_ENUM)
#undef MEMSPAN_VALUE_ENUM
} memspan_trait_value_t;

/** The trait's default (omp_atv_default). Not for keys whose value is a device number: there the
 * same bits are -1, the host. */
#define MEMSPAN_VALUE_DEFAULT UINTPTR_MAX

/** One trait; the same layout as omp_alloctrait_t. */
typedef struct memspan_trait {
    memspan_trait_key_t key;
    uintptr_t value;
} memspan_trait_t;

/** Parse "pinned=true,alignment=64,memory_access=managed" into @p traits. Sizes take k, m, g, t
 * (powers of 1024); devices are numbers or "host".
 * @param capacity elements of @p traits
 * @param count_p  number of traits written
 * Errors: MEMSPAN_ERR_INVALID (the message names the invalid word and the nearest valid one). */
MEMSPAN_API memspan_status_t memspan_trait_parse(const char *text, memspan_trait_t *traits,
                                                 size_t capacity, size_t *count_p);

/** The key's text ("pool_size"), or NULL for an unknown key. Static. */
MEMSPAN_API const char *memspan_trait_key_text(memspan_trait_key_t key);

/** The value word's text ("null_fb"), or NULL for an unknown word. Static. */
MEMSPAN_API const char *memspan_trait_value_text(uintptr_t value);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_TRAIT_H */
