/* SPDX-License-Identifier: BSD-3-Clause */
/* allocatable.c: allocators for Fortran's allocatable variables, by flang's runtime.
 *
 * The runtime of flang 19 and later has a table of functions that allocate and free; three bits in
 * a variable's descriptor say which entry is for it. A free entry of the table stands for one
 * allocator. The functions of an entry get a size alone, so there is a pair for each entry.
 *
 * The runtime is a static library. The reference to its table is weak: the linker then exports the
 * table from a program that has one, and other programs link without it.
 *
 * Invariant: an entry of the table, once ours, stays ours, since variables may refer to it. It
 * serves another allocator only after its own was destroyed. */

#include "core/allocatable.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/platform.h"
#include "core/engine/allocator_record.h"
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The head of CFI_cdesc_t as flang has it. */
struct descriptor {
    void *base_addr;
    size_t elem_len;
    int version;
    unsigned char rank;
    signed char type;
    unsigned char attribute;
    unsigned char extra;
};

struct entry {
    /* flang 19: (size); 20 to 22: (size, stream); 23: (size, alignment, stream). */
    void *(*alloc)(size_t size_bytes, size_t align_bytes);
    void (*free)(void *pointer);
};

enum {
    VERSION_FIRST  = 20240719, /* of the descriptors that have the bits below */
    VERSION_INLINE = 23,       /* of flang, from which on assignments do not ask the runtime */
    ENTRY_SHIFT    = 1,
    ENTRY_MASK     = 7 << ENTRY_SHIFT,
    ENTRIES        = 7,
    ENTRY_OPENMP   = 5, /* flang 23 takes it when a program first runs "!$omp allocators" */
};

extern struct entry flang_entries[] __asm__("_ZN7Fortran7runtime17allocatorRegistryE")
    __attribute__((weak));

#define REMEDY "memspan_allocate() gives Fortran pointers such memory with every compiler"

/* By entry: its allocator. Changed under the lock, read by the functions of the entry. */
static _Atomic(memspan_allocator_h) allocators[ENTRIES];
MSP_LOCK_STATIC(entries_lock, MSP_RANK_ALLOCATABLES);

/* The runtime's second argument is the alignment. */
static atomic_bool is_aligned;

static void *allocate_from(int entry, size_t size_bytes, size_t align_bytes)
{
    memspan_allocator_h allocator = atomic_load(&allocators[entry]);

    return (atomic_load(&is_aligned) && msp_is_power_of_two(align_bytes))
               ? memspan_aligned_alloc(allocator, align_bytes, size_bytes)
               : memspan_alloc(allocator, size_bytes);
}

#define ALLOCATE(number)                                                                           \
    static void *allocate_##number(size_t size_bytes, size_t align_bytes)                          \
    {                                                                                              \
        return allocate_from(number, size_bytes, align_bytes);                                     \
    }
ALLOCATE(1)
ALLOCATE(2)
ALLOCATE(3)
ALLOCATE(4)
ALLOCATE(6)
#undef ALLOCATE

static void *(*const allocate[ENTRIES])(size_t, size_t) = {
    [1] = allocate_1, [2] = allocate_2, [3] = allocate_3, [4] = allocate_4, [6] = allocate_6};

static void release(void *pointer)
{
    (void)memspan_free(pointer);
}

/* How many entries this runtime's table has; 0: there is none. */
static int entry_count(void)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if ((flang_entries == NULL) ||
        (dladdr1(flang_entries, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0) ||
        (symbol == NULL)) {
        return 0;
    }
    return ((symbol->st_size / sizeof(struct entry)) < ENTRIES)
               ? (int)(symbol->st_size / sizeof(struct entry))
               : ENTRIES;
}

/* No allocator (0) is the default one. */
static bool is_destroyed(memspan_allocator_h allocator)
{
    return (allocator != MEMSPAN_ALLOCATOR_NULL) && !msp_allocator_known(allocator);
}

/* The allocator's entry: its own, or one that is free. From the last down, since CUDA Fortran takes
 * the first ones. 0: none. With the lock. */
static int entry_for(memspan_allocator_h allocator, int count)
{
    int found = 0;
    int i;

    for (i = 1; i < count; i++) {
        memspan_allocator_h its_own = atomic_load(&allocators[i]);

        if (flang_entries[i].alloc == NULL) {
            found = (allocate[i] != NULL) ? i : found;
        } else if (flang_entries[i].alloc != allocate[i]) {
            continue;
        } else if (its_own == allocator) {
            return i;
        } else if (is_destroyed(its_own)) {
            found = i;
        }
    }
    return found;
}

memspan_status_t memspan_fortran_compiled(const char *version, const char *options)
{
    static const char name[] = "flang version ";
    const char *found        = strstr(version, name);
    long number              = (found == NULL) ? 0 : strtol(found + sizeof(name) - 1, NULL, 10);

    if (number < VERSION_INLINE) {
        return MEMSPAN_OK;
    }
    atomic_store(&is_aligned, true);
    if (strstr(options, "-fno-realloc-lhs") != NULL) {
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                  "memspan_place: flang %ld compiles reallocation by an assignment to malloc() and "
                  "free(), which end the program for other memory",
                  number);
    return msp_error_hint("compile the program and memspan.f90 with -fno-realloc-lhs beside -mmlir "
                          "-use-alloc-runtime, and allocate before assignments of another shape");
}

memspan_status_t memspan_fortran_place(void *descriptor, memspan_allocator_h allocator)
{
    struct descriptor *variable = descriptor;
    int count                   = entry_count();
    int entry;

    if ((variable->version < VERSION_FIRST) || (count == 0)) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                      "memspan_place: this compiler's allocate takes memory of malloc() only; that "
                      "of flang 19 and later has a choice");
        return msp_error_hint(REMEDY);
    }
    if (variable->base_addr != NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "memspan_place: the variable is allocated");
    }
    if (is_destroyed(allocator)) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "memspan_place: %#lx is no allocator",
                             (unsigned long)(uintptr_t)allocator);
    }
    msp_lock(&entries_lock);
    entry = entry_for(allocator, count);
    if (entry != 0) {
        atomic_store(&allocators[entry], allocator);
        if (flang_entries[entry].alloc == NULL) {
            flang_entries[entry] = (struct entry){allocate[entry], release};
        }
    }
    msp_unlock(&entries_lock);
    if (entry == 0) {
        memspan_error(MEMSPAN_ERR_LIMIT, "memspan_place: flang's runtime has no entry for one more "
                                         "allocator");
        return msp_error_hint(REMEDY);
    }
    variable->extra =
        (unsigned char)((variable->extra & ~ENTRY_MASK) | ((unsigned)entry << ENTRY_SHIFT));
    return MEMSPAN_OK;
}

memspan_status_t memspan_fortran_placed(const void *pointer)
{
    memspan_pointer_info_t info = {.struct_size = sizeof info};

    (void)memspan_pointer_describe(pointer, &info);
    if (info.allocator != MEMSPAN_ALLOCATOR_NULL) {
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                  "memspan_place: allocate was compiled to a call of malloc()");
    return msp_error_hint("compile the program and memspan.f90 with -mmlir -use-alloc-runtime");
}
