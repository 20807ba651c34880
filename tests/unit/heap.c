/* SPDX-License-Identifier: BSD-3-Clause */
/* What heaps do in rare interleavings of threads, made on purpose. */

#include "core/engine/heap.h"
#include "core/engine/allocator_record.h"
#include "core/engine/store.h"
#include <criterion/criterion.h>
#include <memspan/allocator.h>
#include <pthread.h>

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
