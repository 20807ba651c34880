/* SPDX-License-Identifier: BSD-3-Clause */
/* symmetric_heap.c: the same offsets for the same calls.
 *
 * A call depends on the calls before it alone: not on addresses (bins and lists hold numbers), not
 * on the state of the process (no record is ever missing). Errors are recorded after the lock is
 * given back, from values that were read under it. */

#include "core/symmetric/symmetric_heap.h"
#include "core/base/error.h"
#include <stdlib.h>

/* ---- places ---- */

/* Where a live block stands: in a slab, or a block of the fit. */
struct place {
    struct msp_symmetric_block block;
    uint32_t slab;  /* 0: none */
    uint32_t index; /* of the object, else the fit's record */
};

static size_t size_of_heap(const struct msp_symmetric_heap *heap)
{
    return (size_t)heap->range.units << MSP_UNIT_SHIFT;
}

static uint32_t units_of(size_t size_bytes)
{
    return (uint32_t)((size_bytes + MSP_UNIT_BYTES - 1) >> MSP_UNIT_SHIFT);
}

static bool locate_object(const struct msp_symmetric_heap *heap, uint32_t id, size_t offset,
                          struct place *place_p)
{
    const struct msp_symmetric_slab *slab = msp_symmetric_slab_record(&heap->slabs, id);
    size_t size                           = heap->slabs.classes[slab->class_index].size_bytes;
    unsigned index;

    if (!msp_symmetric_slabs_find(&heap->slabs, id, offset, &index)) {
        return false;
    }
    place_p->block.offset_bytes   = msp_symmetric_slab_offset(slab) + index * size;
    place_p->block.size_bytes     = size - (slab->objects[index] & MSP_SYMMETRIC_VALUE);
    place_p->block.capacity_bytes = size;
    place_p->slab                 = id;
    place_p->index                = index;
    return true;
}

/* The live block whose place holds that offset. */
static bool locate(const struct msp_symmetric_heap *heap, size_t offset, struct place *place_p)
{
    const struct msp_record *r;
    uint32_t id;

    if (offset >= size_of_heap(heap)) {
        return false;
    }
    id = msp_symmetric_slab_at(&heap->slabs, offset);
    if (id != 0) {
        return locate_object(heap, id, offset, place_p);
    }
    id = msp_range_find(&heap->range, offset);
    r  = msp_fit_record(&heap->fit, id);
    if (r->is_free) {
        return false;
    }
    place_p->block.offset_bytes   = (size_t)r->offset << MSP_UNIT_SHIFT;
    place_p->block.size_bytes     = r->requested_bytes;
    place_p->block.capacity_bytes = msp_record_bytes(r);
    place_p->slab                 = 0;
    place_p->index                = id;
    return true;
}

/* ---- counting ---- */

static void note_call(struct msp_symmetric_heap *heap, uint64_t what, uint64_t size,
                      uint64_t answer)
{
    uint64_t digest = heap->call_digest;

    digest            = (digest ^ what) * UINT64_C(0x9e3779b97f4a7c15);
    digest            = ((digest >> 29) ^ digest ^ size) * UINT64_C(0xbf58476d1ce4e5b9);
    heap->call_digest = (digest >> 32) ^ digest ^ answer;
    heap->call_count++;
}

static void note_live(struct msp_symmetric_heap *heap, size_t more_bytes)
{
    heap->live_bytes += more_bytes;
    if (heap->live_bytes > heap->peak_bytes) {
        heap->peak_bytes = heap->live_bytes;
    }
}

/* ---- taking and giving ---- */

static bool take_block(struct msp_symmetric_heap *heap, size_t size_bytes, size_t align_bytes,
                       size_t *offset_p, size_t *capacity_p)
{
    struct msp_record *r;
    uint32_t id;

    if (size_bytes > size_of_heap(heap)) {
        return false;
    }
    id = msp_fit_take(&heap->fit, units_of(size_bytes), align_bytes, true);
    if ((id == 0) && msp_symmetric_slabs_drop_empty(&heap->slabs)) {
        id = msp_fit_take(&heap->fit, units_of(size_bytes), align_bytes, true);
    }
    if (id == 0) {
        return false;
    }
    r                  = msp_fit_record(&heap->fit, id);
    r->requested_bytes = size_bytes;
    atomic_store_explicit(&r->use, MSP_USE_BLOCK, memory_order_relaxed);
    *offset_p   = (size_t)r->offset << MSP_UNIT_SHIFT;
    *capacity_p = msp_record_bytes(r);
    return true;
}

static bool take_memory(struct msp_symmetric_heap *heap, size_t size_bytes, size_t align_bytes,
                        size_t *offset_p)
{
    size_t capacity;

    bool taken = heap->has_slabs && msp_symmetric_slabs_take(&heap->slabs, size_bytes, align_bytes,
                                                             offset_p, &capacity);

    if (!taken && !take_block(heap, size_bytes, align_bytes, offset_p, &capacity)) {
        return false;
    }
    heap->held_bytes += capacity;
    heap->live_count++;
    note_live(heap, size_bytes);
    return true;
}

static void give(struct msp_symmetric_heap *heap, const struct place *place)
{
    heap->held_bytes -= place->block.capacity_bytes;
    heap->live_bytes -= place->block.size_bytes;
    heap->live_count--;
    if (place->slab != 0) {
        msp_symmetric_slabs_give(&heap->slabs, place->slab, place->index);
    } else {
        msp_fit_give(&heap->fit, place->index);
    }
}

/* ---- in place ---- */

static bool stay_object(struct msp_symmetric_heap *heap, const struct place *place,
                        size_t size_bytes)
{
    struct msp_symmetric_slab *slab = msp_symmetric_slab_record(&heap->slabs, place->slab);
    size_t capacity                 = place->block.capacity_bytes;

    if (size_bytes > capacity) {
        return false;
    }
    slab->objects[place->index] = (uint16_t)(MSP_SYMMETRIC_LIVE | (capacity - size_bytes));
    return true;
}

static bool stay_block(struct msp_symmetric_heap *heap, const struct place *place,
                       size_t size_bytes)
{
    struct msp_record *r = msp_fit_record(&heap->fit, place->index);

    if (size_bytes > size_of_heap(heap)) {
        return false;
    }
    if (!msp_fit_resize(&heap->fit, place->index, units_of(size_bytes)) &&
        (size_bytes > place->block.capacity_bytes) &&
        (!msp_symmetric_slabs_drop_empty(&heap->slabs) ||
         !msp_fit_resize(&heap->fit, place->index, units_of(size_bytes)))) {
        return false;
    }
    heap->held_bytes += msp_record_bytes(r) - place->block.capacity_bytes;
    r->requested_bytes = size_bytes;
    return true;
}

static bool stay(struct msp_symmetric_heap *heap, const struct place *place, size_t size_bytes,
                 size_t align_bytes)
{
    if (((place->block.offset_bytes & (align_bytes - 1)) != 0) ||
        !((place->slab != 0) ? stay_object(heap, place, size_bytes)
                             : stay_block(heap, place, size_bytes))) {
        return false;
    }
    note_live(heap, size_bytes - place->block.size_bytes);
    return true;
}

/* ---- refusing ---- */

static memspan_status_t refuse_request(const struct msp_symmetric_heap *heap, size_t size_bytes,
                                       size_t align_bytes)
{
    if (size_bytes == 0) {
        return memspan_error(MEMSPAN_ERR_INVALID, "a size of 0 bytes in a symmetric heap");
    }
    if (!msp_is_power_of_two(align_bytes)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "an alignment of %zu bytes is no power of two",
                             align_bytes);
    }
    memspan_error(MEMSPAN_ERR_INVALID,
                  "an alignment of %zu bytes in a symmetric heap that stands on %zu", align_bytes,
                  heap->base_align_bytes);
    return msp_error_hint("a boundary that the heap's first byte is not on in every process "
                          "cannot be promised to a block of it");
}

static bool is_request(const struct msp_symmetric_heap *heap, size_t size_bytes, size_t align_bytes)
{
    return (size_bytes > 0) && msp_is_power_of_two(align_bytes) &&
           (align_bytes <= heap->base_align_bytes);
}

static memspan_status_t refuse_size(struct msp_symmetric_heap *heap, size_t size_bytes,
                                    size_t align_bytes)
{
    struct msp_symmetric_measure measure;

    msp_symmetric_heap_measure(heap, &measure);
    memspan_error(MEMSPAN_ERR_NO_MEMORY,
                  "no room for %zu bytes on a boundary of %zu in a symmetric heap of %zu bytes",
                  size_bytes, align_bytes, measure.size_bytes);
    return msp_error_hint("%zu bytes are free, %zu in the largest piece; make the heap larger",
                          measure.free_bytes, measure.largest_free_bytes);
}

/* No live block starts there; @p found: one goes over it. */
static memspan_status_t refuse_offset(const struct msp_symmetric_heap *heap, size_t offset,
                                      bool found, const struct msp_symmetric_block *block)
{
    if (offset >= size_of_heap(heap)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND,
                      "offset %zu is not in the symmetric heap, which has %zu bytes", offset,
                      size_of_heap(heap));
        return msp_error_hint("use the heap that gave it");
    }
    if (!found) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND,
                      "offset %zu is in the symmetric heap, but no live block is there", offset);
        return msp_error_hint("it was probably freed before");
    }
    memspan_error(MEMSPAN_ERR_NOT_FOUND,
                  "offset %zu is %zu bytes inside a block of %zu bytes at %zu", offset,
                  offset - block->offset_bytes, block->size_bytes, block->offset_bytes);
    return msp_error_hint("use the offset that the allocation gave");
}

/* ---- making ---- */

memspan_status_t msp_symmetric_heap_create(size_t size_bytes, size_t base_align_bytes,
                                           struct msp_symmetric_heap **heap_p)
{
    uint64_t units = (uint64_t)size_bytes >> MSP_UNIT_SHIFT;
    struct msp_symmetric_heap *heap;

    if (units == (uint64_t)UINT32_MAX + 1) {
        units--; /* 1 TiB is a size that programs use */
    }
    if ((units == 0) || (units > UINT32_MAX)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "a symmetric heap of %zu bytes: not %zu bytes to 1 TiB", size_bytes,
                             MSP_UNIT_BYTES);
    }
    if (!msp_is_power_of_two(base_align_bytes)) {
        return memspan_error(
            MEMSPAN_ERR_INVALID,
            "a symmetric heap on a boundary of %zu bytes, which is no power of two",
            base_align_bytes);
    }
    heap = calloc(1, sizeof(*heap));
    if (heap == NULL) {
        goto no_memory;
    }
    if (!msp_fit_init(&heap->fit)) {
        goto free_heap;
    }
    if (!msp_fit_reserve(&heap->fit, (uint32_t)units) ||
        !msp_fit_add_range(&heap->fit, &heap->range, 0, (uint32_t)units, false)) {
        goto clear_fit;
    }
    if (!msp_symmetric_slabs_init(&heap->slabs, &heap->fit, &heap->range)) {
        goto remove_range;
    }
    msp_lock_init(&heap->lock, MSP_RANK_SYMMETRIC);
    heap->base_align_bytes = base_align_bytes;
    heap->has_slabs        = true;
    *heap_p                = heap;
    return MEMSPAN_OK;

remove_range:
    msp_fit_remove_range(&heap->fit, &heap->range);
clear_fit:
    msp_fit_clear(&heap->fit);
free_heap:
    free(heap);
no_memory:
    memspan_error(MEMSPAN_ERR_NO_MEMORY,
                  "no address space for the records of a symmetric heap of "
                  "%zu bytes",
                  size_bytes);
    return msp_error_hint("they take up to half of the heap's size, of which only what describes "
                          "used memory is ever filled");
}

/* Of a heap whose free memory is one block, which begins there: that many bytes of it. */
static bool take_next(struct msp_symmetric_heap *heap, size_t offset_bytes, size_t size_bytes)
{
    size_t capacity = 0;
    size_t offset   = 0;

    if (!take_block(heap, size_bytes, MSP_UNIT_BYTES, &offset, &capacity) ||
        (offset != offset_bytes)) {
        return false;
    }
    heap->held_bytes += capacity;
    heap->live_count++;
    note_live(heap, size_bytes);
    return true;
}

/* The gaps before blocks are blocks, too, until all are taken. */
static bool restore(struct msp_symmetric_heap *heap, const struct msp_symmetric_block *blocks,
                    size_t count)
{
    size_t end = 0;
    struct place gap;
    size_t i;

    for (i = 0; i < count; i++) {
        size_t start = blocks[i].offset_bytes;

        if ((start < end) || (start % MSP_UNIT_BYTES != 0) || (start >= size_of_heap(heap)) ||
            (blocks[i].size_bytes == 0) || ((start > end) && !take_next(heap, end, start - end)) ||
            !take_next(heap, start, blocks[i].size_bytes)) {
            return false;
        }
        end = start + ((size_t)units_of(blocks[i].size_bytes) << MSP_UNIT_SHIFT);
    }
    for (i = 0, end = 0; i < count; i++) {
        if ((blocks[i].offset_bytes > end) && locate(heap, end, &gap)) {
            give(heap, &gap);
        }
        end = blocks[i].offset_bytes + ((size_t)units_of(blocks[i].size_bytes) << MSP_UNIT_SHIFT);
    }
    heap->peak_bytes = heap->live_bytes;
    return true;
}

memspan_status_t msp_symmetric_heap_restore(struct msp_symmetric_heap *heap,
                                            const struct msp_symmetric_block *blocks, size_t count)
{
    bool done;

    msp_lock(&heap->lock);
    heap->has_slabs = false;
    done            = restore(heap, blocks, count);
    msp_unlock(&heap->lock);
    return done ? MEMSPAN_OK
                : memspan_error(MEMSPAN_ERR_INVALID,
                                "%zu blocks cannot be restored: they overlap, or are not in the "
                                "symmetric heap of %zu bytes",
                                count, size_of_heap(heap));
}

void msp_symmetric_heap_destroy(struct msp_symmetric_heap *heap)
{
    if (heap == NULL) {
        return;
    }
    while (heap->range.used_count > 0) {
        uint32_t id                = msp_range_find(&heap->range, 0);
        const struct msp_record *r = msp_fit_record(&heap->fit, id);
        msp_fit_give(&heap->fit, r->is_free ? r->after : id);
    }
    msp_symmetric_slabs_clear(&heap->slabs);
    msp_fit_remove_range(&heap->fit, &heap->range);
    msp_fit_clear(&heap->fit);
    pthread_mutex_destroy(&heap->lock.mutex);
    free(heap);
}

/* ---- calls ---- */

enum { CALL_ALLOC = 1, CALL_FREE, CALL_RESIZE };

/* In the digest: the call and its boundary or block; nothing was given. */
static uint64_t word_of(unsigned call, size_t operand)
{
    return ((uint64_t)operand << 2) | call;
}
static const uint64_t no_answer = UINT64_MAX;

memspan_status_t msp_symmetric_heap_alloc(struct msp_symmetric_heap *heap, size_t size_bytes,
                                          size_t align_bytes, size_t *offset_p)
{
    size_t offset = 0;
    bool taken;

    if (MSP_UNLIKELY(!is_request(heap, size_bytes, align_bytes))) {
        return refuse_request(heap, size_bytes, align_bytes);
    }
    msp_lock(&heap->lock);
    taken = take_memory(heap, size_bytes, align_bytes, &offset);
    note_call(heap, word_of(CALL_ALLOC, align_bytes), size_bytes, taken ? offset : no_answer);
    msp_unlock(&heap->lock);
    if (MSP_UNLIKELY(!taken)) {
        return refuse_size(heap, size_bytes, align_bytes);
    }
    *offset_p = offset;
    return MEMSPAN_OK;
}

memspan_status_t msp_symmetric_heap_free(struct msp_symmetric_heap *heap, size_t offset_bytes)
{
    struct place place;
    bool found;

    msp_lock(&heap->lock);
    found = locate(heap, offset_bytes, &place);
    if (MSP_UNLIKELY(!found || (place.block.offset_bytes != offset_bytes))) {
        msp_unlock(&heap->lock);
        return refuse_offset(heap, offset_bytes, found, &place.block);
    }
    give(heap, &place);
    note_call(heap, word_of(CALL_FREE, offset_bytes), 0, 0);
    msp_unlock(&heap->lock);
    return MEMSPAN_OK;
}

memspan_status_t msp_symmetric_heap_resize(struct msp_symmetric_heap *heap, size_t offset_bytes,
                                           size_t size_bytes, size_t align_bytes, size_t *offset_p)
{
    size_t offset = offset_bytes;
    struct place place;
    bool found;
    bool done;

    if (!is_request(heap, size_bytes, align_bytes)) {
        return refuse_request(heap, size_bytes, align_bytes);
    }
    msp_lock(&heap->lock);
    found = locate(heap, offset_bytes, &place);
    if (!found || (place.block.offset_bytes != offset_bytes)) {
        msp_unlock(&heap->lock);
        return refuse_offset(heap, offset_bytes, found, &place.block);
    }
    done = stay(heap, &place, size_bytes, align_bytes) ||
           take_memory(heap, size_bytes, align_bytes, &offset);
    note_call(heap, word_of(CALL_RESIZE, offset_bytes), size_bytes ^ ((uint64_t)align_bytes << 40),
              done ? offset : no_answer);
    msp_unlock(&heap->lock);
    if (!done) {
        return refuse_size(heap, size_bytes, align_bytes);
    }
    *offset_p = offset;
    return MEMSPAN_OK;
}

/* ---- queries ---- */

memspan_status_t msp_symmetric_heap_find(struct msp_symmetric_heap *heap, size_t offset_bytes,
                                         struct msp_symmetric_block *block_p)
{
    struct place place;
    bool found;

    msp_lock(&heap->lock);
    found = locate(heap, offset_bytes, &place);
    msp_unlock(&heap->lock);
    if (!found) {
        return refuse_offset(heap, offset_bytes, false, NULL);
    }
    *block_p = place.block;
    return MEMSPAN_OK;
}

memspan_status_t msp_symmetric_heap_size(struct msp_symmetric_heap *heap, size_t offset_bytes,
                                         size_t *size_p)
{
    struct place place;
    bool found;

    msp_lock(&heap->lock);
    found = locate(heap, offset_bytes, &place);
    msp_unlock(&heap->lock);
    if (!found || (place.block.offset_bytes != offset_bytes)) {
        return refuse_offset(heap, offset_bytes, found, &place.block);
    }
    *size_p = place.block.size_bytes;
    return MEMSPAN_OK;
}

void msp_symmetric_heap_measure(struct msp_symmetric_heap *heap,
                                struct msp_symmetric_measure *measure_p)
{
    msp_lock(&heap->lock);
    *measure_p = (struct msp_symmetric_measure){
        .size_bytes         = size_of_heap(heap),
        .free_bytes         = size_of_heap(heap) - heap->held_bytes,
        .largest_free_bytes = (size_t)msp_symmetric_slabs_largest(&heap->slabs) << MSP_UNIT_SHIFT,
        .live_bytes         = heap->live_bytes,
        .peak_bytes         = heap->peak_bytes,
        .live_count         = heap->live_count,
        .call_count         = heap->call_count,
        .call_digest        = heap->call_digest};
    msp_unlock(&heap->lock);
}

/* ---- invariants ---- */

static const char *check_sums(const struct msp_symmetric_heap *heap,
                              const struct msp_symmetric_slabs_sum *in_slabs)
{
    size_t count     = in_slabs->object_count;
    size_t held      = in_slabs->object_bytes;
    size_t requested = in_slabs->requested_bytes;
    uint32_t id      = msp_range_find(&heap->range, 0);

    for (; id != 0; id = msp_fit_record(&heap->fit, id)->after) {
        const struct msp_record *r = msp_fit_record(&heap->fit, id);
        if (r->is_free || (atomic_load_explicit(&r->use, memory_order_relaxed) == MSP_USE_SLAB)) {
            continue;
        }
        if ((r->requested_bytes == 0) || (r->requested_bytes > msp_record_bytes(r)) ||
            (msp_symmetric_slab_at(&heap->slabs, (size_t)r->offset << MSP_UNIT_SHIFT) != 0)) {
            return "a block is not what was asked for, or seems to be a slab";
        }
        count++;
        held += msp_record_bytes(r);
        requested += r->requested_bytes;
    }
    return ((count == heap->live_count) && (held == heap->held_bytes) &&
            (requested == heap->live_bytes) && (requested <= heap->peak_bytes))
               ? NULL
               : "what is live is miscounted";
}

memspan_status_t msp_symmetric_heap_check(struct msp_symmetric_heap *heap)
{
    struct msp_symmetric_slabs_sum in_slabs;
    const char *problem;

    msp_lock(&heap->lock);
    problem = msp_fit_check(&heap->fit);
    if (problem == NULL) {
        problem = msp_symmetric_slabs_check(&heap->slabs, &in_slabs);
    }
    if (problem == NULL) {
        problem = check_sums(heap, &in_slabs);
    }
    msp_unlock(&heap->lock);
    return (problem == NULL) ? MEMSPAN_OK
                             : memspan_error(MEMSPAN_ERR_INTERNAL, "a symmetric heap: %s", problem);
}
