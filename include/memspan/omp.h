/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_OMP_H
#define MEMSPAN_OMP_H

/** @file omp.h The extended OpenMP names, over the compiler's own <omp.h>.
 *
 * Includes the compiler's own header and adds the missing names of OpenMP 5.1 to 6.0 memory
 * management, of the proposal "OpenMP device memory spaces", and of other vendors' names. Nothing
 * is redefined: missing enumerators are macros with a cast, with the numbers of the headers that
 * have them. The routines are in libmemspan, which comes before the OpenMP runtime in link order,
 * or in LD_PRELOAD.
 *
 * Handles are those of <memspan/space.h> and <memspan/allocator.h>; either may be cast to the
 * other.
 *
 * Header versions. The guard identifies the compiler's header: _OMP_H is GCC's, __OMP_H LLVM's and
 * Intel's. The prototypes below equal theirs, with the exception specification, so a second
 * declaration is valid; those that differ are left out by version:
 *   MEMSPAN_OMP_HEADER_HAS_SPACES        the 6.0 spaces and allocators (LLVM 21, Intel):
 *                                        omp_get_submemspace takes a non-const list there
 *   MEMSPAN_OMP_HEADER_HAS_PARTITIONERS  the 6.0 memory partitioners (no header yet)
 *   MEMSPAN_OMP_HEADER_HAS_INTEROP       the 5.1 interop objects (LLVM, Intel, GCC 15)
 * Define one as 0 or 1 before the #include where the guess is wrong.
 *
 * MEMSPAN_OMP_PAPER_NAMES, defined before the #include, adds the proposal's bare names:
 * memory_access, preferred_location, preferred_place, managed, coherent.
 *
 * Threads: every routine may be called by any thread, as in OpenMP.
 * Errors: a null handle or pointer, -1 or nonzero, as in OpenMP; memspan_error_text() of
 * <memspan/status.h> has the reason. */

#include <memspan/queue.h>
#include <memspan/status.h>
#include <stddef.h>
#include <stdint.h>

/* GCC 16's has templates, also where a program includes this inside of extern "C". */
#ifdef __cplusplus
extern "C++" {
#endif
#if defined(__has_include)
#if __has_include(<omp.h>)
#include <omp.h>
#endif
#else
#include <omp.h>
#endif
#ifdef __cplusplus
}
#endif

#if !defined(MEMSPAN_OMP_HEADER_HAS_SPACES)
#if defined(__OMP_H) &&                                                                            \
    (defined(__INTEL_LLVM_COMPILER) || (defined(__clang_major__) && (__clang_major__ >= 21)))
#define MEMSPAN_OMP_HEADER_HAS_SPACES 1
#else
#define MEMSPAN_OMP_HEADER_HAS_SPACES 0
#endif
#endif

#if !defined(MEMSPAN_OMP_HEADER_HAS_PARTITIONERS)
#define MEMSPAN_OMP_HEADER_HAS_PARTITIONERS 0
#endif

#if !defined(MEMSPAN_OMP_HEADER_HAS_INTEROP)
#if defined(__OMP_H) || (defined(_OMP_H) && defined(__GNUC__) && (__GNUC__ >= 15))
#define MEMSPAN_OMP_HEADER_HAS_INTEROP 1
#else
#define MEMSPAN_OMP_HEADER_HAS_INTEROP 0
#endif
#endif

/* GCC's header declares its routines as never throwing, LLVM's does not. */
#if !defined(_OMP_H)
#define MEMSPAN_OMP_NOTHROW
#elif defined(__cplusplus) && (__cplusplus >= 201103L)
#define MEMSPAN_OMP_NOTHROW noexcept
#elif defined(__cplusplus)
#define MEMSPAN_OMP_NOTHROW throw()
#else
#define MEMSPAN_OMP_NOTHROW __attribute__((__nothrow__))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- For a compiler without omp.h: types and routines of OpenMP 5.1 §3.7, §3.8, §3.13 ---- */

#if !defined(_OMP_H) && !defined(__OMP_H)

typedef uintptr_t omp_uintptr_t;
typedef uintptr_t omp_memspace_handle_t;
typedef uintptr_t omp_allocator_handle_t;
typedef unsigned omp_alloctrait_key_t;
typedef omp_uintptr_t omp_alloctrait_value_t;
typedef void *omp_depend_t;

typedef struct omp_alloctrait_t {
    omp_alloctrait_key_t key;
    omp_uintptr_t value;
} omp_alloctrait_t;

#define omp_default_mem_space   MEMSPAN_CONSTANT(omp_memspace_handle_t, 0)
#define omp_large_cap_mem_space MEMSPAN_CONSTANT(omp_memspace_handle_t, 1)
#define omp_const_mem_space     MEMSPAN_CONSTANT(omp_memspace_handle_t, 2)
#define omp_high_bw_mem_space   MEMSPAN_CONSTANT(omp_memspace_handle_t, 3)
#define omp_low_lat_mem_space   MEMSPAN_CONSTANT(omp_memspace_handle_t, 4)

#define omp_null_allocator      MEMSPAN_CONSTANT(omp_allocator_handle_t, 0)
#define omp_default_mem_alloc   MEMSPAN_CONSTANT(omp_allocator_handle_t, 1)
#define omp_large_cap_mem_alloc MEMSPAN_CONSTANT(omp_allocator_handle_t, 2)
#define omp_const_mem_alloc     MEMSPAN_CONSTANT(omp_allocator_handle_t, 3)
#define omp_high_bw_mem_alloc   MEMSPAN_CONSTANT(omp_allocator_handle_t, 4)
#define omp_low_lat_mem_alloc   MEMSPAN_CONSTANT(omp_allocator_handle_t, 5)
#define omp_cgroup_mem_alloc    MEMSPAN_CONSTANT(omp_allocator_handle_t, 6)
#define omp_pteam_mem_alloc     MEMSPAN_CONSTANT(omp_allocator_handle_t, 7)
#define omp_thread_mem_alloc    MEMSPAN_CONSTANT(omp_allocator_handle_t, 8)

#define omp_atk_sync_hint MEMSPAN_CONSTANT(omp_alloctrait_key_t, 1)
#define omp_atk_alignment MEMSPAN_CONSTANT(omp_alloctrait_key_t, 2)
#define omp_atk_access    MEMSPAN_CONSTANT(omp_alloctrait_key_t, 3)
#define omp_atk_pool_size MEMSPAN_CONSTANT(omp_alloctrait_key_t, 4)
#define omp_atk_fallback  MEMSPAN_CONSTANT(omp_alloctrait_key_t, 5)
#define omp_atk_fb_data   MEMSPAN_CONSTANT(omp_alloctrait_key_t, 6)
#define omp_atk_pinned    MEMSPAN_CONSTANT(omp_alloctrait_key_t, 7)
#define omp_atk_partition MEMSPAN_CONSTANT(omp_alloctrait_key_t, 8)

#define omp_atv_default        MEMSPAN_CONSTANT(omp_alloctrait_value_t, -1)
#define omp_atv_false          MEMSPAN_CONSTANT(omp_alloctrait_value_t, 0)
#define omp_atv_true           MEMSPAN_CONSTANT(omp_alloctrait_value_t, 1)
#define omp_atv_contended      MEMSPAN_CONSTANT(omp_alloctrait_value_t, 3)
#define omp_atv_uncontended    MEMSPAN_CONSTANT(omp_alloctrait_value_t, 4)
#define omp_atv_serialized     MEMSPAN_CONSTANT(omp_alloctrait_value_t, 5)
#define omp_atv_private        MEMSPAN_CONSTANT(omp_alloctrait_value_t, 6)
#define omp_atv_thread         MEMSPAN_CONSTANT(omp_alloctrait_value_t, 8)
#define omp_atv_pteam          MEMSPAN_CONSTANT(omp_alloctrait_value_t, 9)
#define omp_atv_cgroup         MEMSPAN_CONSTANT(omp_alloctrait_value_t, 10)
#define omp_atv_default_mem_fb MEMSPAN_CONSTANT(omp_alloctrait_value_t, 11)
#define omp_atv_null_fb        MEMSPAN_CONSTANT(omp_alloctrait_value_t, 12)
#define omp_atv_abort_fb       MEMSPAN_CONSTANT(omp_alloctrait_value_t, 13)
#define omp_atv_allocator_fb   MEMSPAN_CONSTANT(omp_alloctrait_value_t, 14)
#define omp_atv_environment    MEMSPAN_CONSTANT(omp_alloctrait_value_t, 15)
#define omp_atv_nearest        MEMSPAN_CONSTANT(omp_alloctrait_value_t, 16)
#define omp_atv_blocked        MEMSPAN_CONSTANT(omp_alloctrait_value_t, 17)
#define omp_atv_interleaved    MEMSPAN_CONSTANT(omp_alloctrait_value_t, 18)
#define omp_atv_all            MEMSPAN_CONSTANT(omp_alloctrait_value_t, 19)

extern omp_allocator_handle_t omp_init_allocator(omp_memspace_handle_t memspace, int ntraits,
                                                 const omp_alloctrait_t *traits);
extern void omp_destroy_allocator(omp_allocator_handle_t allocator);
extern void omp_set_default_allocator(omp_allocator_handle_t allocator);
extern omp_allocator_handle_t omp_get_default_allocator(void);
extern void *omp_alloc(size_t size, omp_allocator_handle_t allocator);
extern void *omp_aligned_alloc(size_t alignment, size_t size, omp_allocator_handle_t allocator);
extern void *omp_calloc(size_t nmemb, size_t size, omp_allocator_handle_t allocator);
extern void *omp_aligned_calloc(size_t alignment, size_t nmemb, size_t size,
                                omp_allocator_handle_t allocator);
extern void *omp_realloc(void *ptr, size_t size, omp_allocator_handle_t allocator,
                         omp_allocator_handle_t free_allocator);
extern void omp_free(void *ptr, omp_allocator_handle_t allocator);
extern int omp_get_num_devices(void);
extern int omp_get_initial_device(void);
extern void *omp_target_alloc(size_t size, int device_num);
extern void omp_target_free(void *device_ptr, int device_num);
extern int omp_target_is_present(const void *ptr, int device_num);
extern int omp_target_memcpy(void *dst, const void *src, size_t length, size_t dst_offset,
                             size_t src_offset, int dst_device_num, int src_device_num);
extern int omp_target_memcpy_rect(void *dst, const void *src, size_t element_size, int num_dims,
                                  const size_t *volume, const size_t *dst_offsets,
                                  const size_t *src_offsets, const size_t *dst_dimensions,
                                  const size_t *src_dimensions, int dst_device_num,
                                  int src_device_num);
extern int omp_target_associate_ptr(const void *host_ptr, const void *device_ptr, size_t size,
                                    size_t device_offset, int device_num);
extern int omp_target_disassociate_ptr(const void *ptr, int device_num);

#endif

/* ---- Trait keys and values ---- */

/* OpenMP 6.0 §8.2. */
#define omp_atk_pin_device       MEMSPAN_CONSTANT(omp_alloctrait_key_t, 9)
#define omp_atk_preferred_device MEMSPAN_CONSTANT(omp_alloctrait_key_t, 10)
#define omp_atk_device_access    MEMSPAN_CONSTANT(omp_alloctrait_key_t, 11)
#define omp_atk_target_access    MEMSPAN_CONSTANT(omp_alloctrait_key_t, 12)
#define omp_atk_atomic_scope     MEMSPAN_CONSTANT(omp_alloctrait_key_t, 13)
#define omp_atk_part_size        MEMSPAN_CONSTANT(omp_alloctrait_key_t, 14)
#define omp_atk_partitioner      MEMSPAN_CONSTANT(omp_alloctrait_key_t, 15)
#define omp_atk_partitioner_arg  MEMSPAN_CONSTANT(omp_alloctrait_key_t, 16)

/* 7 is omp_atv_all in older headers; on the devices of one allocator both mean the same threads. */
#define omp_atv_device      MEMSPAN_CONSTANT(omp_uintptr_t, 7)
#define omp_atv_single      MEMSPAN_CONSTANT(omp_uintptr_t, 20)
#define omp_atv_multiple    MEMSPAN_CONSTANT(omp_uintptr_t, 21)
#define omp_atv_memspace    MEMSPAN_CONSTANT(omp_uintptr_t, 22)
#define omp_atv_partitioner MEMSPAN_CONSTANT(omp_uintptr_t, 23)

/** Traits of the proposal (§4.2, §4.3): the synchronisation model, the first residence (a device
 * number), the nearest place (a number in OMP_PLACES order). */
#define omp_atk_memory_access      MEMSPAN_CONSTANT(omp_alloctrait_key_t, 0x4d01)
#define omp_atk_preferred_location MEMSPAN_CONSTANT(omp_alloctrait_key_t, 0x4d02)
#define omp_atk_preferred_place    MEMSPAN_CONSTANT(omp_alloctrait_key_t, 0x4d03)
#define omp_atv_managed            MEMSPAN_CONSTANT(omp_uintptr_t, 0x4d01)
#define omp_atv_coherent           MEMSPAN_CONSTANT(omp_uintptr_t, 0x4d02)

/** Extensions: with guarantee = required a request that cannot be satisfied exactly gives a null
 * allocator; page_size in bytes; shareable with other processes and network cards (share.h). */
#define omp_atk_guarantee MEMSPAN_CONSTANT(omp_alloctrait_key_t, 0x4d04)
#define omp_atk_page_size MEMSPAN_CONSTANT(omp_alloctrait_key_t, 0x4d05)
#define omp_atk_shareable MEMSPAN_CONSTANT(omp_alloctrait_key_t, 0x4d06)
#define omp_atv_preferred MEMSPAN_CONSTANT(omp_uintptr_t, 0x4d03)
#define omp_atv_required  MEMSPAN_CONSTANT(omp_uintptr_t, 0x4d04)

#ifdef MEMSPAN_OMP_PAPER_NAMES
#define memory_access      omp_atk_memory_access
#define preferred_location omp_atk_preferred_location
#define preferred_place    omp_atk_preferred_place
#define managed            omp_atv_managed
#define coherent           omp_atv_coherent
#endif

/* ---- Predefined handles ---- */

#if !MEMSPAN_OMP_HEADER_HAS_SPACES
/* In these headers omp_default_mem_space is 0 too; a routine that returns 0 has failed. */
#define omp_null_mem_space MEMSPAN_CONSTANT(omp_memspace_handle_t, 0)
#endif

/* Intel's names; in Intel's own header they are enumerators of the same numbers. */
#define omp_target_host_mem_space   MEMSPAN_CONSTANT(omp_memspace_handle_t, 100)
#define omp_target_shared_mem_space MEMSPAN_CONSTANT(omp_memspace_handle_t, 101)
#define omp_target_device_mem_space MEMSPAN_CONSTANT(omp_memspace_handle_t, 102)
#define omp_target_host_mem_alloc   MEMSPAN_CONSTANT(omp_allocator_handle_t, 100)
#define omp_target_shared_mem_alloc MEMSPAN_CONSTANT(omp_allocator_handle_t, 101)
#define omp_target_device_mem_alloc MEMSPAN_CONSTANT(omp_allocator_handle_t, 102)

#if !defined(__OMP_H)
/* LLVM's names. */
#define llvm_omp_target_host_mem_space   MEMSPAN_CONSTANT(omp_memspace_handle_t, 100)
#define llvm_omp_target_shared_mem_space MEMSPAN_CONSTANT(omp_memspace_handle_t, 101)
#define llvm_omp_target_device_mem_space MEMSPAN_CONSTANT(omp_memspace_handle_t, 102)
#define llvm_omp_target_host_mem_alloc   MEMSPAN_CONSTANT(omp_allocator_handle_t, 100)
#define llvm_omp_target_shared_mem_alloc MEMSPAN_CONSTANT(omp_allocator_handle_t, 101)
#define llvm_omp_target_device_mem_alloc MEMSPAN_CONSTANT(omp_allocator_handle_t, 102)
#endif

/* GCC's names. */
#define ompx_gnu_managed_mem_space MEMSPAN_CONSTANT(omp_memspace_handle_t, 200)
#define ompx_gnu_pinned_mem_alloc  MEMSPAN_CONSTANT(omp_allocator_handle_t, 200)
#define ompx_gnu_managed_mem_alloc MEMSPAN_CONSTANT(omp_allocator_handle_t, 201)

/** The symmetric heap of OpenSHMEM, on the host: omp_alloc() and the rest are shmem_malloc(3) and
 * so on, collective over all PEs. No traits, no fallback: NULL in all PEs. Source: our own; the
 * omp_shmem_mem_alloc of the paper on OpenMP and OpenSHMEM is for mapped variables, which
 * memspan_map_symmetric() serves. */
#define memspan_omp_symmetric_mem_space MEMSPAN_CONSTANT(omp_memspace_handle_t, 300)
#define memspan_omp_symmetric_mem_alloc MEMSPAN_CONSTANT(omp_allocator_handle_t, 300)

#ifndef omp_initial_device
#define omp_initial_device (-1)
#endif
#ifndef omp_invalid_device
#if defined(__OMP_H)
#define omp_invalid_device (-2)
#else
#define omp_invalid_device (-4)
#endif
#endif

/* ---- Memory spaces for devices ---- */

/** The space of memory that all @p count devices of @p dev_nums reach; the host may be among them.
 * @p existing_memory_space is a hint. The handle stays at the returned address for the rest of the
 * process; the same request gives the same address. NULL: no memory reaches all of them, or a
 * number is not valid. Numbers are the runtime's: where it has no devices, 0 is the host, and
 * devices that only this library has are numbered by MEMSPAN_DEVICES alone. -1 always means the
 * host. Source: proposal §4.1. */
extern omp_memspace_handle_t *
omp_get_target_memspace(int count, int *dev_nums,
                        omp_memspace_handle_t existing_memory_space) MEMSPAN_OMP_NOTHROW;

#if !MEMSPAN_OMP_HEADER_HAS_SPACES
/* OpenMP 6.0 §27.1 (spaces), §27.8 (allocators), §27.2 (resources), §27.4 (sub-spaces). Null handle
 * on failure. */
extern omp_memspace_handle_t
omp_get_devices_memspace(int ndevs, const int *devs,
                         omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_memspace_handle_t
omp_get_device_memspace(int dev, omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_memspace_handle_t
omp_get_devices_and_host_memspace(int ndevs, const int *devs,
                                  omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_memspace_handle_t
omp_get_device_and_host_memspace(int dev, omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_memspace_handle_t
omp_get_devices_all_memspace(omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_allocator_handle_t
omp_get_devices_allocator(int ndevs, const int *devs,
                          omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_allocator_handle_t
omp_get_device_allocator(int dev, omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_allocator_handle_t
omp_get_devices_and_host_allocator(int ndevs, const int *devs,
                                   omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_allocator_handle_t
omp_get_device_and_host_allocator(int dev, omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_allocator_handle_t
omp_get_devices_all_allocator(omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern int omp_get_memspace_num_resources(omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;
extern omp_memspace_handle_t omp_get_submemspace(omp_memspace_handle_t memspace, int num_resources,
                                                 const int *resources) MEMSPAN_OMP_NOTHROW;
#endif
/* OpenMP 6.0 §27.3. Bytes. */
extern size_t omp_get_memspace_pagesize(omp_memspace_handle_t memspace) MEMSPAN_OMP_NOTHROW;

/* ---- Memory partitioners (OpenMP 6.0 §27.5) ---- */

#if !MEMSPAN_OMP_HEADER_HAS_PARTITIONERS

typedef intptr_t omp_alloctrait_val_t;

/** Opaque. The value of omp_atk_partitioner is the partitioner or its address. */
typedef omp_uintptr_t omp_mempartitioner_t;

/** Opaque; callbacks get its address. */
typedef struct omp_mempartition_t {
    omp_uintptr_t memspan_opaque[8];
} omp_mempartition_t;

typedef enum omp_mempartitioner_lifetime_t {
    omp_static_mempartition    = 1, /**< one partition for equal space and size */
    omp_allocator_mempartition = 2, /**< one for each allocator and size */
    omp_dynamic_mempartition   = 3  /**< one for each allocation */
} omp_mempartitioner_lifetime_t;

typedef void (*omp_mempartitioner_compute_proc_t)(omp_memspace_handle_t memspace,
                                                  size_t allocation_size,
                                                  omp_alloctrait_val_t partitioner_arg,
                                                  omp_mempartition_t *partition);
typedef void (*omp_mempartitioner_release_proc_t)(omp_mempartition_t *partition);

extern void
omp_init_mempartitioner(omp_mempartitioner_t *partitioner, omp_mempartitioner_lifetime_t lifetime,
                        omp_mempartitioner_compute_proc_t compute_proc,
                        omp_mempartitioner_release_proc_t release_proc) MEMSPAN_OMP_NOTHROW;
extern void omp_destroy_mempartitioner(const omp_mempartitioner_t *partitioner) MEMSPAN_OMP_NOTHROW;
extern void omp_init_mempartition(omp_mempartition_t *partition, size_t nparts,
                                  const void *user_data) MEMSPAN_OMP_NOTHROW;
extern void omp_destroy_mempartition(const omp_mempartition_t *partition) MEMSPAN_OMP_NOTHROW;
extern int omp_mempartition_set_part(omp_mempartition_t *partition, size_t part, int resource,
                                     size_t size) MEMSPAN_OMP_NOTHROW;
extern void *
omp_mempartition_get_user_data(const omp_mempartition_t *partition) MEMSPAN_OMP_NOTHROW;

#endif

/* ---- Device memory (OpenMP 5.2 §18.8, 6.0 §25): absent before GCC 16 and LLVM 19 ---- */

extern int omp_target_is_accessible(const void *ptr, size_t size,
                                    int device_num) MEMSPAN_OMP_NOTHROW;
extern void *omp_get_mapped_ptr(const void *ptr, int device_num) MEMSPAN_OMP_NOTHROW;
extern int omp_target_memcpy_async(void *dst, const void *src, size_t length, size_t dst_offset,
                                   size_t src_offset, int dst_device_num, int src_device_num,
                                   int depobj_count, omp_depend_t *depobj_list) MEMSPAN_OMP_NOTHROW;
extern int omp_target_memcpy_rect_async(void *dst, const void *src, size_t element_size,
                                        int num_dims, const size_t *volume,
                                        const size_t *dst_offsets, const size_t *src_offsets,
                                        const size_t *dst_dimensions, const size_t *src_dimensions,
                                        int dst_device_num, int src_device_num, int depobj_count,
                                        omp_depend_t *depobj_list) MEMSPAN_OMP_NOTHROW;
extern void *omp_target_memset(void *ptr, int val, size_t count,
                               int device_num) MEMSPAN_OMP_NOTHROW;
extern void *omp_target_memset_async(void *ptr, int val, size_t count, int device_num,
                                     int depobj_count,
                                     omp_depend_t *depobj_list) MEMSPAN_OMP_NOTHROW;
extern int omp_get_device_from_uid(const char *uid) MEMSPAN_OMP_NOTHROW;
extern const char *omp_get_uid_from_device(int device_num) MEMSPAN_OMP_NOTHROW;

/* ---- Memory of mapped variables ---- */

/** From now on, map clauses take the memory of variables on device @p device_num from @p alloc, and
 * return it to @p release. The functions are called by the threads that map, one at a time, may be
 * called until __tgt_reset_device_allocator(), and must not map. @p alloc returns memory that the
 * device can use, aligned to 16 bytes or more; with NULL the variable gets the runtime's memory.
 * Where the runtime is not Clang's, or comes before libmemspan in link order, only variables that
 * memspan_map_symmetric() names do. 0, or -1: no such device, a NULL function, or a runtime without
 * omp_target_associate_ptr(). Source: the paper on OpenMP and OpenSHMEM; an experimental LLVM. */
extern int __tgt_set_device_allocator(int64_t device_num, void *(*alloc)(size_t size),
                                      void (*release)(void *ptr)) MEMSPAN_OMP_NOTHROW;
/** The runtime's memory again. Variables that are still mapped are unmapped without a copy. 0, or
 * -1: there is no such allocator. */
extern int __tgt_reset_device_allocator(int64_t device_num) MEMSPAN_OMP_NOTHROW;

/** Of all variables, only those within the @p size bytes at @p ptr, and within ranges named before,
 * take their memory from the devices' allocators. @p size 0: the range that begins at @p ptr is no
 * longer named. Variables that are mapped already keep their memory. Where map clauses are not seen
 * (above), the variable is associated with its memory now, until size 0, and only target update and
 * "always" copy it.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no device had an allocator yet, or no such range),
 * MEMSPAN_ERR_INVALID (@p ptr NULL, or named with another size), MEMSPAN_ERR_NO_MEMORY (also:
 * mapped already, where the memory is taken now). */
MEMSPAN_API memspan_status_t memspan_map_symmetric(const void *ptr, size_t size);

/** The same for all variables in memory of @p allocator, which may be allocated before or after.
 * The name ends with the allocator. Errors: MEMSPAN_ERR_NOT_FOUND (no device had an allocator for
 * mapped variables yet), MEMSPAN_ERR_INVALID (no such allocator of Memspan's),
 * MEMSPAN_ERR_UNSUPPORTED (map clauses are not seen), MEMSPAN_ERR_NO_MEMORY. */
MEMSPAN_API memspan_status_t memspan_map_symmetric_allocator(omp_allocator_handle_t allocator);

/** The functions behind memspan_omp_symmetric_mem_alloc, for libraries of OpenSHMEM:
 * libmemspan-shmem sets its own in shmem_init(). @p alignment 0: none; @p zeroed: as omp_calloc().
 * NULL: none from now on. */
MEMSPAN_API void memspan_symmetric_allocator_set(void *(*alloc)(size_t alignment, size_t size,
                                                                int zeroed),
                                                 void (*release)(void *ptr));

/* ---- Interop objects and queues (OpenMP 5.1 §2.15, §3.12) ---- */

#if !MEMSPAN_OMP_HEADER_HAS_INTEROP

typedef intptr_t omp_intptr_t;
typedef uintptr_t omp_interop_t;
typedef int omp_interop_property_t;
typedef int omp_interop_rc_t;
typedef int omp_interop_fr_t;

#define omp_interop_none MEMSPAN_CONSTANT(omp_interop_t, 0)

#define omp_ipr_fr_id          MEMSPAN_CONSTANT(omp_interop_property_t, -1)
#define omp_ipr_fr_name        MEMSPAN_CONSTANT(omp_interop_property_t, -2)
#define omp_ipr_vendor         MEMSPAN_CONSTANT(omp_interop_property_t, -3)
#define omp_ipr_vendor_name    MEMSPAN_CONSTANT(omp_interop_property_t, -4)
#define omp_ipr_device_num     MEMSPAN_CONSTANT(omp_interop_property_t, -5)
#define omp_ipr_platform       MEMSPAN_CONSTANT(omp_interop_property_t, -6)
#define omp_ipr_device         MEMSPAN_CONSTANT(omp_interop_property_t, -7)
#define omp_ipr_device_context MEMSPAN_CONSTANT(omp_interop_property_t, -8)
#define omp_ipr_targetsync     MEMSPAN_CONSTANT(omp_interop_property_t, -9)
#define omp_ipr_first          MEMSPAN_CONSTANT(omp_interop_property_t, -9)

#define omp_irc_no_value     MEMSPAN_CONSTANT(omp_interop_rc_t, 1)
#define omp_irc_success      MEMSPAN_CONSTANT(omp_interop_rc_t, 0)
#define omp_irc_empty        MEMSPAN_CONSTANT(omp_interop_rc_t, -1)
#define omp_irc_out_of_range MEMSPAN_CONSTANT(omp_interop_rc_t, -2)
#define omp_irc_type_int     MEMSPAN_CONSTANT(omp_interop_rc_t, -3)
#define omp_irc_type_ptr     MEMSPAN_CONSTANT(omp_interop_rc_t, -4)
#define omp_irc_type_str     MEMSPAN_CONSTANT(omp_interop_rc_t, -5)
#define omp_irc_other        MEMSPAN_CONSTANT(omp_interop_rc_t, -6)

#define omp_ifr_cuda        MEMSPAN_CONSTANT(omp_interop_fr_t, 1)
#define omp_ifr_cuda_driver MEMSPAN_CONSTANT(omp_interop_fr_t, 2)
#define omp_ifr_opencl      MEMSPAN_CONSTANT(omp_interop_fr_t, 3)
#define omp_ifr_sycl        MEMSPAN_CONSTANT(omp_interop_fr_t, 4)
#define omp_ifr_hip         MEMSPAN_CONSTANT(omp_interop_fr_t, 5)
#define omp_ifr_level_zero  MEMSPAN_CONSTANT(omp_interop_fr_t, 6)

extern int omp_get_num_interop_properties(omp_interop_t interop) MEMSPAN_OMP_NOTHROW;
extern omp_intptr_t omp_get_interop_int(omp_interop_t interop, omp_interop_property_t property_id,
                                        omp_interop_rc_t *ret_code) MEMSPAN_OMP_NOTHROW;
extern void *omp_get_interop_ptr(omp_interop_t interop, omp_interop_property_t property_id,
                                 omp_interop_rc_t *ret_code) MEMSPAN_OMP_NOTHROW;
extern const char *omp_get_interop_str(omp_interop_t interop, omp_interop_property_t property_id,
                                       omp_interop_rc_t *ret_code) MEMSPAN_OMP_NOTHROW;
extern const char *omp_get_interop_name(omp_interop_t interop,
                                        omp_interop_property_t property_id) MEMSPAN_OMP_NOTHROW;
extern const char *
omp_get_interop_type_desc(omp_interop_t interop,
                          omp_interop_property_t property_id) MEMSPAN_OMP_NOTHROW;
extern const char *omp_get_interop_rc_desc(omp_interop_t interop,
                                           omp_interop_rc_t ret_code) MEMSPAN_OMP_NOTHROW;

#endif

/** The foreign runtime of interop objects whose property omp_ipr_targetsync is a memspan_queue_h.
 * Clang's interop construct gets them, from this library, for the host, for emulated devices and
 * others that only this library has, and for its x86-64 devices; other devices have the OpenMP
 * runtime's objects. */
#define omp_ifr_memspan MEMSPAN_CONSTANT(omp_interop_fr_t, 0x4d01)

/** The queue of an interop object that was made with targetsync: the object's own, or a lasting
 * queue over the stream of a runtime's object (foreign runtimes cuda, cuda_driver, hip, opencl).
 * The latter is closed with memspan_queue_close() before the object is destroyed; closing the
 * object's own destroys the object. Errors: MEMSPAN_ERR_INVALID (omp_interop_none, queue_p NULL, an
 * object without a queue), MEMSPAN_ERR_NOT_FOUND (an object that was destroyed),
 * MEMSPAN_ERR_UNSUPPORTED (another foreign runtime), and those of memspan_queue_open(). */
MEMSPAN_API memspan_status_t memspan_queue_of_interop(omp_interop_t interop,
                                                      memspan_queue_h *queue_p);

/** An interop object for a queue: the getters have its device and, for a queue over a stream of the
 * program, the stream and its foreign runtime. OpenMP has no routine that makes such objects, and
 * no runtime knows others than its own. So this one serves where this library comes before the
 * runtime: in all getters, and in Clang's interop construct, where use waits for the queue and
 * destroy leaves it open. GCC's construct must not get it. The object ends with the queue. Errors:
 * MEMSPAN_ERR_NOT_FOUND (no such queue), MEMSPAN_ERR_INVALID (interop_p NULL). */
MEMSPAN_API memspan_status_t memspan_interop_of_queue(memspan_queue_h queue,
                                                      omp_interop_t *interop_p);

/** Attach a block of managed memory to the queue of an interop object that was made with
 * targetsync: memspan_queue_attach() by OpenMP's means. omp_interop_none: detach it. The stream of
 * a runtime's object has one queue here (memspan_queue_get()). A refusal is logged as a warning,
 * too. Any thread may call it. Errors: MEMSPAN_ERR_UNSUPPORTED, MEMSPAN_ERR_INVALID,
 * MEMSPAN_ERR_NOT_FOUND and the others of memspan_queue_of_interop() and memspan_queue_attach(). */
MEMSPAN_API memspan_status_t memspan_omp_attach(void *pointer, omp_interop_t interop);

/* ---- In the order of tasks ---- */

#ifdef _OPENMP
/** memspan_omp_attach() in a task that depends on what @p depobj has: after earlier tasks that use
 * the memory, and before later ones. A later `interop use(object) depend(...) nowait` makes the
 * queue's work one of these tasks, and a taskwait with that dependence gives the host this block
 * alone, while other work goes on. The depend object may be destroyed after the call. Errors are
 * logged, and are those of the task's thread. Inline, as the next one. */
static inline void memspan_omp_attach_async(void *pointer, omp_interop_t interop,
                                            omp_depend_t *depobj)
{
#pragma omp task firstprivate(pointer, interop) depend(depobj : *depobj)
    (void)memspan_omp_attach(pointer, interop);
}

/** Free memory of omp_alloc(), or of any allocator of Memspan, in a task that depends on what
 * @p depobj has. The depend object may be destroyed after the call. As with all dependences, the
 * free waits for tasks of the same parent. Inline, because the program's compiler makes the task.
 * Any thread may call it. An address that is no live block is an error of the task's thread. */
static inline void memspan_omp_free_async(void *pointer, omp_depend_t *depobj)
{
#pragma omp task firstprivate(pointer) depend(depobj : *depobj)
    omp_free(pointer, omp_null_allocator);
}
#endif

/* ---- LLVM's direct routines, for every compiler ---- */

extern void *llvm_omp_target_alloc_host(size_t size, int device_num) MEMSPAN_OMP_NOTHROW;
extern void *llvm_omp_target_alloc_shared(size_t size, int device_num) MEMSPAN_OMP_NOTHROW;
extern void *llvm_omp_target_alloc_device(size_t size, int device_num) MEMSPAN_OMP_NOTHROW;
extern void llvm_omp_target_free_host(void *ptr, int device_num) MEMSPAN_OMP_NOTHROW;
extern void llvm_omp_target_free_shared(void *ptr, int device_num) MEMSPAN_OMP_NOTHROW;
extern void llvm_omp_target_free_device(void *ptr, int device_num) MEMSPAN_OMP_NOTHROW;
extern void *llvm_omp_target_lock_mem(void *ptr, size_t size, int device_num) MEMSPAN_OMP_NOTHROW;
extern void llvm_omp_target_unlock_mem(void *ptr, int device_num) MEMSPAN_OMP_NOTHROW;

#ifdef __cplusplus
}
#endif
#endif /* MEMSPAN_OMP_H */
