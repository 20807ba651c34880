/* SPDX-License-Identifier: BSD-3-Clause */
/* icv.c: the default allocator of the calling task.
 *
 * The value belongs to the implicit task and is inherited by teams, so only the runtime can keep
 * it: our handles are stored in the runtime's own variable, which it treats as opaque. The runtime
 * starts with its own reading of OMP_ALLOCATOR; ours replaces it, because libgomp 12 understands
 * predefined names only and libomp makes a new allocator for a bare space. So:
 *
 *   - `initials` has the runtime's value before anyone has set one. It is taken down before
 *     the first set through us, on whichever thread: a thread that does not see that set has not
 *     inherited from it either.
 *   - Reading: that value means our reading of OMP_ALLOCATOR; everything else means itself.
 *   - Setting that very value is stored as MSP_OMP_EXPLICIT_DEFAULT, so that the two differ.
 *
 * Without a runtime every thread has a value of its own over the same initial one.
 *
 * The __kmpc_ forms pass values through untouched: libomp's omp_ routines end in them, through the
 * symbol table, so calling an omp_ routine here would come round again. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/option.h"
#include "core/engine/heap.h"
#include "core/omp/openmp.h"
#include "core/omp/runtime.h"

typedef msp_omp_allocator_t get_fn(void);
typedef void set_fn(msp_omp_allocator_t allocator);
typedef msp_omp_allocator_t kmpc_get_fn(int thread);
typedef void kmpc_set_fn(int thread, msp_omp_allocator_t allocator);

enum { DEFAULT_ALLOC = 1 };

/* Our reading of OMP_ALLOCATOR; 0 before it was read, DEFAULT_ALLOC also where it is unset. */
static _Atomic(msp_omp_allocator_t) environment_initial;

/* Of each runtime, by its routine that reads the variable: several of our records of runtimes may
 * end in one. */
static struct {
    _Atomic(uintptr_t) get;
    _Atomic(msp_omp_allocator_t) value; /* 0: not taken down */
} initials[MSP_OMP_RUNTIME_MAX];

static _Thread_local msp_omp_allocator_t own_value; /* without a runtime; 0: never set */

static msp_omp_allocator_t read_environment(void)
{
    const char *text              = msp_option_text(MSP_OPTION_OMP_ALLOCATOR);
    msp_omp_allocator_t allocator = 0;
    struct msp_omp_request request;

    if (text[0] == '\0') {
        return DEFAULT_ALLOC;
    }
    if (msp_omp_request_parse(text, &request) == MEMSPAN_OK) {
        allocator =
            (request.allocator != 0)
                ? request.allocator
                : msp_omp_allocator_make(request.space, (int)request.trait_count, request.traits);
    }
    if (allocator == 0) {
        msp_option_refuse(MSP_OPTION_OMP_ALLOCATOR, "%s; omp_default_mem_alloc it is",
                          memspan_error_text());
        return DEFAULT_ALLOC;
    }
    return allocator;
}

static msp_omp_allocator_t environment_value(void)
{
    msp_omp_allocator_t value = atomic_load_explicit(&environment_initial, memory_order_acquire);

    if (MSP_LIKELY(value != 0)) {
        return value;
    }
    msp_omp_lock();
    value = atomic_load_explicit(&environment_initial, memory_order_relaxed);
    if (value == 0) {
        value = read_environment();
        atomic_store_explicit(&environment_initial, value, memory_order_release);
    }
    msp_omp_unlock();
    return value;
}

/* There are as many as records of runtimes, so that one is always found. */
static _Atomic(msp_omp_allocator_t) *initial_of(uintptr_t get)
{
    uintptr_t known;
    size_t i;

    for (i = 0; i < MSP_OMP_RUNTIME_MAX - 1; i++) {
        known = atomic_load_explicit(&initials[i].get, memory_order_relaxed);
        if ((known == get) ||
            ((known == 0) &&
             (atomic_compare_exchange_strong(&initials[i].get, &known, get) || (known == get)))) {
            break;
        }
    }
    return &initials[i].value;
}

/* The meaning of a value in the variable of the runtime with the routine @p get. */
static msp_omp_allocator_t meaning_of(uintptr_t get, msp_omp_allocator_t raw)
{
    _Atomic(msp_omp_allocator_t) *initial_p = initial_of(get);
    msp_omp_allocator_t initial             = 0;

    if (raw == MSP_OMP_EXPLICIT_DEFAULT) {
        return DEFAULT_ALLOC;
    }
    if (MSP_UNLIKELY(atomic_load_explicit(initial_p, memory_order_relaxed) == 0)) {
        atomic_compare_exchange_strong(initial_p, &initial, raw);
    }
    initial = atomic_load_explicit(initial_p, memory_order_relaxed);
    return (raw == initial) ? environment_value() : raw;
}

memspan_allocator_h msp_omp_default_allocator(void)
{
    uintptr_t routine = msp_omp_real(MSP_OMP_REAL_GET_DEFAULT_ALLOCATOR);
    msp_omp_allocator_t value;

    if (routine != 0) {
        value = meaning_of(routine, ((get_fn *)routine)());
    } else {
        value = (own_value != 0) ? own_value : environment_value();
    }
    return (memspan_allocator_h)value;
}

msp_omp_allocator_t omp_get_default_allocator(void)
{
    MSP_OMP_CALL();
    return (msp_omp_allocator_t)msp_omp_default_allocator();
}

void omp_set_default_allocator(msp_omp_allocator_t allocator)
{
    MSP_OMP_CALL();
    msp_omp_allocator_t none = 0;
    _Atomic(msp_omp_allocator_t) *initial;
    uintptr_t get;
    uintptr_t set;

    if (allocator == 0) {
        allocator = DEFAULT_ALLOC;
    }
    msp_heap_forget_null();
    msp_omp_real_forget_absent();
    get = msp_omp_real(MSP_OMP_REAL_GET_DEFAULT_ALLOCATOR);
    set = msp_omp_real(MSP_OMP_REAL_SET_DEFAULT_ALLOCATOR);
    if ((get == 0) || (set == 0)) {
        own_value = allocator;
        return;
    }
    initial = initial_of(get);
    if (atomic_load_explicit(initial, memory_order_relaxed) == 0) {
        atomic_compare_exchange_strong(initial, &none, ((get_fn *)get)());
    }
    if ((allocator == DEFAULT_ALLOC) && (atomic_load(initial) == DEFAULT_ALLOC) &&
        (environment_value() != DEFAULT_ALLOC)) {
        allocator = MSP_OMP_EXPLICIT_DEFAULT;
    }
    ((set_fn *)set)(allocator);
}

void __kmpc_set_default_allocator(int thread, msp_omp_allocator_t allocator)
{
    MSP_OMP_CALL();
    uintptr_t routine = msp_omp_real(MSP_OMP_REAL_KMPC_SET_DEFAULT_ALLOCATOR);

    msp_heap_forget_null();
    if (routine != 0) {
        ((kmpc_set_fn *)routine)(thread, allocator);
    } else {
        omp_set_default_allocator(allocator);
    }
}

msp_omp_allocator_t __kmpc_get_default_allocator(int thread)
{
    MSP_OMP_CALL();
    uintptr_t routine = msp_omp_real(MSP_OMP_REAL_KMPC_GET_DEFAULT_ALLOCATOR);

    return (routine != 0) ? ((kmpc_get_fn *)routine)(thread) : omp_get_default_allocator();
}
