/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls behind Fortran's memspan_place(), on a table of this program that is like the table of
 * flang's runtime. */

#include "api.h"

memspan_status_t memspan_fortran_compiled(const char *version, const char *options);
memspan_status_t memspan_fortran_place(void *descriptor, memspan_allocator_h allocator);
memspan_status_t memspan_fortran_placed(const void *pointer);

enum { VERSION = 20240719, ADDENDUM = 1, OTHERS = 0x50, INDEX = 7 << 1 };

struct entry {
    void *(*alloc)(size_t size_bytes, void *stream);
    void (*free)(void *pointer);
};

extern MEMSPAN_API struct entry table[7] __asm__("_ZN7Fortran7runtime17allocatorRegistryE");
struct entry table[7];

struct descriptor {
    void *base;
    size_t element_bytes;
    int version;
    unsigned char rank, type, attribute, extra;
};

TestSuite(allocatable, .fini = in_order);

static memspan_allocator_h make(void)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &allocator));
    return allocator;
}

static struct descriptor variable(void)
{
    return (struct descriptor){.version = VERSION, .extra = ADDENDUM | OTHERS};
}

static int index_of(const struct descriptor *variable)
{
    cr_expect_eq(variable->extra & ~INDEX, ADDENDUM | OTHERS, "other bits: %#x", variable->extra);
    return (variable->extra & INDEX) >> 1;
}

/* Assignments of flang 23 do not ask the runtime's table; its second argument is the alignment. */
Test(allocatable, the_compiler_counts)
{
    struct descriptor one = variable();
    void *block;

    DONE(memspan_fortran_compiled("GCC version 24.1.0", ""));
    DONE(memspan_fortran_compiled("Debian flang version 22.1.8", "-O2"));
    DONE(memspan_fortran_place(&one, make()));
    block = table[index_of(&one)].alloc(100, (void *)4096);
    cr_assert(block != NULL, "%s", memspan_error_text());
    table[index_of(&one)].free(block);
    REFUSED(memspan_fortran_compiled("Debian flang version 23.1.4", "-mmlir -use-alloc-runtime"),
            MEMSPAN_ERR_UNSUPPORTED, "-fno-realloc-lhs");
    REFUSED(memspan_fortran_compiled("flang version 100.0", "-frealloc-lhs"),
            MEMSPAN_ERR_UNSUPPORTED, "flang 100");
    DONE(memspan_fortran_compiled("flang version 23.1.4", "-fno-realloc-lhs -O2"));
    block = table[index_of(&one)].alloc(100, (void *)4096);
    cr_assert(block != NULL, "%s", memspan_error_text());
    cr_expect_eq((uintptr_t)block % 4096, 0);
    table[index_of(&one)].free(block);
}

Test(allocatable, memory_is_the_allocators)
{
    memspan_allocator_h allocator = make();
    memspan_pointer_info_t info   = {.struct_size = sizeof info};
    struct descriptor one         = variable();
    struct descriptor other       = variable();
    void *block;
    int i;

    DONE(memspan_fortran_place(&one, allocator));
    DONE(memspan_fortran_place(&other, allocator));
    i = index_of(&one);
    cr_assert_eq(i, 6, "entry %d", i);
    cr_expect_eq(index_of(&other), i, "an entry each");
    block = table[i].alloc(100, NULL);
    DONE(memspan_pointer_describe(block, &info));
    cr_expect_eq(info.allocator, allocator);
    cr_expect_eq(info.size_bytes, 100);
    DONE(memspan_fortran_placed(block));
    REFUSED(memspan_fortran_placed(&i), MEMSPAN_ERR_UNSUPPORTED, "use-alloc-runtime");
    one.base = block;
    REFUSED(memspan_fortran_place(&one, allocator), MEMSPAN_ERR_INVALID, "is allocated");
    table[i].free(block);
    DONE(memspan_allocator_destroy(allocator));
    REFUSED(memspan_fortran_place(&other, allocator), MEMSPAN_ERR_NOT_FOUND, "no allocator");
}

/* The runtime's own entries are left alone, and that which OpenMP takes later. */
Test(allocatable, entries)
{
    memspan_allocator_h allocators[6];
    struct descriptor x = variable();
    int used            = 0;
    int i;

    table[0].alloc = table[2].alloc = (void *(*)(size_t, void *))(uintptr_t)1;
    for (i = 0; i < 6; i++) {
        allocators[i] = make();
    }
    for (i = 0; i < 4; i++) {
        DONE(memspan_fortran_place(&x, allocators[i]));
        used |= 1 << index_of(&x);
    }
    cr_expect_eq(used, 1 << 1 | 1 << 3 | 1 << 4 | 1 << 6, "entries %#x", used);
    REFUSED(memspan_fortran_place(&x, allocators[4]), MEMSPAN_ERR_LIMIT, "memspan_allocate");
    DONE(memspan_allocator_destroy(allocators[1]));
    DONE(memspan_fortran_place(&x, allocators[4]));
    REFUSED(memspan_fortran_place(&x, allocators[5]), MEMSPAN_ERR_LIMIT, "no entry");
    for (i = 0; i < 6; i++) {
        if (i != 1) {
            DONE(memspan_allocator_destroy(allocators[i]));
        }
    }
}

Test(allocatable, descriptors_of_other_compilers)
{
    struct descriptor x = variable();

    x.version = 1; /* gfortran's */
    REFUSED(memspan_fortran_place(&x, MEMSPAN_ALLOCATOR_DEFAULT), MEMSPAN_ERR_UNSUPPORTED,
            "malloc");
    cr_expect_eq(index_of(&x), 0);
}
