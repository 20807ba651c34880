/* SPDX-License-Identifier: BSD-3-Clause */
/* spare.c: the allocators that become a thread's spare, and the end of a spare. */

#include "core/engine/spare.h"
#include "core/engine/heap.h"
#include <stdlib.h>

enum {
    TIMES_LEAST   = 4,     /* that a request comes before its allocator is worth keeping */
    TIMES_MOST    = 16,    /* other requests that a spare outlives */
    TIMES_PENALTY = -1000, /* where other threads have heaps of it: to end those is expensive */
};

static _Atomic uint64_t last_number;

static bool is_equal(const struct msp_spare *s, memspan_space_h space,
                     const memspan_trait_t *traits, size_t count)
{
    size_t i;

    if ((s->space != space) || (s->trait_count != count)) {
        return false;
    }
    for (i = 0; i < count; i++) { /* between key and value there may be anything */
        if ((s->traits[i].key != traits[i].key) || (s->traits[i].value != traits[i].value)) {
            return false;
        }
    }
    return true;
}

/* ---- making ---- */

uintptr_t msp_spare_take(memspan_space_h space, const memspan_trait_t *traits, size_t count)
{
    struct msp_thread *t = msp_thread_enter_fast();
    struct msp_spare *s  = t->spare;
    uintptr_t handle     = 0;
    struct msp_allocator *a;
    struct msp_heap *heap;

    if ((s != NULL) && (s->allocator != NULL) && ((count == 0) || (traits != NULL)) &&
        is_equal(s, space, traits, count)) {
        a            = s->allocator;
        s->allocator = NULL;
        s->times     = TIMES_MOST;
        heap         = msp_heap_find(t, &a->account);
        atomic_store_explicit(&a->warned, false, memory_order_relaxed);
        if (heap != NULL) {
            msp_heap_lend_first(heap);
        }
        handle = msp_allocator_publish(a);
        if (heap != NULL) {
            msp_heap_show(heap, handle);
        }
    }
    msp_thread_leave();
    return handle;
}

/* The thread's own, in no section. */
static struct msp_spare *get(void)
{
    struct msp_thread *t = msp_thread_get();

    if ((t != NULL) && (t->spare == NULL)) {
        t->spare = calloc(1, sizeof(*t->spare));
    }
    return (t == NULL) ? NULL : t->spare;
}

static void give_up(struct msp_spare *s)
{
    struct msp_allocator *a = s->allocator;

    s->allocator = NULL;
    s->number    = 0;
    if (a != NULL) {
        msp_allocator_end_spare(a);
    }
}

uint64_t msp_spare_ask(memspan_space_h space, const memspan_trait_t *traits, size_t count)
{
    struct msp_spare *s = (count <= MSP_SPARE_TRAITS_MAX) ? get() : NULL;
    size_t i;

    if (s == NULL) {
        return 0;
    }
    if ((s->number != 0) && is_equal(s, space, traits, count)) {
        s->times += (s->times < TIMES_MOST) ? 1 : 0;
    } else if (s->times > 0) {
        s->times--;
        return 0;
    } else {
        give_up(s);
        s->space       = space;
        s->trait_count = count;
        s->times       = 0;
        s->number      = atomic_fetch_add(&last_number, 1) + 1;
        for (i = 0; i < count; i++) {
            s->traits[i] = traits[i];
        }
    }
    return (s->times >= TIMES_LEAST) ? s->number : 0;
}

/* ---- ending ---- */

/* In a section: no other thread has, or had, a part of it, and nothing of it lives. @p heap: the
 * calling thread's, or NULL. */
static bool is_own(const struct msp_allocator *a, const struct msp_heap *heap)
{
    const struct msp_account *account = &a->account;

    if (memspan_allocator_name(a)[0] != '\0') {
        return false;
    }
    if (heap == NULL) {
        return !msp_account_had_heaps(account) && msp_account_is_untouched(account) &&
               (atomic_load_explicit(&a->fallback_count, memory_order_relaxed) == 0);
    }
    return msp_heap_is_empty(heap) &&
           !atomic_load_explicit(&account->is_shared, memory_order_relaxed) &&
           (atomic_load_explicit(&account->orphan_count, memory_order_relaxed) == 0) &&
           msp_heap_has_published_all(heap);
}

/* The counts of this life; the next begins with nothing. */
static void add_to_past(struct msp_allocator *a, struct msp_heap *heap)
{
    a->past.allocator_count++;
    if (heap != NULL) {
        msp_heap_hide(heap);
        msp_heap_end_counts(heap, &a->past);
    }
    if (MSP_UNLIKELY(atomic_load_explicit(&a->fallback_count, memory_order_relaxed) != 0)) {
        a->past.fallback_count += atomic_load_explicit(&a->fallback_count, memory_order_relaxed);
        atomic_store_explicit(&a->fallback_count, 0, memory_order_relaxed);
    }
}

/* In a section. It is closed to calls: from here on it is this thread's alone, and other threads'
 * changes to it are seen. */
static enum msp_spare_answer keep(struct msp_spare *s, struct msp_allocator *a,
                                  struct msp_heap *heap)
{
    if (is_own(a, heap)) {
        atomic_store_explicit(&a->handle, 0, memory_order_release);
        add_to_past(a, heap);
        s->allocator = a;
        return MSP_SPARE_KEPT;
    }
    if (atomic_load_explicit(&a->account.is_shared, memory_order_relaxed)) {
        s->times = TIMES_PENALTY;
    }
    return MSP_SPARE_CLOSED;
}

enum msp_spare_answer msp_spare_keep(memspan_allocator_h handle)
{
    struct msp_thread *t         = msp_thread_enter_fast();
    struct msp_spare *s          = t->spare;
    enum msp_spare_answer answer = MSP_SPARE_NO;
    struct msp_allocator *a =
        ((s == NULL) || (s->allocator != NULL)) ? NULL : msp_allocator_find(handle);

    if ((a != NULL) && (s->number != 0) &&
        (atomic_load_explicit(&a->spare_number, memory_order_relaxed) == s->number) &&
        msp_allocator_close_unused(a, (uintptr_t)handle)) {
        answer = keep(s, a, msp_heap_find(t, &a->account));
    }
    msp_thread_leave();
    return answer;
}

bool msp_spare_may_keep(const struct msp_allocator *a)
{
    const struct msp_thread *t = msp_thread_here.record;
    const struct msp_spare *s  = (t == NULL) ? NULL : t->spare;

    return (s != NULL) && (s->allocator == NULL) && (s->times >= TIMES_LEAST) && (s->number != 0) &&
           (atomic_load_explicit(&a->spare_number, memory_order_relaxed) == s->number) &&
           (atomic_load_explicit(&a->provider, memory_order_relaxed) != NULL) &&
           atomic_load_explicit(&a->has_objects, memory_order_relaxed);
}

void msp_spare_keep_first(struct msp_allocator *a)
{
    msp_thread_here.record->spare->allocator = a;
}

void msp_spare_end(void)
{
    struct msp_thread *t = msp_thread_here.record;
    struct msp_spare *s  = t->spare;

    if (s != NULL) {
        give_up(s);
        t->spare = NULL; /* first: a child that is forked here frees those of other threads */
        free(s);
    }
}
