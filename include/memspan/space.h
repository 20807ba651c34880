/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SPACE_H
#define MEMSPAN_SPACE_H

#include <memspan/device.h>

/** @file space.h
 * Memory spaces: which devices must reach the memory.
 *
 * A space is immutable: the devices that must reach it, a hint (large capacity, high bandwidth
 * ...), and the ordered resources that satisfy both. Spaces are interned: the same request gives
 * the same handle for the life of the process. There is nothing to release.
 *
 * A handle is a number, never dereferenced; any value may be passed. It equals the
 * omp_memspace_handle_t of the same space, so either may be cast to the other.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

typedef struct memspan_space_name *memspan_space_h;

/** No space. */
#define MEMSPAN_SPACE_NULL MEMSPAN_CONSTANT(memspan_space_h, 0)
/** The predefined spaces of OpenMP 5.0, by the numbers that released compilers use. */
#define MEMSPAN_SPACE_LARGE_CAP MEMSPAN_CONSTANT(memspan_space_h, 1)
#define MEMSPAN_SPACE_CONST     MEMSPAN_CONSTANT(memspan_space_h, 2)
#define MEMSPAN_SPACE_HIGH_BW   MEMSPAN_CONSTANT(memspan_space_h, 3)
#define MEMSPAN_SPACE_LOW_LAT   MEMSPAN_CONSTANT(memspan_space_h, 4)
#define MEMSPAN_SPACE_DEFAULT   MEMSPAN_CONSTANT(memspan_space_h, 99)

/** The space of memory that every one of @p devices can reach, with the promise to each.
 *
 * @param devices      device numbers; MEMSPAN_HOST may be among them; order does not matter and a
 *                     device listed twice counts once
 * @param device_count at least 1
 * @param base         a hint: a predefined space, or a space made earlier (its hint is taken);
 *                     MEMSPAN_SPACE_NULL is MEMSPAN_SPACE_DEFAULT
 * @param space_p      the handle; for the host alone it is the predefined space itself
 *
 * Errors: MEMSPAN_ERR_INVALID (list NULL or empty, base is no space), MEMSPAN_ERR_NOT_FOUND (no
 * such device), MEMSPAN_ERR_UNREACHABLE (no memory reaches all of them; the message names the pair
 * that fails, and why), MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_LIMIT, MEMSPAN_ERR_CONFIG. Source:
 * omp_get_target_memspace, "OpenMP device memory spaces" §4.1; omp_get_devices_memspace, OpenMP 6.0
 * §27.1. */
MEMSPAN_API memspan_status_t memspan_space_get(const int *devices, size_t device_count,
                                               memspan_space_h base, memspan_space_h *space_p);

/** The space of some resources of @p space, by index. All of them give @p space itself.
 * Errors: MEMSPAN_ERR_NOT_FOUND (@p space is no space), MEMSPAN_ERR_INVALID (no resources, one out
 * of range or listed twice), MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_LIMIT. Source: omp_get_submemspace,
 * OpenMP 6.0 §27.4. */
MEMSPAN_API memspan_status_t memspan_space_get_sub(memspan_space_h space, const int *resources,
                                                   size_t resource_count, memspan_space_h *space_p);

/** One resource: a physical place and the kind of memory it serves. Set struct_size first. */
typedef struct memspan_resource_info {
    size_t struct_size; /**< in: sizeof(memspan_resource_info_t) */
    memspan_kind_t kind;
    int home;                /**< device whose driver allocates it; MEMSPAN_HOST */
    int numa_node;           /**< operating-system number of the NUMA node, or -1 */
    char name[48];           /**< "node0", "opencl0.coherent" */
    uint64_t capacity_bytes; /**< or MEMSPAN_UNKNOWN */
    uint64_t page_size_bytes;
} memspan_resource_info_t;

/** Number of resources; 0 for a handle that names no space (with an error record).
 * Source: omp_get_memspace_num_resources, OpenMP 6.0 §27.2. */
MEMSPAN_API size_t memspan_space_resource_count(memspan_space_h space);

/** Describe resource @p index (0 .. memspan_space_resource_count() - 1) of @p space.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space or resource), MEMSPAN_ERR_INVALID (info_p NULL,
 * struct_size not set). */
MEMSPAN_API memspan_status_t memspan_space_resource(memspan_space_h space, size_t index,
                                                    memspan_resource_info_t *info_p);

/** How @p device reaches resource @p index of @p space.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space, resource or device), MEMSPAN_ERR_INVALID (reach_p
 * NULL), MEMSPAN_ERR_CONFIG. */
MEMSPAN_API memspan_status_t memspan_space_reach(memspan_space_h space, size_t index, int device,
                                                 memspan_reach_t *reach_p);

/** Page size in bytes of the space's first resource; 0 for a handle that names no space.
 * Source: omp_get_memspace_pagesize, OpenMP 6.0 §27.3. */
MEMSPAN_API size_t memspan_space_page_size(memspan_space_h space);

/** One space. Set struct_size first. */
typedef struct memspan_space_info {
    size_t struct_size;   /**< in: sizeof(memspan_space_info_t) */
    char name[64];        /**< "default", "high_bw", "{host,0,2}", "{0}/high_bw" */
    memspan_space_h base; /**< the hint: one of the predefined spaces */
    int target;           /**< 1: made for a list of devices (a target memory space) */
    int host;             /**< 1: the host is among the devices that must reach it */
    size_t device_count;  /**< devices that must reach it, the host not counted */
    int devices[32];      /**< the first 32 of them, ascending */
    char note[160];       /**< one sentence: "alias of default: the machine has one tier" */
    int alias;            /**< 1: a hint that takes what the default space takes, because that is
                               the best of the machine or the machine has no other; no guarantee */
} memspan_space_info_t;

/** Describe @p space.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space), MEMSPAN_ERR_INVALID (info_p NULL, struct_size not
 * set). */
MEMSPAN_API memspan_status_t memspan_space_describe(memspan_space_h space,
                                                    memspan_space_info_t *info_p);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_SPACE_H */
