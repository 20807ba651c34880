/* SPDX-License-Identifier: BSD-3-Clause */
/* vendor.c: other implementations' predefined handles and direct routines, on our spaces. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/omp/abi.h"
#include "core/omp/openmp.h"
#include "core/omp/runtime.h"
#include "core/topology/pages.h"
#include <errno.h>
#include <string.h>

typedef void *target_alloc_fn(size_t size_bytes, int device);
typedef void target_free_fn(void *pointer, int device);
typedef void *lock_fn(void *pointer, size_t size_bytes, int device);

/* The traits that make a kind. */
static size_t traits_of(enum msp_omp_vendor kind, memspan_trait_t traits[2])
{
    switch (kind) {
    case MSP_OMP_TARGET_HOST:
        traits[0] = (memspan_trait_t){MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
        traits[1] =
            (memspan_trait_t){MEMSPAN_TRAIT_PREFERRED_LOCATION, (uintptr_t)memspan_host_device()};
        return 2;
    case MSP_OMP_TARGET_SHARED:
    case MSP_OMP_GNU_MANAGED:
        traits[0] = (memspan_trait_t){MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED};
        return 1;
    case MSP_OMP_GNU_PINNED:
        traits[0] = (memspan_trait_t){MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
        return 1;
    case MSP_OMP_TARGET_DEVICE:
        break;
    }
    return 0;
}

static memspan_status_t space_of(enum msp_omp_vendor kind, int device, memspan_space_h *space_p)
{
    int devices[2] = {device, MEMSPAN_HOST};

    if ((device == MEMSPAN_HOST) || (kind == MSP_OMP_GNU_PINNED)) {
        *space_p = MEMSPAN_SPACE_DEFAULT;
        return MEMSPAN_OK;
    }
    return memspan_space_get(devices, (kind == MSP_OMP_TARGET_DEVICE) ? 1 : 2,
                             MEMSPAN_SPACE_DEFAULT, space_p);
}

static memspan_allocator_h make(enum msp_omp_vendor kind, int device)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_trait_t traits[2];
    memspan_space_h space;

    if (space_of(kind, device, &space) == MEMSPAN_OK) {
        memspan_allocator_create(space, traits, traits_of(kind, traits), &allocator);
    }
    return allocator;
}

memspan_allocator_h msp_omp_vendor_allocator(enum msp_omp_vendor kind, int device)
{
    static struct msp_omp_table made = MSP_OMP_TABLE_INIT;
    uintptr_t key                    = ((uintptr_t)(unsigned)(device + 1) << 8) | kind;
    memspan_allocator_h allocator;
    uintptr_t known;

    if ((device == MEMSPAN_HOST) && (kind != MSP_OMP_GNU_PINNED)) {
        return MEMSPAN_ALLOCATOR_DEFAULT;
    }
    if (msp_omp_table_get(&made, key, &known)) {
        return (memspan_allocator_h)known;
    }
    msp_omp_lock();
    if (msp_omp_table_get(&made, key, &known)) {
        allocator = (memspan_allocator_h)known;
    } else {
        allocator = make(kind, device);
        if (allocator != MEMSPAN_ALLOCATOR_NULL) {
            msp_omp_table_put(&made, key, (uintptr_t)allocator);
        }
    }
    msp_omp_unlock();
    return allocator;
}

memspan_allocator_h msp_omp_allocator_of_vendor(memspan_allocator_h allocator)
{
    switch ((uintptr_t)allocator) {
    case MSP_OMP_GNU_PINNED:
        return msp_omp_vendor_allocator(MSP_OMP_GNU_PINNED, MEMSPAN_HOST);
    case MSP_OMP_TARGET_HOST:
    case MSP_OMP_TARGET_SHARED:
    case MSP_OMP_TARGET_DEVICE:
    case MSP_OMP_GNU_MANAGED:
        return msp_omp_vendor_allocator((enum msp_omp_vendor)(uintptr_t)allocator,
                                        msp_omp_default_device());
    default:
        return MEMSPAN_ALLOCATOR_NULL;
    }
}

/* The kind behind a vendor's space; 0 for any other. */
static int kind_of_space(msp_omp_space_t space)
{
    switch (space) {
    case MSP_OMP_TARGET_HOST:
    case MSP_OMP_TARGET_SHARED:
    case MSP_OMP_TARGET_DEVICE:
        return (int)space;
    case 200:
        return MSP_OMP_GNU_MANAGED;
    default:
        return 0;
    }
}

bool msp_omp_space_is_vendor(msp_omp_space_t space)
{
    return kind_of_space(space) != 0;
}

memspan_status_t msp_omp_space_from(msp_omp_space_t space, memspan_space_h *space_p)
{
    int kind = kind_of_space(space);

    if (kind != 0) {
        return space_of((enum msp_omp_vendor)kind, msp_omp_default_device(), space_p);
    }
    /* 0 is the default space of all headers but the newest, and no space in those. */
    *space_p = (space == 0) ? MEMSPAN_SPACE_DEFAULT : (memspan_space_h)space;
    return MEMSPAN_OK;
}

static bool has_key(const memspan_trait_t *traits, size_t count, memspan_trait_key_t key)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (traits[i].key == key) {
            return true;
        }
    }
    return false;
}

size_t msp_omp_vendor_traits(msp_omp_space_t space, memspan_trait_t *traits, size_t count,
                             size_t capacity)
{
    int kind = kind_of_space(space);
    memspan_trait_t implied[2];
    size_t implied_count;
    size_t i;

    if ((kind == 0) || (msp_omp_default_device() == MEMSPAN_HOST)) {
        return count;
    }
    implied_count = traits_of((enum msp_omp_vendor)kind, implied);
    for (i = 0; (i < implied_count) && (count < capacity); i++) {
        if (!has_key(traits, count, implied[i].key)) {
            traits[count++] = implied[i];
        }
    }
    return count;
}

static void *alloc_direct(enum msp_omp_real real, enum msp_omp_vendor kind, size_t size_bytes,
                          int number)
{
    uintptr_t routine             = msp_omp_real(real);
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    void *pointer                 = NULL;
    int device;

    number = msp_omp_device_number(number);
    if ((routine != 0) && msp_omp_runtime_has(number) && !msp_omp_alloc_is_watched(number)) {
        return ((target_alloc_fn *)routine)(size_bytes, number);
    }
    if ((number == MEMSPAN_HOST) || (number == omp_get_initial_device())) {
        allocator = msp_omp_vendor_allocator(kind, MEMSPAN_HOST);
    } else if (msp_omp_device_from(number, &device) == MEMSPAN_OK) {
        allocator = msp_omp_vendor_allocator(kind, device);
    }
    if (allocator != MEMSPAN_ALLOCATOR_NULL) {
        pointer = memspan_alloc(allocator, size_bytes);
    }
    if ((pointer == NULL) && (size_bytes != 0)) {
        msp_omp_refused(msp_omp_real_name(real));
    }
    return pointer;
}

static void free_direct(enum msp_omp_real real, void *pointer, int number)
{
    uintptr_t routine = msp_omp_real(real);

    if (pointer == NULL) {
        return;
    }
    number = msp_omp_device_number(number);
    if (!msp_pointer_is_ours(pointer) && (routine != 0) && msp_omp_runtime_has(number)) {
        ((target_free_fn *)routine)(pointer, number);
    } else if (memspan_free(pointer) != MEMSPAN_OK) {
        msp_log(MEMSPAN_LOG_ERROR, "omp", "llvm_omp_target_free: %s", memspan_error_text());
    }
}

void *llvm_omp_target_alloc_host(size_t size_bytes, int device)
{
    MSP_OMP_CALL();
    return alloc_direct(MSP_OMP_REAL_LLVM_ALLOC_HOST, MSP_OMP_TARGET_HOST, size_bytes, device);
}

void *llvm_omp_target_alloc_shared(size_t size_bytes, int device)
{
    MSP_OMP_CALL();
    return alloc_direct(MSP_OMP_REAL_LLVM_ALLOC_SHARED, MSP_OMP_TARGET_SHARED, size_bytes, device);
}

void *llvm_omp_target_alloc_device(size_t size_bytes, int device)
{
    MSP_OMP_CALL();
    return alloc_direct(MSP_OMP_REAL_LLVM_ALLOC_DEVICE, MSP_OMP_TARGET_DEVICE, size_bytes, device);
}

void llvm_omp_target_free_host(void *pointer, int device)
{
    MSP_OMP_CALL();
    free_direct(MSP_OMP_REAL_LLVM_FREE_HOST, pointer, device);
}

void llvm_omp_target_free_shared(void *pointer, int device)
{
    MSP_OMP_CALL();
    free_direct(MSP_OMP_REAL_LLVM_FREE_SHARED, pointer, device);
}

void llvm_omp_target_free_device(void *pointer, int device)
{
    MSP_OMP_CALL();
    free_direct(MSP_OMP_REAL_LLVM_FREE_DEVICE, pointer, device);
}

/* Ranges that we locked ourselves, by address; the value is the size. */
static struct msp_omp_table locked = MSP_OMP_TABLE_INIT;

/* Without an offload runtime there is no device to inform; the pages are kept in place. */
void *llvm_omp_target_lock_mem(void *pointer, size_t size_bytes, int device)
{
    MSP_OMP_CALL();
    uintptr_t routine = msp_omp_real(MSP_OMP_REAL_LLVM_LOCK_MEM);

    if ((routine != 0) && (msp_omp_runtime_device_count() > 0)) {
        return ((lock_fn *)routine)(pointer, size_bytes, device);
    }
    if ((pointer == NULL) || (size_bytes == 0)) {
        memspan_error(MEMSPAN_ERR_INVALID, "nothing to lock: %zu bytes at %p", size_bytes, pointer);
        msp_omp_refused("llvm_omp_target_lock_mem");
        return NULL;
    }
    if (msp_pages_lock(pointer, size_bytes) != 0) {
        msp_error_native(MEMSPAN_ERR_LIMIT, NULL, "mlock", errno, strerror(errno),
                         "raise the locked-memory limit (ulimit -l)",
                         "could not lock %zu bytes at %p", size_bytes, pointer);
        msp_omp_refused("llvm_omp_target_lock_mem");
        return NULL;
    }
    msp_omp_table_put(&locked, (uintptr_t)pointer, size_bytes);
    return pointer;
}

void llvm_omp_target_unlock_mem(void *pointer, int device)
{
    MSP_OMP_CALL();
    uintptr_t routine = msp_omp_real(MSP_OMP_REAL_LLVM_UNLOCK_MEM);
    uintptr_t size_bytes;

    if (((uintptr_t)pointer > 1) && msp_omp_table_take(&locked, (uintptr_t)pointer, &size_bytes)) {
        msp_pages_unlock(pointer, size_bytes);
    } else if ((routine != 0) && (msp_omp_runtime_device_count() > 0)) {
        ((target_free_fn *)routine)(pointer, device);
    }
}
