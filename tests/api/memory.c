/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory: sizes that cannot be, pointers that are not ours, ranges that do not fit. */

#include "api.h"
#include <stdlib.h>
#include <sys/mman.h>

TestSuite(memory, .fini = in_order);

Test(memory, sizes_that_cannot_be)
{
    memspan_trait_t trait         = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &allocator));
    for (size_t less = 0; less < 70; less++) {
        REFUSED_NULL(memspan_alloc(allocator, SIZE_MAX - less), MEMSPAN_ERR_NO_MEMORY, "");
        REFUSED_NULL(memspan_aligned_alloc(allocator, 4096, SIZE_MAX - less), MEMSPAN_ERR_NO_MEMORY,
                     "");
    }
    for (int bit = 48; bit < 64; bit++) {
        cr_expect_eq(memspan_alloc(allocator, (size_t)1 << bit), NULL);
    }
    REFUSED_NULL(memspan_calloc(allocator, SIZE_MAX, 2), MEMSPAN_ERR_NO_MEMORY, "");
    REFUSED_NULL(memspan_calloc(allocator, 2, SIZE_MAX), MEMSPAN_ERR_NO_MEMORY, "");
    REFUSED_NULL(memspan_calloc(allocator, (size_t)1 << 32, (size_t)1 << 32), MEMSPAN_ERR_NO_MEMORY,
                 "");
    REFUSED_NULL(memspan_calloc(allocator, ((size_t)1 << 32) + 1, (size_t)1 << 32),
                 MEMSPAN_ERR_NO_MEMORY, "");
    DONE(memspan_allocator_destroy(allocator));
}

Test(memory, alignments_that_are_none)
{
    static const size_t aligns[] = {0, 3, 48, 100, SIZE_MAX, ((size_t)1 << 63) + 1};

    for (int i = 0; i < 6; i++) {
        REFUSED_NULL(memspan_aligned_alloc(MEMSPAN_ALLOCATOR_DEFAULT, aligns[i], 64),
                     MEMSPAN_ERR_INVALID, "alignment");
    }
    for (int bit = 40; bit < 64; bit++) {
        void *block = memspan_aligned_alloc(MEMSPAN_ALLOCATOR_DEFAULT, (size_t)1 << bit, 64);

        cr_expect((block == NULL) || ((uintptr_t)block % ((size_t)1 << bit) == 0));
        DONE(memspan_free(block));
    }
}

Test(memory, nothing_asked)
{
    memspan_error_clear();
    cr_expect_eq(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 0), NULL);
    cr_expect_eq(memspan_calloc(MEMSPAN_ALLOCATOR_DEFAULT, 0, 0), NULL);
    cr_expect_eq(memspan_calloc(MEMSPAN_ALLOCATOR_DEFAULT, 0, SIZE_MAX), NULL);
    cr_expect_eq(memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, NULL, 0), NULL);
    DONE(memspan_free(NULL));
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_OK, "asking for nothing is no error: %s",
                 memspan_error_text());
}

Test(memory, frees_that_are_refused)
{
    char on_stack[256];
    static char in_data[256];
    char *from_malloc = malloc(256);
    char *mapped = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *block  = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 1000);

    cr_assert((from_malloc != NULL) && (mapped != MAP_FAILED) && (block != NULL));
    REFUSED(memspan_free(on_stack), MEMSPAN_ERR_NOT_FOUND, "");
    REFUSED(memspan_free(in_data), MEMSPAN_ERR_NOT_FOUND, "");
    REFUSED(memspan_free(from_malloc), MEMSPAN_ERR_NOT_FOUND, "");
    REFUSED(memspan_free(mapped + 100), MEMSPAN_ERR_NOT_FOUND, "");
    REFUSED(memspan_free((void *)1), MEMSPAN_ERR_NOT_FOUND, "");
    REFUSED(memspan_free((void *)UINTPTR_MAX), MEMSPAN_ERR_NOT_FOUND, "");
    REFUSED(memspan_free((void *)((uintptr_t)1 << 57)), MEMSPAN_ERR_NOT_FOUND, "");
    REFUSED(memspan_free(block + 8), MEMSPAN_ERR_NOT_FOUND, "");
    DONE(memspan_free(block));
    REFUSED(memspan_free(block), MEMSPAN_ERR_NOT_FOUND, "free");
    free(from_malloc);
    munmap(mapped, 65536);
}

Test(memory, messages_tell_a_double_free_from_an_inner_address)
{
    char first[512];
    char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 1000);

    cr_assert_neq(block, NULL);
    cr_expect_eq(memspan_free(block + 8), MEMSPAN_ERR_NOT_FOUND);
    snprintf(first, sizeof(first), "%s", memspan_error_last()->message);
    DONE(memspan_free(block));
    cr_expect_eq(memspan_free(block), MEMSPAN_ERR_NOT_FOUND);
    cr_expect_str_neq(first, memspan_error_last()->message);
}

/* Memory that is an allocation of the driver by itself has left the library by then. */
Test(memory, messages_of_a_double_free_of_large_memory)
{
    char on_stack[64];
    char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, (size_t)200 << 20);

    cr_assert_neq(block, NULL);
    DONE(memspan_free(block));
    memspan_trim();
    REFUSED(memspan_free(block), MEMSPAN_ERR_NOT_FOUND, "probably freed before");
    REFUSED(memspan_free(on_stack), MEMSPAN_ERR_NOT_FOUND, "free it with what allocated it");
}

Test(memory, reallocs_that_are_refused)
{
    char on_stack[64];
    char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 64);

    cr_assert_neq(block, NULL);
    memset(block, 7, 64);
    REFUSED_NULL(memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, on_stack, 100), MEMSPAN_ERR_NOT_FOUND,
                 "");
    REFUSED_NULL(memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block + 8, 100), MEMSPAN_ERR_NOT_FOUND,
                 "");
    cr_expect_eq(memspan_realloc((memspan_allocator_h)1000, block, 100), NULL);
    cr_expect_eq(memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block, SIZE_MAX), NULL);
    memspan_error_clear();
    cr_expect_eq(memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, on_stack, 0), NULL);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NOT_FOUND,
                 "realloc to 0 frees, and this is not ours to free");
    for (int i = 0; i < 64; i++) {
        cr_expect_eq(block[i], 7);
    }
    DONE(memspan_free(block));
}

Test(memory, queries_that_are_refused)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    memspan_reach_t reach       = {0};
    char *block                 = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 64);

    cr_assert_neq(block, NULL);
    REFUSED(memspan_pointer_describe(NULL, &info), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_pointer_describe(block, NULL), MEMSPAN_ERR_INVALID, "NULL");
    info.struct_size = 0;
    REFUSED(memspan_pointer_describe(block, &info), MEMSPAN_ERR_INVALID, "struct_size");
    REFUSED(memspan_pointer_reach(block, NO_DEVICE, &reach), MEMSPAN_ERR_NOT_FOUND, "12345");
    REFUSED(memspan_pointer_reach(block, MEMSPAN_HOST, NULL), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_pointer_reach(&reach, MEMSPAN_HOST, &reach), MEMSPAN_ERR_NOT_FOUND, "");
    DONE(memspan_free(block));
}

Test(memory, transfers_that_are_refused)
{
    static char buffer[200];
    char *block                = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);
    memspan_kernel_call_t call = {.struct_size = sizeof(call)};

    cr_assert_neq(block, NULL);
    REFUSED(memspan_copy(NULL, block, 10), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_copy(block, NULL, 10), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_fill(NULL, 0, 10), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_copy(block, buffer, 101), MEMSPAN_ERR_INVALID, "100");
    REFUSED(memspan_copy(buffer, block + 50, 51), MEMSPAN_ERR_INVALID, "100");
    REFUSED(memspan_fill(block + 99, 0, 2), MEMSPAN_ERR_INVALID, "100");
    REFUSED(memspan_fill(block, 0, SIZE_MAX), MEMSPAN_ERR_INVALID, "");
    DONE(memspan_copy(NULL, NULL, 0));
    DONE(memspan_fill(NULL, 0, 0));
    REFUSED(memspan_prefetch(NULL, 10, MEMSPAN_HOST), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_prefetch(block, 10, NO_DEVICE), MEMSPAN_ERR_NOT_FOUND, "12345");
    REFUSED(memspan_prefetch(block, 10, MEMSPAN_HOST), MEMSPAN_ERR_UNSUPPORTED, "");
    REFUSED(memspan_kernel_launch(NO_DEVICE, &call), MEMSPAN_ERR_NOT_FOUND, "12345");
    REFUSED(memspan_kernel_launch(MEMSPAN_HOST, NULL), MEMSPAN_ERR_INVALID, "NULL");
    call.count = SIZE_MAX;
    call.z     = block;
    REFUSED(memspan_kernel_launch(MEMSPAN_HOST, &call), MEMSPAN_ERR_INVALID, "");
    DONE(memspan_free(block));
}

/* Callbacks of the form that NumPy takes (NEP 49), called as it calls them: with a context. */
Test(memory, callbacks_with_a_context)
{
    void *(*take)(memspan_allocator_h, size_t)                    = memspan_alloc;
    void *(*take_zeroed)(memspan_allocator_h, size_t, size_t)     = memspan_calloc;
    void *(*resize)(memspan_allocator_h, void *, size_t)          = memspan_realloc;
    memspan_status_t (*give)(memspan_allocator_h, void *, size_t) = memspan_free_sized;
    memspan_allocator_h allocator                                 = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_stats_t stats                               = {.struct_size = sizeof(stats)};
    void *block;

    DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &allocator));
    block = resize(allocator, take(allocator, 100), 1 << 20);
    cr_assert_not_null(block);
    DONE(give(allocator, block, 1));
    block = take_zeroed(allocator, 10, 10);
    cr_assert_eq(memcmp(block, (char[100]){0}, 100), 0);
    DONE(give(MEMSPAN_ALLOCATOR_NULL, block, 100));
    REFUSED(give(allocator, block, 100), MEMSPAN_ERR_NOT_FOUND, "");
    DONE(give(allocator, NULL, 0));
    DONE(memspan_allocator_get_stats(allocator, &stats));
    cr_expect_eq(stats.live_count, 0);
    DONE(memspan_allocator_destroy(allocator));
}
