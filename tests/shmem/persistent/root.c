/* SPDX-License-Identifier: BSD-3-Clause */
/* root.c: the power may fail at any store. Commits are simulated store by store: of the words that
 * are not persistent yet, every subset may be in memory, in whatever order the caches wrote them.
 * From each such image the root is the one before the commit or the one after it. */

#include "shmem/persistent/root.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 8, PENDING_MAX = 22 };

/* What is persistent, and the words that are stored but may be lost. */
struct simulation {
    struct msp_root_medium medium;
    struct msp_root slots[2];
    struct {
        size_t offset;
        uint64_t old;
        uint64_t new;
    } pending[PENDING_MAX];
    unsigned count;
    const struct msp_root *before; /* NULL: there was none */
    const struct msp_root *after;
    bool may_be_after;
    unsigned long images;
};

static uint64_t *word_at(struct simulation *s, size_t offset)
{
    return (uint64_t *)(void *)((char *)s->slots + offset);
}

static bool is_same(const struct msp_root *a, const struct msp_root *b)
{
    return memcmp(a, b, MSP_ROOT_HEADER_BYTES + (b->block_count * sizeof b->blocks[0])) == 0;
}

/* The order of stores is enough: the checksum never has to find a slot that is half of a commit. */
static void look(struct simulation *s)
{
    const struct msp_root *found = msp_root_newest(s->slots, UINT64_MAX);
    unsigned i;

    s->images++;
    for (i = 0; i < 2; i++) {
        if (s->slots[i].magic != 0) {
            cr_assert_eq(msp_root_check(&s->slots[i], i), MSP_ROOT_WHOLE, "slot %u %s", i,
                         msp_root_state_text(msp_root_check(&s->slots[i], i)));
        }
    }
    if (found == NULL) {
        cr_assert(s->before == NULL, "the root is lost");
        cr_assert(msp_root_is_blank(s->slots), "a first commit cannot be made once more");
        return;
    }
    cr_assert(((s->before != NULL) && is_same(found, s->before)) ||
                  (s->may_be_after && is_same(found, s->after)),
              "neither the root before commit %llu nor the one after it",
              (unsigned long long)s->after->sequence);
}

/* Every subset, from one to the next by one word (Gray's code). */
static void look_at_all(struct simulation *s)
{
    unsigned long subsets = 1ul << s->count;
    unsigned long i;

    look(s);
    for (i = 1; i < subsets; i++) {
        unsigned word  = (unsigned)__builtin_ctzl(i);
        uint64_t *cell = word_at(s, s->pending[word].offset);

        *cell = (*cell == s->pending[word].old) ? s->pending[word].new : s->pending[word].old;
        look(s);
    }
}

static void store(struct msp_root_medium *medium, size_t offset_bytes, const void *data,
                  size_t size_bytes)
{
    struct simulation *s = (struct simulation *)medium;
    size_t i;

    cr_assert((offset_bytes % WORD == 0) && (size_bytes % WORD == 0));
    for (i = 0; i < size_bytes; i += WORD) {
        uint64_t value;

        memcpy(&value, (const char *)data + i, WORD);
        if (value != *word_at(s, offset_bytes + i)) {
            cr_assert_lt(s->count, (unsigned)PENDING_MAX, "too many words for every subset");
            s->pending[s->count].offset = offset_bytes + i;
            s->pending[s->count].old    = *word_at(s, offset_bytes + i);
            s->pending[s->count].new    = value;
            s->count++;
        }
    }
}

/* All that is pending is in the range; afterwards nothing is. */
static memspan_status_t persist(struct msp_root_medium *medium, size_t offset_bytes,
                                size_t size_bytes)
{
    struct simulation *s = (struct simulation *)medium;
    unsigned i;

    s->may_be_after = true;
    look_at_all(s);
    for (i = 0; i < s->count; i++) {
        cr_assert((s->pending[i].offset >= offset_bytes) &&
                      (s->pending[i].offset + WORD <= offset_bytes + size_bytes),
                  "a store is not made persistent");
        *word_at(s, s->pending[i].offset) = s->pending[i].new;
    }
    s->count = 0;
    return MEMSPAN_OK;
}

static struct simulation *begin(void)
{
    struct simulation *s = calloc(1, sizeof *s);

    cr_assert(s != NULL);
    s->medium.store   = store;
    s->medium.persist = persist;
    return s;
}

/* Commit, at every store; then the file has it. */
static void commit(struct simulation *s, struct msp_root *root)
{
    static struct msp_root before;
    const struct msp_root *found = msp_root_newest(s->slots, UINT64_MAX);

    if (found != NULL) {
        before = *found;
    }
    s->before = (found != NULL) ? &before : NULL;
    msp_root_advance(root);
    s->after = root;
    cr_assert_eq(msp_root_write(&s->medium, root), MEMSPAN_OK);
    found = msp_root_newest(s->slots, UINT64_MAX);
    cr_assert((found != NULL) && is_same(found, root), "the commit is not there");
}

static struct msp_root *make_root(void)
{
    struct msp_root *root = calloc(1, sizeof *root);

    cr_assert(root != NULL);
    root->layout = (struct msp_root_layout){.size_bytes   = 1 << 20,
                                            .stride_bytes = 1 << 20,
                                            .data_bytes   = 2 << 20,
                                            .pes_digest   = 7,
                                            .pe_count     = 4,
                                            .local_count  = 2};
    strcpy(root->layout.name, "sea");
    return root;
}

Test(root, old_or_new_at_every_store)
{
    struct simulation *s  = begin();
    struct msp_root *root = make_root();

    commit(s, root); /* of a new file */
    root->identity   = 0x1234;
    root->generation = 1;
    commit(s, root);
    msp_root_insert(root, "a", 4096, 100);
    commit(s, root);
    msp_root_insert(root, "b", 256, 1);
    msp_root_insert(root, "temperature at sea", 512, 3000);
    commit(s, root);
    msp_root_remove(root, msp_root_find(root, "a"));
    commit(s, root);
    msp_root_insert(root, "c", 0, 256);
    root->generation++;
    commit(s, root);
    msp_root_remove(root, msp_root_find(root, "b"));
    commit(s, root);
    msp_root_remove(root, msp_root_find(root, "c"));
    commit(s, root);
    printf("%lu images\n", s->images);
    cr_assert_gt(s->images, 30000ul, "too few to mean anything");
    free(root);
    free(s);
}

/* A host is one commit ahead of another: it goes back, and no later commit brings that one back. */
Test(root, a_commit_is_taken_away)
{
    struct simulation *s  = begin();
    struct msp_root *root = make_root();
    const struct msp_root *found;

    commit(s, root);
    root->generation = 1;
    commit(s, root);
    msp_root_insert(root, "a", 4096, 100);
    commit(s, root);
    found = msp_root_newest(s->slots, 2);
    cr_assert((found != NULL) && (found->sequence == 2) && (found->block_count == 0));
    cr_assert(msp_root_newest(s->slots, 1) == NULL, "two commits back are lost, and said to be");
    cr_assert_eq(msp_root_discard(&s->medium, 3), MEMSPAN_OK);
    found = msp_root_newest(s->slots, UINT64_MAX);
    cr_assert((found != NULL) && (found->sequence == 2));
    free(root);
    free(s);
}

/* ---- what no job writes ---- */

static struct msp_root *whole(void)
{
    struct msp_root *root = make_root();

    root->generation = 1;
    root->identity   = 9;
    msp_root_insert(root, "b", 8192, 4096);
    msp_root_insert(root, "a", 4096, 4096);
    msp_root_advance(root);
    cr_assert_eq(msp_root_check(root, 1), MSP_ROOT_WHOLE);
    cr_assert_str_eq(root->blocks[0].symbol, "a");
    return root;
}

static void is(enum msp_root_state state, struct msp_root *root, bool signs)
{
    if (signs) {
        root->checksum = msp_root_checksum(root);
    }
    cr_assert_eq(msp_root_check(root, 1), state, "it %s",
                 msp_root_state_text(msp_root_check(root, 1)));
    free(root);
}

/* Each of these with a checksum that holds. */
#define WRONG(change)                                                                              \
    do {                                                                                           \
        struct msp_root *r = whole();                                                              \
        change;                                                                                    \
        is(MSP_ROOT_WRONG, r, true);                                                               \
    } while (0)

Test(root, hostile_contents)
{
    struct msp_root *root = whole();

    root->block_count = UINT32_MAX;
    is(MSP_ROOT_TORN, root, false);
    root = whole();
    root->layout.pe_count ^= 1;
    is(MSP_ROOT_TORN, root, false);
    root        = whole();
    root->magic = 1;
    is(MSP_ROOT_FOREIGN, root, false);
    root          = whole();
    root->version = 2;
    is(MSP_ROOT_OTHER, root, true);
    is(MSP_ROOT_BLANK, calloc(1, sizeof *root), false);
    WRONG(r->sequence = 2); /* of the other slot */
    WRONG(r->sequence = 0);
    WRONG(r->blocks[1].offset_bytes = 4096 + 256); /* in the other block */
    WRONG(r->blocks[1].offset_bytes = 8193);
    WRONG(r->blocks[1].offset_bytes = 1 << 20);
    WRONG(r->blocks[1].offset_bytes = UINT64_MAX - 255);
    WRONG(r->blocks[1].size_bytes = 0);
    WRONG(r->blocks[1].size_bytes = UINT64_MAX);
    WRONG(r->blocks[1].size_bytes = (1 << 20) - 8191);
    WRONG(strcpy(r->blocks[1].symbol, "a"));
    WRONG(r->blocks[1].symbol[0] = '\0');
    WRONG(r->blocks[1].symbol[1] = '\n');
    WRONG(r->blocks[1].symbol[47] = 'x');
    WRONG(memset(r->blocks[1].symbol, 'x', 48));
    WRONG(r->layout.name[0] = '\0');
    WRONG(memset(r->layout.name, 'x', sizeof r->layout.name));
    WRONG(r->layout.local_count = 0);
    WRONG(r->layout.local_count = 5);
    WRONG(r->layout.pe_count = UINT32_MAX);
    WRONG(r->layout.stride_bytes = 1 << 19);
    WRONG(r->layout.stride_bytes = UINT64_MAX);
    WRONG(r->layout.data_bytes = 4096);
    WRONG(r->layout.size_bytes = 0);
    WRONG(r->reserved[16] = 1);
}

Test(root, every_bit_is_checked)
{
    struct msp_root *root = whole();
    size_t bytes          = MSP_ROOT_HEADER_BYTES + (2 * sizeof root->blocks[0]);
    size_t bit;

    for (bit = 0; bit < bytes * 8; bit++) {
        ((unsigned char *)root)[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        cr_assert_neq(msp_root_check(root, 1), MSP_ROOT_WHOLE, "bit %zu", bit);
        ((unsigned char *)root)[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
    cr_assert_eq(msp_root_check(root, 1), MSP_ROOT_WHOLE);
    free(root);
}

Test(root, as_many_blocks_as_there_are)
{
    struct msp_root *root = make_root();
    char symbol[MSP_ROOT_SYMBOL_BYTES];
    int i;

    for (i = MSP_ROOT_BLOCKS_MAX; i > 0; i--) {
        snprintf(symbol, sizeof symbol, "block %d", i);
        cr_assert(msp_root_is_symbol(symbol));
        msp_root_insert(root, symbol, (uint64_t)i * 256, 256);
    }
    msp_root_advance(root);
    cr_assert_eq(msp_root_check(root, 1), MSP_ROOT_WHOLE);
    cr_assert_eq(msp_root_find(root, "block 1"), &root->blocks[0]);
    cr_assert_eq(msp_root_at(root, UINT64_C(1020) * 256), &root->blocks[1019]);
    cr_assert(!msp_root_is_symbol("") && !msp_root_is_symbol("\t") &&
              !msp_root_is_symbol("123456789012345678901234567890123456789012345678"));
    free(root);
}
