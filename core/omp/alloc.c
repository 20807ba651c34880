/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c: memory for OpenMP programs, and the calls that compilers emit for allocate clauses and
 * directives.
 *
 * A handle of ours costs one check and the core's call: no lock, no look-up of symbols. Everything
 * else (the default, vendors' handles, the runtime's own) takes the slow path below. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include "core/debug/guard.h"
#include "core/engine/heap.h"
#include "core/omp/abi.h"
#include "core/omp/openmp.h"
#include "core/omp/runtime.h"
#include <stdio.h>
#include <stdlib.h>

/* The least alignment of an allocation of this library. */
enum { ALIGN_ALWAYS = 16 };

/* @p align_bytes 0: none requested. */
static void *alloc_ours(memspan_allocator_h allocator, size_t align_bytes, size_t size_bytes,
                        bool zeroed)
{
    size_t align = (align_bytes == 0) ? 1 : align_bytes;

    return zeroed ? msp_allocate_zeroed(allocator, align, 1, size_bytes)
                  : memspan_aligned_alloc(allocator, align, size_bytes);
}

/* In an OpenMP call (runtime.h): the default allocator is the calling code's runtime's. */
static __attribute__((noinline)) void *
alloc_slowly(msp_omp_allocator_t allocator, size_t align_bytes, size_t size_bytes, bool zeroed)
{
    memspan_allocator_h own;

    if (size_bytes == 0) {
        return NULL;
    }
    if ((align_bytes != 0) && !msp_is_power_of_two(align_bytes)) {
        memspan_error(MEMSPAN_ERR_INVALID, "alignment %zu is no power of two", align_bytes);
        return NULL;
    }
    switch (msp_omp_allocator_resolve(allocator, &own)) {
    case MSP_OMP_OURS:
        return alloc_ours(own, align_bytes, size_bytes, zeroed);
    case MSP_OMP_THEIRS:
        return msp_omp_foreign_alloc((msp_omp_allocator_t)own, align_bytes, size_bytes, zeroed);
    case MSP_OMP_UNKNOWN:
        break;
    }
    return NULL;
}

/* @p pointer; the log reports NULL for a request of some bytes. */
static inline void *logged(const char *routine, void *pointer, size_t size_bytes,
                           msp_omp_allocator_t allocator)
{
    if (MSP_UNLIKELY((pointer == NULL) && (size_bytes != 0))) {
        msp_omp_refused_memory(routine, allocator);
    }
    return pointer;
}

/* @p caller is the program's code, by which its runtime is found. */
static __attribute__((noinline)) void *alloc_past_heap(size_t size_bytes,
                                                       msp_omp_allocator_t allocator,
                                                       const void *caller, bool *refused_p)
{
    MSP_OMP_CALL_FROM(caller);
    void *pointer = msp_heap_alloc_scoped(allocator, size_bytes, refused_p);

    if ((pointer != NULL) || *refused_p) {
        return pointer;
    }
    return msp_allocator_known((memspan_allocator_h)allocator)
               ? msp_allocate_slow((memspan_allocator_h)allocator, 1, size_bytes)
               : alloc_slowly(allocator, 0, size_bytes, false);
}

/* From the default allocator of the task, most often one whose heap has an object or a block. In an
 * OpenMP call; NULL: take the slow path. */
static inline void *alloc_default_fast(size_t align_bytes, size_t size_bytes)
{
    uintptr_t allocator = (uintptr_t)msp_omp_default_allocator();

    msp_heap_set_null(allocator);
    return (size_bytes > MSP_SMALL_MAX_BYTES)
               ? msp_heap_alloc_middle(allocator, align_bytes, size_bytes)
               : msp_heap_alloc_fast(allocator, align_bytes, size_bytes, NULL);
}

static __attribute__((noinline)) void *alloc_default(size_t size_bytes, const void *caller)
{
    MSP_OMP_CALL_FROM(caller);
    void *pointer = alloc_default_fast(1, size_bytes);

    return MSP_LIKELY(pointer != NULL) ? pointer : alloc_slowly(0, 0, size_bytes, false);
}

/* Functions of their own, so that the fast path saves no registers for them. */
static __attribute__((noinline)) void *
alloc_otherwise(size_t size_bytes, msp_omp_allocator_t allocator, const void *caller)
{
    bool refused  = false;
    void *pointer = (size_bytes > MSP_SMALL_MAX_BYTES)
                        ? msp_heap_alloc_middle(allocator, 1, size_bytes)
                        : msp_heap_alloc_next(allocator, size_bytes, &refused);

    if ((pointer == NULL) && !refused) {
        pointer = (allocator == 0) ? alloc_default(size_bytes, caller)
                                   : alloc_past_heap(size_bytes, allocator, caller, &refused);
    }
    return (refused && !msp_log_on(MEMSPAN_LOG_INFO))
               ? NULL /* at a limit: logged at a higher level */
               : logged("omp_alloc", pointer, size_bytes, allocator);
}

static __attribute__((noinline)) void *
refuse_and_log(size_t size_bytes, const struct msp_refusal *refusal, msp_omp_allocator_t allocator)
{
    msp_error_limit(size_bytes + MSP_CHARGE_OVERHEAD_BYTES, refusal->limit_bytes,
                    refusal->charged_bytes);
    return logged("omp_alloc", NULL, size_bytes, allocator);
}

/* At its allocator's limit; logged at a higher level than what else is refused. */
static __attribute__((noinline)) void *refuse(size_t size_bytes, uint64_t limit_bytes,
                                              uint64_t charged_bytes, msp_omp_allocator_t allocator)
{
    if (MSP_UNLIKELY(msp_log_on(MEMSPAN_LOG_INFO))) {
        return refuse_and_log(size_bytes, &(struct msp_refusal){limit_bytes, charged_bytes},
                              allocator);
    }
    msp_error_limit(size_bytes + MSP_CHARGE_OVERHEAD_BYTES, limit_bytes, charged_bytes);
    return NULL;
}

/* A macro: an inline function's argument would be loaded on the fast path, too. */
#define ALLOC(size_bytes, allocator, caller)                                                       \
    struct msp_refusal refusal = {0};                                                              \
    void *pointer              = msp_heap_alloc_fast(allocator, 1, size_bytes, &refusal);          \
                                                                                                   \
    if (MSP_LIKELY(pointer != NULL)) {                                                             \
        return pointer;                                                                            \
    }                                                                                              \
    if (refusal.limit_bytes != 0) {                                                                \
        return refuse(size_bytes, refusal.limit_bytes, refusal.charged_bytes, allocator);          \
    }                                                                                              \
    return alloc_otherwise(size_bytes, allocator, caller)

void *omp_alloc(size_t size_bytes, msp_omp_allocator_t allocator)
{
    ALLOC(size_bytes, allocator, MSP_OMP_CALLER);
}

/* An alignment of 0 is an error in these two calls, but "none" inside. */
static bool refuse_alignment(size_t align_bytes)
{
    if (MSP_LIKELY(align_bytes != 0)) {
        return false;
    }
    memspan_error(MEMSPAN_ERR_INVALID, "alignment 0 is no power of two");
    return true;
}

/* Whether the heaps of threads may have memory on such a boundary. */
static inline bool is_small_alignment(size_t align_bytes)
{
    return msp_is_power_of_two(align_bytes) && (align_bytes <= MSP_SMALL_ALIGN_MAX);
}

/* @p caller as of alloc_past_heap(). */
static __attribute__((noinline)) void *aligned_alloc_slowly(size_t align_bytes, size_t size_bytes,
                                                            msp_omp_allocator_t allocator,
                                                            const void *caller)
{
    MSP_OMP_CALL_FROM(caller);
    void *pointer = NULL;

    if ((allocator == 0) && is_small_alignment(align_bytes)) {
        pointer = alloc_default_fast(align_bytes, size_bytes);
    }
    if (pointer != NULL) {
        return pointer;
    }
    if (MSP_LIKELY(msp_allocator_known((memspan_allocator_h)allocator))) {
        pointer = memspan_aligned_alloc((memspan_allocator_h)allocator, align_bytes, size_bytes);
    } else if (!refuse_alignment(align_bytes)) {
        pointer = alloc_slowly(allocator, align_bytes, size_bytes, false);
    }
    return logged("omp_aligned_alloc", pointer, size_bytes, allocator);
}

static MSP_ALWAYS_INLINE void *aligned_alloc_from(size_t align_bytes, size_t size_bytes,
                                                  msp_omp_allocator_t allocator, const void *caller)
{
    void *pointer = NULL;

    if (MSP_LIKELY(is_small_alignment(align_bytes))) {
        pointer = msp_heap_alloc_fast(allocator, align_bytes, size_bytes, NULL);
    }
    return MSP_LIKELY(pointer != NULL)
               ? pointer
               : aligned_alloc_slowly(align_bytes, size_bytes, allocator, caller);
}

void *omp_aligned_alloc(size_t align_bytes, size_t size_bytes, msp_omp_allocator_t allocator)
{
    return aligned_alloc_from(align_bytes, size_bytes, allocator, MSP_OMP_CALLER);
}

static void *alloc_zeroed(size_t align_bytes, size_t count, size_t size_bytes,
                          msp_omp_allocator_t allocator)
{
    size_t total_bytes;

    if (MSP_LIKELY(msp_allocator_known((memspan_allocator_h)allocator))) {
        return msp_allocate_zeroed((memspan_allocator_h)allocator, align_bytes, count, size_bytes);
    }
    if ((count == 0) || (size_bytes == 0) || refuse_alignment(align_bytes)) {
        return NULL;
    }
    if (__builtin_mul_overflow(count, size_bytes, &total_bytes)) {
        memspan_error(MEMSPAN_ERR_INVALID, "%zu elements of %zu bytes overflow the address space",
                      count, size_bytes);
        return NULL;
    }
    return alloc_slowly(allocator, align_bytes, total_bytes, true);
}

void *omp_calloc(size_t count, size_t size_bytes, msp_omp_allocator_t allocator)
{
    MSP_OMP_CALL();

    return logged("omp_calloc", alloc_zeroed(1, count, size_bytes, allocator),
                  (count == 0) ? 0 : size_bytes, allocator);
}

void *omp_aligned_calloc(size_t align_bytes, size_t count, size_t size_bytes,
                         msp_omp_allocator_t allocator)
{
    MSP_OMP_CALL();

    return logged("omp_aligned_calloc", alloc_zeroed(align_bytes, count, size_bytes, allocator),
                  (count == 0) ? 0 : size_bytes, allocator);
}

static __attribute__((noinline)) void free_slowly(uintptr_t entry, void *pointer)
{
    if (msp_is_unwatched() && msp_heap_free_other(entry, pointer)) {
        return;
    }
    if ((pointer == NULL) || (msp_free_slow(entry, pointer) == MEMSPAN_OK)) {
        return;
    }
    if (!msp_pointer_is_ours(pointer) && msp_omp_foreign_free(pointer)) {
        return;
    }
    msp_log(MEMSPAN_LOG_ERROR, "omp", "omp_free: %s", memspan_error_text());
    msp_block_refused(pointer, "free");
}

static __attribute__((noinline)) void free_otherwise(void *pointer)
{
    uintptr_t entry = msp_map_find(pointer);

    if (((entry & MSP_ENTRY_SLAB) != 0) ? !msp_heap_free_at(entry, pointer)
                                        : (entry == 0) || !msp_heap_free_middle(entry, pointer)) {
        free_slowly(entry, pointer);
    }
}

void omp_free(void *pointer, msp_omp_allocator_t allocator)
{
    (void)allocator; /* a hint that is often wrong: fallbacks free with the requested handle */
    if (MSP_UNLIKELY(!msp_heap_free_fast(pointer))) {
        free_otherwise(pointer);
    }
}

/* A block of the real runtime gets another size: always a new block. */
static void *realloc_theirs(void *pointer, size_t size_bytes, msp_omp_allocator_t allocator)
{
    struct msp_omp_block block;
    void *moved;

    if (!msp_omp_foreign_recognise(pointer, &block)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND,
                      "%p is no live memory of this library or of an OpenMP runtime", pointer);
        msp_block_refused(pointer, "realloc");
        return NULL;
    }
    moved = omp_alloc(size_bytes, (allocator != 0) ? allocator : block.allocator);
    if (moved == NULL) {
        return NULL;
    }
    if (memspan_copy(moved, pointer,
                     (size_bytes < block.size_bytes) ? size_bytes : block.size_bytes) !=
        MEMSPAN_OK) {
        omp_free(moved, 0);
        return NULL;
    }
    omp_free(pointer, 0);
    return moved;
}

/* A block of ours moves to an allocator of the runtime's own. */
static void *realloc_to_theirs(void *pointer, size_t size_bytes, msp_omp_allocator_t allocator)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    void *moved;

    if (memspan_pointer_describe(pointer, &info) != MEMSPAN_OK) {
        return NULL;
    }
    if (info.base != pointer) {
        memspan_error(MEMSPAN_ERR_INVALID, "%p lies inside a block and is not its start", pointer);
        return NULL;
    }
    moved = msp_omp_foreign_alloc(allocator, 0, size_bytes, false);
    if (moved == NULL) {
        return NULL;
    }
    if (memspan_copy(moved, pointer,
                     (size_bytes < info.size_bytes) ? size_bytes : info.size_bytes) != MEMSPAN_OK) {
        omp_free(moved, 0);
        return NULL;
    }
    memspan_free(pointer);
    return moved;
}

static void *change_size(void *pointer, size_t size_bytes, msp_omp_allocator_t allocator)
{
    memspan_allocator_h own = MEMSPAN_ALLOCATOR_NULL;

    if (!msp_pointer_is_ours(pointer)) {
        return realloc_theirs(pointer, size_bytes, allocator);
    }
    if (allocator == 0) {
        return memspan_realloc(MEMSPAN_ALLOCATOR_NULL, pointer, size_bytes);
    }
    switch (msp_omp_allocator_resolve(allocator, &own)) {
    case MSP_OMP_OURS:
        return memspan_realloc(own, pointer, size_bytes);
    case MSP_OMP_THEIRS:
        return realloc_to_theirs(pointer, size_bytes, (msp_omp_allocator_t)own);
    case MSP_OMP_UNKNOWN:
        break;
    }
    return NULL;
}

static __attribute__((noinline)) void *realloc_slowly(void *pointer, size_t size_bytes,
                                                      msp_omp_allocator_t allocator,
                                                      msp_omp_allocator_t free_allocator,
                                                      const void *caller)
{
    MSP_OMP_CALL_FROM(caller);

    if (pointer == NULL) {
        return omp_alloc(size_bytes, allocator);
    }
    if (size_bytes == 0) {
        omp_free(pointer, free_allocator);
        return NULL;
    }
    return logged("omp_realloc", change_size(pointer, size_bytes, allocator), size_bytes,
                  allocator);
}

void *omp_realloc(void *pointer, size_t size_bytes, msp_omp_allocator_t allocator,
                  msp_omp_allocator_t free_allocator)
{
    /* A block that grows in steps has space at most of them. */
    return msp_heap_grow_middle(pointer, allocator, size_bytes)
               ? pointer
               : realloc_slowly(pointer, size_bytes, allocator, free_allocator, MSP_OMP_CALLER);
}

/* OpenMP 5.0, allocate directive and clause: null_fb acts as abort_fb, because the construct has no
 * caller for a status. libgomp ends the program with status 1, and so do we, for clang's programs
 * too: there the alternative is a store through NULL. */
static __attribute__((noreturn, cold)) void die_without(size_t size_bytes)
{
    fprintf(stderr, "memspan: an allocate clause or directive got no memory (%zu bytes): %s\n",
            size_bytes, memspan_error_text());
    exit(EXIT_FAILURE);
}

static void *alloc_small(size_t size_bytes, msp_omp_allocator_t allocator, const void *caller)
{
    ALLOC(size_bytes, allocator, caller);
}

static void *alloc_for_construct(size_t align_bytes, size_t size_bytes,
                                 msp_omp_allocator_t allocator, const void *caller)
{
    void *pointer = (align_bytes <= ALIGN_ALWAYS)
                        ? alloc_small(size_bytes, allocator, caller)
                        : aligned_alloc_from(align_bytes, size_bytes, allocator, caller);

    if (MSP_UNLIKELY((pointer == NULL) && (size_bytes > 0))) {
        die_without(size_bytes);
    }
    return pointer;
}

void *GOMP_alloc(size_t align_bytes, size_t size_bytes, msp_omp_allocator_t allocator)
{
    return alloc_for_construct(align_bytes, size_bytes, allocator, MSP_OMP_CALLER);
}

void GOMP_free(void *pointer, msp_omp_allocator_t allocator)
{
    omp_free(pointer, allocator);
}

void *__kmpc_alloc(int thread, size_t size_bytes, msp_omp_allocator_t allocator)
{
    (void)thread;
    return alloc_for_construct(0, size_bytes, allocator, MSP_OMP_CALLER);
}

void *__kmpc_aligned_alloc(int thread, size_t align_bytes, size_t size_bytes,
                           msp_omp_allocator_t allocator)
{
    (void)thread;
    return alloc_for_construct(align_bytes, size_bytes, allocator, MSP_OMP_CALLER);
}

/* No compiler emits the next two; they are the routines under another name. */
void *__kmpc_calloc(int thread, size_t count, size_t size_bytes, msp_omp_allocator_t allocator)
{
    MSP_OMP_CALL();
    (void)thread;
    return omp_calloc(count, size_bytes, allocator);
}

void *__kmpc_realloc(int thread, void *pointer, size_t size_bytes, msp_omp_allocator_t allocator,
                     msp_omp_allocator_t free_allocator)
{
    MSP_OMP_CALL();
    (void)thread;
    return omp_realloc(pointer, size_bytes, allocator, free_allocator);
}

void __kmpc_free(int thread, void *pointer, msp_omp_allocator_t allocator)
{
    (void)thread;
    omp_free(pointer, allocator);
}
