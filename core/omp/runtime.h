/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_RUNTIME_H
#define MEMSPAN_CORE_OMP_RUNTIME_H

/* The real OpenMP runtimes' routines, which our definitions hide.
 *
 * A process may have several runtimes: plug-ins of different compilers bring their own. A call is
 * served by the runtime of the code that makes it, which is the one that makes its teams: where the
 * parallel regions of the object that holds the return address are bound to. That may be another
 * compiler's: libomp exports the entry points of GCC, and LLVM's offload runtime makes libomp
 * visible everywhere. Code without parallel regions has the first runtime among its object's
 * dependencies. Code that depends on none (it is not linked with one, or is no object's) has the
 * default: the next one in load order. Each routine is looked up once a runtime, and the runtime of
 * a return address is cached: after that both cost a load. A call from a new address drops the
 * cache when an object has been loaded or unloaded since: parallel regions that the linker has not
 * bound yet may have another runtime then. */

#include "core/base/object.h"
#include "core/base/platform.h"
#include <stdatomic.h>
#include <stdbool.h>

/* X(symbol, name) */
#define MSP_OMP_REAL_MAP(X)                                                                        \
    X(GET_DEFAULT_ALLOCATOR, "omp_get_default_allocator")                                          \
    X(SET_DEFAULT_ALLOCATOR, "omp_set_default_allocator")                                          \
    X(KMPC_GET_DEFAULT_ALLOCATOR, "__kmpc_get_default_allocator")                                  \
    X(KMPC_SET_DEFAULT_ALLOCATOR, "__kmpc_set_default_allocator")                                  \
    X(GET_NUM_DEVICES, "omp_get_num_devices")                                                      \
    X(GET_INITIAL_DEVICE, "omp_get_initial_device")                                                \
    X(GET_DEFAULT_DEVICE, "omp_get_default_device")                                                \
    X(GET_NUM_PLACES, "omp_get_num_places")                                                        \
    X(GET_PLACE_NUM_PROCS, "omp_get_place_num_procs")                                              \
    X(GET_PLACE_PROC_IDS, "omp_get_place_proc_ids")                                                \
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
    X(INIT_ALLOCATOR, "omp_init_allocator")                                                        \
    X(KMPC_INIT_ALLOCATOR, "__kmpc_init_allocator")                                                \
    X(KMPC_DESTROY_ALLOCATOR, "__kmpc_destroy_allocator")                                          \
    X(KMPC_ALLOC, "__kmpc_alloc")                                                                  \
    X(KMPC_ALIGNED_ALLOC, "__kmpc_aligned_alloc")                                                  \
    X(KMPC_CALLOC, "__kmpc_calloc")                                                                \
    X(KMPC_FREE, "__kmpc_free")                                                                    \
    X(KMPC_GLOBAL_THREAD_NUM, "__kmpc_global_thread_num")                                          \
    X(GET_DEVICES_MEMSPACE, "omp_get_devices_memspace")                                            \
    X(GET_DEVICE_MEMSPACE, "omp_get_device_memspace")                                              \
    X(GET_DEVICES_AND_HOST_MEMSPACE, "omp_get_devices_and_host_memspace")                          \
    X(GET_DEVICE_AND_HOST_MEMSPACE, "omp_get_device_and_host_memspace")                            \
    X(GET_DEVICES_ALL_MEMSPACE, "omp_get_devices_all_memspace")                                    \
    X(GET_DEVICES_ALLOCATOR, "omp_get_devices_allocator")                                          \
    X(GET_DEVICE_ALLOCATOR, "omp_get_device_allocator")                                            \
    X(GET_DEVICES_AND_HOST_ALLOCATOR, "omp_get_devices_and_host_allocator")                        \
    X(GET_DEVICE_AND_HOST_ALLOCATOR, "omp_get_device_and_host_allocator")                          \
    X(GET_DEVICES_ALL_ALLOCATOR, "omp_get_devices_all_allocator")                                  \
    X(GET_MEMSPACE_NUM_RESOURCES, "omp_get_memspace_num_resources")                                \
    X(GET_SUBMEMSPACE, "omp_get_submemspace")                                                      \
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
    X(TGT_DATA_UPDATE_NOWAIT, "__tgt_target_data_update_nowait_mapper")                            \
    X(TGT_PUSH_COMPONENT, "__tgt_push_mapper_component")                                           \
    X(GET_NUM_INTEROP_PROPERTIES, "omp_get_num_interop_properties")                                \
    X(GET_INTEROP_INT, "omp_get_interop_int")                                                      \
    X(GET_INTEROP_PTR, "omp_get_interop_ptr")                                                      \
    X(GET_INTEROP_STR, "omp_get_interop_str")                                                      \
    X(GET_INTEROP_NAME, "omp_get_interop_name")                                                    \
    X(GET_INTEROP_TYPE_DESC, "omp_get_interop_type_desc")                                          \
    X(GET_INTEROP_RC_DESC, "omp_get_interop_rc_desc")                                              \
    X(TGT_INTEROP_INIT, "__tgt_interop_init")                                                      \
    X(TGT_INTEROP_USE, "__tgt_interop_use")                                                        \
    X(TGT_INTEROP_DESTROY, "__tgt_interop_destroy")                                                \
    X(TGT_INTEROP_GET, "__tgt_interop_get")                                                        \
    X(TGT_INTEROP_USE60, "__tgt_interop_use60")                                                    \
    X(TGT_INTEROP_RELEASE, "__tgt_interop_release")                                                \
    X(KMPC_WAIT_DEPS, "__kmpc_omp_wait_deps")                                                      \
    X(KMPC_TASK_ALLOC, "__kmpc_omp_task_alloc")                                                    \
    X(KMPC_TASK_WITH_DEPS, "__kmpc_omp_task_with_deps")                                            \
    X(TGT_SET_DEVICE_ALLOCATOR, "__tgt_set_device_allocator")                                      \
    X(TGT_RESET_DEVICE_ALLOCATOR, "__tgt_reset_device_allocator")

enum msp_omp_real {
#define REAL_ENUM(symbol, name) MSP_OMP_REAL_##symbol,
    MSP_OMP_REAL_MAP(REAL_ENUM)
#undef REAL_ENUM
        MSP_OMP_REAL_COUNT
};

enum { MSP_OMP_RUNTIME_MAX = 16, MSP_OMP_CALLER_SLOTS = 256, MSP_OMP_SCOPE_MAX = 4 };

/* A host runtime and its offload runtime, in the order in which code that depends on them finds
 * their names. */
struct msp_omp_scope {
    msp_object_t objects[MSP_OMP_SCOPE_MAX];
    size_t count; /* 0: the default */
};

struct msp_omp_runtime {
    _Atomic(uintptr_t) reals[MSP_OMP_REAL_COUNT]; /* 0 not looked for yet, 1 absent */
    struct msp_omp_scope scope;                   /* written before the index is published */
};

/* The first is the default. */
extern struct msp_omp_runtime msp_omp_runtimes[MSP_OMP_RUNTIME_MAX] MSP_HIDDEN;

/* Return addresses that called: address * 256 + index of the runtime and what the code is, or KEEP.
 * Pairs release with acquire, for the members of the runtime's record. */
enum {
    MSP_OMP_CALLER_RUNTIME = 0x40, /* the runtime itself */
    MSP_OMP_CALLER_KMPC    = 0x80, /* calls __kmpc_init_allocator() itself */
    MSP_OMP_CALLER_INDEX   = 0x3f,
    MSP_OMP_CALLER_KEEP    = 0xff
};
extern _Atomic(uint64_t) msp_omp_callers[MSP_OMP_CALLER_SLOTS] MSP_HIDDEN;

/* The runtime of the OpenMP call that this thread is in; the default outside of calls. */
extern __thread struct msp_omp_runtime *msp_omp_current MSP_HIDDEN
    __attribute__((tls_model("initial-exec")));

unsigned msp_omp_caller_find(uintptr_t caller);

static inline size_t msp_omp_caller_slot(uintptr_t caller)
{
    return (caller ^ (caller >> 8)) % MSP_OMP_CALLER_SLOTS;
}

/* Index of the runtime that code at @p caller calls and what the code is, or KEEP where that is
 * this library's own. */
static inline unsigned msp_omp_caller_runtime(uintptr_t caller)
{
    uint64_t known =
        atomic_load_explicit(&msp_omp_callers[msp_omp_caller_slot(caller)], memory_order_acquire);

    return MSP_LIKELY((known >> 8) == caller) ? (unsigned)(known & 0xff)
                                              : msp_omp_caller_find(caller);
}

/* Begin a call made by code at @p caller; returns the argument for leave(). */
static inline struct msp_omp_runtime *msp_omp_enter(const void *caller)
{
    struct msp_omp_runtime *outer = msp_omp_current;
    unsigned index                = msp_omp_caller_runtime((uintptr_t)caller);

    if (index != MSP_OMP_CALLER_KEEP) {
        msp_omp_current = &msp_omp_runtimes[index & MSP_OMP_CALLER_INDEX];
    }
    return outer;
}

static inline void msp_omp_leave(struct msp_omp_runtime *const *outer)
{
    msp_omp_current = *outer;
}

#define MSP_OMP_CALLER __builtin_return_address(0)

/* True when the caller is a runtime that uses our definition for something of its own: libgomp,
 * which makes the allocator of OMP_ALLOCATOR by its exported routine. */
static inline bool msp_omp_is_runtime(const void *caller)
{
    unsigned index = msp_omp_caller_runtime((uintptr_t)caller);

    return (index != MSP_OMP_CALLER_KEEP) && ((index & MSP_OMP_CALLER_RUNTIME) != 0);
}

/* True when the code at @p caller has a call of __kmpc_init_allocator(), as compilers emit it. Else
 * the call came through a routine of libomp's, which jumps there and leaves no return address. */
static inline bool msp_omp_has_kmpc_call(const void *caller)
{
    return (msp_omp_caller_runtime((uintptr_t)caller) & MSP_OMP_CALLER_KMPC) != 0;
}

/* A declaration: until the end of the block calls are for the runtime of @p caller. */
#define MSP_OMP_CALL_FROM(caller)                                                                  \
    struct msp_omp_runtime *msp_omp_outer __attribute__((cleanup(msp_omp_leave), unused)) =        \
        msp_omp_enter(caller)

/* The same in a routine that programs call: the first declaration of each that may call a runtime.
 */
#define MSP_OMP_CALL() MSP_OMP_CALL_FROM(MSP_OMP_CALLER)

uintptr_t msp_omp_real_find(enum msp_omp_real which);

/* The routine's name; a literal. */
const char *msp_omp_real_name(enum msp_omp_real which);

/* The routine's address in the runtime of the current call, 0 where it has none. */
static inline uintptr_t msp_omp_real(enum msp_omp_real which)
{
    uintptr_t address = atomic_load_explicit(&msp_omp_current->reals[which], memory_order_acquire);

    if (MSP_LIKELY(address > 1)) {
        return address;
    }
    return (address == 1) ? 0 : msp_omp_real_find(which);
}

/* A runtime may have been loaded since something was found absent: look again at the next call. */
void msp_omp_real_forget_absent(void);

/* The two families of runtimes whose blocks this library recognises. */
enum msp_omp_family { MSP_OMP_LIBGOMP, MSP_OMP_LIBOMP, MSP_OMP_FAMILY_COUNT };

/* @p name in the runtime of that family, wherever it is in lookup order; 0 when that family is not
 * in the process. Not for hot paths. */
uintptr_t msp_omp_family_find(enum msp_omp_family family, const char *name);

/* True when the program itself brings the offload library that LLVM's host runtime calls for memory
 * spaces (__tgt_get_mem_resources): then that runtime's spaces are those of the program. */
bool msp_omp_program_offloads(void);

/* @p name in LLVM's offload runtime; 0 when it is not in the process. Not for hot paths. */
uintptr_t msp_omp_offload_find(const char *name);

#endif /* MEMSPAN_CORE_OMP_RUNTIME_H */
