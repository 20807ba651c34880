/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.c: find the OpenMP runtime behind us.
 *
 * Two threads may look for the same name at once; both find the same address. Nothing here needs
 * a constructor, because a runtime may call us while it initialises itself. */

#include "core/omp/runtime.h"
#include "core/base/object.h"

_Atomic(uintptr_t) memspan_omp_reals[MEMSPAN_OMP_REAL_COUNT];

static const char *const names[MEMSPAN_OMP_REAL_COUNT] = {
#define REAL_NAME(symbol, name) (name),
    MEMSPAN_OMP_REAL_MAP(REAL_NAME)
#undef REAL_NAME
};

uintptr_t memspan_omp_real_find(enum memspan_omp_real which)
{
    uintptr_t address = memspan_object_next(names[which]);

    /* Pairs with the acquire in memspan_omp_real(). */
    atomic_store_explicit(&memspan_omp_reals[which], (address == 0) ? 1 : address,
                          memory_order_release);
    return address;
}

void memspan_omp_real_forget_absent(void)
{
    int i;

    for (i = 0; i < MEMSPAN_OMP_REAL_COUNT; i++) {
        uintptr_t absent = 1;
        atomic_compare_exchange_strong(&memspan_omp_reals[i], &absent, 0);
    }
}

/* @p name in the object that defines @p owner (an address in it). */
static uintptr_t find_beside(uintptr_t owner, const char *name)
{
    return (owner == 0) ? 0 : memspan_object_symbol(memspan_object_of((const void *)owner), name);
}

uintptr_t memspan_omp_family_find(enum memspan_omp_family family, const char *name)
{
    /* A name that only this family has. libomp has GOMP_parallel, but no libgomp has
     * __kmpc_fork_call, and no libomp GOMP_OFFLOAD_... or this old entry for OpenACC. */
    static const char *const marks[MEMSPAN_OMP_FAMILY_COUNT] = {"GOACC_parallel_keyed",
                                                                "__kmpc_fork_call"};

    return find_beside(memspan_object_next(marks[family]), name);
}

uintptr_t memspan_omp_offload_find(const char *name)
{
    return find_beside(memspan_omp_real(MEMSPAN_OMP_REAL_OFFLOAD_REGISTER), name);
}
