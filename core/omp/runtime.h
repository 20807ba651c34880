/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_RUNTIME_H
#define MEMSPAN_CORE_OMP_RUNTIME_H

/* The real OpenMP runtime's routines, which our definitions hide. Each is looked up once; after
 * that a call costs one load. */

#include "core/base/platform.h"
#include <stdatomic.h>

/* X(symbol, name): what the runtime that comes next in lookup order defines. */
#define MEMSPAN_OMP_REAL_MAP(X)                                                                    \
    X(GET_DEFAULT_ALLOCATOR, "omp_get_default_allocator")                                          \
    X(SET_DEFAULT_ALLOCATOR, "omp_set_default_allocator")                                          \
    X(KMPC_GET_DEFAULT_ALLOCATOR, "__kmpc_get_default_allocator")                                  \
    X(KMPC_SET_DEFAULT_ALLOCATOR, "__kmpc_set_default_allocator")                                  \
    X(GET_NUM_DEVICES, "omp_get_num_devices")                                                      \
    X(GET_INITIAL_DEVICE, "omp_get_initial_device")                                                \
    X(GET_DEFAULT_DEVICE, "omp_get_default_device")                                                \
    X(GET_LEVEL, "omp_get_level")                                                                  \
    X(GET_ANCESTOR_THREAD_NUM, "omp_get_ancestor_thread_num")                                      \
    X(GET_TEAM_NUM, "omp_get_team_num")                                                            \
    X(TASKWAIT, "GOMP_taskwait")                                                                   \
    X(DESTROY_ALLOCATOR, "omp_destroy_allocator")                                                  \
    X(FREE, "omp_free")                                                                            \
    X(ALLOC, "omp_alloc")                                                                          \
    X(ALIGNED_ALLOC, "omp_aligned_alloc")                                                          \
    X(CALLOC, "omp_calloc")                                                                        \
    X(ALIGNED_CALLOC, "omp_aligned_calloc")                                                        \
    X(TARGET_ALLOC, "omp_target_alloc")                                                            \
    X(TARGET_FREE, "omp_target_free")                                                              \
    X(TARGET_IS_PRESENT, "omp_target_is_present")                                                  \
    X(TARGET_IS_ACCESSIBLE, "omp_target_is_accessible")                                            \
    X(GET_MAPPED_PTR, "omp_get_mapped_ptr")                                                        \
    X(TARGET_MEMCPY, "omp_target_memcpy")                                                          \
    X(TARGET_MEMCPY_ASYNC, "omp_target_memcpy_async")                                              \
    X(TARGET_MEMCPY_RECT, "omp_target_memcpy_rect")                                                \
    X(TARGET_MEMCPY_RECT_ASYNC, "omp_target_memcpy_rect_async")                                    \
    X(TARGET_MEMSET, "omp_target_memset")                                                          \
    X(TARGET_MEMSET_ASYNC, "omp_target_memset_async")                                              \
    X(TARGET_ASSOCIATE_PTR, "omp_target_associate_ptr")                                            \
    X(TARGET_DISASSOCIATE_PTR, "omp_target_disassociate_ptr")                                      \
    X(GET_DEVICE_FROM_UID, "omp_get_device_from_uid")                                              \
    X(GET_UID_FROM_DEVICE, "omp_get_uid_from_device")                                              \
    X(LLVM_ALLOC_HOST, "llvm_omp_target_alloc_host")                                               \
    X(LLVM_ALLOC_SHARED, "llvm_omp_target_alloc_shared")                                           \
    X(LLVM_ALLOC_DEVICE, "llvm_omp_target_alloc_device")                                           \
    X(LLVM_FREE_HOST, "llvm_omp_target_free_host")                                                 \
    X(LLVM_FREE_SHARED, "llvm_omp_target_free_shared")                                             \
    X(LLVM_FREE_DEVICE, "llvm_omp_target_free_device")                                             \
    X(LLVM_LOCK_MEM, "llvm_omp_target_lock_mem")                                                   \
    X(LLVM_UNLOCK_MEM, "llvm_omp_target_unlock_mem")                                               \
    X(OFFLOAD_REGISTER, "__tgt_register_lib")                                                      \
    X(TGT_KERNEL, "__tgt_target_kernel")                                                           \
    X(TGT_KERNEL_NOWAIT, "__tgt_target_kernel_nowait")                                             \
    X(TGT_DATA_BEGIN, "__tgt_target_data_begin_mapper")                                            \
    X(TGT_DATA_BEGIN_NOWAIT, "__tgt_target_data_begin_nowait_mapper")                              \
    X(TGT_DATA_END, "__tgt_target_data_end_mapper")                                                \
    X(TGT_DATA_END_NOWAIT, "__tgt_target_data_end_nowait_mapper")                                  \
    X(TGT_DATA_UPDATE, "__tgt_target_data_update_mapper")                                          \
    X(TGT_DATA_UPDATE_NOWAIT, "__tgt_target_data_update_nowait_mapper")

enum memspan_omp_real {
#define REAL_ENUM(symbol, name) MEMSPAN_OMP_REAL_##symbol,
    MEMSPAN_OMP_REAL_MAP(REAL_ENUM)
#undef REAL_ENUM
        MEMSPAN_OMP_REAL_COUNT
};

/* Addresses by enum memspan_omp_real: 0 not looked for yet, 1 absent. */
extern _Atomic(uintptr_t) memspan_omp_reals[MEMSPAN_OMP_REAL_COUNT];

uintptr_t memspan_omp_real_find(enum memspan_omp_real which);

/* The routine's address, 0 where no runtime has it. */
static inline uintptr_t memspan_omp_real(enum memspan_omp_real which)
{
    uintptr_t address = atomic_load_explicit(&memspan_omp_reals[which], memory_order_acquire);

    if (MEMSPAN_LIKELY(address > 1)) {
        return address;
    }
    return (address == 1) ? 0 : memspan_omp_real_find(which);
}

/* A runtime may have been loaded since something was found absent: look again when next asked. */
void memspan_omp_real_forget_absent(void);

/* The two families of runtimes that this library knows by their blocks. */
enum memspan_omp_family { MEMSPAN_OMP_LIBGOMP, MEMSPAN_OMP_LIBOMP, MEMSPAN_OMP_FAMILY_COUNT };

/* @p name in the runtime of that family, wherever it is in lookup order; 0 when that family is not
 * in the process. Not for hot paths. */
uintptr_t memspan_omp_family_find(enum memspan_omp_family family, const char *name);

/* @p name in LLVM's offload runtime; 0 when it is not in the process. Not for hot paths. */
uintptr_t memspan_omp_offload_find(const char *name);

#endif /* MEMSPAN_CORE_OMP_RUNTIME_H */
