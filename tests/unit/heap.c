/* SPDX-License-Identifier: BSD-3-Clause */
/* What heaps do in rare interleavings of threads, made on purpose. */

#include "core/engine/heap.h"
#include "core/engine/allocator_record.h"
#include "core/engine/decay.h"
#include "core/engine/store.h"
#include <criterion/criterion.h>
#include <memspan/allocator.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static struct msp_slab *slab_of(const void *pointer)
{
    return msp_entry_record(msp_map_find(pointer));
}

/* The first blocks of an allocator come from no heap: after this the calling thread has one. */
static void earn_heap(memspan_allocator_h allocator)
{
    void *block = NULL;
    int i;

    for (i = 0; i < 1000; i++) {
        block = memspan_alloc(allocator, 16);
        cr_assert_eq(memspan_free(block), MEMSPAN_OK);
    }
    cr_assert((msp_map_find(block) & MSP_ENTRY_SLAB) != 0);
}

static memspan_allocator_h make_with_heap(void)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    cr_assert_eq(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &allocator), MEMSPAN_OK);
    earn_heap(allocator);
    return allocator;
}

/* A thread that frees the first object of a full slab clears its mark and then notifies the owner.
 * If it is preempted in between, the owner may find the slab itself and fill it again: the
 * notification is stale then. */
Test(heap, what_is_told_too_late_of_a_full_slab_changes_nothing, .timeout = 20)
{
    enum { SIZE = 2000 };
    memspan_allocator_h allocator = make_with_heap();
    struct msp_slab *slab;
    struct msp_heap *heap;
    void *pointer;

    slab = slab_of(memspan_alloc(allocator, SIZE));
    do {
        pointer = memspan_alloc(allocator, SIZE);
        cr_assert_neq(pointer, NULL);
    } while (slab_of(pointer) == slab);
    cr_assert_eq(msp_slab_state(slab), MSP_SLAB_FULL);
    heap = atomic_load(&slab->heap);
    atomic_store(&slab->announced, true);
    atomic_store(&slab->next_announced, NULL);
    atomic_store(&heap->announced, slab);
    slab = slab_of(pointer);
    do {
        pointer = memspan_alloc(allocator, SIZE);
        cr_assert_neq(pointer, NULL);
    } while (slab_of(pointer) == slab);
    cr_expect_eq(memspan_check(), MEMSPAN_OK, "%s", memspan_error_text());
}

/* A block allocated with other traits than its allocator's is not given again to who asks for none
 * of them. */
Test(heap, a_block_of_other_traits_is_not_kept)
{
    enum { SIZE = 64 << 10 };
    static const memspan_trait_t huge = {MEMSPAN_TRAIT_PAGE_SIZE, 2 << 20};
    memspan_allocator_h allocator     = make_with_heap();
    struct msp_chunk *usual;
    struct msp_chunk *chunk;
    void *pointer;
    int i;

    pointer = memspan_alloc(allocator, SIZE);
    usual   = msp_store_chunk(pointer);
    cr_assert_neq(usual, NULL);
    for (i = 0; i < 3; i++) { /* the first makes what blocks are kept in */
        void *other = memspan_alloc_with(allocator, SIZE, &huge, 1);

        cr_assert_neq(other, NULL, "%s", memspan_error_text());
        memspan_free(other);
        pointer = memspan_alloc(allocator, SIZE);
        chunk   = msp_store_chunk(pointer);
        cr_expect_eq(chunk->provider, usual->provider, "round %d", i);
    }
    cr_expect_eq(memspan_check(), MEMSPAN_OK, "%s", memspan_error_text());
}

/* Whatever number stands for a handle: none is taken for what stands where no heap is. */
Test(heap, no_number_is_the_handle_of_no_allocator)
{
    uintptr_t value;

    memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 16));
    for (value = UINTPTR_MAX; value > UINTPTR_MAX - 20; value--) {
        cr_expect_eq(memspan_alloc((memspan_allocator_h)value, 64), NULL);
        cr_expect_eq(memspan_alloc((memspan_allocator_h)value, 64 << 10), NULL);
    }
}

/* ---- a heap whose allocator another thread has destroyed ---- */

static memspan_allocator_h of_both;
static pthread_barrier_t turns;

/* Destroys the allocator that the other thread has used, and goes on with one whose handle has the
 * same slot: what it takes for itself is the record that the other's heap was. */
static void *use_again(void *argument)
{
    unsigned slot                   = msp_heap_slot((uintptr_t)of_both);
    memspan_allocator_h others[600] = {0};
    int count                       = 0;

    cr_assert_eq(memspan_allocator_destroy(of_both), MEMSPAN_OK);
    do {
        cr_assert_lt(count, 600);
        cr_assert_eq(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &others[count]),
                     MEMSPAN_OK);
        of_both = others[count++];
    } while (msp_heap_slot((uintptr_t)of_both) != slot);
    earn_heap(of_both);
    *(void **)argument = memspan_alloc(of_both, 64);
    pthread_barrier_wait(&turns);
    pthread_barrier_wait(&turns);
    return NULL;
}

Test(heap, a_heap_that_was_closed_is_in_no_slot_of_its_thread, .timeout = 20)
{
    struct msp_heap *before;
    pthread_t thread;
    void *theirs = NULL;
    void *ours;

    cr_assert_eq(pthread_barrier_init(&turns, NULL, 2), 0);
    of_both = make_with_heap();
    ours    = memspan_alloc(of_both, 64);
    before  = atomic_load(&slab_of(ours)->heap);
    cr_assert_eq(memspan_free(ours), MEMSPAN_OK);
    cr_assert_eq(pthread_create(&thread, NULL, use_again, &theirs), 0);
    pthread_barrier_wait(&turns);
    cr_assert_eq(atomic_load(&slab_of(theirs)->heap), before, "the record was not used again");
    ours = memspan_alloc(of_both, 64);
    cr_assert_neq(ours, NULL);
    cr_expect_eq(atomic_load(&slab_of(ours)->thread), msp_thread_here.record,
                 "two threads use one heap");
    cr_expect_eq(memspan_check(), MEMSPAN_OK, "%s", memspan_error_text());
    pthread_barrier_wait(&turns);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* Allocators that one program uses in turn have heaps in slots of their own: a slot that two share
 * is looked for anew with each change. */
Test(heap, the_first_allocators_share_no_slot_with_the_predefined)
{
    enum { MADE = 40, PREDEFINED_LAST = 8 };
    bool taken[MSP_THREAD_SLOTS] = {false};
    memspan_allocator_h allocator;
    uintptr_t handle;
    unsigned slot;
    int i;

    for (handle = 0; handle <= PREDEFINED_LAST; handle++) {
        taken[msp_heap_slot(handle)] = true;
    }
    for (i = 0; i < MADE; i++) {
        cr_assert_eq(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &allocator),
                     MEMSPAN_OK);
        slot = msp_heap_slot((uintptr_t)allocator);
        cr_expect(!taken[slot], "allocator %d", i);
        taken[slot] = true;
    }
}

/* Both threads have seen it live: it is in the remote list twice, and leaves it once. */
Test(heap, an_object_that_two_threads_freed_is_free_once, .timeout = 20)
{
    memspan_allocator_h allocator = make_with_heap();
    void *pointer                 = memspan_alloc(allocator, 64);
    void *next                    = memspan_alloc(allocator, 64);
    struct msp_slab *slab         = slab_of(pointer);
    unsigned handed               = msp_slab_handed(slab);
    uint64_t charge;
    bool start;
    size_t i;

    cr_assert_eq(slab_of(next), slab);
    i = msp_slab_index(slab, pointer, &start);
    msp_slab_push_remote(slab, (unsigned)i, 68);
    msp_slab_push_remote(slab, (unsigned)i, 68);
    cr_expect_eq(msp_slab_collect(slab, &charge), 1);
    cr_expect_eq(msp_slab_handed(slab), handed - 1);
}

static struct msp_account *closed_account;
static bool was_debited[2];

/* The account is charged by a thread that has no heap of it. */
static void *debit_closed(void *unused)
{
    was_debited[0] = msp_heap_debit(closed_account, 100, 1);
    was_debited[1] = msp_heap_debit(closed_account, 100, 0);
    return unused;
}

/* Blocks outlive their allocator and may still change size; new ones there are none. */
Test(heap, a_closed_account_gives_no_blocks, .timeout = 20)
{
    memspan_allocator_h allocator = make_with_heap();
    void *pointer                 = memspan_alloc(allocator, 64);
    pthread_t thread;

    closed_account = atomic_load(&slab_of(pointer)->account);
    cr_assert_eq(memspan_allocator_destroy(allocator), MEMSPAN_OK);
    cr_assert_eq(pthread_create(&thread, NULL, debit_closed, NULL), 0);
    pthread_join(thread, NULL);
    cr_expect_not(was_debited[0]);
    cr_expect(was_debited[1]);
}

/* ---- medium blocks with an entry ---- */

enum { MEDIUM = 60000 };

static struct msp_heap *heap_of(memspan_allocator_h allocator)
{
    void *object          = memspan_alloc(allocator, 64);
    struct msp_heap *heap = atomic_load(&slab_of(object)->heap);

    cr_assert_eq(memspan_free(object), MEMSPAN_OK);
    return heap;
}

/* A block in use that stands in its entry: the first that is freed makes what blocks are kept in.
 */
static void *take_entered(memspan_allocator_h allocator, size_t size_bytes)
{
    struct msp_recent *recent = msp_heap_recent(heap_of(allocator), size_bytes);
    void *block               = NULL;
    int i;

    for (i = 0; i < 20; i++) {
        cr_assert_eq(memspan_free(block), MEMSPAN_OK);
        block = memspan_alloc(allocator, size_bytes);
        cr_assert_neq(block, NULL);
    }
    cr_assert_eq(recent->address, block);
    cr_assert_eq(recent->free_bytes, 0);
    return block;
}

static uint64_t live_bytes(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    cr_assert_eq(memspan_allocator_get_stats(allocator, &stats), MEMSPAN_OK);
    cr_expect_eq(memspan_check(), MEMSPAN_OK, "%s", memspan_error_text());
    return stats.live_bytes;
}

static void *free_block(void *block)
{
    cr_assert_eq(memspan_free(block), MEMSPAN_OK);
    return NULL;
}

static void free_elsewhere(void *block)
{
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, free_block, block), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* Afterwards another block, of another size, starts at the address that the entry has. */
Test(heap, the_entry_of_a_block_that_another_thread_freed_is_for_no_other, .timeout = 20)
{
    enum { NEIGHBOURS = 30, OTHER = MEDIUM - 2000 };
    memspan_allocator_h allocator = make_with_heap();
    void *block;
    void *other;
    int i;

    for (i = 0; i < NEIGHBOURS; i++) {
        cr_assert_neq(memspan_alloc(allocator, MEDIUM), NULL);
    }
    block = take_entered(allocator, MEDIUM);
    for (i = 0; i < NEIGHBOURS; i++) {
        cr_assert_neq(memspan_alloc(allocator, MEDIUM), NULL);
    }
    free_elsewhere(block);
    other = memspan_alloc(allocator, OTHER);
    cr_assert_eq(other, block, "the address was not used again");
    cr_expect_eq(live_bytes(allocator), 2 * NEIGHBOURS * MEDIUM + OTHER);
    cr_expect_eq(memspan_free(other), MEMSPAN_OK);
    cr_expect_eq(live_bytes(allocator), 2 * NEIGHBOURS * MEDIUM);
}

Test(heap, a_block_that_changes_its_size_leaves_its_entry, .timeout = 20)
{
    static const size_t sizes[]   = {MEDIUM - 10, MEDIUM + 10, MEDIUM - 20000, 3 * MEDIUM};
    memspan_allocator_h allocator = make_with_heap();
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        void *block = take_entered(allocator, MEDIUM);

        block = memspan_realloc(allocator, block, sizes[i]);
        cr_assert_neq(block, NULL);
        cr_expect_eq(live_bytes(allocator), sizes[i]);
        cr_expect_eq(memspan_free(block), MEMSPAN_OK);
        cr_expect_eq(live_bytes(allocator), 0, "after %zu bytes", sizes[i]);
    }
}

Test(heap, a_block_that_waits_in_its_entry_is_not_live)
{
    memspan_allocator_h allocator = make_with_heap();
    void *block                   = take_entered(allocator, MEDIUM);

    cr_assert_eq(memspan_free(block), MEMSPAN_OK);
    cr_expect_eq(memspan_free(block), MEMSPAN_ERR_NOT_FOUND);
    cr_expect_eq(live_bytes(allocator), 0);
    cr_expect_eq(memspan_alloc(allocator, MEDIUM), block, "it is the next of its size");
    cr_expect_eq(live_bytes(allocator), MEDIUM);
}

/* What waits is no use of pool_size: all of it can be had in another size. */
Test(heap, a_block_that_waits_takes_nothing_of_a_limit)
{
    static const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_POOL_SIZE, 4 << 20},
                                             {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_allocator_h allocator         = MEMSPAN_ALLOCATOR_NULL;
    size_t size_bytes                     = 2000;
    uint64_t count                        = 0;

    cr_assert_eq(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &allocator),
                 MEMSPAN_OK);
    earn_heap(allocator);
    cr_assert_eq(memspan_free(take_entered(allocator, 1 << 20)), MEMSPAN_OK);
    cr_assert_eq(memspan_free(take_entered(allocator, MEDIUM)), MEMSPAN_OK);
    while (memspan_alloc(allocator, size_bytes) != NULL) {
        count++;
    }
    cr_expect_eq(count, (4 << 20) / (size_bytes + MSP_CHARGE_OVERHEAD_BYTES));
    cr_expect_eq(live_bytes(allocator), count * size_bytes);
}

/* Those that wait go back by age, and those in use have no entry then; a trim takes all. */
Test(heap, entries_end_by_age_and_by_a_trim)
{
    memspan_allocator_h allocator = make_with_heap();
    struct msp_heap *heap         = heap_of(allocator);
    struct msp_recent *recent     = msp_heap_recent(heap, MEDIUM);
    void *block                   = take_entered(allocator, MEDIUM);
    uint32_t round;

    for (round = 10; round < 13; round++) {
        cr_expect_eq(recent->address, block);
        cr_expect_neq(recent->record, NULL);
        msp_heap_decay(heap, round);
    }
    cr_expect_eq(recent->record, NULL);
    cr_assert_eq(memspan_free(block), MEMSPAN_OK);
    cr_assert_eq(memspan_free(take_entered(allocator, MEDIUM)), MEMSPAN_OK);
    cr_expect_geq(msp_heap_cached_bytes(heap), MEDIUM);
    for (round = 20; round < 23; round++) {
        cr_expect_neq(recent->record, NULL);
        msp_heap_decay(heap, round);
    }
    cr_expect_eq(recent->record, NULL);
    cr_assert_eq(memspan_free(take_entered(allocator, MEDIUM)), MEMSPAN_OK);
    memspan_trim();
    cr_expect_eq(msp_heap_cached_bytes(heap), 0);
    cr_expect_eq(live_bytes(allocator), 0);
}

/* Of two sizes that share an entry, and blocks in use that stand in it, neither keeps the other out
 * for good. */
Test(heap, sizes_that_share_an_entry_take_turns)
{
    memspan_allocator_h allocator = make_with_heap();
    struct msp_heap *heap         = heap_of(allocator);
    struct msp_recent *recent     = msp_heap_recent(heap, MEDIUM);
    size_t other                  = MEDIUM + 1000;

    while (msp_heap_recent(heap, other) != recent) {
        other += 1000;
    }
    cr_assert_neq(take_entered(allocator, MEDIUM), NULL);
    cr_assert_neq(take_entered(allocator, other), NULL);
    cr_assert_neq(take_entered(allocator, MEDIUM), NULL);
    cr_expect_eq(live_bytes(allocator), 2 * MEDIUM + other);
}

/* A round of the decay that is due begins within few pairs, though they take the fast path. */
Test(heap, pairs_of_medium_blocks_look_at_the_clock)
{
    memspan_allocator_h allocator;
    uint32_t round;
    int pairs = 0;

    cr_assert_eq(setenv("MEMSPAN_DECAY_MS", "20", 1), 0);
    allocator = make_with_heap();
    cr_assert_eq(memspan_free(take_entered(allocator, MEDIUM)), MEMSPAN_OK);
    cr_assert_eq(usleep(100000), 0);
    for (round = msp_decay_round(); msp_decay_round() == round; pairs++) {
        cr_assert_lt(pairs, 2 * MSP_HEAP_SWAPS);
        cr_assert_eq(memspan_free(memspan_alloc(allocator, MEDIUM)), MEMSPAN_OK);
    }
}
