/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_THREAD_H
#define MEMSPAN_CORE_ENGINE_THREAD_H

/* Threads and their sections.
 *
 * A thread's heaps are changed by that thread alone, inside a section: a few instructions between
 * enter() and leave() with nothing but loads and stores. Entering is a store and a load, without an
 * atomic read-modify-write and without a memory fence. A thread that needs another thread's heaps -
 * to sum statistics, to recall credit, to trim, to fork - stops all sections: it raises the
 * interrupts, which replaces the record that each thread's fast paths find by a stand-in without
 * heaps, has the kernel run a memory fence on every processor that runs a thread of the process
 * (membarrier), and waits until no thread is inside. The cost is all on the rare side. Where the
 * kernel has no such call the interrupts stay raised, and entering takes the slow path, with a
 * memory fence of its own.
 *
 * In a section: no lock, no call that may block or fail, no driver. */

#include "core/base/platform.h"
#include <stdatomic.h>

struct msp_heap;
struct msp_recent;
struct msp_slab;
struct msp_spare;

enum {
    MSP_INTERRUPT_STOP          = 1, /* keep out until it is cleared */
    MSP_INTERRUPT_WATCH         = 2, /* allocations are watched: no fast paths */
    MSP_INTERRUPT_NO_MEMBARRIER = 4, /* enter with a memory fence */
    MSP_THREAD_SLOTS            = 256,
    MSP_THREAD_GRANULES         = 1024,
    MSP_THREAD_BLOCKS           = 128,
};

struct msp_thread {
    /* By the low bits of a handle: the handle, and the thread's heap of it. Slot 0 may have the
     * default allocator's heap under handle 0 (msp_heap_set_null()). */
    uintptr_t handles[MSP_THREAD_SLOTS];
    struct msp_heap *slots[MSP_THREAD_SLOTS];
    /* By the low bits of a granule's number: the number, and the thread's slab that has it. They
     * save the look-up in the pointer map and every test of what it found. */
    uintptr_t granules[MSP_THREAD_GRANULES];
    struct msp_slab *slabs[MSP_THREAD_GRANULES];
    /* The same of medium blocks: by address, and the entry of a heap of the thread (heap.h). */
    uintptr_t blocks[MSP_THREAD_BLOCKS];
    struct msp_recent *recents[MSP_THREAD_BLOCKS];

    atomic_uint interrupt;          /* enum; not 0: the fast paths are closed */
    struct msp_thread_local *local; /* the thread's own storage */
    struct msp_heap *heaps;         /* all of them, the last used first */
    struct msp_heap **heap_of;      /* by account, linked by next_hashed */
    size_t heap_of_size;            /* a power of two, or 0 */
    size_t heap_count;
    struct msp_spare *spare; /* NULL until it has made allocators */
    struct msp_thread *next; /* in the list of threads */
    struct msp_thread *previous;
} __attribute__((aligned(MSP_CACHE_LINE_BYTES)));

/* A thread's own storage: little, because a library that is opened at run time gets little
 * (tests/exports/tls.sh). */
struct msp_thread_local {
    /* The record that the fast paths use. Never NULL, so that they need not test for one: while an
     * interrupt is set, before the thread is registered and while it ends, it is a stand-in that
     * has no heaps and that no slab belongs to, so that they find nothing. Others change it. */
    _Atomic(struct msp_thread *) open;
    atomic_uint busy; /* in a section */
    bool has_ended;
    struct msp_thread *record; /* the thread's; NULL until it is registered */
};
extern __thread struct msp_thread_local msp_thread_here MSP_HIDDEN
    __attribute__((tls_model("initial-exec")));

/* The calling thread's record, registered on first use; NULL while the thread ends, and when no
 * destructor can be set for it. */
struct msp_thread *msp_thread_get(void);

/* Enter a section by the fast path; it has to be left. The record is the thread's, or a stand-in in
 * which nothing is found. */
static inline struct msp_thread *msp_thread_enter_fast(void)
{
    struct msp_thread_local *here = &msp_thread_here;

    atomic_store_explicit(&here->busy, 1, memory_order_relaxed);
    /* The compiler must not reorder these; the processor may, and stop() sees to that. */
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&here->open, memory_order_acquire);
}

/* Enter a section, waiting while sections are stopped. @p t: the calling thread's. */
void msp_thread_enter(struct msp_thread *t);

static inline void msp_thread_leave(void)
{
    atomic_store_explicit(&msp_thread_here.busy, 0, memory_order_release);
}

/* Stop all sections: until resume() no thread is inside one, and the caller may use every thread's
 * heaps. Not from inside a section; other locks that the caller holds must be left of the threads'
 * (core/base/lock.h). */
void msp_thread_stop_all(void);
void msp_thread_resume_all(void);

/* Keep other threads from stopping sections, while the caller changes its own heaps in ways for
 * which others stop all. */
void msp_thread_hold(void);
void msp_thread_release(void);

/* What an empty place of handles or granules has: a number of another place. */
static inline uintptr_t msp_thread_nothing(unsigned place)
{
    return (place == 0) ? 1 : 0;
}

/* The same of blocks: an address of another place. */
static inline uintptr_t msp_thread_no_block(unsigned place)
{
    return (place == 0) ? UINTPTR_MAX : 0;
}

/* All threads, while stopped. */
struct msp_thread *msp_thread_first(void);

/* All fast paths are closed (true) or open again. */
void msp_thread_set_watched(bool watched);

#endif /* MEMSPAN_CORE_ENGINE_THREAD_H */
