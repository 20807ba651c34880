/* SPDX-License-Identifier: BSD-3-Clause */
/* What compilers emit for allocate clauses and directives: the alignment that the construct asks
 * for, whatever the size. */

#include "api.h"
#include <memspan/omp.h>

TestSuite(constructs, .fini = in_order);

void *GOMP_alloc(size_t align_bytes, size_t size_bytes, uintptr_t allocator);
void GOMP_free(void *pointer, uintptr_t allocator);
void *__kmpc_alloc(int thread, size_t size_bytes, uintptr_t allocator);
void *__kmpc_aligned_alloc(int thread, size_t align_bytes, size_t size_bytes, uintptr_t allocator);
void *__kmpc_calloc(int thread, size_t count, size_t size_bytes, uintptr_t allocator);
void *__kmpc_realloc(int thread, void *pointer, size_t size_bytes, uintptr_t allocator,
                     uintptr_t free_allocator);
void __kmpc_free(int thread, void *pointer, uintptr_t allocator);

enum { BLOCKS = 40 };

static void expect_aligned(uintptr_t allocator, size_t align)
{
    void *blocks[3 * BLOCKS];

    for (size_t size = 1; size < 5000; size = 2 * size + 15) {
        for (int i = 0; i < BLOCKS; i++) {
            blocks[3 * i]     = GOMP_alloc(align, size, allocator);
            blocks[3 * i + 1] = __kmpc_aligned_alloc(0, align, size, allocator);
            blocks[3 * i + 2] = __kmpc_alloc(0, size, allocator);
            cr_assert_eq((uintptr_t)blocks[3 * i] % align, 0, "GOMP_alloc: %zu bytes at %p for %zu",
                         size, blocks[3 * i], align);
            cr_assert_eq((uintptr_t)blocks[3 * i + 1] % align, 0,
                         "__kmpc_aligned_alloc: %zu bytes at %p for %zu", size, blocks[3 * i + 1],
                         align);
            cr_assert_eq((uintptr_t)blocks[3 * i + 2] % 16, 0);
        }
        for (int i = 0; i < BLOCKS; i++) {
            GOMP_free(blocks[3 * i], allocator);
            __kmpc_free(0, blocks[3 * i + 1], allocator);
            __kmpc_free(0, blocks[3 * i + 2], allocator);
        }
    }
}

Test(constructs, alignment)
{
    memspan_allocator_h made = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &made));
    for (size_t align = 1; align <= 4096; align *= 2) {
        expect_aligned((uintptr_t)MEMSPAN_ALLOCATOR_DEFAULT, align);
        expect_aligned((uintptr_t)made, align);
    }
    DONE(memspan_allocator_destroy(made));
}

/* A block that is zeroed and moved by these calls: its size, its contents, and whose it is. */
Test(constructs, zeroed_and_moved)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    memspan_allocator_h made[2];
    unsigned char *p;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &made[0]));
    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &made[1]));
    p = memspan_alloc(made[0], 700);
    cr_assert_not_null(p);
    memset(p, 0xa5, 700);
    memspan_free(p);
    p = __kmpc_calloc(0, 100, 7, (uintptr_t)made[0]);
    cr_assert_not_null(p, "%s", memspan_error_text());
    for (int i = 0; i < 700; i++) {
        cr_assert_eq(p[i], 0);
        p[i] = (unsigned char)i;
    }
    DONE(memspan_pointer_describe(p, &info));
    cr_expect_eq(info.size_bytes, 700);
    cr_expect_eq(info.allocator, made[0]);
    p = __kmpc_realloc(0, p, 90000, (uintptr_t)made[1], (uintptr_t)made[0]);
    cr_assert_not_null(p, "%s", memspan_error_text());
    DONE(memspan_pointer_describe(p, &info));
    cr_expect_eq(info.size_bytes, 90000);
    cr_expect_eq(info.allocator, made[1]);
    for (int i = 0; i < 700; i++) {
        cr_assert_eq(p[i], (unsigned char)i);
    }
    cr_expect_null(__kmpc_calloc(0, SIZE_MAX / 2, 3, (uintptr_t)made[0]));
    __kmpc_free(0, p, (uintptr_t)made[1]);
    for (int i = 0; i < 2; i++) {
        DONE(memspan_allocator_destroy(made[i]));
    }
}
