/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of offsets: blocks of an earlier heap in a new one. */

#include "symmetric_heap.h"
#include <memspan/memspan.h>

static void refuse_blocks(const struct msp_symmetric_block *blocks, size_t count)
{
    struct msp_symmetric_heap *heap = NULL;

    cr_assert_eq(msp_symmetric_heap_create(MIB, 4096, &heap), MEMSPAN_OK);
    cr_assert_eq(msp_symmetric_heap_restore(heap, blocks, count), MEMSPAN_ERR_INVALID);
    msp_symmetric_heap_destroy(heap);
}

/* The blocks are where they were, and what is between them is free. */
Test(symmetric_restore, same_places)
{
    const struct msp_symmetric_block blocks[] = {{.offset_bytes = 256, .size_bytes = 1},
                                                 {.offset_bytes = 512, .size_bytes = 5000},
                                                 {.offset_bytes = 65536, .size_bytes = 256},
                                                 {.offset_bytes = MIB - 256, .size_bytes = 200}};
    const size_t count                        = sizeof blocks / sizeof blocks[0];
    struct msp_symmetric_block wrong          = {.offset_bytes = MIB, .size_bytes = 1};
    struct msp_symmetric_heap *heap           = NULL;
    struct msp_symmetric_measure measure;
    struct msp_symmetric_block found;
    size_t offset;
    size_t i;

    cr_assert_eq(msp_symmetric_heap_create(MIB, 4096, &heap), MEMSPAN_OK);
    cr_assert_eq(msp_symmetric_heap_restore(heap, blocks, count), MEMSPAN_OK);
    cr_assert_eq(msp_symmetric_heap_check(heap), MEMSPAN_OK, "%s", memspan_error_text());
    msp_symmetric_heap_measure(heap, &measure);
    cr_assert_eq(measure.live_count, count);
    cr_assert_eq(measure.live_bytes, 5457);
    cr_assert_eq(measure.free_bytes, (size_t)MIB - 256 - 5120 - 256 - 256);
    for (i = 0; i < count; i++) {
        cr_assert_eq(msp_symmetric_heap_find(heap, blocks[i].offset_bytes, &found), MEMSPAN_OK);
        cr_assert_eq(found.offset_bytes, blocks[i].offset_bytes);
        cr_assert_eq(found.size_bytes, blocks[i].size_bytes);
    }
    while (msp_symmetric_heap_alloc(heap, 16, 16, &offset) == MEMSPAN_OK) {
        cr_assert_eq(offset % 256, 0, "it could not be restored");
        for (i = 0; i < count; i++) {
            cr_assert((offset + 16 <= blocks[i].offset_bytes) ||
                      (offset >= blocks[i].offset_bytes + blocks[i].size_bytes));
        }
    }
    msp_symmetric_heap_measure(heap, &measure);
    cr_assert_eq(measure.free_bytes, 0, "%zu bytes are lost", measure.free_bytes);
    for (i = 0; i < count; i++) {
        cr_assert_eq(msp_symmetric_heap_free(heap, blocks[i].offset_bytes), MEMSPAN_OK);
    }
    cr_assert_eq(msp_symmetric_heap_check(heap), MEMSPAN_OK, "%s", memspan_error_text());
    msp_symmetric_heap_destroy(heap);

    refuse_blocks(&wrong, 1);
    wrong = (struct msp_symmetric_block){.offset_bytes = MIB - 256, .size_bytes = 257};
    refuse_blocks(&wrong, 1);
    wrong = (struct msp_symmetric_block){.offset_bytes = 8, .size_bytes = 8};
    refuse_blocks(&wrong, 1);
    wrong = (struct msp_symmetric_block){.offset_bytes = 0, .size_bytes = 0};
    refuse_blocks(&wrong, 1);
    refuse_blocks((struct msp_symmetric_block[]){{.offset_bytes = 0, .size_bytes = 257},
                                                 {.offset_bytes = 256, .size_bytes = 1}},
                  2);
}
