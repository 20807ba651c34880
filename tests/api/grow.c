/* SPDX-License-Identifier: BSD-3-Clause */
/* A block with free memory behind it grows where it is. */

#include "api.h"

TestSuite(grow, .fini = in_order);

/* Two blocks of @p size, the second behind the first: false where they do not lie so. */
static bool neighbours(memspan_allocator_h allocator, size_t size, unsigned char **first_p,
                       unsigned char **second_p)
{
    unsigned char *blocks[16];
    int at = -1;

    for (int i = 0; i < 16; i++) {
        blocks[i] = memspan_alloc(allocator, size);
        cr_assert(blocks[i] != NULL);
    }
    for (int i = 0; (at < 0) && (i + 1 < 16); i++) {
        at = ((blocks[i] + size <= blocks[i + 1]) && (blocks[i] + 2 * size > blocks[i + 1])) ? i
                                                                                             : -1;
    }
    for (int i = 0; i < 16; i++) {
        if ((at < 0) || ((i != at) && (i != at + 1))) {
            DONE(memspan_free(blocks[i]));
        }
    }
    if (at >= 0) {
        *first_p  = blocks[at];
        *second_p = blocks[at + 1];
    }
    return at >= 0;
}

Test(grow, into_the_free_memory_behind)
{
    static const size_t sizes[] = {100000, 160000, 250000, 400000};

    for (int i = 0; i < 4; i++) {
        size_t size = sizes[i];
        unsigned char *first;
        unsigned char *second;
        unsigned char *now;

        if (!neighbours(MEMSPAN_ALLOCATOR_DEFAULT, size, &first, &second)) {
            cr_skip_test("no two blocks of %zu bytes lie side by side", size);
        }
        memset(first, 7, size);
        DONE(memspan_free(second));
        memspan_trim(); /* it may have been put by for the next request */
        now = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, first, size + size / 2);
        cr_expect_eq(now, first, "%zu bytes", size);
        cr_expect((now[0] == 7) && (now[size - 1] == 7));
        memset(now, 8, size + size / 2);
        DONE(memspan_free(now));
        memspan_trim();
    }
}

Test(grow, over_itself_after_it_shrank)
{
    size_t size = 300000;
    void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, size);
    void *less  = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, size / 3);
    void *more;

    cr_expect_eq(less, block);
    more = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, less, size);
    cr_expect_eq(more, block);
    DONE(memspan_free(more));
}
