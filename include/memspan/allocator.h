/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_ALLOCATOR_H
#define MEMSPAN_ALLOCATOR_H

#include <memspan/space.h>
#include <memspan/trait.h>

/** @file allocator.h
 * Allocators: a memory space, traits, and a fallback.
 *
 * A handle is a number, never dereferenced; a stale one is recognised. It equals the
 * omp_allocator_handle_t of the same allocator, so either may be cast to the other. 0 is no
 * allocator; calls that allocate take it as the default allocator (OpenMP's def-allocator-var).
 *
 * Ownership: memory belongs to its allocator until it is freed; memspan_free() finds the allocator
 * from the address. An allocator may be destroyed with live memory, which stays usable until freed.
 *
 * Threads: every call may run on any thread, in parallel regions too. An allocator that is
 * destroyed while another thread allocates from it gives that thread an error. No call may be made
 * from a signal handler.
 *
 * Allocating calls return NULL on failure, after they have followed the fallback trait; the error
 * record then has MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_LIMIT (pool_size), MEMSPAN_ERR_NOT_FOUND
 * (stale handle), MEMSPAN_ERR_INVALID (alignment, overflow), MEMSPAN_ERR_DRIVER or
 * MEMSPAN_ERR_FORKED. */

MEMSPAN_BEGIN_DECLS

typedef struct memspan_allocator_name *memspan_allocator_h;

#define MEMSPAN_ALLOCATOR_NULL MEMSPAN_CONSTANT(memspan_allocator_h, 0)
/** The predefined allocators, by the numbers that released compilers use. */
#define MEMSPAN_ALLOCATOR_DEFAULT   MEMSPAN_CONSTANT(memspan_allocator_h, 1)
#define MEMSPAN_ALLOCATOR_LARGE_CAP MEMSPAN_CONSTANT(memspan_allocator_h, 2)
#define MEMSPAN_ALLOCATOR_CONST     MEMSPAN_CONSTANT(memspan_allocator_h, 3)
#define MEMSPAN_ALLOCATOR_HIGH_BW   MEMSPAN_CONSTANT(memspan_allocator_h, 4)
#define MEMSPAN_ALLOCATOR_LOW_LAT   MEMSPAN_CONSTANT(memspan_allocator_h, 5)
#define MEMSPAN_ALLOCATOR_CGROUP    MEMSPAN_CONSTANT(memspan_allocator_h, 6)
#define MEMSPAN_ALLOCATOR_PTEAM     MEMSPAN_CONSTANT(memspan_allocator_h, 7)
#define MEMSPAN_ALLOCATOR_THREAD    MEMSPAN_CONSTANT(memspan_allocator_h, 8)

/** Make an allocator over @p space. Allocates no memory of the space and, for host spaces, opens no
 * driver.
 *
 * @param traits each key at most once; MEMSPAN_VALUE_DEFAULT means that trait's default
 *
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space), MEMSPAN_ERR_INVALID (unknown key or value,
 * alignment no power of two, pool_size 0, key given twice, fb_data missing or in a cycle),
 * MEMSPAN_ERR_CONFLICT (traits that contradict each other: the message names both),
 * MEMSPAN_ERR_NOT_GUARANTEED (guarantee=required and the request cannot be satisfied exactly),
 * MEMSPAN_ERR_UNREACHABLE (no memory of the space has the requested access), MEMSPAN_ERR_LIMIT,
 * MEMSPAN_ERR_NO_MEMORY.
 * Source: omp_init_allocator, OpenMP 5.0 §3.7.2, 6.0 §27.6. */
MEMSPAN_API memspan_status_t memspan_allocator_create(memspan_space_h space,
                                                      const memspan_trait_t *traits,
                                                      size_t trait_count,
                                                      memspan_allocator_h *allocator_p);

/** Make an allocator with the traits of @p base, some of them replaced; MEMSPAN_VALUE_DEFAULT
 * resets a trait. The new allocator has its own pool_size and statistics. Errors:
 * MEMSPAN_ERR_NOT_FOUND (base is no allocator), and those of memspan_allocator_create(). Source:
 * proposal §4.3, "a function to produce an allocator from an existing allocator". */
MEMSPAN_API memspan_status_t memspan_allocator_derive(memspan_allocator_h base,
                                                      const memspan_trait_t *traits,
                                                      size_t trait_count,
                                                      memspan_allocator_h *allocator_p);

/** Set the name in statistics, descriptions and the trace: at most 31 letters, digits and _ - . : /
 * +, copied; "" removes it. Names need not be unique. Errors: MEMSPAN_ERR_NOT_FOUND (no such
 * allocator), MEMSPAN_ERR_INVALID (another form of name, or a predefined allocator),
 * MEMSPAN_ERR_NO_MEMORY. */
MEMSPAN_API memspan_status_t memspan_allocator_set_name(memspan_allocator_h allocator,
                                                        const char *name);

/** Release the handle. Predefined allocators and MEMSPAN_ALLOCATOR_NULL: no effect.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such allocator, or destroyed before).
 * Source: omp_destroy_allocator, OpenMP 5.0 §3.7.3, 6.0 §27.7. */
MEMSPAN_API memspan_status_t memspan_allocator_destroy(memspan_allocator_h allocator);

/** Allocate @p size_bytes, aligned to at least max(16, the alignment trait). Size 0: NULL.
 * Source of this and the next calls: OpenMP 5.0 §3.7.6, 5.2 §18.13.6 to 18.13.9, 6.0 §27.11. */
MEMSPAN_API void *memspan_alloc(memspan_allocator_h allocator, size_t size_bytes);

/** The same, aligned to at least @p align_bytes, a power of two. */
MEMSPAN_API void *memspan_aligned_alloc(memspan_allocator_h allocator, size_t align_bytes,
                                        size_t size_bytes);

/** @p count elements of @p size_bytes, zeroed (by the device where the host cannot). A product that
 * overflows fails. */
MEMSPAN_API void *memspan_calloc(memspan_allocator_h allocator, size_t count, size_t size_bytes);

/** One allocation with additional traits. pool_size and fallback remain the allocator's.
 * Source: proposal §4.3, "specify an allocator property as part of an actual allocation". */
MEMSPAN_API void *memspan_alloc_with(memspan_allocator_h allocator, size_t size_bytes,
                                     const memspan_trait_t *traits, size_t trait_count);

/** Resize @p pointer (of any allocator); the contents are kept up to the smaller size. pointer
 * NULL: like memspan_alloc(). size_bytes 0: frees and returns NULL. allocator 0: the block's own.
 * On failure NULL, and the old block is unchanged. */
MEMSPAN_API void *memspan_realloc(memspan_allocator_h allocator, void *pointer, size_t size_bytes);

/** Free a block. NULL: no effect.
 * Errors: MEMSPAN_ERR_NOT_FOUND (not the start of a live block; the message describes it),
 * MEMSPAN_ERR_DRIVER.
 * Source: omp_free, OpenMP 5.0 §3.7.7, 6.0 §27.12. */
MEMSPAN_API memspan_status_t memspan_free(void *pointer);

/** memspan_free() in the form of callbacks that get a context and a size, as NumPy's
 * (PyDataMemAllocator): memspan_alloc(), memspan_calloc() and memspan_realloc() are the other
 * three, with the allocator as context. The address decides: @p allocator and @p size_bytes have no
 * effect.
 * Errors: MEMSPAN_ERR_NOT_FOUND, MEMSPAN_ERR_DRIVER, as memspan_free(). */
MEMSPAN_API memspan_status_t memspan_free_sized(memspan_allocator_h allocator, void *pointer,
                                                size_t size_bytes);

/** An allocator's request and its result. Set struct_size first. */
typedef struct memspan_allocator_info {
    size_t struct_size; /**< in: sizeof(memspan_allocator_info_t) */
    memspan_space_h space;
    memspan_kind_t kind_asked;
    memspan_kind_t kind_given;
    int home;               /**< device whose driver allocates it */
    int resident_device;    /**< first residence: a device, or MEMSPAN_HOST */
    int numa_node;          /**< operating-system number, or -1: by first touch */
    size_t page_size_bytes; /**< 0: the driver decides */
    size_t align_bytes;
    size_t pool_size_bytes; /**< SIZE_MAX: no limit of its own */
    int pinned; /**< 1: pages stay where they are: locked, or of a device whose driver reports it
                   with its first memory */
    int migratable;
    int exact;                    /**< 1: given as requested */
    memspan_allocator_h fallback; /**< MEMSPAN_ALLOCATOR_NULL: none */
    int aborts;                   /**< 1: a failed allocation ends the program (abort_fb) */
    char why[512];                /**< one sentence: why this kind, from which driver */
    int shareable;                /**< can be shared, see share.h */
    int serves;                   /**< 1: exact, or a stronger kind that satisfies the request */
    char name[32]; /**< memspan_allocator_set_name(), or a predefined one's; "" without */
} memspan_allocator_info_t;

/** Describe @p allocator. Opens the drivers of the devices in its space, no others.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such allocator), MEMSPAN_ERR_INVALID (info_p NULL, struct_size
 * not set), and those of memspan_allocator_create() where only a driver can decide. */
MEMSPAN_API memspan_status_t memspan_allocator_describe(memspan_allocator_h allocator,
                                                        memspan_allocator_info_t *info_p);

/** How @p device reaches memory of @p allocator.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such allocator or device), MEMSPAN_ERR_INVALID (reach_p NULL),
 * MEMSPAN_ERR_CONFIG. */
MEMSPAN_API memspan_status_t memspan_allocator_reach(memspan_allocator_h allocator, int device,
                                                     memspan_reach_t *reach_p);

/** Describe the memory of an allocator of these traits, without making it.
 * Errors: those of memspan_allocator_create(); MEMSPAN_ERR_INVALID (info_p NULL, struct_size not
 * set). */
MEMSPAN_API memspan_status_t memspan_allocator_plan(memspan_space_h space,
                                                    const memspan_trait_t *traits,
                                                    size_t trait_count,
                                                    memspan_allocator_info_t *info_p);

/** The record of the block at an address. Set struct_size first. */
typedef struct memspan_pointer_info {
    size_t struct_size;            /**< in: sizeof(memspan_pointer_info_t) */
    memspan_allocator_h allocator; /**< 0: foreign memory, or its allocator was destroyed */
    memspan_space_h space;
    void *base;        /**< first byte of the block that holds the address */
    size_t size_bytes; /**< bytes requested */
    memspan_kind_t kind_asked;
    memspan_kind_t kind_given;
    int home;            /**< device whose driver allocated it */
    int resident_device; /**< current residence, as the driver reports it */
    int numa_node;       /**< NUMA node of the page now; -1 unknown or not yet touched */
    size_t page_size_bytes;
    int pinned;
    int migratable;
    int fallback;  /**< 1: from a fallback of the requested allocator */
    char why[512]; /**< one sentence */
    int shareable; /**< can be shared, see share.h */
    int opened;    /**< memory of another process, by memspan_share_import() */
} memspan_pointer_info_t;

/** Describe the memory at @p pointer (any address inside a block). Calls a driver only for foreign
 * memory, the operating system for the page's NUMA node.
 * Errors: MEMSPAN_ERR_NOT_FOUND (unknown to the library and to all drivers; never reported as host
 * memory), MEMSPAN_ERR_INVALID (NULL, struct_size not set). */
MEMSPAN_API memspan_status_t memspan_pointer_describe(const void *pointer,
                                                      memspan_pointer_info_t *info_p);

/** How @p device reaches the memory at @p pointer.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no live block there, or no such device), MEMSPAN_ERR_INVALID
 * (reach_p NULL), MEMSPAN_ERR_CONFIG. */
MEMSPAN_API memspan_status_t memspan_pointer_reach(const void *pointer, int device,
                                                   memspan_reach_t *reach_p);

/** Counters of an allocator, or of all allocators of a memory space or a device, with those of
 * their pools. Set struct_size first. New members are added at the end. */
typedef struct memspan_allocator_stats {
    size_t struct_size;  /**< in: sizeof(memspan_allocator_stats_t) */
    uint64_t live_bytes; /**< requested and not yet freed */
    uint64_t live_count;
    uint64_t peak_bytes;      /**< maximum of live_bytes, counting what threads have set aside for
                                   blocks of up to 8 KiB; of several allocators, the sum */
    uint64_t charged_bytes;   /**< counted against pool_size: live_bytes and the overhead */
    uint64_t allocated_count; /**< since it was made */
    uint64_t freed_count;
    uint64_t failed_count;       /**< requests that this allocator could not satisfy */
    uint64_t fallback_count;     /**< of those, satisfied by its fallback */
    uint64_t held_bytes;         /**< in chunks of its pool, which all allocators of the same kind,
                                      place and traits share */
    uint64_t free_bytes;         /**< of those, in no block: the next requests need no driver */
    uint64_t largest_free_bytes; /**< the largest contiguous part; of several pools, the largest */
    double fragmentation;        /**< 1 - largest_free_bytes / free_bytes; 0 if nothing is free */
} memspan_allocator_stats_t;

/** Counters of @p allocator; 0: the sum over all, with those destroyed.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such allocator), MEMSPAN_ERR_INVALID (stats_p NULL, struct_size
 * not set). */
MEMSPAN_API memspan_status_t memspan_allocator_get_stats(memspan_allocator_h allocator,
                                                         memspan_allocator_stats_t *stats_p);

/** The sum over the allocators of @p space and their pools. A destroyed allocator counts until its
 * last block is freed.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space), MEMSPAN_ERR_INVALID (as above). */
MEMSPAN_API memspan_status_t memspan_space_get_stats(memspan_space_h space,
                                                     memspan_allocator_stats_t *stats_p);

/** The sum over the allocators of the driver of @p device (MEMSPAN_HOST: the operating system), and
 * over that driver's pools. Destroyed allocators count as above.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such device), MEMSPAN_ERR_INVALID (as above),
 * MEMSPAN_ERR_CONFIG. */
MEMSPAN_API memspan_status_t memspan_device_get_stats(int device,
                                                      memspan_allocator_stats_t *stats_p);

/** Write the counters of each allocator, then of each pool, one line each, to @p fd.
 * MEMSPAN_STATS=exit writes them to standard error when the process ends.
 * Errors: MEMSPAN_ERR_INVALID (@p fd cannot be written to). */
MEMSPAN_API memspan_status_t memspan_stats_print(int fd);

/** Kind of the memory at @p pointer; MEMSPAN_KIND_NONE if it is not Memspan's. Knows every address
 * in a chunk, in a live block or not. Two loads in constant time, no lock, no driver call. For
 * foreign memory use memspan_pointer_describe(). */
MEMSPAN_API memspan_kind_t memspan_pointer_kind(const void *pointer);

/** Return unused memory to the drivers; returns the number of bytes. */
MEMSPAN_API size_t memspan_trim(void);

/** Check every invariant of the library's records. For tests.
 * Errors: MEMSPAN_ERR_INTERNAL (the message names the first invariant that does not hold). */
MEMSPAN_API memspan_status_t memspan_check(void);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_ALLOCATOR_H */
