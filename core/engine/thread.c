/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.c: the threads that have heaps, and how all of them are stopped.
 *
 * list_lock guards the list and is held from stop to resume, so that only one thread stops the
 * others. A thread that ends hands its heaps on in the destructor of a thread-specific key. */

#include "core/engine/thread.h"
#include "core/base/fork.h"
#include "core/engine/heap.h"
#include "core/engine/spare.h"
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What the fast paths find while they are closed: nothing (msp_thread_nothing()). */
static struct msp_thread closed = {.handles = {1}, .granules = {1}, .blocks = {UINTPTR_MAX}};

__thread struct msp_thread_local msp_thread_here = {.open = &closed};

static msp_lock_t list_lock = MSP_LOCK_INIT(MSP_RANK_THREADS);
static struct msp_thread *threads;   /* under list_lock */
static unsigned standing_interrupts; /* the value for new threads; under list_lock */
static pthread_key_t key;
static bool has_key;

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0u, 0);
}

/* Registering is quick while the process has one thread, which is when it is usually done. */
static void prepare(void)
{
    long known = membarrier(MEMBARRIER_CMD_QUERY);

    if ((known < 0) || ((known & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) ||
        (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0)) {
        msp_lock(&list_lock);
        standing_interrupts |= MSP_INTERRUPT_NO_MEMBARRIER;
        msp_unlock(&list_lock);
    }
    msp_class_prepare();
}

static void unlink_thread(struct msp_thread *t)
{
    if (t->next != NULL) {
        t->next->previous = t->previous;
    }
    if (t->previous != NULL) {
        t->previous->next = t->next;
    } else {
        threads = t->next;
    }
}

static void end_thread(void *data)
{
    struct msp_thread *t = data;

    msp_spare_end();
    msp_lock(&list_lock);
    msp_thread_here.has_ended = true;
    msp_thread_here.record    = NULL;
    atomic_store_explicit(&msp_thread_here.open, &closed, memory_order_relaxed);
    msp_heap_retire_all(t);
    unlink_thread(t);
    msp_unlock(&list_lock);
    free(t); /* in no list, and no slab's any more */
    /* No driver is called: runtimes end their threads when they have ended themselves. */
    msp_provider_settle_all(true);
}

/* The fast paths are open while no interrupt is set. list_lock held. */
static void set_interrupt(struct msp_thread *t, unsigned interrupt)
{
    atomic_store_explicit(&t->interrupt, interrupt, memory_order_seq_cst);
    /* membarrier() has it seen before the look at who is inside; without that call it stays closed.
     */
    atomic_store_explicit(&t->local->open, (interrupt == 0) ? t : &closed, memory_order_release);
}

/* Into the list; false when nothing would take it out again. */
static bool make_known(struct msp_thread *t)
{
    t->handles[0]  = msp_thread_nothing(0);
    t->granules[0] = msp_thread_nothing(0);
    t->blocks[0]   = msp_thread_no_block(0);
    if (!has_key) {
        has_key = (pthread_key_create(&key, end_thread) == 0);
    }
    if (!has_key || (pthread_setspecific(key, t) != 0)) {
        return false;
    }
    t->next     = threads;
    t->previous = NULL;
    if (threads != NULL) {
        threads->previous = t;
    }
    threads                = t;
    t->local               = &msp_thread_here;
    msp_thread_here.record = t;
    set_interrupt(t, standing_interrupts);
    return true;
}

static __attribute__((noinline)) struct msp_thread *get_new(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct msp_thread *t;
    bool known;

    if (msp_thread_here.has_ended) {
        return NULL;
    }
    pthread_once(&once, prepare);
    t = aligned_alloc(alignof(struct msp_thread), sizeof(*t));
    if (t == NULL) {
        return NULL;
    }
    memset(t, 0, sizeof(*t));
    msp_lock(&list_lock);
    known = make_known(t);
    msp_unlock(&list_lock);
    if (!known) {
        free(t);
        return NULL;
    }
    return t;
}

struct msp_thread *msp_thread_get(void)
{
    struct msp_thread *t = msp_thread_here.record;

    return MSP_LIKELY(t != NULL) ? t : get_new();
}

/* ---- sections ---- */

/* The calling thread is in a section unless it is to be stopped. */
static bool try_to_enter(const struct msp_thread *t)
{
    unsigned interrupt;

    atomic_store_explicit(&msp_thread_here.busy, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    interrupt = atomic_load_explicit(&t->interrupt, memory_order_acquire);
    if (interrupt != 0) {
        atomic_thread_fence(memory_order_seq_cst);
        interrupt = atomic_load_explicit(&t->interrupt, memory_order_acquire);
    }
    return (interrupt & MSP_INTERRUPT_STOP) == 0;
}

void msp_thread_enter(struct msp_thread *t)
{
    while (!try_to_enter(t)) {
        msp_thread_leave();
        msp_lock(&list_lock); /* until resume */
        msp_unlock(&list_lock);
    }
}

static void raise_all(unsigned interrupts)
{
    struct msp_thread *t;

    for (t = threads; t != NULL; t = t->next) {
        set_interrupt(t, atomic_load_explicit(&t->interrupt, memory_order_relaxed) | interrupts);
    }
}

/* Not nanosleep(): that is a cancellation point, and a lock is held. */
static void sleep_ns(long ns)
{
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = ns}, NULL);
}

/* The caller's earlier stores are seen by every thread, and theirs by the caller. */
static void order_all(void)
{
    if (((standing_interrupts & MSP_INTERRUPT_NO_MEMBARRIER) != 0) ||
        (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)) {
        return;
    }
    /* A new process image may not count as registered. */
    if ((membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0) &&
        (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)) {
        return;
    }
    /* The call was there once: a sandbox has closed it since. From now on threads use memory
     * barriers of their own; stores under way in a processor are done long before this sleep ends.
     */
    standing_interrupts |= MSP_INTERRUPT_NO_MEMBARRIER;
    raise_all(MSP_INTERRUPT_NO_MEMBARRIER);
    sleep_ns(10 * 1000 * 1000);
}

/* A section is a few instructions, unless its thread lost the processor: to the caller perhaps, if
 * that one's priority is higher. Then only sleeping lets it go on. */
static void wait_for(struct msp_thread *t)
{
    enum { YIELDS = 100 };
    int n;

    for (n = 0; atomic_load_explicit(&t->local->busy, memory_order_seq_cst) != 0; n++) {
        if (n < YIELDS) {
            sched_yield();
        } else {
            sleep_ns(50 * 1000);
        }
    }
}

void msp_thread_stop_all(void)
{
    struct msp_thread *t;
    int saved_errno = errno;

    msp_lock(&list_lock);
    raise_all(MSP_INTERRUPT_STOP);
    order_all();
    for (t = threads; t != NULL; t = t->next) {
        wait_for(t);
    }
    errno = saved_errno;
}

void msp_thread_resume_all(void)
{
    struct msp_thread *t;

    for (t = threads; t != NULL; t = t->next) {
        set_interrupt(t, atomic_load_explicit(&t->interrupt, memory_order_relaxed) &
                             ~(unsigned)MSP_INTERRUPT_STOP);
    }
    msp_unlock(&list_lock);
}

void msp_thread_hold(void)
{
    msp_lock(&list_lock);
}

void msp_thread_release(void)
{
    msp_unlock(&list_lock);
}

struct msp_thread *msp_thread_first(void)
{
    return threads;
}

void msp_thread_set_watched(bool watched)
{
    struct msp_thread *t;

    msp_thread_stop_all(); /* every thread has left its fast path then */
    standing_interrupts = watched ? (standing_interrupts | MSP_INTERRUPT_WATCH)
                                  : (standing_interrupts & ~(unsigned)MSP_INTERRUPT_WATCH);
    for (t = threads; t != NULL; t = t->next) {
        set_interrupt(t, standing_interrupts | MSP_INTERRUPT_STOP);
    }
    msp_thread_resume_all();
}

/* ---- fork ---- */

/* Only the calling thread is left: the others' slabs go to the threads that allocate next. */
static void retire_others(void)
{
    struct msp_thread *ended = NULL;
    struct msp_thread *next;
    struct msp_thread *t;

    for (t = threads; t != NULL; t = next) {
        next = t->next;
        if (t != msp_thread_here.record) {
            unlink_thread(t);
            t->next = ended;
            ended   = t;
        }
    }
    for (t = ended; t != NULL; t = next) {
        next = t->next;
        msp_heap_retire_all(t);
        free(t->spare); /* its allocator's record is lost to this process */
        free(t);
    }
    msp_thread_resume_all();
}

MSP_FORK_ITEM(threads) = {.rank         = MSP_RANK_THREADS,
                          .before       = msp_thread_stop_all,
                          .after_parent = msp_thread_resume_all,
                          .after_child  = retire_others};
