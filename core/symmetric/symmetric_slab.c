/* SPDX-License-Identifier: BSD-3-Clause */
/* symmetric_slab.c: classes, slabs and their objects.
 *
 * A slab's state shows in its count: no object used, and it is its class's kept one; all used, and
 * it is in no list; anything between, and it is in the list of those with free objects. */

#include "core/symmetric/symmetric_slab.h"
#include <string.h>
#include <sys/mman.h>

enum {
    CLASSES_BY_8      = 7,                /* 16, 24 .. 64 */
    CLASSES_FINE      = CLASSES_BY_8 + 4, /* 80, 96, 112, 128 */
    SLAB_SMALL_BYTES  = 4096,
    SLAB_LARGE_BYTES  = 16384, /* for objects above a 16th of a small slab */
    HEAP_SHARE        = 256,   /* no slab is a larger share of its heap: objects are blocks then */
    ALIGN_MAX_BYTES   = 1024,
    UNITS_A_PAGE      = 1 << (MSP_SYMMETRIC_PAGE_SHIFT - MSP_UNIT_SHIFT),
    SLAB_HEADER_BYTES = offsetof(struct msp_symmetric_slab, objects),
};

/* ---- classes ---- */

static unsigned class_of(size_t size_bytes)
{
    size_t last = size_bytes - 1;
    unsigned log;

    if (size_bytes <= 64) {
        return (size_bytes <= 16) ? 0 : (unsigned)(last / 8) - 1;
    }
    if (size_bytes <= 128) {
        return CLASSES_BY_8 + (unsigned)(last / 16) - 4;
    }
    log = 63 - (unsigned)__builtin_clzll(last);
    return CLASSES_FINE + (log - 7) * 8 + ((unsigned)(last >> (log - 3)) & 7);
}

static uint32_t size_of(unsigned c)
{
    if (c < CLASSES_BY_8) {
        return 16 + 8 * c;
    }
    if (c < CLASSES_FINE) {
        return 80 + 16 * (c - CLASSES_BY_8);
    }
    return (UINT32_C(16) << ((c - CLASSES_FINE) / 8)) * (9 + (c - CLASSES_FINE) % 8);
}

static void fill_class(struct msp_symmetric_class *class, unsigned c, size_t heap_bytes)
{
    uint32_t size = size_of(c);
    uint32_t slab = (size > SLAB_SMALL_BYTES / 16) ? SLAB_LARGE_BYTES : SLAB_SMALL_BYTES;
    size_t record;

    class->size_bytes = size;
    class->reciprocal = (uint32_t)(((UINT64_C(1) << 32) + size - 1) / size);
    class->slab_units = (slab > heap_bytes / HEAP_SHARE) ? 0 : slab >> MSP_UNIT_SHIFT;
    class->capacity   = (uint16_t)(slab / size);
    record            = SLAB_HEADER_BYTES + class->capacity * sizeof(uint16_t);
    class->lines = (uint8_t)(msp_round_up(record, MSP_CACHE_LINE_BYTES) / MSP_CACHE_LINE_BYTES);
}

/* ---- records ---- */

bool msp_symmetric_slabs_init(struct msp_symmetric_slabs *slabs, struct msp_fit *fit,
                              struct msp_range *range)
{
    size_t pages = (size_t)range->units / UNITS_A_PAGE + 1;
    /* As many lines as a heap full of slabs of any one class needs. */
    size_t lines       = pages * MSP_SYMMETRIC_LINES_MAX + 1;
    size_t lines_bytes = lines * MSP_CACHE_LINE_BYTES;
    size_t bytes       = lines_bytes + pages * sizeof(uint32_t);
    unsigned char *both;
    unsigned c;

    both = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
    if (both == MAP_FAILED) {
        return false;
    }
    *slabs = (struct msp_symmetric_slabs){.fit          = fit,
                                          .range        = range,
                                          .lines        = both,
                                          .line_count   = lines,
                                          .lines_used   = 1,
                                          .slab_at      = (void *)(both + lines_bytes),
                                          .mapped_bytes = bytes};
    for (c = 0; c < MSP_SYMMETRIC_CLASSES; c++) {
        fill_class(&slabs->classes[c], c, (size_t)range->units << MSP_UNIT_SHIFT);
    }
    return true;
}

void msp_symmetric_slabs_clear(struct msp_symmetric_slabs *slabs)
{
    munmap(slabs->lines, slabs->mapped_bytes);
}

/* A record of at least so many lines. Only programs that turned most of the heap from one class
 * into others can see 0. */
static uint32_t new_record(struct msp_symmetric_slabs *slabs, uint8_t lines)
{
    unsigned n;
    uint32_t id;

    if (slabs->unused[lines] == 0 && slabs->lines_used + lines <= slabs->line_count) {
        id = (uint32_t)slabs->lines_used;
        slabs->lines_used += lines;
        msp_symmetric_slab_record(slabs, id)->lines = lines;
        return id;
    }
    for (n = lines; n <= MSP_SYMMETRIC_LINES_MAX; n++) {
        id = slabs->unused[n];
        if (id != 0) {
            slabs->unused[n] = msp_symmetric_slab_record(slabs, id)->after;
            return id;
        }
    }
    return 0;
}

static void drop_record(struct msp_symmetric_slabs *slabs, uint32_t id)
{
    struct msp_symmetric_slab *slab = msp_symmetric_slab_record(slabs, id);

    slab->after                = slabs->unused[slab->lines];
    slabs->unused[slab->lines] = id;
}

/* ---- slabs ---- */

static void name_pages(struct msp_symmetric_slabs *slabs, const struct msp_symmetric_slab *slab,
                       uint32_t id)
{
    uint32_t pages = slabs->classes[slab->class_index].slab_units / UNITS_A_PAGE;
    uint32_t i;

    for (i = 0; i < pages; i++) {
        slabs->slab_at[slab->page + i] = id;
    }
}

static uint32_t create(struct msp_symmetric_slabs *slabs, unsigned c)
{
    const struct msp_symmetric_class *class = &slabs->classes[c];
    struct msp_symmetric_slab *slab;
    struct msp_record *r;
    uint32_t id = new_record(slabs, class->lines);
    uint32_t block;

    if (id == 0) {
        return 0;
    }
    block =
        msp_fit_take(slabs->fit, class->slab_units, (size_t)1 << MSP_SYMMETRIC_PAGE_SHIFT, false);
    if (block == 0) {
        drop_record(slabs, id);
        return 0;
    }
    r = msp_fit_record(slabs->fit, block);
    atomic_store_explicit(&r->use, MSP_USE_SLAB, memory_order_relaxed);
    slab              = msp_symmetric_slab_record(slabs, id);
    slab->block       = block;
    slab->page        = r->offset / UNITS_A_PAGE;
    slab->first_free  = MSP_SYMMETRIC_VALUE;
    slab->used_count  = 0;
    slab->made        = 0;
    slab->class_index = (uint8_t)c;
    name_pages(slabs, slab, id);
    return id;
}

static void destroy(struct msp_symmetric_slabs *slabs, uint32_t id)
{
    const struct msp_symmetric_slab *slab = msp_symmetric_slab_record(slabs, id);

    name_pages(slabs, slab, 0);
    msp_fit_give(slabs->fit, slab->block);
    drop_record(slabs, id);
}

static void enlist(struct msp_symmetric_slabs *slabs, struct msp_symmetric_class *class,
                   uint32_t id)
{
    struct msp_symmetric_slab *slab = msp_symmetric_slab_record(slabs, id);

    slab->before = 0;
    slab->after  = class->partial;
    if (slab->after != 0) {
        msp_symmetric_slab_record(slabs, slab->after)->before = id;
    }
    class->partial = id;
}

static void delist(struct msp_symmetric_slabs *slabs, struct msp_symmetric_class *class,
                   const struct msp_symmetric_slab *slab)
{
    if (slab->after != 0) {
        msp_symmetric_slab_record(slabs, slab->after)->before = slab->before;
    }
    if (slab->before != 0) {
        msp_symmetric_slab_record(slabs, slab->before)->after = slab->after;
    } else {
        class->partial = slab->after;
    }
}

bool msp_symmetric_slabs_drop_empty(struct msp_symmetric_slabs *slabs)
{
    unsigned c;

    if (slabs->empty_count == 0) {
        return false;
    }
    for (c = 0; c < MSP_SYMMETRIC_CLASSES; c++) {
        if (slabs->classes[c].empty != 0) {
            destroy(slabs, slabs->classes[c].empty);
            slabs->classes[c].empty = 0;
        }
    }
    slabs->empty_count = 0;
    return true;
}

/* ---- objects ---- */

/* Puts the class's kept slab, or a new one, into the list of those with free objects. */
static bool add_partial(struct msp_symmetric_slabs *slabs, unsigned c)
{
    struct msp_symmetric_class *class = &slabs->classes[c];
    uint32_t id                       = class->empty;

    if (id != 0) {
        class->empty = 0;
        slabs->empty_count--;
    } else if (class->slab_units != 0) {
        id = create(slabs, c);
        if ((id == 0) && msp_symmetric_slabs_drop_empty(slabs)) {
            id = create(slabs, c);
        }
    }
    if (id == 0) {
        return false;
    }
    enlist(slabs, class, id);
    return true;
}

/* An object of the first slab with free objects; there is one. */
static size_t take_object(struct msp_symmetric_slabs *slabs, struct msp_symmetric_class *class,
                          size_t size_bytes)
{
    struct msp_symmetric_slab *slab = msp_symmetric_slab_record(slabs, class->partial);
    unsigned index                  = slab->first_free;

    if (index != MSP_SYMMETRIC_VALUE) {
        slab->first_free = slab->objects[index];
    } else {
        index = slab->made++;
    }
    slab->objects[index] = (uint16_t)(MSP_SYMMETRIC_LIVE | (class->size_bytes - size_bytes));
    if (++slab->used_count == class->capacity) {
        delist(slabs, class, slab);
    }
    return msp_symmetric_slab_offset(slab) + (size_t)index * class->size_bytes;
}

bool msp_symmetric_slabs_take(struct msp_symmetric_slabs *slabs, size_t size_bytes,
                              size_t align_bytes, size_t *offset_p, size_t *capacity_p)
{
    unsigned c;

    if ((size_bytes > MSP_SYMMETRIC_SMALL_MAX_BYTES) || (align_bytes > ALIGN_MAX_BYTES)) {
        return false;
    }
    c = class_of((size_bytes > align_bytes) ? size_bytes : align_bytes);
    while ((slabs->classes[c].size_bytes & (align_bytes - 1)) != 0) {
        c++; /* ends: the last is 1024 */
    }
    if ((slabs->classes[c].partial == 0) && !add_partial(slabs, c)) {
        /* Before a small object takes a whole block: places that are larger than it needs. */
        for (c++; c < MSP_SYMMETRIC_CLASSES; c++) {
            if ((slabs->classes[c].partial != 0) &&
                ((slabs->classes[c].size_bytes & (align_bytes - 1)) == 0)) {
                break;
            }
        }
        if (c == MSP_SYMMETRIC_CLASSES) {
            return false;
        }
    }
    *offset_p   = take_object(slabs, &slabs->classes[c], size_bytes);
    *capacity_p = slabs->classes[c].size_bytes;
    return true;
}

bool msp_symmetric_slabs_find(const struct msp_symmetric_slabs *slabs, uint32_t id,
                              size_t offset_bytes, unsigned *index_p)
{
    const struct msp_symmetric_slab *slab = msp_symmetric_slab_record(slabs, id);
    uint64_t inside                       = offset_bytes - msp_symmetric_slab_offset(slab);
    unsigned index = (unsigned)((inside * slabs->classes[slab->class_index].reciprocal) >> 32);

    if ((index >= slab->made) || ((slab->objects[index] & MSP_SYMMETRIC_LIVE) == 0)) {
        return false;
    }
    *index_p = index;
    return true;
}

void msp_symmetric_slabs_give(struct msp_symmetric_slabs *slabs, uint32_t id, unsigned index)
{
    struct msp_symmetric_slab *slab   = msp_symmetric_slab_record(slabs, id);
    struct msp_symmetric_class *class = &slabs->classes[slab->class_index];

    slab->objects[index] = slab->first_free;
    slab->first_free     = (uint16_t)index;
    if (slab->used_count-- == class->capacity) {
        enlist(slabs, class, id);
    }
    if (slab->used_count > 0) {
        return;
    }
    delist(slabs, class, slab);
    if (class->empty != 0) {
        destroy(slabs, id);
        return;
    }
    slab->first_free = MSP_SYMMETRIC_VALUE; /* an empty slab is as good as a new one */
    slab->made       = 0;
    class->empty     = id;
    slabs->empty_count++;
}

/* ---- free space ---- */

static bool is_as_free(const struct msp_symmetric_slabs *slabs, const struct msp_record *r)
{
    uint32_t id;

    if (r->is_free) {
        return true;
    }
    if (atomic_load_explicit(&r->use, memory_order_relaxed) != MSP_USE_SLAB) {
        return false;
    }
    id = msp_symmetric_slab_at(slabs, (size_t)r->offset << MSP_UNIT_SHIFT);
    return msp_symmetric_slab_record(slabs, id)->used_count == 0;
}

/* Units of the run of free blocks and empty slabs around a block. */
static uint32_t run_around(const struct msp_symmetric_slabs *slabs, uint32_t block)
{
    const struct msp_fit *fit  = slabs->fit;
    const struct msp_record *r = msp_fit_record(fit, block);
    uint32_t units             = r->size;
    uint32_t id;

    for (id = r->before; (id != 0) && is_as_free(slabs, msp_fit_record(fit, id));
         id = msp_fit_record(fit, id)->before) {
        units += msp_fit_record(fit, id)->size;
    }
    for (id = r->after; (id != 0) && is_as_free(slabs, msp_fit_record(fit, id));
         id = msp_fit_record(fit, id)->after) {
        units += msp_fit_record(fit, id)->size;
    }
    return units;
}

uint32_t msp_symmetric_slabs_largest(const struct msp_symmetric_slabs *slabs)
{
    uint32_t largest = msp_fit_largest(slabs->fit);
    unsigned c;

    for (c = 0; c < MSP_SYMMETRIC_CLASSES; c++) {
        uint32_t id = slabs->classes[c].empty;
        uint32_t run =
            (id == 0) ? 0 : run_around(slabs, msp_symmetric_slab_record(slabs, id)->block);
        largest = (run > largest) ? run : largest;
    }
    return largest;
}

/* ---- invariants ---- */

static bool in_its_list(const struct msp_symmetric_slabs *slabs, uint32_t id)
{
    const struct msp_symmetric_slab *slab   = msp_symmetric_slab_record(slabs, id);
    const struct msp_symmetric_class *class = &slabs->classes[slab->class_index];

    if ((slab->used_count == 0) != (class->empty == id)) {
        return false;
    }
    if ((slab->used_count == 0) || (slab->used_count == class->capacity)) {
        return true; /* in no list: those in one are counted */
    }
    return (slab->before == 0) ? (class->partial == id)
                               : (msp_symmetric_slab_record(slabs, slab->before)->after == id);
}

static const char *check_objects(const struct msp_symmetric_slabs *slabs,
                                 const struct msp_symmetric_slab *slab,
                                 struct msp_symmetric_slabs_sum *sum)
{
    uint32_t size   = slabs->classes[slab->class_index].size_bytes;
    unsigned count  = 0;
    unsigned unused = 0;
    unsigned i;

    for (i = 0; i < slab->made; i++) {
        if ((slab->objects[i] & MSP_SYMMETRIC_LIVE) != 0) {
            count++;
            sum->requested_bytes += size - (slab->objects[i] & MSP_SYMMETRIC_VALUE);
        }
    }
    for (i = slab->first_free; (i < slab->made) && (unused <= slab->made); i = slab->objects[i]) {
        unused++;
    }
    if ((count != slab->used_count) || (count + unused != slab->made) ||
        (i != MSP_SYMMETRIC_VALUE)) {
        return "a slab's objects are miscounted";
    }
    sum->object_count += count;
    sum->object_bytes += (size_t)count * size;
    return NULL;
}

static const char *check_slab(const struct msp_symmetric_slabs *slabs, uint32_t block,
                              struct msp_symmetric_slabs_sum *sum, size_t *in_lists)
{
    const struct msp_record *r = msp_fit_record(slabs->fit, block);
    uint32_t page              = r->offset / UNITS_A_PAGE;
    uint32_t id                = slabs->slab_at[page];
    const struct msp_symmetric_slab *slab;
    const struct msp_symmetric_class *class;
    uint32_t i;

    if ((id == 0) || (id >= slabs->lines_used)) {
        return "a slab has no record";
    }
    slab  = msp_symmetric_slab_record(slabs, id);
    class = &slabs->classes[slab->class_index];
    if ((slab->block != block) || (slab->page != page) || (r->size != class->slab_units) ||
        (slab->made > class->capacity)) {
        return "a slab is not where its record says";
    }
    for (i = 0; i < r->size / UNITS_A_PAGE; i++) {
        if (slabs->slab_at[page + i] != id) {
            return "a page of a slab leads elsewhere";
        }
    }
    if (!in_its_list(slabs, id)) {
        return "a slab is not in the list that its count asks for";
    }
    *in_lists += (slab->used_count > 0) && (slab->used_count < class->capacity);
    sum->slab_bytes += msp_record_bytes(r);
    return check_objects(slabs, slab, sum);
}

static const char *check_lists(const struct msp_symmetric_slabs *slabs, size_t in_lists)
{
    unsigned empty_count = 0;
    size_t count         = 0;
    unsigned c;
    uint32_t id;

    for (c = 0; c < MSP_SYMMETRIC_CLASSES; c++) {
        empty_count += (slabs->classes[c].empty != 0);
        id = slabs->classes[c].partial;
        for (; (id != 0) && (count <= in_lists); id = msp_symmetric_slab_record(slabs, id)->after) {
            count++;
        }
    }
    return ((count == in_lists) && (empty_count == slabs->empty_count))
               ? NULL
               : "slabs with room or empty ones, and those in lists, differ in number";
}

const char *msp_symmetric_slabs_check(const struct msp_symmetric_slabs *slabs,
                                      struct msp_symmetric_slabs_sum *sum)
{
    uint32_t block  = msp_range_find(slabs->range, 0);
    size_t in_lists = 0;
    const char *problem;

    memset(sum, 0, sizeof(*sum));
    for (; block != 0; block = msp_fit_record(slabs->fit, block)->after) {
        const struct msp_record *r = msp_fit_record(slabs->fit, block);
        if (atomic_load_explicit(&r->use, memory_order_relaxed) != MSP_USE_SLAB) {
            continue;
        }
        problem = check_slab(slabs, block, sum, &in_lists);
        if (problem != NULL) {
            return problem;
        }
    }
    return check_lists(slabs, in_lists);
}
