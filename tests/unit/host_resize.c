/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's backend by its table: another size for a block, without copying it. */

#include "core/base/error.h"
#include "tests/unit/host.h"
#include <string.h>
#include <unistd.h>

struct consent {
    bool given;
    void *address;
    size_t size_bytes;
    int calls;
};

static int consent(void *context, void *address, size_t size_bytes)
{
    struct consent *c = context;

    c->address    = address;
    c->size_bytes = size_bytes;
    c->calls++;
    return c->given;
}

static void number_pages(memspan_block_t *block, size_t from, size_t to)
{
    for (size_t at = from; at < to; at += msp_page_size()) {
        ((uint32_t *)block->address)[at / sizeof(uint32_t)] = (uint32_t)(at >> 12) + 1;
    }
}

static void expect_pages(const memspan_block_t *block, size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes; at += msp_page_size()) {
        cr_assert_eq(((uint32_t *)block->address)[at / sizeof(uint32_t)], (uint32_t)(at >> 12) + 1);
    }
}

/* It moves once, then has place to grow; each time the library is asked before. */
Test(host_resize, a_block_grows_by_its_pages)
{
    void *state               = open_host();
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 3 * MIB);
    struct consent c          = {.given = true};
    memspan_block_t block;
    void *first;
    void *moved;

    request.align_bytes = 65536;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    first = block.address;
    number_pages(&block, 0, 3 * MIB);
    request.size_bytes = 5 * MIB;
    cr_assert_eq(table->resize(state, 0, &request, &block, consent, &c), MEMSPAN_OK);
    moved = block.address;
    cr_expect((moved != first) && (c.address == moved) && (c.size_bytes == 5 * MIB));
    cr_expect_eq((uintptr_t)moved % 65536, 0);
    cr_expect_eq(block.size_bytes, 5 * MIB);
    cr_expect_eq(block.flags & MEMSPAN_BLOCK_ZEROED, 0);
    cr_expect(!is_mapped(first));
    for (size_t size = 6 * MIB; size <= 10 * MIB; size += MIB) {
        number_pages(&block, block.size_bytes - 2 * MIB, block.size_bytes);
        request.size_bytes = size;
        cr_assert_eq(table->resize(state, 0, &request, &block, consent, &c), MEMSPAN_OK);
        cr_expect_eq(block.address, moved, "%zu", size);
    }
    number_pages(&block, 8 * MIB, 10 * MIB);
    expect_pages(&block, 10 * MIB);
    request.size_bytes = 2 * MIB;
    cr_assert_eq(table->resize(state, 0, &request, &block, consent, &c), MEMSPAN_OK);
    cr_expect_eq(block.address, moved);
    cr_expect(!is_mapped((char *)moved + 3 * MIB));
    expect_pages(&block, 2 * MIB);
    cr_expect_eq(c.calls, 7);
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    cr_expect(!is_mapped(moved));
    table->close(state);
}

/* The library may have no room for the new range in its map. */
Test(host_resize, a_size_that_is_refused_changes_nothing)
{
    void *state               = open_host();
    memspan_request_t request = ask(MEMSPAN_KIND_HOST, 4 * MIB);
    struct consent c          = {.given = false};
    memspan_block_t block;
    memspan_block_t before;

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    number_pages(&block, 0, 4 * MIB);
    for (size_t size = MIB; size <= 16 * MIB; size *= 2) {
        request.size_bytes = size;
        before             = block;
        if (size != 4 * MIB) {
            cr_expect_eq(table->resize(state, 0, &request, &block, consent, &c),
                         MEMSPAN_ERR_NO_MEMORY);
        }
        cr_expect_eq(memcmp(&before, &block, sizeof(block)), 0);
        expect_pages(&block, 4 * MIB);
    }
    cr_expect(!is_mapped(c.address), "address space is left");
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    table->close(state);
}

Test(host_resize, a_locked_block_locks_what_it_grows_by)
{
    void *state               = open_host();
    memspan_request_t request = ask(MEMSPAN_KIND_HOST_PINNED, 256 << 10);
    uint64_t locked           = status_bytes("VmLck");
    struct consent c          = {.given = true};
    memspan_block_t block;

    if (table->alloc(state, 0, &request, &block) != MEMSPAN_OK) {
        cr_skip_test("%s", memspan_error_text());
    }
    for (size_t size = 512 << 10; size <= 2 * MIB; size += 256 << 10) {
        request.size_bytes = size;
        if (table->resize(state, 0, &request, &block, consent, &c) != MEMSPAN_OK) {
            cr_skip_test("%s", memspan_error_text());
        }
        cr_expect_eq(status_bytes("VmLck") - locked, size);
    }
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK);
    cr_expect_eq(status_bytes("VmLck"), locked);
    table->close(state);
}
