/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.c: iterations over blocks of three kinds of memory, by distance from the node of the
 * processors; places of memory that has no processors. */

#include "tests/tiers/report.h"
#include <memspan/memspan.h>

enum { BLOCKS = 12, BYTES = 1 << 20 };

int main(void)
{
    static const memspan_allocator_h allocators[] = {
        MEMSPAN_ALLOCATOR_LARGE_CAP, MEMSPAN_ALLOCATOR_DEFAULT, MEMSPAN_ALLOCATOR_HIGH_BW};
    static const int order[] = {USUAL, FAST, LARGE};
    const void *blocks[BLOCKS];
    memspan_loop_h loop = NULL;
    size_t index        = 0;
    int place           = -1;
    size_t i;

    machine_need();
    for (i = 0; i < BLOCKS; i++) {
        void *block = memspan_alloc(allocators[i % 3], BYTES);

        CHECK(block != NULL, "%s", memspan_error_text());
        machine_touch(block, BYTES);
        blocks[i] = block;
        CHECK(memspan_pointer_place(block, &place) == MEMSPAN_OK, "%s", memspan_error_text());
        CHECK(place == 0, "place %d", place);
    }
    CHECK(memspan_loop_create(blocks, BLOCKS, &loop) == MEMSPAN_OK, "%s", memspan_error_text());
    for (i = 0; i < BLOCKS; i++) {
        CHECK(memspan_loop_next(loop, &index) == 1, "iteration %zu", i);
        CHECK(machine_node_of(blocks[index]) == order[i / 4], "iteration %zu is on node %d", i,
              machine_node_of(blocks[index]));
    }
    CHECK(memspan_loop_next(loop, &index) == 0, "one more");
    memspan_loop_destroy(loop);
    for (i = 0; i < BLOCKS; i++) {
        memspan_free((void *)(uintptr_t)blocks[i]);
    }
    return (failures == 0) ? 0 : 1;
}
