/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.c: who owns which 16 bytes, and what is in them.
 *
 * Owners are a bit for each 16 bytes of the address space, in pages that are made when they are
 * first needed and kept: set by an atomic or, so that two threads that were given the same bytes
 * cannot both think that they were first. */

#include "soak.h"
#include <stdlib.h>
#include <string.h>

enum {
    UNIT_SHIFT = 4,
    PAGE_SHIFT = 20, /* bytes of addresses to a page of bits */
    LEAF_SHIFT = 13, /* pages to a leaf */
    ROOT_SHIFT = 15, /* 48 bits in all: x86-64 gives a program 47, aarch64 48 */
    PAGE_WORDS = 1 << (PAGE_SHIFT - UNIT_SHIFT - 6)
};

typedef _Atomic(uint64_t) word_t;
typedef _Atomic(word_t *) page_t;
static _Atomic(page_t *) root[1 << ROOT_SHIFT];

static word_t *page_of(uintptr_t address)
{
    _Atomic(page_t *) *place = &root[address >> (PAGE_SHIFT + LEAF_SHIFT)];
    page_t *leaf             = atomic_load(place);
    page_t *slot;
    word_t *page;

    if (leaf == NULL) {
        page_t *made = calloc((size_t)1 << LEAF_SHIFT, sizeof(*made));
        if (atomic_compare_exchange_strong(place, &leaf, made)) {
            leaf = made;
        } else {
            free(made);
        }
    }
    slot = &leaf[(address >> PAGE_SHIFT) & ((1u << LEAF_SHIFT) - 1)];
    page = atomic_load(slot);
    if (page == NULL) {
        word_t *made = calloc(PAGE_WORDS, sizeof(*made));
        if (atomic_compare_exchange_strong(slot, &page, made)) {
            page = made;
        } else {
            free(made);
        }
    }
    return page;
}

/* Sets or clears the units of a block, a word at a time; the first that was set already, or not
 * set, is the answer; NULL: none. */
static const unsigned char *change(const struct soak_block *b, bool set)
{
    uintptr_t unit = (uintptr_t)b->address >> UNIT_SHIFT;
    uintptr_t end  = ((uintptr_t)b->address + b->size_bytes + 15) >> UNIT_SHIFT;

    while (unit < end) {
        word_t *page   = page_of(unit << UNIT_SHIFT);
        unsigned from  = (unsigned)(unit % 64);
        unsigned count = (end - unit < 64 - from) ? (unsigned)(end - unit) : 64 - from;
        uint64_t mask  = ((count == 64) ? ~UINT64_C(0) : ((UINT64_C(1) << count) - 1)) << from;
        word_t *word   = &page[(unit / 64) % PAGE_WORDS];
        uint64_t before;

        before = set ? atomic_fetch_or(word, mask) : atomic_fetch_and(word, ~mask);
        if ((before & mask) != (set ? 0 : mask)) {
            return (const unsigned char *)(unit << UNIT_SHIFT);
        }
        unit += count;
    }
    return NULL;
}

void soak_claim(const struct soak_thread *t, const struct soak_block *b)
{
    const unsigned char *taken = change(b, true);

    if (taken != NULL) {
        soak_fail(t, "%s: a block of %zu bytes at %p, where a live one has %p..", b->pool->name,
                  b->size_bytes, (void *)b->address, (const void *)taken);
    }
}

void soak_unclaim(const struct soak_thread *t, const struct soak_block *b)
{
    if (change(b, false) != NULL) {
        soak_fail(t, "the test itself lost track of %p", (void *)b->address);
    }
}

/* ---- contents ---- */

enum { MARKS = 9 };

static uint64_t mark(uint64_t pattern, unsigned i)
{
    return (pattern + i) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* Where mark @p i of a block of @p size_bytes stands: the start, the last bytes, between. */
static size_t place_of(size_t size_bytes, unsigned i)
{
    size_t last = size_bytes - sizeof(uint64_t);

    return (i == 0) ? 0 : ((i == MARKS - 1) ? last : (last / (MARKS - 1) * i) & ~(size_t)7);
}

static unsigned marks_for(const struct soak_block *b)
{
    if (b->size_bytes < 2 * sizeof(uint64_t)) {
        return 0;
    }
    return ((b->size_bytes >= 128) && b->pool->touch) ? MARKS : 2;
}

static unsigned place_number(unsigned marks, unsigned i)
{
    return ((marks == 2) && (i == 1)) ? MARKS - 1 : i;
}

static void put(const struct soak_thread *t, const struct soak_block *b, size_t at,
                const void *from, size_t size)
{
    if (b->pool->touch) {
        memcpy(b->address + at, from, size);
    } else if (memspan_copy(b->address + at, from, size) != MEMSPAN_OK) {
        soak_fail(t, "copy to %s memory: %s", b->pool->name, memspan_error_text());
    }
}

static void get(const struct soak_thread *t, const struct soak_block *b, size_t at, void *to,
                size_t size)
{
    if (b->pool->touch) {
        memcpy(to, b->address + at, size);
    } else if (memspan_copy(to, b->address + at, size) != MEMSPAN_OK) {
        soak_fail(t, "copy from %s memory: %s", b->pool->name, memspan_error_text());
    }
}

static void expect_bytes(const struct soak_thread *t, const struct soak_block *b, size_t at,
                         uint64_t wanted, size_t size)
{
    uint64_t found = wanted;

    get(t, b, at, &found, size);
    if (found != wanted) {
        soak_fail(t, "%s: byte %zu of the block of %zu at %p: %016llx, not %016llx", b->pool->name,
                  at, b->size_bytes, (void *)b->address, (unsigned long long)found,
                  (unsigned long long)wanted);
    }
}

void soak_write(const struct soak_thread *t, struct soak_block *b)
{
    unsigned marks = marks_for(b);

    b->marks = marks;
    if (marks == 0) {
        uint64_t word = mark(b->pattern, 0);
        put(t, b, 0, &word, (b->size_bytes < 8) ? b->size_bytes : 8);
    }
    for (unsigned i = 0; i < marks; i++) {
        uint64_t word = mark(b->pattern, i);
        put(t, b, place_of(b->size_bytes, place_number(marks, i)), &word, sizeof(word));
    }
}

void soak_verify(const struct soak_thread *t, const struct soak_block *b, size_t written_bytes,
                 size_t size_bytes)
{
    unsigned marks = b->marks;

    if (marks == 0) {
        size_t size = (written_bytes < size_bytes) ? written_bytes : size_bytes;
        expect_bytes(t, b, 0, mark(b->pattern, 0), (size < 8) ? size : 8);
    }
    for (unsigned i = 0; i < marks; i++) {
        size_t at = place_of(written_bytes, place_number(marks, i));

        if (at + sizeof(uint64_t) <= size_bytes) {
            expect_bytes(t, b, at, mark(b->pattern, i), sizeof(uint64_t));
        }
    }
}

void soak_verify_zero(const struct soak_thread *t, const struct soak_block *b)
{
    enum { PIECE = 4096 };
    static const unsigned char zero[PIECE];
    unsigned char piece[PIECE];
    size_t step = (b->size_bytes > 64 * PIECE) ? 16 * PIECE : PIECE;

    for (size_t at = 0; at < b->size_bytes; at += step) {
        size_t size = (b->size_bytes - at < PIECE) ? b->size_bytes - at : PIECE;

        get(t, b, at, piece, size);
        if (memcmp(piece, zero, size) != 0) {
            soak_fail(t, "%s: %zu bytes from calloc at %p are not zero, from byte %zu on",
                      b->pool->name, b->size_bytes, (void *)b->address, at);
        }
    }
    get(t, b, b->size_bytes - 1, piece, 1);
    if (piece[0] != 0) {
        soak_fail(t, "%s: the last of %zu bytes from calloc at %p is not zero", b->pool->name,
                  b->size_bytes, (void *)b->address);
    }
}

void soak_soil(const struct soak_block *b)
{
    if (b->pool->touch) {
        memset(b->address, 0xa5, (b->size_bytes < 16384) ? b->size_bytes : 16384);
    } else {
        (void)memspan_fill(b->address, 0xa5, (b->size_bytes < 4096) ? b->size_bytes : 4096);
    }
}
