/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c: one block, by every call that takes, resizes and gives back. */

#include "soak.h"
#include <memspan/omp.h>
#include <string.h>

enum { LIVE_BYTES_MAX = 20 << 20 }; /* of a thread; beyond that requests are small */

enum how {
    BY_ALLOC,
    BY_OMP_ALLOC,
    BY_ALIGNED,
    BY_OMP_ALIGNED,
    BY_WITH,
    BY_REALLOC,
    BY_CALLOC,
    BY_OMP_CALLOC,
    BY_OMP_ALIGNED_CALLOC,
    WAYS
};

static int64_t need_of(size_t size_bytes)
{
    return (int64_t)size_bytes + SOAK_OVERHEAD;
}

static omp_allocator_handle_t omp_handle(const struct soak_pool *p)
{
    return (omp_allocator_handle_t)(uintptr_t)p->handle;
}

/* ---- what to ask for ---- */

static size_t any_size(struct soak_thread *t, size_t size_max)
{
    static const unsigned logs[] = {6, 6, 6, 6, 8, 8, 10, 10, 12, 12, 14, 16, 17, 18, 20, 23};
    unsigned log = logs[soak_random_below(&t->random, sizeof(logs) / sizeof(*logs))];
    size_t size  = 1 + soak_random_below(&t->random, (size_t)1 << log);

    if (t->live_bytes > LIVE_BYTES_MAX) {
        size = 1 + size % 512;
    }
    if (soak_random_once_in(&t->random, 8)) { /* where classes of sizes end */
        size = ((size_t)1 << soak_random_below(&t->random, 15)) + soak_random_below(&t->random, 3);
    }
    return 1 + (size - 1) % size_max;
}

/* What fits in the thread's share, the share to the byte, or more than all of it. */
static size_t size_for(struct soak_thread *t, const struct soak_pool *p)
{
    int64_t left = soak_left(p, t->index);
    size_t size  = any_size(t, p->size_max);

    if (p->pool_size == SIZE_MAX) {
        return size;
    }
    switch (soak_random_below(&t->random, 8)) {
    case 0: /* too much, even for an empty one */
        return p->pool_size - SOAK_OVERHEAD + 1 + soak_random_below(&t->random, 1 << 20);
    case 1: /* exactly all */
        size = (left > SOAK_OVERHEAD) ? (size_t)left - SOAK_OVERHEAD : 0;
        return (size > 0) ? size : p->pool_size;
    case 2: /* one byte more than there is, where no other thread has a share */
        return ((int64_t)p->pool_size == p->share) && (left >= SOAK_OVERHEAD)
                   ? (size_t)left - SOAK_OVERHEAD + 1
                   : p->pool_size;
    default:
        return (need_of(size) <= left) ? size : p->pool_size;
    }
}

/* A thread may ask a shared one for what fits in its share or in an unassigned one; what goes to a
 * fallback must be allowed there too. */
static bool may_ask(const struct soak_thread *t, const struct soak_pool *p, int64_t need)
{
    for (; p != NULL; p = p->next) {
        bool shared = (p->pool_size != SIZE_MAX) && ((int64_t)p->pool_size != p->share);

        if (shared && (need > soak_left(p, t->index)) && (need <= (int64_t)p->pool_size)) {
            return false;
        }
    }
    return true;
}

/* ---- taking ---- */

static void *ask(const struct soak_thread *t, const struct soak_pool *p, enum how how, size_t size,
                 size_t align)
{
    memspan_trait_t trait = {MEMSPAN_TRAIT_ALIGNMENT, align};
    size_t count          = ((size % 8) == 0) ? 8 : 1;

    (void)t;
    switch (how) {
    case BY_OMP_ALLOC:
        return omp_alloc(size, omp_handle(p));
    case BY_ALIGNED:
        return memspan_aligned_alloc(p->handle, align, size);
    case BY_OMP_ALIGNED:
        return omp_aligned_alloc(align, size, omp_handle(p));
    case BY_WITH:
        return memspan_alloc_with(p->handle, size, &trait, 1);
    case BY_REALLOC:
        return memspan_realloc(p->handle, NULL, size);
    case BY_CALLOC:
        return memspan_calloc(p->handle, count, size / count);
    case BY_OMP_CALLOC:
        return omp_calloc(size / count, count, omp_handle(p));
    case BY_OMP_ALIGNED_CALLOC:
        return omp_aligned_calloc(align, count, size / count, omp_handle(p));
    case BY_ALLOC:
    case WAYS:
        break;
    }
    return memspan_alloc(p->handle, size);
}

static bool uses_align(enum how how)
{
    return (how == BY_ALIGNED) || (how == BY_OMP_ALIGNED) || (how == BY_WITH) ||
           (how == BY_OMP_ALIGNED_CALLOC);
}

/* Which of the chain gave the block. */
static struct soak_pool *giver_of(const struct soak_thread *t, const struct soak_chain *chain,
                                  const void *address, bool *fallback_p)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};

    if (memspan_pointer_describe(address, &info) != MEMSPAN_OK) {
        soak_fail(t, "%s: the new block at %p is not known: %s", chain->pools[0]->name, address,
                  memspan_error_text());
    }
    *fallback_p = info.fallback != 0;
    for (size_t i = 0; i < chain->count; i++) {
        struct soak_pool *p = chain->pools[i];
        if (info.allocator == (p->dead ? MEMSPAN_ALLOCATOR_NULL : p->handle)) {
            return p;
        }
    }
    soak_fail(t, "%s: the new block at %p is of an allocator that was not asked",
              chain->pools[0]->name, address);
}

static void check_alignment(const struct soak_thread *t, const struct soak_block *b)
{
    if (((uintptr_t)b->address % b->align_bytes) != 0) {
        soak_fail(t, "%s: %zu bytes at %p are not aligned to %zu", b->pool->name, b->size_bytes,
                  (void *)b->address, b->align_bytes);
    }
}

static size_t larger(size_t a, size_t b)
{
    return (a > b) ? a : b;
}

/* Enters a block that was just given into the model. */
static void enter(struct soak_thread *t, struct soak_block *b)
{
    soak_charge(b->pool, t->index, need_of(b->size_bytes));
    b->charged_to = t->index;
    soak_count_alloc(b->pool, b->size_bytes);
    t->live_bytes += b->size_bytes;
    check_alignment(t, b);
    soak_claim(t, b);
}

static bool take(struct soak_thread *t, struct soak_pool *p, enum how how, size_t size,
                 size_t align, struct soak_block *b)
{
    struct soak_chain chain;
    struct soak_pool *giver = p;
    bool fallback           = false;
    void *address;

    if (!may_ask(t, p, need_of(size))) {
        return false;
    }
    soak_chain_begin(t, p, &chain);
    address = ask(t, p, how, size, align);
    if (address == NULL) {
        soak_chain_end(t, &chain, NULL, need_of(size), need_of(size));
        return false;
    }
    if (p->next != NULL) {
        giver = giver_of(t, &chain, address, &fallback);
    }
    soak_chain_end(t, &chain, giver, need_of(size), need_of(size));
    if (fallback != (giver != p)) {
        soak_fail(t, "%s: a block of %s is described as %s fallback", p->name, giver->name,
                  fallback ? "a" : "no");
    }
    *b = (struct soak_block){
        .address    = address,
        .size_bytes = size,
        .pool       = giver,
        .fallback   = fallback,
        .pattern    = soak_random_next(&t->random),
        .align_bytes =
            larger(larger(SOAK_ALIGN_ALWAYS, p->align_bytes), uses_align(how) ? align : 1),
    };
    enter(t, b);
    if (how >= BY_CALLOC) {
        soak_verify_zero(t, b);
    }
    soak_write(t, b);
    return true;
}

bool soak_block_take(struct soak_thread *t, struct soak_pool *p, struct soak_block *b)
{
    enum how how = (enum how)soak_random_below(&t->random, WAYS);
    size_t size  = size_for(t, p);
    size_t logs  = soak_random_once_in(&t->random, 20) ? 22 : 9;

    return take(t, p, how, size, (size_t)1 << soak_random_below(&t->random, logs), b);
}

bool soak_block_take_plain(struct soak_thread *t, struct soak_pool *p, size_t size_bytes,
                           struct soak_block *b)
{
    return take(t, p, BY_ALLOC, size_bytes, 1, b);
}

/* ---- giving back ---- */

static void leave(struct soak_thread *t, const struct soak_block *b)
{
    soak_count_free(b->pool, b->size_bytes);
    t->live_bytes -= (t->live_bytes < b->size_bytes) ? t->live_bytes : b->size_bytes;
}

void soak_block_free(struct soak_thread *t, struct soak_block *b)
{
    struct soak_pool *p = b->pool;
    int64_t need        = need_of(b->size_bytes);

    soak_verify(t, b, b->size_bytes, b->size_bytes);
    soak_soil(b);
    soak_unclaim(t, b);
    leave(t, b);
    soak_return_begin(p, b->charged_to, need);
    if (soak_random_once_in(&t->random, 3)) {
        memspan_error_clear();
        omp_free(b->address, omp_handle(p));
        if (memspan_error_last()->status != MEMSPAN_OK) {
            soak_fail(t, "%s: omp_free(%p): %s", p->name, (void *)b->address, memspan_error_text());
        }
    } else if (memspan_free(b->address) != MEMSPAN_OK) {
        soak_fail(t, "%s: free(%p): %s", p->name, (void *)b->address, memspan_error_text());
    }
    soak_return_end(p, b->charged_to, need);
    b->address = NULL;
}

/* ---- resizing ---- */

/* In its own allocator only the growth is asked for. */
static int64_t growth(const struct soak_block *b, const struct soak_pool *to, size_t size)
{
    if (b->pool != to) {
        return need_of(size);
    }
    return (size > b->size_bytes) ? (int64_t)(size - b->size_bytes) : 0;
}

/* The block came from or went to another place: the model lets the old one go. */
static void settle(struct soak_thread *t, struct soak_block *b, struct soak_block *now)
{
    bool same = now->pool == b->pool;

    leave(t, b);
    enter(t, now);
    if (same) {
        atomic_fetch_sub(&b->pool->allocated, 1);
        atomic_fetch_add(&b->pool->maybe_allocated, 1);
    }
    soak_return_end(b->pool, b->charged_to, need_of(b->size_bytes));
}

void soak_block_resize(struct soak_thread *t, struct soak_block *b)
{
    bool explicit = soak_random_once_in(&t->random, 2);
    bool by_omp   = soak_random_once_in(&t->random, 2);
    struct soak_pool *to =
        (explicit && soak_random_once_in(&t->random, 3)) ? soak_world_pick(t) : b->pool;
    size_t size           = any_size(t, to->size_max);
    struct soak_block now = *b;
    struct soak_chain chain;
    bool fallback;
    int64_t first;

    if (soak_random_once_in(&t->random, 2)) { /* a little more or less, as programs do */
        size = b->size_bytes - b->size_bytes / 4 +
               soak_random_below(&t->random, b->size_bytes / 2 + 2);
        size = 1 + (size - 1) % to->size_max;
    }
    if (b->pool->dead || (b->charged_to != t->index) || to->keep || b->pool->keep) {
        to       = b->pool;
        explicit = explicit && !b->pool->dead;
    }
    first = growth(b, to, size);
    if ((b->charged_to != t->index) || !may_ask(t, to, first) ||
        !may_ask(t, to->next, need_of(size))) {
        return;
    }
    soak_verify(t, b, b->size_bytes, b->size_bytes);
    soak_chain_begin(t, to, &chain);
    soak_unclaim(t, b);
    soak_return_begin(b->pool, b->charged_to, need_of(b->size_bytes));
    now.address =
        by_omp ? omp_realloc(b->address, size, explicit ? omp_handle(to) : 0, omp_handle(b->pool))
               : memspan_realloc(explicit ? to->handle : 0, b->address, size);
    if (now.address == NULL) {
        soak_chain_end(t, &chain, NULL, first, need_of(size));
        atomic_fetch_sub(&b->pool->returning[b->charged_to], need_of(b->size_bytes));
        soak_claim(t, b);
        soak_verify(t, b, b->size_bytes, b->size_bytes);
        return;
    }
    now.pool       = giver_of(t, &chain, now.address, &fallback);
    now.size_bytes = size;
    if (now.address != b->address) {
        now.align_bytes = larger(SOAK_ALIGN_ALWAYS, now.pool->align_bytes);
    }
    soak_chain_end(t, &chain, now.pool, first, need_of(size));
    settle(t, b, &now);
    soak_verify(t, &now, b->size_bytes, (b->size_bytes < size) ? b->size_bytes : size);
    *b = now;
    soak_write(t, b);
}

/* ---- asking ---- */

void soak_block_describe(struct soak_thread *t, const struct soak_block *b)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    size_t inside               = soak_random_below(&t->random, b->size_bytes);
    memspan_reach_t reach;

    if ((memspan_pointer_describe(b->address + inside, &info) != MEMSPAN_OK) ||
        (memspan_pointer_reach(b->address + inside, MEMSPAN_HOST, &reach) != MEMSPAN_OK)) {
        soak_fail(t, "%s: byte %zu of a live block of %zu is not known: %s", b->pool->name, inside,
                  b->size_bytes, memspan_error_text());
    }
    if ((info.base != b->address) || (info.size_bytes != b->size_bytes)) {
        soak_fail(t, "%s: the block of %zu bytes at %p is described as %zu at %p", b->pool->name,
                  b->size_bytes, (void *)b->address, info.size_bytes, info.base);
    }
    if ((info.kind_given != b->pool->kind) || (info.home != b->pool->device) ||
        ((reach.access >= MEMSPAN_ACCESS_FAULT) != b->pool->touch)) {
        soak_fail(t, "%s: a block is described as %s memory of device %d", b->pool->name,
                  memspan_kind_name(info.kind_given), info.home);
    }
    if (info.allocator != (b->pool->dead ? MEMSPAN_ALLOCATOR_NULL : b->pool->handle)) {
        soak_fail(t, "%s: a block is described as another allocator's", b->pool->name);
    }
    if (inside > 0) { /* never the start of a block */
        if (memspan_free(b->address + inside) != MEMSPAN_ERR_NOT_FOUND) {
            soak_fail(t, "%s: free of byte %zu of a block was not refused", b->pool->name, inside);
        }
    }
}
