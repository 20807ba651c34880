/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of offsets: the same answers in every process, right ones, and whole at any time. There
 * is no memory behind these heaps. */

#include "symmetric_heap.h"
#include <memspan/memspan.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Mostly small, some of a few KiB, now and then a large share of the heap. */
static size_t some_size(uint64_t *state, size_t heap_bytes)
{
    size_t what = chance(state, 0, 99);

    return (what < 60)   ? chance(state, 1, 1100)
           : (what < 95) ? chance(state, 1, 9000)
                         : chance(state, 1, heap_bytes / 4);
}

static size_t some_align(uint64_t *state)
{
    return (chance(state, 0, 9) < 8) ? (size_t)8 << chance(state, 0, 1)
                                     : (size_t)1 << chance(state, 0, 16);
}

/* ---- the same in every process ---- */

enum { STEPS = 30000, HELD_MAX = 600, HEAP_BYTES = MIB };

struct held {
    size_t offset[HELD_MAX];
    size_t count;
};

/* One call of a random sequence; its answer. */
static uint64_t call(struct msp_symmetric_heap *heap, uint64_t *state, struct held *held)
{
    size_t size  = some_size(state, HEAP_BYTES);
    size_t align = some_align(state);
    size_t what  = chance(state, 0, 9);
    size_t i     = chance(state, 0, HELD_MAX - 1) % (held->count + 1);
    size_t to    = UINT64_MAX;

    if ((i == held->count) || (what < 4)) {
        if ((held->count < HELD_MAX) &&
            (msp_symmetric_heap_alloc(heap, size, align, &to) == MEMSPAN_OK)) {
            held->offset[held->count++] = to;
        }
    } else if (what < 7) {
        msp_symmetric_heap_free(heap, held->offset[i]);
        held->offset[i] = held->offset[--held->count];
    } else if (msp_symmetric_heap_resize(heap, held->offset[i], size, align, &to) == MEMSPAN_OK) {
        if (to != held->offset[i]) {
            msp_symmetric_heap_free(heap, held->offset[i]);
        }
        held->offset[i] = to;
    } else {
        to = UINT64_MAX - 1;
    }
    return to;
}

struct answers {
    uint64_t of[STEPS];
    uint64_t digest;
    size_t refused;
};

static void run_calls(struct answers *answers, bool asking)
{
    struct msp_symmetric_heap *heap = NULL;
    struct msp_symmetric_block block;
    struct held held = {.count = 0};
    uint64_t state   = 4711;
    unsigned n;

    if (msp_symmetric_heap_create(HEAP_BYTES, BASE_ALIGN, &heap) != MEMSPAN_OK) {
        return; /* the answers differ */
    }
    for (n = 0; n < STEPS; n++) {
        answers->of[n] = call(heap, &state, &held);
        answers->refused += answers->of[n] >= UINT64_MAX - 1;
        if (asking && (n % 16 == 0)) {
            measure(heap);
            msp_symmetric_heap_find(heap, n, &block);
            msp_symmetric_heap_check(heap);
        }
    }
    answers->digest = measure(heap).call_digest;
    msp_symmetric_heap_destroy(heap);
}

static atomic_bool stop;

/* What else goes on in a process: other heaps, ordinary memory, wrong calls. */
static void *be_busy(void *argument)
{
    struct msp_symmetric_heap *heap = create(HEAP_BYTES);
    struct held held                = {.count = 0};
    uint64_t state                  = (uintptr_t)argument;
    void *blocks[16]                = {NULL};

    while (!atomic_load(&stop)) {
        size_t i = chance(&state, 0, 15);

        call(heap, &state, &held);
        free(blocks[i]);
        blocks[i] = malloc(chance(&state, 1, 100000));
        memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, chance(&state, 1, 5000)));
        msp_symmetric_heap_free(heap, HEAP_BYTES);
    }
    for (unsigned i = 0; i < 16; i++) {
        free(blocks[i]);
    }
    msp_symmetric_heap_destroy(heap);
    return NULL;
}

static void run_beside_threads(struct answers *answers)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    uintptr_t i;

    atomic_store(&stop, false);
    for (i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, be_busy, (void *)(i + 1));
    }
    run_calls(answers, true);
    atomic_store(&stop, true);
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

Test(symmetric_heap, gives_the_same_offsets_in_every_process_whatever_threads_do)
{
    struct answers *answers =
        mmap(NULL, 2 * sizeof(*answers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    pid_t child;
    unsigned n;

    cr_assert_neq(answers, MAP_FAILED);
    child = fork();
    if (child == 0) {
        run_calls(&answers[0], false);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    run_beside_threads(&answers[1]);
    for (n = 0; n < STEPS; n++) {
        cr_assert_eq(answers[0].of[n], answers[1].of[n], "call %u", n);
    }
    cr_expect_eq(answers[0].digest, answers[1].digest);
    cr_expect_gt(answers[0].refused, 100, "only %zu calls found no room", answers[0].refused);
    munmap(answers, 2 * sizeof(*answers));
}

Test(symmetric_heap, a_digest_tells_of_one_call_that_differs)
{
    struct msp_symmetric_heap *heaps[2];
    unsigned i;

    for (i = 0; i < 2; i++) {
        heaps[i] = create(MIB);
        free_at(heaps[i], alloc(heaps[i], 100, ALIGN));
    }
    cr_expect_eq(measure(heaps[0]).call_digest, measure(heaps[1]).call_digest);
    cr_expect_eq(measure(heaps[0]).call_count, 2);
    /* The same place for both, so that nothing else would tell. */
    cr_expect_eq(alloc(heaps[0], 100, ALIGN), alloc(heaps[1], 101, ALIGN));
    cr_expect_neq(measure(heaps[0]).call_digest, measure(heaps[1]).call_digest);
    for (i = 0; i < 2; i++) {
        msp_symmetric_heap_destroy(heaps[i]);
    }
}

/* ---- right answers ---- */

static uint16_t owner[HEAP_BYTES]; /* by byte: number of the block there + 1 */

struct model {
    struct msp_symmetric_heap *heap;
    struct msp_symmetric_block blocks[HELD_MAX + 1]; /* while one moves, there are two of it */
    size_t count;
    size_t asked;
    size_t held;
    size_t peak;
};

static void enter(struct model *model, size_t offset, size_t size)
{
    struct msp_symmetric_block *block = &model->blocks[model->count];
    size_t i;

    cr_assert_eq(msp_symmetric_heap_find(model->heap, offset, block), MEMSPAN_OK);
    cr_assert_eq(block->offset_bytes, offset);
    cr_assert_eq(block->size_bytes, size);
    cr_assert_geq(block->capacity_bytes, size);
    cr_assert_leq(offset + block->capacity_bytes, HEAP_BYTES);
    for (i = offset; i < offset + block->capacity_bytes; i++) {
        cr_assert_eq(owner[i], 0, "byte %zu is in two blocks", i);
        owner[i] = (uint16_t)(model->count + 1);
    }
    model->count++;
    model->asked += size;
    model->held += block->capacity_bytes;
    model->peak = (model->asked > model->peak) ? model->asked : model->peak;
}

static void leave(struct model *model, size_t i)
{
    struct msp_symmetric_block *block = &model->blocks[i];
    struct msp_symmetric_block *last  = &model->blocks[model->count - 1];

    memset(&owner[block->offset_bytes], 0, block->capacity_bytes * sizeof(owner[0]));
    model->asked -= block->size_bytes;
    model->held -= block->capacity_bytes;
    *block = *last;
    model->count--;
    for (size_t k = 0; (i < model->count) && (k < block->capacity_bytes); k++) {
        owner[block->offset_bytes + k] = (uint16_t)(i + 1);
    }
}

static void model_alloc(struct model *model, uint64_t *state)
{
    size_t size  = some_size(state, HEAP_BYTES);
    size_t align = some_align(state);
    size_t offset;

    if (msp_symmetric_heap_alloc(model->heap, size, align, &offset) == MEMSPAN_OK) {
        cr_assert_eq(offset & (align - 1), 0);
        enter(model, offset, size);
    } else if (align <= MSP_UNIT_BYTES) {
        cr_assert_gt(size, measure(model->heap).largest_free_bytes);
    }
}

static void model_resize(struct model *model, size_t i, uint64_t *state)
{
    struct msp_symmetric_block old = model->blocks[i];
    size_t size                    = some_size(state, HEAP_BYTES);
    size_t to;

    if (msp_symmetric_heap_resize(model->heap, old.offset_bytes, size, 1, &to) != MEMSPAN_OK) {
        cr_assert_gt(size, old.capacity_bytes);
        return;
    }
    if (to == old.offset_bytes) {
        leave(model, i);
        enter(model, to, size);
        return;
    }
    cr_assert_gt(size, old.capacity_bytes, "what fits stays");
    enter(model, to, size); /* both are live */
    free_at(model->heap, old.offset_bytes);
    leave(model, i);
}

static void expect_found(struct model *model, size_t offset)
{
    struct msp_symmetric_block block;
    memspan_status_t status = msp_symmetric_heap_find(model->heap, offset, &block);

    if (owner[offset] == 0) {
        cr_assert_eq(status, MEMSPAN_ERR_NOT_FOUND);
        return;
    }
    cr_assert_eq(status, MEMSPAN_OK);
    cr_assert_eq(block.offset_bytes, model->blocks[owner[offset] - 1].offset_bytes);
    cr_assert_eq(block.size_bytes, model->blocks[owner[offset] - 1].size_bytes);
}

/* The largest free block is there and one byte more is not. */
static void expect_largest(struct model *model)
{
    size_t largest = measure(model->heap).largest_free_bytes;
    size_t offset;

    if (largest > MSP_SYMMETRIC_SMALL_MAX_BYTES) {
        cr_assert_eq(msp_symmetric_heap_alloc(model->heap, largest + 1, 1, &offset),
                     MEMSPAN_ERR_NO_MEMORY);
        free_at(model->heap, alloc(model->heap, largest, 1));
        model->peak = measure(model->heap).peak_bytes;
    }
}

static void expect_as_the_model(struct model *model)
{
    struct msp_symmetric_measure m = measure(model->heap);

    cr_assert_eq(m.size_bytes, HEAP_BYTES);
    cr_assert_eq(m.live_count, model->count);
    cr_assert_eq(m.live_bytes, model->asked);
    cr_assert_eq(m.peak_bytes, model->peak);
    cr_assert_eq(m.free_bytes, HEAP_BYTES - model->held);
    expect_whole(model->heap);
    expect_largest(model);
}

Test(symmetric_heap, does_what_a_map_of_bytes_does)
{
    struct model model = {.heap = create(HEAP_BYTES)};
    uint64_t state     = 99;
    unsigned n;

    for (n = 0; n < 12000; n++) {
        size_t what = chance(&state, 0, 9);

        if ((model.count == 0) || ((what < 5) && (model.count < HELD_MAX))) {
            model_alloc(&model, &state);
        } else if (what < 8) {
            size_t i = chance(&state, 0, model.count - 1);
            free_at(model.heap, model.blocks[i].offset_bytes);
            leave(&model, i);
        } else {
            model_resize(&model, chance(&state, 0, model.count - 1), &state);
        }
        expect_found(&model, chance(&state, 0, HEAP_BYTES - 1));
        if (n % 64 == 0) {
            expect_as_the_model(&model);
        }
    }
    while (model.count > 0) {
        free_at(model.heap, model.blocks[0].offset_bytes);
        leave(&model, 0);
    }
    expect_as_the_model(&model);
    cr_expect_eq(measure(model.heap).largest_free_bytes, HEAP_BYTES,
                 "what is kept of slabs counts as free");
    msp_symmetric_heap_destroy(model.heap);
}

/* ---- other sizes for a block ---- */

Test(symmetric_heap, a_block_shrinks_and_grows_where_it_stands)
{
    struct msp_symmetric_heap *heap = create(MIB);
    size_t a                        = alloc(heap, 100000, ALIGN);
    size_t b                        = alloc(heap, 100000, ALIGN);
    size_t size;

    cr_expect_eq(resize(heap, a, 2000), a);
    cr_expect_eq(resize(heap, a, 90000), a, "what it gave back stands behind it");
    cr_expect_eq(resize(heap, b, 700000), b);
    cr_assert_eq(msp_symmetric_heap_size(heap, b, &size), MEMSPAN_OK);
    cr_expect_eq(size, 700000);
    cr_expect_eq(measure(heap).live_bytes, 790000);
    cr_expect_eq(measure(heap).peak_bytes, 790000);
    cr_expect_eq(measure(heap).live_count, 2);
    expect_whole(heap);
    msp_symmetric_heap_destroy(heap);
}

Test(symmetric_heap, a_block_that_cannot_grow_gets_a_second_place)
{
    struct msp_symmetric_heap *heap = create(MIB);
    size_t a                        = alloc(heap, 5000, ALIGN);
    size_t small                    = alloc(heap, 20, ALIGN);
    size_t size;
    size_t b;

    alloc(heap, 5000, ALIGN);
    b = resize(heap, a, 9000);
    cr_expect_neq(b, a);
    cr_expect_eq(measure(heap).live_count, 4, "the first is live until it is freed");
    cr_assert_eq(msp_symmetric_heap_size(heap, a, &size), MEMSPAN_OK);
    cr_expect_eq(size, 5000);
    cr_expect_eq(resize(heap, small, 32), small);
    cr_expect_eq(resize(heap, small, 3), small);
    cr_expect_neq(resize(heap, small, 33), small);
    free_at(heap, small);
    free_at(heap, a);
    expect_whole(heap);
    msp_symmetric_heap_destroy(heap);
}

/* An empty slab that is kept for the next small object is no obstacle. */
Test(symmetric_heap, a_kept_slab_gives_way)
{
    struct msp_symmetric_heap *heap = create(MIB);
    size_t a                        = alloc(heap, 8192, ALIGN);
    size_t object                   = alloc(heap, 64, ALIGN);

    cr_assert_eq(object, a + 8192);
    free_at(heap, object);
    cr_expect_eq(measure(heap).largest_free_bytes, MIB - 8192);
    cr_expect_eq(measure(heap).free_bytes, MIB - 8192);
    cr_expect_eq(resize(heap, a, 10000), a);
    free_at(heap, alloc(heap, 64, ALIGN));
    free_at(heap, a);
    cr_expect_eq(alloc(heap, MIB, ALIGN), 0);
    msp_symmetric_heap_destroy(heap);
}

Test(symmetric_heap, a_block_on_another_boundary_moves)
{
    struct msp_symmetric_heap *heap = create(MIB);
    size_t first                    = alloc(heap, 24, 8);
    size_t a                        = alloc(heap, 24, 8);
    size_t to;

    cr_assert_eq(a - first, 24);
    cr_assert_eq(msp_symmetric_heap_resize(heap, a, 20, 8, &to), MEMSPAN_OK);
    cr_expect_eq(to, a);
    cr_assert_eq(msp_symmetric_heap_resize(heap, a, 20, 4096, &to), MEMSPAN_OK);
    cr_expect_eq(to % 4096, 0);
    cr_expect_neq(to, a);
    msp_symmetric_heap_destroy(heap);
}

Test(symmetric_heap, a_resize_without_room_changes_nothing)
{
    struct msp_symmetric_heap *heap = create(MIB);
    size_t a                        = alloc(heap, 600000, ALIGN);
    size_t to                       = 42;
    size_t size;

    cr_expect_eq(msp_symmetric_heap_resize(heap, a, MIB + 1, ALIGN, &to), MEMSPAN_ERR_NO_MEMORY);
    cr_expect_eq(msp_symmetric_heap_resize(heap, a, SIZE_MAX, ALIGN, &to), MEMSPAN_ERR_NO_MEMORY);
    alloc(heap, 10, ALIGN);
    cr_expect_eq(msp_symmetric_heap_resize(heap, a, 700000, ALIGN, &to), MEMSPAN_ERR_NO_MEMORY);
    cr_expect_eq(to, 42);
    cr_assert_eq(msp_symmetric_heap_size(heap, a, &size), MEMSPAN_OK);
    cr_expect_eq(size, 600000);
    expect_whole(heap);
    msp_symmetric_heap_destroy(heap);
}

/* ---- errors ---- */

static void expect_refused(memspan_status_t status, memspan_status_t wanted, const char *words)
{
    cr_expect_eq(status, wanted, "%s instead of %s", memspan_status_name(status), words);
    cr_expect_eq(memspan_error_last()->status, wanted);
    cr_expect_not_null(strstr(memspan_error_text(), words), "\"%s\" is not in \"%s\"", words,
                       memspan_error_text());
    memspan_error_clear();
}

Test(symmetric_heap, one_tebibyte_is_the_largest)
{
    struct msp_symmetric_heap *heap = NULL;

    cr_assert_eq(msp_symmetric_heap_create((size_t)1 << 40, 4096, &heap), MEMSPAN_OK, "%s",
                 memspan_error_text());
    msp_symmetric_heap_destroy(heap);
}

Test(symmetric_heap, what_cannot_be_made_is_refused)
{
    struct msp_symmetric_heap *heap = NULL;

    expect_refused(msp_symmetric_heap_create(0, 4096, &heap), MEMSPAN_ERR_INVALID,
                   "heap of 0 bytes");
    expect_refused(msp_symmetric_heap_create(255, 4096, &heap), MEMSPAN_ERR_INVALID,
                   "heap of 255 bytes");
    expect_refused(msp_symmetric_heap_create((size_t)1 << 41, 4096, &heap), MEMSPAN_ERR_INVALID,
                   "to 1 TiB");
    expect_refused(msp_symmetric_heap_create(MIB, 4095, &heap), MEMSPAN_ERR_INVALID,
                   "boundary of 4095 bytes");
    expect_refused(msp_symmetric_heap_create(MIB, 0, &heap), MEMSPAN_ERR_INVALID,
                   "boundary of 0 bytes");
    cr_expect_null(heap);
    msp_symmetric_heap_destroy(NULL);
}

Test(symmetric_heap, wrong_requests_are_refused)
{
    struct msp_symmetric_heap *heap = create(MIB + 255);
    size_t to                       = 42;
    size_t a                        = alloc(heap, 3000, ALIGN);

    expect_refused(msp_symmetric_heap_alloc(heap, 0, ALIGN, &to), MEMSPAN_ERR_INVALID, "size of 0");
    expect_refused(msp_symmetric_heap_alloc(heap, 8, 24, &to), MEMSPAN_ERR_INVALID,
                   "alignment of 24 bytes is no power of two");
    expect_refused(msp_symmetric_heap_alloc(heap, 8, 0, &to), MEMSPAN_ERR_INVALID,
                   "alignment of 0");
    expect_refused(msp_symmetric_heap_alloc(heap, 8, 2 * BASE_ALIGN, &to), MEMSPAN_ERR_INVALID,
                   "alignment of 131072 bytes in a symmetric heap that stands on 65536");
    expect_refused(msp_symmetric_heap_resize(heap, a, 0, ALIGN, &to), MEMSPAN_ERR_INVALID,
                   "size of 0");
    expect_refused(msp_symmetric_heap_alloc(heap, SIZE_MAX, ALIGN, &to), MEMSPAN_ERR_NO_MEMORY,
                   "no room for 18446744073709551615 bytes on a boundary of 16 in a symmetric heap "
                   "of 1048576 bytes");
    expect_refused(msp_symmetric_heap_alloc(heap, MIB, ALIGN, &to), MEMSPAN_ERR_NO_MEMORY,
                   "1045504 bytes are free, 1045504 in the largest piece");
    cr_expect_eq(to, 42);
    cr_expect_eq(measure(heap).live_count, 1);
    msp_symmetric_heap_destroy(heap);
}

/* Every way to be no block, for each call that wants one. */
static void expect_no_block(struct msp_symmetric_heap *heap, size_t offset, const char *words)
{
    size_t to = 42;

    expect_refused(msp_symmetric_heap_free(heap, offset), MEMSPAN_ERR_NOT_FOUND, words);
    expect_refused(msp_symmetric_heap_size(heap, offset, &to), MEMSPAN_ERR_NOT_FOUND, words);
    expect_refused(msp_symmetric_heap_resize(heap, offset, 10, ALIGN, &to), MEMSPAN_ERR_NOT_FOUND,
                   words);
    cr_expect_eq(to, 42);
    expect_whole(heap);
}

Test(symmetric_heap, what_is_no_block_is_named)
{
    struct msp_symmetric_heap *heap = create(MIB);
    struct msp_symmetric_block block;
    size_t large = alloc(heap, 5000, ALIGN);
    size_t other = alloc(heap, 100, ALIGN);
    size_t small = alloc(heap, 100, ALIGN);
    size_t count = measure(heap).call_count;

    expect_no_block(heap, MIB, "offset 1048576 is not in the symmetric heap, which has 1048576");
    expect_no_block(heap, SIZE_MAX, "is not in the symmetric heap");
    expect_no_block(heap, large + 1, "offset 1 is 1 bytes inside a block of 5000 bytes at 0");
    expect_no_block(heap, small + 111, "is 111 bytes inside a block of 100 bytes at");
    expect_no_block(heap, small + 112, "but no live block is there");
    expect_no_block(heap, MIB - 1, "but no live block is there");
    cr_expect_eq(measure(heap).call_count, count, "what was refused was no call");
    free_at(heap, large);
    free_at(heap, small);
    expect_no_block(heap, large, "probably freed before");
    expect_no_block(heap, small, "probably freed before");
    free_at(heap, other);
    expect_no_block(heap, other, "probably freed before");
    cr_expect_eq(msp_symmetric_heap_find(heap, MIB, &block), MEMSPAN_ERR_NOT_FOUND);
    msp_symmetric_heap_destroy(heap);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Each mapping in turn is one too many. */
Test(symmetric_heap, without_address_space_nothing_is_made)
{
    const size_t size = (size_t)256 << 30;
    struct rlimit limit;
    size_t refused = 0;

    for (limit.rlim_cur = (size_t)1 << 28; limit.rlim_cur < (size_t)1 << 38;
         limit.rlim_cur += limit.rlim_cur / 8) {
        struct msp_symmetric_heap *heap = NULL;
        memspan_status_t status;

        limit.rlim_max = RLIM_INFINITY;
        cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
        status = msp_symmetric_heap_create(size, BASE_ALIGN, &heap);
        if (status == MEMSPAN_OK) {
            alloc(heap, size, ALIGN);
            msp_symmetric_heap_destroy(heap);
            break;
        }
        expect_refused(status, MEMSPAN_ERR_NO_MEMORY, "no address space for the records");
        cr_assert_null(heap);
        refused++;
    }
    /* A leak of what came before the mapping that failed would have kept all of them failing. */
    cr_expect_lt(limit.rlim_cur, (size_t)100 << 30);
    cr_expect_gt(refused, 20);
}
#endif

/* ---- threads ---- */

static void *use_heap(void *argument)
{
    struct msp_symmetric_heap *heap = argument;
    struct held held                = {.count = 0};
    uint64_t state                  = (uintptr_t)&held;
    unsigned n;

    for (n = 0; n < 3000; n++) {
        call(heap, &state, &held);
    }
    while (held.count > 0) {
        msp_symmetric_heap_free(heap, held.offset[--held.count]);
    }
    return NULL;
}

Test(symmetric_heap, stays_whole_under_threads)
{
    enum { THREADS = 4 };
    struct msp_symmetric_heap *heap = create(HEAP_BYTES);
    pthread_t threads[THREADS];
    unsigned i;

    for (i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, use_heap, heap);
    }
    for (i = 0; i < THREADS; i++) {
        expect_whole(heap);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    expect_whole(heap);
    cr_expect_eq(measure(heap).live_count, 0);
    cr_expect_eq(measure(heap).free_bytes, HEAP_BYTES);
    msp_symmetric_heap_destroy(heap);
}

/* ---- what the check sees ---- */

#define EXPECT_SEEN(place, wrong)                                                                  \
    do {                                                                                           \
        __typeof__(place) right = (place);                                                         \
        (place)                 = (wrong);                                                         \
        cr_expect_eq(msp_symmetric_heap_check(heap), MEMSPAN_ERR_INTERNAL, #place);                \
        (place) = right;                                                                           \
        expect_whole(heap);                                                                        \
    } while (0)

Test(symmetric_heap, the_check_sees_planted_damage)
{
    struct msp_symmetric_heap *heap   = create(MIB);
    struct msp_symmetric_slabs *slabs = &heap->slabs;
    size_t objects[3];
    struct msp_symmetric_slab *slab;
    struct msp_symmetric_class *class;
    struct msp_record *block;
    size_t offset;
    unsigned i;

    offset = alloc(heap, 5000, ALIGN);
    for (i = 0; i < 3; i++) {
        objects[i] = alloc(heap, 100, ALIGN);
    }
    free_at(heap, objects[1]);
    free_at(heap, alloc(heap, 32, ALIGN)); /* an empty slab */
    block = msp_fit_record(&heap->fit, msp_range_find(&heap->range, offset));
    slab  = msp_symmetric_slab_record(slabs, msp_symmetric_slab_at(slabs, objects[0]));
    class = &slabs->classes[slab->class_index];
    expect_whole(heap);

    EXPECT_SEEN(heap->live_count, 4);
    EXPECT_SEEN(heap->live_bytes, heap->live_bytes + 1);
    EXPECT_SEEN(heap->held_bytes, heap->held_bytes + 16);
    EXPECT_SEEN(heap->peak_bytes, 0);
    EXPECT_SEEN(heap->fit.free_units, 0);
    EXPECT_SEEN(block->requested_bytes, 0);
    EXPECT_SEEN(block->requested_bytes, 6000);
    EXPECT_SEEN(slabs->slab_at[offset >> 12], 1);
    EXPECT_SEEN(slabs->slab_at[objects[0] >> 12], 0);
    EXPECT_SEEN(slab->used_count, 3);
    EXPECT_SEEN(slab->made, 2);
    EXPECT_SEEN(slab->first_free, MSP_SYMMETRIC_VALUE);
    EXPECT_SEEN(slab->first_free, 0);
    EXPECT_SEEN(slab->objects[0], 5);
    EXPECT_SEEN(slab->objects[1], 1);
    EXPECT_SEEN(slab->block, slab->block + 1);
    EXPECT_SEEN(slab->page, slab->page + 1);
    EXPECT_SEEN(slab->before, 1);
    EXPECT_SEEN(class->partial, 0);
    EXPECT_SEEN(slabs->classes[2].empty, 0);
    EXPECT_SEEN(slabs->classes[5].partial, class->partial);
    EXPECT_SEEN(slabs->empty_count, 0);
    slab->objects[slab->made] =
        MSP_SYMMETRIC_LIVE; /* words of objects never allocated mean nothing */
    cr_expect_eq(msp_symmetric_heap_free(heap, objects[2] + 112), MEMSPAN_ERR_NOT_FOUND);
    expect_whole(heap);
    msp_symmetric_heap_destroy(heap);
}
