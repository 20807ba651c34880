/* SPDX-License-Identifier: BSD-3-Clause */
/* allocator.c: omp_init_allocator, omp_destroy_allocator, and whose a handle is. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/engine/spare.h"
#include "core/omp/openmp.h"
#include "core/omp/runtime.h"
#include <memspan/space.h>
#include <string.h>

enum { PREDEFINED_MAX = 1024 };

/* A device number as a trait value. */
static memspan_status_t take_device(memspan_trait_t *trait)
{
    int device;
    memspan_status_t status;

    if ((trait->value == MEMSPAN_VALUE_DEFAULT) || (trait->value > INT32_MAX)) {
        return MEMSPAN_OK; /* the default, or the core's to refuse */
    }
    status = msp_omp_device_from((int)trait->value, &device);
    if (status == MEMSPAN_OK) {
        /* -1 is the default of every trait, so the host goes by its other number. */
        trait->value = (uintptr_t)((device == MEMSPAN_HOST) ? memspan_host_device() : device);
    }
    return status;
}

static memspan_status_t take_trait(memspan_trait_t *trait)
{
    switch (trait->key) {
    case MEMSPAN_TRAIT_PIN_DEVICE:
    case MEMSPAN_TRAIT_PREFERRED_DEVICE:
    case MEMSPAN_TRAIT_PREFERRED_LOCATION:
        return take_device(trait);
    case MEMSPAN_TRAIT_FB_DATA:
        if ((trait->value > 8) && (trait->value <= PREDEFINED_MAX)) {
            memspan_allocator_h own =
                msp_omp_allocator_of_vendor((memspan_allocator_h)trait->value);
            if (own != MEMSPAN_ALLOCATOR_NULL) {
                trait->value = (uintptr_t)own;
            }
        }
        return MEMSPAN_OK;
    default:
        return MEMSPAN_OK;
    }
}

/* As libgomp and libomp, which know other memory only by a library that is seldom there. */
static bool is_refused_alias(memspan_space_h space)
{
    memspan_space_info_t info = {.struct_size = sizeof(info)};

    if ((msp_option_choice(MSP_OPTION_OMP_ALIAS) == 0) ||
        (memspan_space_describe(space, &info) != MEMSPAN_OK) || !info.alias) {
        return false;
    }
    memspan_error(MEMSPAN_ERR_NOT_GUARANTEED, "space %s is an %s", info.name, info.note);
    msp_error_hint("it is refused because of MEMSPAN_OMP_ALIAS=off");
    return true;
}

msp_omp_allocator_t msp_omp_allocator_make(msp_omp_space_t space, int trait_count,
                                           const memspan_trait_t *traits)
{
    memspan_trait_t own[MSP_OMP_TRAITS_MAX];
    memspan_allocator_h allocator;
    memspan_space_h own_space;
    size_t count = (size_t)trait_count;
    size_t i;

    if ((trait_count < 0) || ((trait_count > 0) && (traits == NULL))) {
        memspan_error(MEMSPAN_ERR_INVALID, "ntraits is %d and traits is %s", trait_count,
                      (traits == NULL) ? "NULL" : "not NULL");
        return 0;
    }
    if (trait_count > MSP_OMP_TRAITS_MAX) {
        memspan_error(MEMSPAN_ERR_INVALID,
                      "ntraits is %d; there are not %d keys, and each may be given once",
                      trait_count, MSP_OMP_TRAITS_MAX);
        return 0;
    }
    if ((space == MSP_OMP_SYMMETRIC) && (trait_count == 0)) {
        return MSP_OMP_SYMMETRIC;
    }
    if (space == MSP_OMP_SYMMETRIC) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "symmetric memory has no traits");
        msp_error_hint("omp_aligned_alloc() has an alignment; partitions have kinds");
        return 0;
    }
    if ((msp_omp_space_from(space, &own_space) != MEMSPAN_OK) || is_refused_alias(own_space)) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        own[i] = traits[i];
        if (take_trait(&own[i]) != MEMSPAN_OK) {
            return 0;
        }
    }
    count = msp_omp_vendor_traits(space, own, count, MSP_OMP_TRAITS_MAX);
    if (memspan_allocator_create(own_space, own, count, &allocator) != MEMSPAN_OK) {
        return 0;
    }
    return (msp_omp_allocator_t)allocator;
}

/* A space that the runtime made of the resources of the program's own offload library. */
static bool is_their_space(msp_omp_space_t space)
{
    return (space > PREDEFINED_MAX) && msp_omp_program_offloads() &&
           (memspan_space_resource_count((memspan_space_h)space) == 0);
}

typedef msp_omp_allocator_t init_fn(msp_omp_space_t space, int trait_count,
                                    const memspan_trait_t *traits);
typedef msp_omp_allocator_t kmpc_init_fn(int thread, msp_omp_space_t space, int trait_count,
                                         const memspan_trait_t *traits);

/* By the entry point that the runtime's own routines end in, so as not to come round again. */
static msp_omp_allocator_t make_theirs(msp_omp_space_t space, int trait_count,
                                       const memspan_trait_t *traits)
{
    uintptr_t init   = msp_omp_real(MSP_OMP_REAL_KMPC_INIT_ALLOCATOR);
    uintptr_t number = msp_omp_real(MSP_OMP_REAL_KMPC_GLOBAL_THREAD_NUM);

    if ((init == 0) || (number == 0)) {
        return 0;
    }
    return ((kmpc_init_fn *)init)(((int (*)(void *))number)(NULL), space, trait_count, traits);
}

static msp_omp_allocator_t made(const char *routine, msp_omp_allocator_t allocator)
{
    if (MSP_UNLIKELY(allocator == 0)) {
        msp_omp_refused(routine);
    }
    return allocator;
}

static __attribute__((noinline)) msp_omp_allocator_t init_slowly(msp_omp_space_t space,
                                                                 int trait_count,
                                                                 const memspan_trait_t *traits,
                                                                 const void *caller)
{
    MSP_OMP_CALL_FROM(caller);
    uintptr_t real = msp_omp_is_runtime(caller) ? msp_omp_real(MSP_OMP_REAL_INIT_ALLOCATOR) : 0;

    if (MSP_UNLIKELY(real != 0)) { /* libgomp, from its reading of OMP_ALLOCATOR */
        return ((init_fn *)real)(space, trait_count, traits);
    }
    if (MSP_UNLIKELY(is_their_space(space))) {
        return make_theirs(space, trait_count, traits);
    }
    return made("omp_init_allocator", msp_omp_allocator_make(space, trait_count, traits));
}

msp_omp_allocator_t omp_init_allocator(msp_omp_space_t space, int trait_count,
                                       const memspan_trait_t traits[])
{
    /* Spares have no traits that are translated here. */
    uintptr_t again = ((space == 0) && !msp_omp_is_runtime(MSP_OMP_CALLER))
                          ? msp_spare_take(MEMSPAN_SPACE_DEFAULT, traits, (size_t)trait_count)
                          : 0;

    return MSP_LIKELY(again != 0) ? again : init_slowly(space, trait_count, traits, MSP_OMP_CALLER);
}

/* Compilers call this for uses_allocators, always with the default space. libomp's own
 * omp_init_allocator() ends here, for who calls it by libomp's handle, and so does its reading of
 * OMP_ALLOCATOR: it uses the allocator by its own routines, so it gets its own. Where it is linked
 * into the program, a vendor's space comes from that reading alone, while it initialises itself: a
 * query about devices now would wait for that very initialisation. Its predefined handle stands in;
 * the variable's own allocator is made at first use (icv.c). */
msp_omp_allocator_t __kmpc_init_allocator(int thread, msp_omp_space_t space, int trait_count,
                                          memspan_trait_t *traits)
{
    MSP_OMP_CALL();
    uintptr_t real =
        msp_omp_has_kmpc_call(MSP_OMP_CALLER) ? 0 : msp_omp_real(MSP_OMP_REAL_KMPC_INIT_ALLOCATOR);

    if (MSP_UNLIKELY(real != 0)) {
        return ((kmpc_init_fn *)real)(thread, space, trait_count, traits);
    }
    if (msp_omp_space_is_vendor(space) && (msp_option_text(MSP_OPTION_OMP_ALLOCATOR)[0] != '\0')) {
        return msp_omp_allocator_of_space(space);
    }
    if (MSP_UNLIKELY(is_their_space(space))) {
        return make_theirs(space, trait_count, traits);
    }
    return made("__kmpc_init_allocator", msp_omp_allocator_make(space, trait_count, traits));
}

void omp_destroy_allocator(msp_omp_allocator_t allocator)
{
    if ((allocator <= PREDEFINED_MAX) || (allocator == MSP_OMP_EXPLICIT_DEFAULT) ||
        msp_omp_allocator_is_shared(allocator)) {
        return;
    }
    if (msp_allocator_is_marked((memspan_allocator_h)allocator)) {
        if (memspan_allocator_destroy((memspan_allocator_h)allocator) != MEMSPAN_OK) {
            msp_log(MEMSPAN_LOG_ERROR, "omp", "omp_destroy_allocator: %s", memspan_error_text());
        }
        msp_omp_partitions_collect();
        return;
    }
    if (msp_omp_foreign_is_allocator(allocator)) {
        MSP_OMP_CALL();
        uintptr_t kmpc    = msp_omp_real(MSP_OMP_REAL_KMPC_DESTROY_ALLOCATOR);
        uintptr_t routine = msp_omp_real(MSP_OMP_REAL_DESTROY_ALLOCATOR);
        if (kmpc != 0) {
            /* The function in which the other ends, which would come round again. */
            ((void (*)(int, msp_omp_allocator_t))kmpc)(0, allocator);
            return;
        }
        if (routine != 0) {
            ((void (*)(msp_omp_allocator_t))routine)(allocator);
            return;
        }
    }
    memspan_error(MEMSPAN_ERR_INVALID, "allocator %#zx does not exist (any more)",
                  (size_t)allocator);
    msp_log(MEMSPAN_LOG_ERROR, "omp", "omp_destroy_allocator: %s", memspan_error_text());
}

void __kmpc_destroy_allocator(int thread, msp_omp_allocator_t allocator)
{
    (void)thread;
    omp_destroy_allocator(allocator);
}

enum msp_omp_owner msp_omp_allocator_resolve(msp_omp_allocator_t allocator,
                                             memspan_allocator_h *allocator_p)
{
    memspan_allocator_h handle = (memspan_allocator_h)allocator;

    if (allocator == 0) {
        handle = msp_omp_default_allocator();
    }
    if ((uintptr_t)handle == MSP_OMP_EXPLICIT_DEFAULT) {
        handle = MEMSPAN_ALLOCATOR_DEFAULT;
    }
    if (!msp_allocator_known(handle) && ((uintptr_t)handle <= PREDEFINED_MAX)) {
        memspan_allocator_h own = msp_omp_allocator_of_vendor(handle);
        handle                  = (own != MEMSPAN_ALLOCATOR_NULL) ? own : handle;
    }
    *allocator_p = handle;
    if (msp_allocator_known(handle)) {
        return MSP_OMP_OURS;
    }
    if (msp_allocator_is_marked(handle)) {
        memspan_error(MEMSPAN_ERR_INVALID, "allocator %#zx was destroyed", (size_t)handle);
        return MSP_OMP_UNKNOWN;
    }
    if (((uintptr_t)handle <= PREDEFINED_MAX) && ((uintptr_t)handle != MSP_OMP_SYMMETRIC)) {
        memspan_error(MEMSPAN_ERR_INVALID, "allocator %zu is no predefined allocator",
                      (size_t)handle);
        return MSP_OMP_UNKNOWN;
    }
    return MSP_OMP_THEIRS;
}
