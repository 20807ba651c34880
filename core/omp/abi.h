/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_ABI_H
#define MEMSPAN_CORE_OMP_ABI_H

/* Every OpenMP name that the library exports, as the binary interface has it.
 *
 * Handles travel as the 64-bit words that all compilers make of their enumerations, so that this
 * room depends on no compiler's omp.h. Programs see the same names through <omp.h> and
 * <memspan/omp.h>. Nothing outside core/omp/ includes this. */

#include <memspan/queue.h>
#include <memspan/status.h>
#include <memspan/trait.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t msp_omp_allocator_t; /* omp_allocator_handle_t */
typedef uintptr_t msp_omp_space_t;     /* omp_memspace_handle_t */

MEMSPAN_BEGIN_DECLS

/* OpenMP 5.0 .. 6.0: allocators and memory. */
MEMSPAN_API msp_omp_allocator_t omp_init_allocator(msp_omp_space_t space, int trait_count,
                                                   const memspan_trait_t traits[]);
MEMSPAN_API void omp_destroy_allocator(msp_omp_allocator_t allocator);
MEMSPAN_API void omp_set_default_allocator(msp_omp_allocator_t allocator);
MEMSPAN_API msp_omp_allocator_t omp_get_default_allocator(void);
MEMSPAN_API void *omp_alloc(size_t size_bytes, msp_omp_allocator_t allocator);
MEMSPAN_API void *omp_aligned_alloc(size_t align_bytes, size_t size_bytes,
                                    msp_omp_allocator_t allocator);
MEMSPAN_API void *omp_calloc(size_t count, size_t size_bytes, msp_omp_allocator_t allocator);
MEMSPAN_API void *omp_aligned_calloc(size_t align_bytes, size_t count, size_t size_bytes,
                                     msp_omp_allocator_t allocator);
MEMSPAN_API void *omp_realloc(void *pointer, size_t size_bytes, msp_omp_allocator_t allocator,
                              msp_omp_allocator_t free_allocator);
MEMSPAN_API void omp_free(void *pointer, msp_omp_allocator_t allocator);

/* The proposal: a pointer to the handle, so that NULL can mean "there is none". */
MEMSPAN_API msp_omp_space_t *omp_get_target_memspace(int device_count, int *devices,
                                                     msp_omp_space_t space);

/* OpenMP 6.0: spaces and allocators for devices, parts of spaces. */
MEMSPAN_API msp_omp_space_t omp_get_devices_memspace(int device_count, const int *devices,
                                                     msp_omp_space_t space);
MEMSPAN_API msp_omp_space_t omp_get_device_memspace(int device, msp_omp_space_t space);
MEMSPAN_API msp_omp_space_t omp_get_devices_and_host_memspace(int device_count, const int *devices,
                                                              msp_omp_space_t space);
MEMSPAN_API msp_omp_space_t omp_get_device_and_host_memspace(int device, msp_omp_space_t space);
MEMSPAN_API msp_omp_space_t omp_get_devices_all_memspace(msp_omp_space_t space);
MEMSPAN_API msp_omp_allocator_t omp_get_devices_allocator(int device_count, const int *devices,
                                                          msp_omp_space_t space);
MEMSPAN_API msp_omp_allocator_t omp_get_device_allocator(int device, msp_omp_space_t space);
MEMSPAN_API msp_omp_allocator_t omp_get_devices_and_host_allocator(int device_count,
                                                                   const int *devices,
                                                                   msp_omp_space_t space);
MEMSPAN_API msp_omp_allocator_t omp_get_device_and_host_allocator(int device,
                                                                  msp_omp_space_t space);
MEMSPAN_API msp_omp_allocator_t omp_get_devices_all_allocator(msp_omp_space_t space);
MEMSPAN_API int omp_get_memspace_num_resources(msp_omp_space_t space);
MEMSPAN_API size_t omp_get_memspace_pagesize(msp_omp_space_t space);
MEMSPAN_API msp_omp_space_t omp_get_submemspace(msp_omp_space_t space, int resource_count,
                                                const int *resources);

/* OpenMP 6.0: memory partitioners. */
typedef uintptr_t msp_omp_partitioner_t; /* omp_mempartitioner_t */
struct msp_omp_partition;                /* omp_mempartition_t */

typedef void msp_omp_compute_t(msp_omp_space_t space, size_t size_bytes, intptr_t argument,
                               struct msp_omp_partition *partition);
typedef void msp_omp_release_t(struct msp_omp_partition *partition);

MEMSPAN_API void omp_init_mempartitioner(msp_omp_partitioner_t *partitioner, int lifetime,
                                         msp_omp_compute_t *compute, msp_omp_release_t *release);
MEMSPAN_API void omp_destroy_mempartitioner(const msp_omp_partitioner_t *partitioner);
MEMSPAN_API void omp_init_mempartition(struct msp_omp_partition *partition, size_t part_count,
                                       const void *user_data);
MEMSPAN_API void omp_destroy_mempartition(const struct msp_omp_partition *partition);
MEMSPAN_API int omp_mempartition_set_part(struct msp_omp_partition *partition, size_t part,
                                          int resource, size_t size_bytes);
MEMSPAN_API void *omp_mempartition_get_user_data(const struct msp_omp_partition *partition);

/* Device memory and devices. `depends` is the compiler's own and is never looked into. */
MEMSPAN_API void *omp_target_alloc(size_t size_bytes, int device);
MEMSPAN_API void omp_target_free(void *pointer, int device);
MEMSPAN_API int omp_target_is_present(const void *pointer, int device);
MEMSPAN_API int omp_target_is_accessible(const void *pointer, size_t size_bytes, int device);
MEMSPAN_API void *omp_get_mapped_ptr(const void *pointer, int device);
MEMSPAN_API int omp_target_memcpy(void *to, const void *from, size_t size_bytes, size_t to_offset,
                                  size_t from_offset, int to_device, int from_device);
MEMSPAN_API int omp_target_memcpy_async(void *to, const void *from, size_t size_bytes,
                                        size_t to_offset, size_t from_offset, int to_device,
                                        int from_device, int depend_count, void *depends);
MEMSPAN_API int omp_target_memcpy_rect(void *to, const void *from, size_t element_bytes,
                                       int dimensions, const size_t *volume,
                                       const size_t *to_offsets, const size_t *from_offsets,
                                       const size_t *to_dimensions, const size_t *from_dimensions,
                                       int to_device, int from_device);
MEMSPAN_API int omp_target_memcpy_rect_async(void *to, const void *from, size_t element_bytes,
                                             int dimensions, const size_t *volume,
                                             const size_t *to_offsets, const size_t *from_offsets,
                                             const size_t *to_dimensions,
                                             const size_t *from_dimensions, int to_device,
                                             int from_device, int depend_count, void *depends);
MEMSPAN_API void *omp_target_memset(void *pointer, int value, size_t size_bytes, int device);
MEMSPAN_API void *omp_target_memset_async(void *pointer, int value, size_t size_bytes, int device,
                                          int depend_count, void *depends);
MEMSPAN_API int omp_target_associate_ptr(const void *host_pointer, const void *device_pointer,
                                         size_t size_bytes, size_t device_offset, int device);
MEMSPAN_API int omp_target_disassociate_ptr(const void *pointer, int device);
MEMSPAN_API int omp_get_num_devices(void);
MEMSPAN_API int omp_get_initial_device(void);
MEMSPAN_API int omp_get_device_from_uid(const char *uid);
MEMSPAN_API const char *omp_get_uid_from_device(int device);

/* Interop objects. A handle is this library's own or the address of a runtime's object; LLVM's
 * header has the codes as int, GCC's as an enumeration. */
MEMSPAN_API int omp_get_num_interop_properties(uintptr_t interop);
MEMSPAN_API intptr_t omp_get_interop_int(uintptr_t interop, int property, int *code_p);
MEMSPAN_API void *omp_get_interop_ptr(uintptr_t interop, int property, int *code_p);
MEMSPAN_API const char *omp_get_interop_str(uintptr_t interop, int property, int *code_p);
MEMSPAN_API const char *omp_get_interop_name(uintptr_t interop, int property);
MEMSPAN_API const char *omp_get_interop_type_desc(uintptr_t interop, int property);
MEMSPAN_API const char *omp_get_interop_rc_desc(uintptr_t interop, int code);
MEMSPAN_API memspan_status_t memspan_queue_of_interop(uintptr_t interop, memspan_queue_h *queue_p);
MEMSPAN_API memspan_status_t memspan_interop_of_queue(memspan_queue_h queue, uintptr_t *interop_p);
MEMSPAN_API memspan_status_t memspan_omp_attach(void *pointer, uintptr_t interop);

/* The calls of Clang for the interop construct: those of LLVM 12 to 22, and those for which LLVM 21
 * and later have the first as wrappers. */
struct msp_omp_interop_context {
    uint32_t version;
    uint32_t flags; /* bit 0: of a dispatch construct, bit 1: nowait */
    int32_t thread;
};

struct msp_omp_dependences {
    int32_t count;
    void *list;
    int32_t other_count;
    void *others;
};

MEMSPAN_API void __tgt_interop_init(void *location, int32_t thread, uintptr_t *interop,
                                    int32_t type, int32_t device, int32_t depend_count,
                                    void *depends, int32_t nowait);
MEMSPAN_API void __tgt_interop_use(void *location, int32_t thread, uintptr_t *interop,
                                   int32_t device, int32_t depend_count, void *depends,
                                   int32_t nowait);
MEMSPAN_API void __tgt_interop_destroy(void *location, int32_t thread, uintptr_t *interop,
                                       int32_t device, int32_t depend_count, void *depends,
                                       int32_t nowait);
MEMSPAN_API uintptr_t __tgt_interop_get(void *location, int32_t type, int64_t device,
                                        int32_t preference_count, void *preferences,
                                        struct msp_omp_interop_context *context,
                                        struct msp_omp_dependences *depends);
MEMSPAN_API int __tgt_interop_use60(void *location, uintptr_t interop,
                                    struct msp_omp_interop_context *context,
                                    struct msp_omp_dependences *depends);
MEMSPAN_API int __tgt_interop_release(void *location, uintptr_t interop,
                                      struct msp_omp_interop_context *context,
                                      struct msp_omp_dependences *depends);

/* LLVM's direct routines. */
MEMSPAN_API void *llvm_omp_target_alloc_host(size_t size_bytes, int device);
MEMSPAN_API void *llvm_omp_target_alloc_shared(size_t size_bytes, int device);
MEMSPAN_API void *llvm_omp_target_alloc_device(size_t size_bytes, int device);
MEMSPAN_API void llvm_omp_target_free_host(void *pointer, int device);
MEMSPAN_API void llvm_omp_target_free_shared(void *pointer, int device);
MEMSPAN_API void llvm_omp_target_free_device(void *pointer, int device);
MEMSPAN_API void *llvm_omp_target_lock_mem(void *pointer, size_t size_bytes, int device);
MEMSPAN_API void llvm_omp_target_unlock_mem(void *pointer, int device);

/* The calls that compilers emit: GCC, LLVM, and LLVM's host runtime calling an offload library.
 */
MEMSPAN_API void *GOMP_alloc(size_t align_bytes, size_t size_bytes, msp_omp_allocator_t allocator);
MEMSPAN_API void GOMP_free(void *pointer, msp_omp_allocator_t allocator);
MEMSPAN_API void *__kmpc_alloc(int thread, size_t size_bytes, msp_omp_allocator_t allocator);
MEMSPAN_API void *__kmpc_aligned_alloc(int thread, size_t align_bytes, size_t size_bytes,
                                       msp_omp_allocator_t allocator);
MEMSPAN_API void *__kmpc_calloc(int thread, size_t count, size_t size_bytes,
                                msp_omp_allocator_t allocator);
MEMSPAN_API void *__kmpc_realloc(int thread, void *pointer, size_t size_bytes,
                                 msp_omp_allocator_t allocator, msp_omp_allocator_t free_allocator);
MEMSPAN_API void __kmpc_free(int thread, void *pointer, msp_omp_allocator_t allocator);
MEMSPAN_API msp_omp_allocator_t __kmpc_init_allocator(int thread, msp_omp_space_t space,
                                                      int trait_count, memspan_trait_t *traits);
MEMSPAN_API void __kmpc_destroy_allocator(int thread, msp_omp_allocator_t allocator);
MEMSPAN_API void __kmpc_set_default_allocator(int thread, msp_omp_allocator_t allocator);
MEMSPAN_API msp_omp_allocator_t __kmpc_get_default_allocator(int thread);
MEMSPAN_API int __tgt_get_num_devices(void);
MEMSPAN_API int __tgt_get_mem_resources(int device_count, const int *devices, int host,
                                        msp_omp_space_t space, int *resources);
MEMSPAN_API void *__tgt_omp_alloc(size_t size_bytes, msp_omp_allocator_t allocator);
MEMSPAN_API void __tgt_omp_free(void *pointer, msp_omp_allocator_t allocator);

/* The calls of Clang for target regions and mapped data. */
MEMSPAN_API int __tgt_target_kernel(void *location, int64_t device, int32_t teams, int32_t threads,
                                    void *region, void *arguments);
MEMSPAN_API int __tgt_target_kernel_nowait(void *location, int64_t device, int32_t teams,
                                           int32_t threads, void *region, void *arguments,
                                           int32_t depend_count, void *depends, int32_t other_count,
                                           void *others);
MEMSPAN_API void __tgt_target_data_begin_mapper(void *location, int64_t device, int32_t count,
                                                void **bases, void **begins, int64_t *sizes,
                                                int64_t *types, void **names, void **mappers);
MEMSPAN_API void __tgt_target_data_begin_nowait_mapper(void *location, int64_t device,
                                                       int32_t count, void **bases, void **begins,
                                                       int64_t *sizes, int64_t *types, void **names,
                                                       void **mappers, int32_t depend_count,
                                                       void *depends, int32_t other_count,
                                                       void *others);
MEMSPAN_API void __tgt_target_data_end_mapper(void *location, int64_t device, int32_t count,
                                              void **bases, void **begins, int64_t *sizes,
                                              int64_t *types, void **names, void **mappers);
MEMSPAN_API void __tgt_target_data_end_nowait_mapper(void *location, int64_t device, int32_t count,
                                                     void **bases, void **begins, int64_t *sizes,
                                                     int64_t *types, void **names, void **mappers,
                                                     int32_t depend_count, void *depends,
                                                     int32_t other_count, void *others);
MEMSPAN_API void __tgt_target_data_update_mapper(void *location, int64_t device, int32_t count,
                                                 void **bases, void **begins, int64_t *sizes,
                                                 int64_t *types, void **names, void **mappers);
MEMSPAN_API void __tgt_target_data_update_nowait_mapper(void *location, int64_t device,
                                                        int32_t count, void **bases, void **begins,
                                                        int64_t *sizes, int64_t *types,
                                                        void **names, void **mappers,
                                                        int32_t depend_count, void *depends,
                                                        int32_t other_count, void *others);
MEMSPAN_API void __tgt_push_mapper_component(void *components, void *base, void *begin,
                                             int64_t size_bytes, int64_t type, void *name);

/* Memory for mapped variables (memspan/omp.h); the names of an experimental LLVM. */
typedef void *msp_omp_map_alloc(size_t size_bytes);
typedef void msp_omp_map_free(void *pointer);
MEMSPAN_API int __tgt_set_device_allocator(int64_t device, msp_omp_map_alloc *alloc,
                                           msp_omp_map_free *release);
MEMSPAN_API int __tgt_reset_device_allocator(int64_t device);
MEMSPAN_API memspan_status_t memspan_map_symmetric(const void *pointer, size_t size_bytes);
MEMSPAN_API memspan_status_t memspan_map_symmetric_allocator(msp_omp_allocator_t allocator);

/* Symmetric memory (memspan/omp.h). */
typedef void *msp_omp_symmetric_alloc(size_t align_bytes, size_t size_bytes, int zeroed);
typedef void msp_omp_symmetric_free(void *pointer);
MEMSPAN_API void memspan_symmetric_allocator_set(msp_omp_symmetric_alloc *alloc,
                                                 msp_omp_symmetric_free *release);

/* Fortran: the routines that are not bind(c). Arguments by reference; the _8_ form is for
 * -fdefault-integer-8. */
MEMSPAN_API msp_omp_allocator_t omp_init_allocator_(const msp_omp_space_t *space,
                                                    const int32_t *trait_count,
                                                    const memspan_trait_t *traits);
MEMSPAN_API msp_omp_allocator_t omp_init_allocator_8_(const msp_omp_space_t *space,
                                                      const int64_t *trait_count,
                                                      const memspan_trait_t *traits);
MEMSPAN_API void omp_destroy_allocator_(const msp_omp_allocator_t *allocator);
MEMSPAN_API void omp_set_default_allocator_(const msp_omp_allocator_t *allocator);
MEMSPAN_API msp_omp_allocator_t omp_get_default_allocator_(void);
MEMSPAN_API msp_omp_space_t omp_get_devices_memspace_(const int32_t *device_count,
                                                      const int32_t *devices,
                                                      const msp_omp_space_t *space);
MEMSPAN_API msp_omp_space_t omp_get_device_memspace_(const int32_t *device,
                                                     const msp_omp_space_t *space);
MEMSPAN_API msp_omp_space_t omp_get_devices_and_host_memspace_(const int32_t *device_count,
                                                               const int32_t *devices,
                                                               const msp_omp_space_t *space);
MEMSPAN_API msp_omp_space_t omp_get_device_and_host_memspace_(const int32_t *device,
                                                              const msp_omp_space_t *space);
MEMSPAN_API msp_omp_space_t omp_get_devices_all_memspace_(const msp_omp_space_t *space);
MEMSPAN_API msp_omp_allocator_t omp_get_devices_allocator_(const int32_t *device_count,
                                                           const int32_t *devices,
                                                           const msp_omp_space_t *space);
MEMSPAN_API msp_omp_allocator_t omp_get_device_allocator_(const int32_t *device,
                                                          const msp_omp_space_t *space);
MEMSPAN_API msp_omp_allocator_t omp_get_devices_and_host_allocator_(const int32_t *device_count,
                                                                    const int32_t *devices,
                                                                    const msp_omp_space_t *space);
MEMSPAN_API msp_omp_allocator_t omp_get_device_and_host_allocator_(const int32_t *device,
                                                                   const msp_omp_space_t *space);
MEMSPAN_API msp_omp_allocator_t omp_get_devices_all_allocator_(const msp_omp_space_t *space);
MEMSPAN_API int32_t omp_get_memspace_num_resources_(const msp_omp_space_t *space);
MEMSPAN_API msp_omp_space_t omp_get_submemspace_(const msp_omp_space_t *space,
                                                 const int32_t *resource_count,
                                                 const int32_t *resources);
MEMSPAN_API void omp_init_mempartitioner_(msp_omp_partitioner_t *partitioner,
                                          const int32_t *lifetime, msp_omp_compute_t *compute,
                                          msp_omp_release_t *release);
MEMSPAN_API void omp_destroy_mempartitioner_(const msp_omp_partitioner_t *partitioner);
MEMSPAN_API void omp_destroy_mempartition_(const struct msp_omp_partition *partition);
MEMSPAN_API int32_t omp_get_num_devices_(void);
MEMSPAN_API int32_t omp_get_initial_device_(void);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_CORE_OMP_ABI_H */
