/* SPDX-License-Identifier: BSD-3-Clause */
/* move.c: memspan_move() between four kinds of memory, verified by page. */

#include "tests/tiers/report.h"
#include <fcntl.h>
#include <memspan/memspan.h>
#include <sys/uio.h>

enum { PAGES = 16384, BYTES = PAGES * PAGE, TOUCHED = PAGES / 2 };

static uint64_t held_bytes(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof stats};

    CHECK(memspan_allocator_get_stats(allocator, &stats) == MEMSPAN_OK, "%s", memspan_error_text());
    return stats.held_bytes;
}

/* Each page has its number. */
static void fill(unsigned char *block, size_t first, size_t pages)
{
    for (size_t i = first; i < first + pages; i++) {
        memset(block + i * PAGE, (int)(i % 251), PAGE);
    }
}

static bool is_filled(const unsigned char *block, size_t pages)
{
    size_t i = 0;

    while ((i < pages * PAGE) && (block[i] == i / PAGE % 251)) {
        i++;
    }
    return i == pages * PAGE;
}

/* @p pages of the block are touched. */
static void move(unsigned char *block, size_t pages, memspan_space_h space, int node)
{
    memspan_pointer_info_t info = {.struct_size = sizeof info};
    size_t there;

    CHECK(memspan_move(block, space) == MEMSPAN_OK, "%s", memspan_error_text());
    there = machine_pages_on(block, BYTES, node);
    CHECK(there == pages, "%zu of %zu pages are on node %d, the first on %d", there, pages, node,
          machine_node_of(block));
    CHECK(is_filled(block, pages), "other bytes");
    CHECK(memspan_pointer_describe(block, &info) == MEMSPAN_OK, "%s", memspan_error_text());
    CHECK(info.space == space, "space %p", (void *)info.space);
    CHECK(info.numa_node == node, "node %d", info.numa_node);
    CHECK(info.allocator == MEMSPAN_ALLOCATOR_DEFAULT, "another allocator");
}

static void check_moves(void)
{
    memspan_allocator_info_t info = {.struct_size = sizeof info};
    unsigned char *block          = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, BYTES);
    uint64_t usual;

    CHECK(memspan_allocator_describe(MEMSPAN_ALLOCATOR_HIGH_BW, &info) == MEMSPAN_OK, "%s",
          memspan_error_text());
    usual = held_bytes(MEMSPAN_ALLOCATOR_DEFAULT);
    CHECK(block != NULL, "%s", memspan_error_text());
    fill(block, 0, TOUCHED);
    move(block, TOUCHED, MEMSPAN_SPACE_HIGH_BW, FAST);
    CHECK(held_bytes(MEMSPAN_ALLOCATOR_HIGH_BW) == BYTES, "the pool of high_bw");
    CHECK(held_bytes(MEMSPAN_ALLOCATOR_DEFAULT) == usual - BYTES, "the pool of default");
    fill(block, TOUCHED, TOUCHED); /* pages that are touched later go there too */
    move(block, PAGES, MEMSPAN_SPACE_HIGH_BW, FAST);
    move(block, PAGES, MEMSPAN_SPACE_LARGE_CAP, LARGE);
    move(block, PAGES, MEMSPAN_SPACE_DEFAULT, USUAL);
    CHECK(held_bytes(MEMSPAN_ALLOCATOR_HIGH_BW) == 0, "the pool of high_bw");
    CHECK(memspan_free(block) == MEMSPAN_OK, "%s", memspan_error_text());
}

/* 640 MiB for 512; then a page that a pipe holds. */
static void check_what_stays(void)
{
    const size_t size    = (size_t)640 << 20;
    unsigned char *large = memspan_alloc(MEMSPAN_ALLOCATOR_LARGE_CAP, size);
    unsigned char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, BYTES);
    struct iovec page    = {block, PAGE};
    int ends[2];

    machine_touch(large, size);
    CHECK(memspan_move(large, MEMSPAN_SPACE_HIGH_BW) == MEMSPAN_ERR_NO_MEMORY, "it had room");
    CHECK(strstr(memspan_error_text(), "node 1 is full") != NULL, "%s", memspan_error_text());
    CHECK(machine_pages_on(large, size, LARGE) == size / PAGE, "it moved");
    memspan_free(large);

    fill(block, 0, TOUCHED);
    CHECK((pipe(ends) == 0) && (vmsplice(ends[1], &page, 1, 0) == PAGE), "no page in the pipe");
    CHECK(memspan_move(block, MEMSPAN_SPACE_HIGH_BW) == MEMSPAN_ERR_NO_MEMORY, "it moved");
    CHECK(strstr(memspan_error_text(), "have not moved to node 1") != NULL, "%s",
          memspan_error_text());
    CHECK(machine_node_of(block) == USUAL, "the page is on %d", machine_node_of(block));
    close(ends[0]);
    close(ends[1]);
    move(block, TOUCHED, MEMSPAN_SPACE_HIGH_BW, FAST);
    memspan_free(block);
}

int main(void)
{
    machine_need();
    check_moves();
    check_what_stays();
    CHECK(memspan_check() == MEMSPAN_OK, "%s", memspan_error_text());
    return (failures == 0) ? 0 : 1;
}
