/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.c: find the OpenMP runtimes behind us.
 *
 * Two threads may look for the same name, or for the same caller's runtime, at once; both find the
 * same. Nothing here needs a constructor, because a runtime may call us while it initialises
 * itself. Cached addresses must stay valid: a runtime that was found stays loaded. */

#include "core/omp/runtime.h"
#include "core/base/process.h"
#include "core/omp/openmp.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

struct msp_omp_runtime msp_omp_runtimes[MSP_OMP_RUNTIME_MAX];
_Atomic(uint64_t) msp_omp_callers[MSP_OMP_CALLER_SLOTS];
__thread struct msp_omp_runtime *msp_omp_current __attribute__((tls_model("initial-exec"))) =
    &msp_omp_runtimes[0];

/* As msp_omp_callers, by object. */
static _Atomic(uint64_t) objects[MSP_OMP_CALLER_SLOTS];

/* How many of the runtimes are in use, the default included. Written under
 * msp_omp_table_lock, as the loads and unloads seen are. */
static _Atomic(size_t) runtime_count = 1;

static unsigned long long loads_seen;
static unsigned long long unloads_seen;

static const char *const names[MSP_OMP_REAL_COUNT] = {
#define REAL_NAME(symbol, name) (name),
    MSP_OMP_REAL_MAP(REAL_NAME)
#undef REAL_NAME
};

/* Names that identify a host runtime, LLVM's host runtime and LLVM's offload runtime. */
static const char host_mark[]    = "omp_get_thread_num";
static const char llvm_mark[]    = "__kmpc_fork_call";
static const char offload_mark[] = "__tgt_register_lib";

static bool defines(msp_object_t object, const char *name)
{
    return msp_object_symbol(object, name) != 0;
}

/* May a runtime be completed by the object? LLVM's offload runtime completes LLVM's alone, and no
 * host runtime another. */
static bool completes(msp_object_t object, const void *argument)
{
    const struct msp_omp_runtime *runtime = argument;
    bool is_llvm                          = false;
    size_t i;

    if (defines(object, host_mark)) {
        return false;
    }
    for (i = 0; i < runtime->scope.count; i++) {
        is_llvm = is_llvm || defines(runtime->scope.objects[i], llvm_mark);
    }
    return is_llvm || !defines(object, offload_mark);
}

static uintptr_t find_in_runtime(const struct msp_omp_runtime *runtime, const char *name)
{
    uintptr_t address = 0;
    size_t i;

    for (i = 0; (address == 0) && (i < runtime->scope.count); i++) {
        address = msp_object_symbol(runtime->scope.objects[i], name);
    }
    if (address != 0) {
        return address;
    }
    address = msp_object_next_of(name, (runtime->scope.count > 0) ? completes : NULL, runtime);
    if (address != 0) {
        msp_object_keep(msp_object_of((const void *)address));
    }
    return address;
}

const char *msp_omp_real_name(enum msp_omp_real which)
{
    return names[which];
}

static void open_memkind(void *unused)
{
    (void)unused;
    (void)dlopen("libmemkind.so", RTLD_LAZY | RTLD_NODELETE);
}

/* libomp opens libmemkind when it is first called, and the constructor of libmemkind needs more
 * stack than a small thread has: there it runs before, with space. */
static void prepare(uintptr_t routine)
{
    if (!msp_stack_has_capacity() && defines(msp_object_of((const void *)routine), llvm_mark)) {
        msp_stack_run(open_memkind, NULL);
    }
}

uintptr_t msp_omp_real_find(enum msp_omp_real which)
{
    struct msp_omp_runtime *runtime = msp_omp_current;
    uintptr_t address               = find_in_runtime(runtime, names[which]);

    if (address != 0) {
        prepare(address);
    }
    /* Pairs with the acquire in msp_omp_real(). */
    atomic_store_explicit(&runtime->reals[which], (address == 0) ? 1 : address,
                          memory_order_release);
    return address;
}

void msp_omp_real_forget_absent(void)
{
    size_t count = atomic_load_explicit(&runtime_count, memory_order_acquire);
    size_t k;
    int i;

    for (k = 0; k < count; k++) {
        for (i = 0; i < MSP_OMP_REAL_COUNT; i++) {
            uintptr_t absent = 1;
            atomic_compare_exchange_strong(&msp_omp_runtimes[k].reals[i], &absent, 0);
        }
    }
}

/* The runtime that makes the teams of the object's parallel regions; the object itself where it has
 * none. */
static msp_object_t team_maker(msp_object_t object)
{
    static const char *const makers[] = {"GOMP_parallel", "__kmpc_fork"};
    uintptr_t address;
    size_t i;

    for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        if (msp_object_calls(object, makers[i], &address)) {
            msp_object_t maker = msp_object_of((const void *)address);
            return defines(maker, host_mark) ? maker : object;
        }
    }
    return object;
}

/* The runtimes among @p object's dependencies, itself included. False for this library's code. */
static bool read_scope(msp_object_t object, struct msp_omp_scope *scope_p)
{
    msp_object_t all[MSP_OBJECT_SCOPE_MAX];
    size_t count = msp_object_scope(team_maker(object), all);
    size_t i;

    for (i = 0; (i < count) && (scope_p->count < MSP_OMP_SCOPE_MAX); i++) {
        if (defines(all[i], host_mark) || defines(all[i], offload_mark)) {
            scope_p->objects[scope_p->count++] = all[i];
        }
    }
    return (object == 0) || (count > 0);
}

static bool is_scope(const struct msp_omp_scope *a, const struct msp_omp_scope *b)
{
    return (a->count == b->count) &&
           (memcmp(a->objects, b->objects, a->count * sizeof(a->objects[0])) == 0);
}

/* The index of the runtime with that scope, which is made where there is none. When there is no
 * space for it, the default is used. */
static unsigned index_of(const struct msp_omp_scope *scope)
{
    bool made = false;
    size_t count;
    size_t i;

    if (scope->count == 0) {
        return 0;
    }
    msp_lock(&msp_omp_table_lock);
    count = atomic_load_explicit(&runtime_count, memory_order_relaxed);
    for (i = 1; (i < count) && !is_scope(&msp_omp_runtimes[i].scope, scope); i++) {
    }
    if ((i == count) && (count < MSP_OMP_RUNTIME_MAX)) {
        msp_omp_runtimes[i].scope = *scope;
        atomic_store_explicit(&runtime_count, count + 1, memory_order_release);
        made = true;
    }
    msp_unlock(&msp_omp_table_lock);
    for (count = 0; made && (count < scope->count); count++) {
        msp_object_keep(scope->objects[count]);
    }
    return (i < MSP_OMP_RUNTIME_MAX) ? (unsigned)i : 0;
}

/* Objects that were unloaded leave addresses that others may have by now. A newly loaded object may
 * define an absent routine, and where it is visible everywhere, parallel regions not bound yet
 * become its own. */
static void look_for_changes(void)
{
    unsigned long long loads;
    unsigned long long unloads;
    bool changed;
    size_t i;

    msp_object_counts(&loads, &unloads);
    msp_lock(&msp_omp_table_lock);
    changed      = (loads != loads_seen) || (unloads != unloads_seen);
    loads_seen   = loads;
    unloads_seen = unloads;
    msp_unlock(&msp_omp_table_lock);
    if (!changed) {
        return;
    }
    for (i = 0; i < MSP_OMP_CALLER_SLOTS; i++) {
        atomic_store_explicit(&msp_omp_callers[i], 0, memory_order_relaxed);
        atomic_store_explicit(&objects[i], 0, memory_order_relaxed);
    }
    msp_omp_real_forget_absent();
}

/* What the code of the object is. A runtime that is linked into the program is not told from it. */
static unsigned describe(msp_object_t object)
{
    bool is_runtime = (object != msp_object_program()) && defines(object, host_mark);
    uintptr_t address;

    return (is_runtime ? MSP_OMP_CALLER_RUNTIME : 0) |
           (msp_object_calls(object, names[MSP_OMP_REAL_KMPC_INIT_ALLOCATOR], &address)
                ? MSP_OMP_CALLER_KMPC
                : 0);
}

static unsigned object_runtime(msp_object_t object)
{
    _Atomic(uint64_t) *slot    = &objects[msp_omp_caller_slot(object >> 4)];
    uint64_t known             = atomic_load_explicit(slot, memory_order_acquire);
    struct msp_omp_scope scope = {.count = 0};
    unsigned index;

    if ((object != 0) && ((known >> 8) == object)) {
        return (unsigned)(known & 0xff);
    }
    index = read_scope(object, &scope) ? index_of(&scope) : MSP_OMP_CALLER_KEEP;
    if ((index != MSP_OMP_CALLER_KEEP) && (object != 0)) {
        index |= describe(object);
    }
    atomic_store_explicit(slot, ((uint64_t)object << 8) | index, memory_order_release);
    return index;
}

unsigned msp_omp_caller_find(uintptr_t caller)
{
    unsigned index;

    look_for_changes();
    index = object_runtime(msp_object_of((const void *)caller));
    atomic_store_explicit(&msp_omp_callers[msp_omp_caller_slot(caller)],
                          ((uint64_t)caller << 8) | index, memory_order_release);
    return index;
}

/* @p name in the object that defines @p owner (an address in it). */
static uintptr_t find_beside(uintptr_t owner, const char *name)
{
    return (owner == 0) ? 0 : msp_object_symbol(msp_object_of((const void *)owner), name);
}

uintptr_t msp_omp_family_find(enum msp_omp_family family, const char *name)
{
    /* A name that only this family has. libomp has GOMP_parallel, but no libgomp has
     * __kmpc_fork_call, and no libomp GOMP_OFFLOAD_... or this old entry for OpenACC. */
    static const char *const marks[MSP_OMP_FAMILY_COUNT] = {"GOACC_parallel_keyed",
                                                            "__kmpc_fork_call"};

    return find_beside(msp_object_next(marks[family]), name);
}

uintptr_t msp_omp_offload_find(const char *name)
{
    return find_beside(msp_omp_real(MSP_OMP_REAL_OFFLOAD_REGISTER), name);
}

bool msp_omp_program_offloads(void)
{
    static _Atomic(int) answer; /* 0 not tested, 1 no, 2 yes */
    int known = atomic_load_explicit(&answer, memory_order_relaxed);

    if (known == 0) {
        msp_object_t program = msp_object_program();
        msp_object_t own     = msp_object_of((const void *)&answer);

        known = ((program != own) && defines(program, "__tgt_get_mem_resources")) ? 2 : 1;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == 2;
}
