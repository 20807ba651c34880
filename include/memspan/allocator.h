/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_ALLOCATOR_H
#define MEMSPAN_ALLOCATOR_H

#include <memspan/space.h>
#include <memspan/trait.h>

/** @file allocator.h
 * Allocators: a memory space, traits, and what to do when memory runs out.
 *
 * A handle is a name, not an address: never dereferenced, recognised when stale, and the same
 * number as omp_allocator_handle_t, so either may be cast to the other. 0 is no allocator and
 * stands for the default allocator (OpenMP's def-allocator-var) in calls that allocate.
 *
 * Ownership: memory belongs to its allocator until freed; memspan_free() finds the allocator from
 * the address. Destroying an allocator with live memory is allowed: the memory stays usable and is
 * released as it is freed.
 *
 * Threads: all calls may run on any thread, in parallel regions too. Destroying an allocator while
 * another thread allocates from it is the caller's mistake, answered with an error, not a crash.
 * No call may be made from a signal handler.
 *
 * Allocating calls return NULL on failure, after the fallback trait has been followed. */

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

/** Make an allocator over @p space. No memory is taken and, for host spaces, no driver is opened.
 *
 * @param traits each key at most once; MEMSPAN_VALUE_DEFAULT means that trait's default
 *
 * Errors: MEMSPAN_ERR_INVALID (unknown key or value, alignment no power of two, pool_size 0, key
 * given twice, fb_data missing or in a cycle), MEMSPAN_ERR_CONFLICT (traits that contradict each
 * other, both named), MEMSPAN_ERR_NOT_GUARANTEED (guarantee=required and only something else is to
 * be had), MEMSPAN_ERR_UNREACHABLE (no memory of the space keeps the promise that is asked for).
 * Source: OpenMP 6.0 omp_init_allocator. */
MEMSPAN_API memspan_status_t memspan_allocator_create(memspan_space_h space,
                                                      const memspan_trait_t *traits,
                                                      size_t trait_count,
                                                      memspan_allocator_h *allocator_p);

/** Make an allocator like @p base but for some traits. A trait given as MEMSPAN_VALUE_DEFAULT goes
 * back to its default. The new allocator has a pool_size and statistics of its own.
 * Source: proposal §4.3, "a function to produce an allocator from an existing allocator". */
MEMSPAN_API memspan_status_t memspan_allocator_derive(memspan_allocator_h base,
                                                      const memspan_trait_t *traits,
                                                      size_t trait_count,
                                                      memspan_allocator_h *allocator_p);

/** What statistics, descriptions and the trace call it: at most 31 letters, digits and _ - . : / +,
 * copied; "" takes the name away. Several may have the same. MEMSPAN_ERR_INVALID for other names
 * and for predefined allocators, which have theirs. */
MEMSPAN_API memspan_status_t memspan_allocator_set_name(memspan_allocator_h allocator,
                                                        const char *name);

/** Release the handle. Predefined allocators and MEMSPAN_ALLOCATOR_NULL: no effect. */
MEMSPAN_API memspan_status_t memspan_allocator_destroy(memspan_allocator_h allocator);

/** @p size_bytes of memory, aligned to at least max(16, the alignment trait). Size 0: NULL. */
MEMSPAN_API void *memspan_alloc(memspan_allocator_h allocator, size_t size_bytes);

/** The same on a boundary of at least @p align_bytes, a power of two. */
MEMSPAN_API void *memspan_aligned_alloc(memspan_allocator_h allocator, size_t align_bytes,
                                        size_t size_bytes);

/** @p count elements of @p size_bytes, all zero (on the device where the host may not touch it).
 * A product that overflows fails. */
MEMSPAN_API void *memspan_calloc(memspan_allocator_h allocator, size_t count, size_t size_bytes);

/** One allocation with traits of its own, on top of the allocator's. pool_size and fallback remain
 * the allocator's. Source: proposal §4.3, "specify an allocator property as part of an actual
 * allocation". */
MEMSPAN_API void *memspan_alloc_with(memspan_allocator_h allocator, size_t size_bytes,
                                     const memspan_trait_t *traits, size_t trait_count);

/** Change the size of @p pointer (from any allocator), contents kept up to the smaller size.
 * pointer NULL: like memspan_alloc(). size_bytes 0: frees, NULL. allocator 0: the one it came from.
 * On failure NULL, and the old memory is untouched. */
MEMSPAN_API void *memspan_realloc(memspan_allocator_h allocator, void *pointer, size_t size_bytes);

/** Give memory back. NULL: no effect. A pointer that is not the start of live memory of ours is
 * refused (MEMSPAN_ERR_NOT_FOUND) with a message that says what it is. */
MEMSPAN_API memspan_status_t memspan_free(void *pointer);

/** What was asked for and what was given. Set struct_size first. */
typedef struct memspan_allocator_info {
    size_t struct_size; /**< in: sizeof(memspan_allocator_info_t) */
    memspan_space_h space;
    memspan_kind_t kind_asked;
    memspan_kind_t kind_given;
    int home;               /**< device whose driver allocates it */
    int resident_device;    /**< where it lives at first: a device, or MEMSPAN_HOST */
    int numa_node;          /**< operating-system number, or -1: wherever it is first touched */
    size_t page_size_bytes; /**< 0: the driver decides */
    size_t align_bytes;
    size_t pool_size_bytes; /**< SIZE_MAX: no limit of its own */
    int pinned;
    int migratable;
    int exact;                    /**< 1: what was asked for is what is given */
    memspan_allocator_h fallback; /**< the next to ask; MEMSPAN_ALLOCATOR_NULL: none */
    int aborts;                   /**< 1: the program ends when memory runs out (abort_fb) */
    char why[512];                /**< one sentence: why this kind, from whom */
    int shareable;                /**< taken to be shared, see share.h */
    int serves;    /**< 1: exact, or a stronger kind that keeps all that was asked for */
    char name[32]; /**< memspan_allocator_set_name(), or a predefined one's; "" without */
} memspan_allocator_info_t;

/** What @p allocator gives. Opens the drivers of the devices that its space names, no others. */
MEMSPAN_API memspan_status_t memspan_allocator_describe(memspan_allocator_h allocator,
                                                        memspan_allocator_info_t *info_p);

/** How @p device reaches memory of @p allocator. */
MEMSPAN_API memspan_status_t memspan_allocator_reach(memspan_allocator_h allocator, int device,
                                                     memspan_reach_t *reach_p);

/** What an allocator of these traits would give, without making it. Same errors as
 * memspan_allocator_create(). */
MEMSPAN_API memspan_status_t memspan_allocator_plan(memspan_space_h space,
                                                    const memspan_trait_t *traits,
                                                    size_t trait_count,
                                                    memspan_allocator_info_t *info_p);

/** What is known of a piece of memory. Set struct_size first. */
typedef struct memspan_pointer_info {
    size_t struct_size;            /**< in: sizeof(memspan_pointer_info_t) */
    memspan_allocator_h allocator; /**< whose it is (0: foreign memory, or its allocator is gone) */
    memspan_space_h space;
    void *base;        /**< first byte of the block that holds the address */
    size_t size_bytes; /**< bytes that were asked for */
    memspan_kind_t kind_asked;
    memspan_kind_t kind_given;
    int home;            /**< device whose driver allocated it */
    int resident_device; /**< where it lives now, as far as the driver tells */
    int numa_node;       /**< node that holds the page now; -1 unknown or not yet touched */
    size_t page_size_bytes;
    int pinned;
    int migratable;
    int fallback;  /**< 1: came from a fallback, not from the allocator that was asked */
    char why[512]; /**< one sentence */
    int shareable; /**< taken to be shared, see share.h */
    int opened;    /**< memory of another process, by memspan_share_import() */
} memspan_pointer_info_t;

/** What is known of the memory at @p pointer (any address inside a block). Asks no driver for what
 * the library already knows; asks the operating system for the page's node.
 * MEMSPAN_ERR_NOT_FOUND when it is no memory of ours and no driver knows it: unknown is never
 * reported as host memory. */
MEMSPAN_API memspan_status_t memspan_pointer_describe(const void *pointer,
                                                      memspan_pointer_info_t *info_p);

/** How @p device reaches the memory at @p pointer. */
MEMSPAN_API memspan_status_t memspan_pointer_reach(const void *pointer, int device,
                                                   memspan_reach_t *reach_p);

/** Counters of an allocator, or of all allocators of a memory space or a device, and what the pools
 * that they use have. Set struct_size first. New members are added at the end. */
typedef struct memspan_allocator_stats {
    size_t struct_size;  /**< in: sizeof(memspan_allocator_stats_t) */
    uint64_t live_bytes; /**< asked for and not yet freed */
    uint64_t live_count;
    uint64_t peak_bytes;      /**< most that was live at once; of several allocators, the sum */
    uint64_t charged_bytes;   /**< counted against pool_size: live_bytes and the overhead */
    uint64_t allocated_count; /**< since it was made */
    uint64_t freed_count;
    uint64_t failed_count;       /**< requests that this allocator could not meet */
    uint64_t fallback_count;     /**< of those, met by its fallback */
    uint64_t held_bytes;         /**< taken from the provider by the pool it uses (shared by all
                                      allocators of the same kind, place and traits) */
    uint64_t free_bytes;         /**< of those, in no block: the next requests need no driver */
    uint64_t largest_free_bytes; /**< the largest piece of them; of several pools, the largest */
    double fragmentation;        /**< 1 - largest_free_bytes / free_bytes; 0 if nothing is free */
} memspan_allocator_stats_t;

/** Counters of @p allocator; 0 sums over all, those destroyed included. */
MEMSPAN_API memspan_status_t memspan_allocator_get_stats(memspan_allocator_h allocator,
                                                         memspan_allocator_stats_t *stats_p);

/** The sum over the allocators of @p space and the pools they use. An allocator that was destroyed
 * counts until its last block is freed. MEMSPAN_ERR_NOT_FOUND for a handle that names no space. */
MEMSPAN_API memspan_status_t memspan_space_get_stats(memspan_space_h space,
                                                     memspan_allocator_stats_t *stats_p);

/** The sum over the allocators whose memory comes from the driver of @p device (MEMSPAN_HOST: from
 * the operating system), and all pools over that driver. Destroyed allocators count as above.
 * MEMSPAN_ERR_NOT_FOUND for a number that names no device. */
MEMSPAN_API memspan_status_t memspan_device_get_stats(int device,
                                                      memspan_allocator_stats_t *stats_p);

/** Write every allocator's counters, then what every pool has, a line each, to @p fd. 0, or
 * MEMSPAN_ERR_INVALID when it cannot be written. MEMSPAN_STATS=exit does this to standard error
 * when the process ends. */
MEMSPAN_API memspan_status_t memspan_stats_print(int fd);

/** What kind of memory @p pointer points into; MEMSPAN_KIND_NONE if it is not Memspan's. Every
 * address of memory that is held is known, live block or not. Two loads, no lock, no driver call,
 * the same however much memory there is. For foreign memory ask memspan_pointer_describe(). */
MEMSPAN_API memspan_kind_t memspan_pointer_kind(const void *pointer);

/** Give memory that no block uses back to the drivers; returns how many bytes. */
MEMSPAN_API size_t memspan_trim(void);

/** Walk every invariant of the library's own records; MEMSPAN_ERR_INTERNAL names the first that
 * does not hold. For tests. */
MEMSPAN_API memspan_status_t memspan_check(void);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_ALLOCATOR_H */
