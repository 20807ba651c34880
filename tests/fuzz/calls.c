/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences of calls on small limited allocators, against a model: each byte or three of the input
 * is a call. What fits must be given and what does not must be refused, at every step; contents and
 * counters are compared as it goes. */

#include "fuzz.h"
#include <memspan/allocator.h>
#include <stdbool.h>

enum { SLOTS = 16, OVERHEAD = 4, POOL_MAX = 20000 };

struct block {
    unsigned char *address;
    size_t size;
    unsigned char byte;
    bool of_next; /* given by the fallback */
    bool resized; /* then whether it is a fallback's is a matter of taste */
};

struct limited {
    memspan_allocator_h handle;
    size_t pool, used;
    uint64_t live, failed;
};

struct state {
    const uint8_t *data;
    size_t size;
    struct limited first, next;
    size_t align;
    bool has_next;
    struct block blocks[SLOTS];
};

static unsigned take_byte(struct state *s)
{
    if (s->size == 0) {
        return 0;
    }
    s->size--;
    return *s->data++;
}

static memspan_allocator_h make(struct state *s, const struct limited *limited, bool with_next)
{
    memspan_trait_t traits[] = {
        {MEMSPAN_TRAIT_POOL_SIZE, limited->pool},
        {MEMSPAN_TRAIT_ALIGNMENT, s->align},
        {MEMSPAN_TRAIT_FALLBACK, with_next ? MEMSPAN_VALUE_ALLOCATOR_FB : MEMSPAN_VALUE_NULL_FB},
        {MEMSPAN_TRAIT_FB_DATA, (uintptr_t)s->next.handle}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    HOLDS(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, with_next ? 4 : 3, &allocator) ==
          MEMSPAN_OK);
    return allocator;
}

static struct limited *owner_of(struct state *s, const struct block *b)
{
    return b->of_next ? &s->next : &s->first;
}

static bool fits(const struct limited *l, size_t need)
{
    return need <= l->pool - l->used;
}

static void check_block(const struct block *b)
{
    HOLDS((b->address[0] == b->byte) && (b->address[b->size / 2] == b->byte) &&
          (b->address[b->size - 1] == b->byte));
}

static void check_all(struct state *s)
{
    for (int i = 0; i < SLOTS; i++) {
        const struct block *a = &s->blocks[i];

        if (a->address == NULL) {
            continue;
        }
        check_block(a);
        for (int k = 0; k < i; k++) {
            const struct block *b = &s->blocks[k];
            HOLDS((b->address == NULL) || (b->address + b->size <= a->address) ||
                  (a->address + a->size <= b->address));
        }
    }
}

static void check_counters(const struct limited *l)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    HOLDS(memspan_allocator_get_stats(l->handle, &stats) == MEMSPAN_OK);
    HOLDS(stats.charged_bytes == l->used);
    HOLDS(stats.live_count == l->live);
    HOLDS(stats.live_bytes == l->used - l->live * OVERHEAD);
    HOLDS(stats.failed_count == l->failed);
    HOLDS(stats.allocated_count - stats.freed_count == l->live);
}

/* The allocator that must give @p need bytes, of which @p had are the first's already; or NULL. */
static struct limited *giver(struct state *s, struct limited *first, size_t need, size_t had)
{
    if (fits(first, need - ((had < need) ? had : need))) {
        return first;
    }
    first->failed++;
    if ((first == &s->first) && s->has_next) {
        if (fits(&s->next, need)) {
            return &s->next;
        }
        s->next.failed++;
    }
    return NULL;
}

static void enter(struct state *s, struct block *b, struct limited *from, size_t size)
{
    from->used += size + OVERHEAD;
    from->live++;
    b->size    = size;
    b->of_next = (from == &s->next);
    b->byte    = (unsigned char)(b->byte * 7 + 3);
    memset(b->address, b->byte, size);
}

static void leave(struct state *s, const struct block *b)
{
    owner_of(s, b)->used -= b->size + OVERHEAD;
    owner_of(s, b)->live--;
}

static void allocate(struct state *s, struct block *b, unsigned how, size_t size)
{
    struct limited *from = giver(s, &s->first, size + OVERHEAD, 0);
    size_t align         = (size_t)1 << (how % 13);

    if (how % 3 == 0) {
        b->address = memspan_alloc(s->first.handle, size);
    } else if (how % 3 == 1) {
        b->address = memspan_aligned_alloc(s->first.handle, align, size);
        HOLDS((uintptr_t)b->address % align == 0);
    } else {
        b->address = memspan_calloc(s->first.handle, 1, size);
    }
    HOLDS((b->address != NULL) == (from != NULL));
    if (b->address == NULL) {
        HOLDS(memspan_error_last()->status == MEMSPAN_ERR_LIMIT);
        return;
    }
    HOLDS((uintptr_t)b->address % s->align == 0);
    for (size_t i = 0; (how % 3 == 2) && (i < size); i++) {
        HOLDS(b->address[i] == 0);
    }
    enter(s, b, from, size);
    b->resized = false;
}

static void resize(struct state *s, struct block *b, size_t size)
{
    struct limited *own   = owner_of(s, b);
    struct limited *from  = giver(s, own, size + OVERHEAD, b->size + OVERHEAD);
    size_t kept           = (size < b->size) ? size : b->size;
    unsigned char *before = b->address;
    unsigned char *now;

    check_block(b);
    now = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, before, size);
    HOLDS((now != NULL) == (from != NULL));
    if (now == NULL) {
        check_block(b);
        return;
    }
    HOLDS((now[0] == b->byte) && (now[kept / 2] == b->byte) && (now[kept - 1] == b->byte));
    HOLDS((uintptr_t)now % s->align == 0);
    leave(s, b);
    b->address = now;
    b->resized = true;
    enter(s, b, from, size);
}

static void release(struct state *s, struct block *b)
{
    check_block(b);
    HOLDS(memspan_free(b->address) == MEMSPAN_OK);
    leave(s, b);
    b->address = NULL;
}

static void ask(struct state *s, const struct block *b, unsigned what)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    size_t inside               = (b->size * (what % 64)) / 64;

    HOLDS(memspan_pointer_describe(b->address + inside, &info) == MEMSPAN_OK);
    HOLDS((info.base == b->address) && (info.size_bytes == b->size));
    HOLDS(info.allocator == (b->of_next ? s->next.handle : s->first.handle));
    HOLDS(b->resized || (info.fallback == b->of_next));
    HOLDS((inside == 0) || (memspan_free(b->address + inside) == MEMSPAN_ERR_NOT_FOUND));
}

static void step(struct state *s)
{
    unsigned what   = take_byte(s);
    struct block *b = &s->blocks[what % SLOTS];
    size_t size     = take_byte(s);

    size = 1 + ((size < 200) ? size : (size - 199) * (1 + take_byte(s)));
    if (b->address == NULL) {
        allocate(s, b, (what / SLOTS) + (unsigned)size, size);
    } else if (what < 128) {
        release(s, b);
    } else if (what < 208) {
        resize(s, b, size);
    } else if (what < 240) {
        ask(s, b, (unsigned)size);
    } else {
        memspan_trim();
        check_counters(&s->first);
    }
}

static void start(struct state *s)
{
    s->align        = (size_t)1 << (take_byte(s) % 10);
    s->has_next     = (take_byte(s) & 1) != 0;
    s->first.pool   = 1 + (take_byte(s) * 256u + take_byte(s)) % POOL_MAX;
    s->next.pool    = 1 + (take_byte(s) * 256u + take_byte(s)) % POOL_MAX;
    s->next.handle  = make(s, &s->next, false);
    s->first.handle = make(s, &s->first, s->has_next);
    for (int i = 0; i < SLOTS; i++) {
        s->blocks[i].byte = (unsigned char)i;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct state s;

    setenv("MEMSPAN_LOG", "error", 1);
    memset(&s, 0, sizeof(s));
    s.data = data;
    s.size = size;
    start(&s);
    while (s.size > 0) {
        step(&s);
        if (s.size % 32 == 0) {
            check_all(&s);
        }
    }
    check_all(&s);
    check_counters(&s.first);
    check_counters(&s.next);
    HOLDS(memspan_check() == MEMSPAN_OK);
    for (int i = 0; i < SLOTS; i++) {
        if (s.blocks[i].address != NULL) {
            release(&s, &s.blocks[i]);
        }
    }
    check_counters(&s.first);
    check_counters(&s.next);
    HOLDS(memspan_allocator_destroy(s.first.handle) == MEMSPAN_OK);
    HOLDS(memspan_allocator_destroy(s.next.handle) == MEMSPAN_OK);
    return 0;
}
