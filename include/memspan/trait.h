/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TRAIT_H
#define MEMSPAN_TRAIT_H

#include <memspan/status.h>
#include <stddef.h>
#include <stdint.h>

/** @file trait.h
 * Allocator traits: keys and values. The numbers, and the layout of memspan_trait_t, are those of
 * omp_alloctrait_t in every compiler that ships, so one array serves both interfaces.
 *
 * Extensions lie far above the standard's numbers, which still grow. */

MEMSPAN_BEGIN_DECLS

/** X(name, number, text, what its value is). Text is what memquery --plan and messages use. */
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

/** Keys. Standard ones: OpenMP 5.0 .. 6.0, "Memory Allocators", allocator traits. Ours:
 *  memory_access       managed | coherent (default): proposal §4.2
 *  preferred_location  device number: where the memory lives at first; proposal §4.3
 *  preferred_place     place number in OMP_PLACES order; proposal §4.3
 *  guarantee           preferred (default) | required: null allocator unless exactly what was asked
 *                      can be had (the query the proposal asks for in §4.3)
 *  page_size           bytes; the pages to use, e.g. 2 MiB huge pages
 *  shareable           true | false (default): device memory that can be given to other processes
 *                      and network cards, see share.h; drivers decide it when memory is taken */
typedef enum memspan_trait_key {
#define MEMSPAN_TRAIT_ENUM(name, number, text, form) name = (number),
    MEMSPAN_TRAIT_KEY_MAP(MEMSPAN_TRAIT_ENUM)
#undef MEMSPAN_TRAIT_ENUM
} memspan_trait_key_t;

/** X(name, number, text). 7 is "all" in the headers of GCC and LLVM up to 19 and "device" in
 * OpenMP 6.0; on the devices that an allocator can serve both mean the same threads. */
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

/** "The default of that trait", for any key (omp_atv_default), but for those whose value is a
 * device number: the same word is -1, and -1 is the host. */
#define MEMSPAN_VALUE_DEFAULT UINTPTR_MAX

/** One trait; the same layout as omp_alloctrait_t. */
typedef struct memspan_trait {
    memspan_trait_key_t key;
    uintptr_t value;
} memspan_trait_t;

/** Parse "pinned=true,alignment=64,memory_access=managed" into @p traits. Sizes take k, m, g, t
 * (powers of 1024); devices are numbers or "host".
 * @param capacity room in @p traits; count_p receives how many were written
 * Errors: MEMSPAN_ERR_INVALID naming the word at fault and the nearest that exists. */
MEMSPAN_API memspan_status_t memspan_trait_parse(const char *text, memspan_trait_t *traits,
                                                 size_t capacity, size_t *count_p);

/** The key's text ("pool_size"), or NULL for an unknown key. Static. */
MEMSPAN_API const char *memspan_trait_key_text(memspan_trait_key_t key);

/** The value word's text ("null_fb"), or NULL for an unknown word. Static. */
MEMSPAN_API const char *memspan_trait_value_text(uintptr_t value);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_TRAIT_H */
