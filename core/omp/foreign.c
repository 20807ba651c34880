/* SPDX-License-Identifier: BSD-3-Clause */
/* foreign.c: memory and handles that the real OpenMP runtime made.
 *
 * Blocks that were forwarded through us are remembered. Any other is recognised by the record that
 * its runtime writes before it (libgomp 32 bytes, libomp 40), copied out by the kernel so that a
 * wild pointer is an answer and not a fault. A record must agree with itself and, for libgomp,
 * with the size of the malloc block around it, before anything is handed to the runtime. */

#include "core/base/error.h"
#include "core/base/object.h"
#include "core/engine/provider.h"
#include "core/omp/openmp.h"
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* LLVM keeps the numbers up to here for predefined handles. */
enum { PREDEFINED_MAX = 1024 };

/* Blocks that a runtime made through us; the values are the requested size and the omp_free() of
 * that runtime. */
/* The functions for symmetric memory; NULL: there is none. */
static msp_omp_symmetric_alloc *_Atomic symmetric_alloc;
static msp_omp_symmetric_free *_Atomic symmetric_free;

static struct msp_omp_table forwarded = MSP_OMP_TABLE_INIT;
static struct msp_omp_table free_of   = MSP_OMP_TABLE_INIT;
/* The allocator too: a runtime writes no record before another library's memory. */
static struct msp_omp_table allocator_of = MSP_OMP_TABLE_INIT;

typedef void *alloc_fn(size_t size_bytes, msp_omp_allocator_t allocator);
typedef void *aligned_alloc_fn(size_t align_bytes, size_t size_bytes,
                               msp_omp_allocator_t allocator);
typedef void *calloc_fn(size_t count, size_t size_bytes, msp_omp_allocator_t allocator);
typedef void *aligned_calloc_fn(size_t align_bytes, size_t count, size_t size_bytes,
                                msp_omp_allocator_t allocator);
typedef void free_fn(void *pointer, msp_omp_allocator_t allocator);

/* For kernels that forbid process_vm_readv(): write() answers EFAULT instead of faulting. */
static bool read_through_pipe(const void *address, void *buffer, size_t size)
{
    bool done = false;
    int ends[2];

    if (pipe(ends) != 0) {
        return false;
    }
    if (write(ends[1], address, size) == (ssize_t)size) {
        done = (read(ends[0], buffer, size) == (ssize_t)size);
    }
    close(ends[0]);
    close(ends[1]);
    return done;
}

bool msp_omp_read_safely(const void *address, void *buffer, size_t size)
{
    struct iovec here  = {.iov_base = buffer, .iov_len = size};
    struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
    int saved          = errno;
    ssize_t n          = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    bool done          = (n == (ssize_t)size);

    if ((n < 0) && ((errno == EPERM) || (errno == ENOSYS))) {
        done = read_through_pipe(address, buffer, size);
    }
    errno = saved;
    return done;
}

/* Is malloc() the C library's? Then the word before a block is its size and three flags. */
static bool malloc_is_glibc(void)
{
    static _Atomic(int) answer; /* 0 not tested, 1 no, 2 yes */
    int known = atomic_load_explicit(&answer, memory_order_relaxed);

    if (known == 0) {
        bool same = msp_object_of((void *)(uintptr_t)malloc) ==
                    msp_object_of((void *)(uintptr_t)gnu_get_libc_version);
        known = same ? 2 : 1;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == 2;
}

static bool is_readable(uintptr_t address)
{
    char byte;

    return msp_omp_read_safely((const void *)address, &byte, 1);
}

/* Do the C library's words around a block at @p raw agree? The word before it is the size of the
 * chunk with three flags; behind a chunk in use that was not mapped alone, the next one says so. */
static bool is_glibc_block(uintptr_t raw, size_t least, size_t most)
{
    enum { PREVIOUS_IN_USE = 1, MAPPED = 2, FLAGS = 7 };
    size_t chunk;
    size_t size;
    size_t next;

    if (!msp_omp_read_safely((const char *)raw - sizeof(chunk), &chunk, sizeof(chunk))) {
        return false;
    }
    size = chunk & ~(size_t)FLAGS;
    if ((size % (2 * sizeof(void *)) != 0) || (size < least + sizeof(chunk)) || (size > most)) {
        return false;
    }
    if ((chunk & MAPPED) != 0) {
        return is_readable(raw + least - 1);
    }
    return msp_omp_read_safely((const char *)raw + size - sizeof(next), &next, sizeof(next)) &&
           ((next & PREVIOUS_IN_USE) != 0);
}

/* Can a malloc block of at least @p least bytes, and at most @p most, be at @p raw? Another malloc
 * keeps its records elsewhere; then both ends must at least be readable. */
static bool is_malloc_block(uintptr_t raw, size_t least, size_t most)
{
    if (raw % (2 * sizeof(void *)) != 0) {
        return false;
    }
    return malloc_is_glibc() ? is_glibc_block(raw, least, most)
                             : is_readable(raw) && is_readable(raw + least - 1);
}

/* Does libgomp's allocator take its memory from mmap()? Where it locks memory, and where its
 * partition is the nearest node: a bit and seven bits of its record, behind three traits of a byte
 * each. */
static bool is_mapping(msp_omp_allocator_t allocator)
{
    uintptr_t words[6];

    if (allocator <= PREDEFINED_MAX) {
        return allocator == MSP_OMP_GNU_PINNED;
    }
    return msp_omp_read_safely((const void *)allocator, words, sizeof(words)) &&
           (((words[5] >> 24 & 1) != 0) || ((words[5] >> 25 & 0x7f) == MEMSPAN_VALUE_NEAREST));
}

/* Mapped memory starts a page, from GCC 16 on a cache line of a GPU, because small blocks share a
 * page; all else comes from malloc(). */
static bool is_libgomp_block(uintptr_t raw, size_t size, msp_omp_allocator_t allocator)
{
    enum { GRANULE = 128 };

    return ((raw % GRANULE == 0) && is_mapping(allocator) && is_readable(raw) &&
            is_readable(raw + size - 1)) ||
           is_malloc_block(raw, size, SIZE_MAX);
}

static bool is_alignment(uintptr_t value)
{
    return msp_is_power_of_two(value) && (value <= ((uintptr_t)1 << 40));
}

/* A handle that a runtime may have made: predefined, or the address of bytes that look like its
 * record. libgomp: space, alignment, ... in a malloc block; libomp: space, kind, alignment,
 * fallback. */
static bool is_plausible_handle(msp_omp_allocator_t allocator)
{
    uintptr_t words[6];
    uint32_t fallback;

    if (allocator <= PREDEFINED_MAX) {
        return (allocator <= 8) || ((allocator >= 100) && (allocator <= 102)) ||
               (allocator == 200) || (allocator == 201);
    }
    if (((allocator % sizeof(void *)) != 0) ||
        !msp_omp_read_safely((const void *)allocator, words, sizeof(words))) {
        return false;
    }
    if ((words[0] <= PREDEFINED_MAX) && is_alignment(words[1])) {
        return is_malloc_block(allocator, sizeof(words), 512);
    }
    fallback = (uint32_t)words[3];
    return ((words[0] <= PREDEFINED_MAX) || is_readable(words[0])) &&
           ((words[2] == 0) || is_alignment(words[2])) &&
           (((fallback >= MEMSPAN_VALUE_DEFAULT_MEM_FB) &&
             (fallback <= MEMSPAN_VALUE_ALLOCATOR_FB)) ||
            ((fallback == 0) && msp_omp_program_offloads())); /* of a space with devices */
}

bool msp_omp_foreign_is_allocator(msp_omp_allocator_t allocator)
{
    return (allocator > PREDEFINED_MAX) && is_plausible_handle(allocator);
}

bool msp_omp_block_is_libgomp(const void *pointer, struct msp_omp_block *block_p)
{
    struct {
        uintptr_t raw; /* the block of malloc() */
        size_t size;   /* of all of it */
        uintptr_t allocator;
        uintptr_t pad;
    } record;
    uintptr_t address = (uintptr_t)pointer;

    if (((address % sizeof(void *)) != 0) || (address < 4096) ||
        !msp_omp_read_safely((const char *)pointer - sizeof(record), &record, sizeof(record))) {
        return false;
    }
    if ((record.raw > address - sizeof(record)) || (record.size <= address - record.raw) ||
        (record.size > SIZE_MAX / 4) || (record.allocator == 0) ||
        !is_plausible_handle(record.allocator)) {
        return false;
    }
    if (!is_libgomp_block(record.raw, record.size, record.allocator)) {
        return false;
    }
    *block_p = (struct msp_omp_block){.family     = MSP_OMP_LIBGOMP,
                                      .size_bytes = record.size - (address - record.raw),
                                      .allocator  = record.allocator};
    return true;
}

bool msp_omp_block_is_libomp(const void *pointer, struct msp_omp_block *block_p)
{
    struct {
        uintptr_t raw;
        size_t size;
        size_t size_asked;
        uintptr_t aligned; /* the program's block */
        uintptr_t allocator;
    } record;
    uintptr_t address = (uintptr_t)pointer;

    if (((address % sizeof(void *)) != 0) || (address < 4096) ||
        !msp_omp_read_safely((const char *)pointer - sizeof(record), &record, sizeof(record))) {
        return false;
    }
    if ((record.aligned != address) || (record.raw > address - sizeof(record)) ||
        (record.size <= record.size_asked + sizeof(record)) ||
        (address - record.raw > record.size - record.size_asked) ||
        !is_plausible_handle(record.allocator)) {
        return false;
    }
    *block_p = (struct msp_omp_block){
        .family = MSP_OMP_LIBOMP, .size_bytes = record.size_asked, .allocator = record.allocator};
    return true;
}

bool msp_omp_foreign_recognise(const void *pointer, struct msp_omp_block *block_p)
{
    uintptr_t size;
    uintptr_t allocator;

    if (msp_omp_block_is_libomp(pointer, block_p) || msp_omp_block_is_libgomp(pointer, block_p)) {
        return true;
    }
    /* Of a runtime that is neither, but that made it for us; or symmetric. */
    if (((uintptr_t)pointer > 1) && msp_omp_table_get(&forwarded, (uintptr_t)pointer, &size) &&
        msp_omp_table_get(&allocator_of, (uintptr_t)pointer, &allocator)) {
        *block_p = (struct msp_omp_block){
            .family = MSP_OMP_FAMILY_COUNT, .size_bytes = size, .allocator = allocator};
        return true;
    }
    return false;
}

static uintptr_t alloc_routine(size_t align_bytes, bool zeroed)
{
    if (align_bytes == 0) {
        return msp_omp_real(zeroed ? MSP_OMP_REAL_CALLOC : MSP_OMP_REAL_ALLOC);
    }
    return msp_omp_real(zeroed ? MSP_OMP_REAL_ALIGNED_CALLOC : MSP_OMP_REAL_ALIGNED_ALLOC);
}

static void *call_alloc(uintptr_t routine, msp_omp_allocator_t allocator, size_t align_bytes,
                        size_t size_bytes, bool zeroed)
{
    if ((align_bytes == 0) && !zeroed) {
        return ((alloc_fn *)routine)(size_bytes, allocator);
    }
    if (align_bytes == 0) {
        return ((calloc_fn *)routine)(1, size_bytes, allocator);
    }
    if (!zeroed) {
        return ((aligned_alloc_fn *)routine)(align_bytes, size_bytes, allocator);
    }
    return ((aligned_calloc_fn *)routine)(align_bytes, 1, size_bytes, allocator);
}

static void *alloc_symmetric(size_t align_bytes, size_t size_bytes, bool zeroed)
{
    msp_omp_symmetric_alloc *alloc = atomic_load(&symmetric_alloc);

    if (alloc == NULL) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no symmetric heap");
        msp_error_hint("memspan_omp_symmetric_mem_alloc begins with shmem_init()");
        return NULL;
    }
    return alloc(align_bytes, size_bytes, zeroed);
}

static void free_symmetric(void *pointer, msp_omp_allocator_t allocator)
{
    msp_omp_symmetric_free *release = atomic_load(&symmetric_free);

    (void)allocator;
    if (release != NULL) { /* else it has gone with its heap */
        release(pointer);
    }
}

void memspan_symmetric_allocator_set(msp_omp_symmetric_alloc *alloc,
                                     msp_omp_symmetric_free *release)
{
    atomic_store(&symmetric_alloc, alloc);
    atomic_store(&symmetric_free, release);
}

/* Should there be no space to remember a block, a runtime's record still identifies it. */
static void remember(void *pointer, msp_omp_allocator_t allocator, uintptr_t free_routine,
                     size_t size_bytes)
{
    msp_omp_table_put(&allocator_of, (uintptr_t)pointer, allocator);
    msp_omp_table_put(&free_of, (uintptr_t)pointer, free_routine);
    msp_omp_table_put(&forwarded, (uintptr_t)pointer, size_bytes);
}

void *msp_omp_foreign_alloc(msp_omp_allocator_t allocator, size_t align_bytes, size_t size_bytes,
                            bool zeroed)
{
    uintptr_t routine = alloc_routine(align_bytes, zeroed);
    void *pointer;

    if (allocator == MSP_OMP_SYMMETRIC) {
        pointer = alloc_symmetric(align_bytes, size_bytes, zeroed);
        if (pointer != NULL) {
            remember(pointer, allocator, (uintptr_t)free_symmetric, size_bytes);
        }
        return pointer;
    }
    if ((routine == 0) || !is_plausible_handle(allocator)) {
        memspan_error(MEMSPAN_ERR_INVALID,
                      "allocator %#zx is no allocator of this library or of an OpenMP runtime",
                      (size_t)allocator);
        return NULL;
    }
    pointer = call_alloc(routine, allocator, align_bytes, size_bytes, zeroed);
    if (pointer == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY,
                      "the OpenMP runtime has no %zu bytes for its allocator %#zx", size_bytes,
                      (size_t)allocator);
    } else {
        remember(pointer, allocator, msp_omp_real(MSP_OMP_REAL_FREE), size_bytes);
    }
    return pointer;
}

bool msp_omp_foreign_free(void *pointer)
{
    struct msp_omp_block block = {.family = MSP_OMP_FAMILY_COUNT};
    uintptr_t routine          = 0;
    uintptr_t allocator        = 0;
    uintptr_t size;

    if (((uintptr_t)pointer > 1) && msp_omp_table_take(&forwarded, (uintptr_t)pointer, &size)) {
        (void)msp_omp_table_take(&free_of, (uintptr_t)pointer, &routine);
        (void)msp_omp_table_take(&allocator_of, (uintptr_t)pointer, &allocator);
    } else if (msp_omp_foreign_recognise(pointer, &block)) {
        /* libomp unlocks a pinned block for its own allocator alone, not for the null one. */
        allocator = block.allocator;
        routine   = msp_omp_family_find(block.family, "omp_free");
    }
    if (routine == 0) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND,
                      "%p is no live memory of this library or of an OpenMP runtime", pointer);
        if (msp_chunk_was_here(pointer)) {
            msp_error_hint("it was probably freed before");
        }
        return false;
    }
    ((free_fn *)routine)(pointer, allocator);
    return true;
}
