/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c: events, from the calls where they happen to those who watch.
 *
 * An event is looked up from its address, so that the callers need to keep nothing for it; then it
 * goes to the trace, then to the hooks. errno and the thread's error record stay as they were: who
 * watches does not change what the program sees. */

#include "core/watch.h"
#include "core/allocator_record.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/fork.h"
#include "core/guard.h"
#include "core/hook.h"
#include "core/thread.h"
#include "core/trace.h"
#include <errno.h>
#include <pthread.h>
#include <time.h>

atomic_uint memspan_watch_flags;

void memspan_watch_set(unsigned flag, bool on)
{
    bool watched;

    if (on) {
        atomic_fetch_or(&memspan_watch_flags, flag);
    } else {
        atomic_fetch_and(&memspan_watch_flags, ~flag);
    }
    do { /* until what the threads were told last is what holds, whoever else sets flags */
        watched = (atomic_load(&memspan_watch_flags) != 0);
        memspan_thread_set_watched(watched);
    } while ((atomic_load(&memspan_watch_flags) != 0) != watched);
}

/* ---- beginning ---- */

static void start(void)
{
    struct memspan_error_saved saved;

    /* What cannot be recorded is reported, but no failure of the call that happens to be first. */
    memspan_error_save(&saved);
    /* What is registered last is locked first: the hooks' lock is outside the core's, because
     * setting a flag tells all threads; the trace's is inside them. */
    pthread_atfork(memspan_trace_before_fork, memspan_trace_after_fork_parent,
                   memspan_trace_after_fork_child);
    memspan_fork_prepare();
    pthread_atfork(memspan_hook_before_fork, memspan_hook_after_fork_parent,
                   memspan_hook_after_fork_child);
    memspan_trace_start();
    memspan_guard_start();
    memspan_error_restore(&saved);
}

void memspan_watch_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start);
}

void memspan_watch_ending(void)
{
    memspan_trace_flush();
}

uint64_t memspan_watch_now(void)
{
    struct timespec now;

    if (!memspan_watching()) {
        return 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- blocks ---- */

static bool on(enum memspan_watch_flag flag)
{
    return (atomic_load_explicit(&memspan_watch_flags, memory_order_relaxed) & flag) != 0;
}

static memspan_hook_block_t describe(const struct memspan_block_view *view)
{
    const struct memspan_provider_spec *spec = &view->chunk->provider->spec;
    const struct memspan_allocator *a        = view->owner.account->allocator;

    return (memspan_hook_block_t){
        .struct_size = sizeof(memspan_hook_block_t),
        .address     = view->address,
        .size_bytes  = view->owner.requested_bytes,
        .allocator   = (memspan_allocator_h)atomic_load_explicit(&a->handle, memory_order_acquire),
        .space       = a->space->handle,
        .kind        = spec->kind,
        .device      = spec->device->number,
        .fallback    = view->owner.fallback,
    };
}

static bool find(void *address, struct memspan_block_view *view_p)
{
    return memspan_block_find(address, view_p) && (view_p->address == address);
}

bool memspan_watch_refuses(void)
{
    if (MEMSPAN_LIKELY(!memspan_hook_in_chunk_hook())) {
        return false;
    }
    memspan_error(MEMSPAN_ERR_CONFLICT, "a chunk hook may not allocate from Memspan or free");
    memspan_error_hint("note what is to be done and do it after the hook has returned");
    return true;
}

void memspan_watch_allocated(void *address)
{
    struct memspan_block_view view;
    int saved_errno = errno;

    if (find(address, &view)) {
        if (on(MEMSPAN_WATCH_TRACE)) {
            memspan_trace_allocated(&view);
        }
        if (on(MEMSPAN_WATCH_HOOKS)) {
            memspan_hook_block_t block = describe(&view);
            memspan_hook_call(MEMSPAN_HOOK_ALLOCATED, &block, NULL);
        }
    }
    errno = saved_errno;
}

void memspan_watch_freeing(void *address)
{
    struct memspan_block_view view;
    int saved_errno = errno;

    if (find(address, &view)) {
        if (on(MEMSPAN_WATCH_TRACE)) {
            memspan_trace_freeing(&view);
        }
        if (on(MEMSPAN_WATCH_HOOKS)) {
            memspan_hook_block_t block = describe(&view);
            memspan_hook_call(MEMSPAN_HOOK_FREEING, &block, NULL);
        }
    }
    errno = saved_errno;
}

void memspan_watch_reallocated(const struct memspan_block_view *old, void *address)
{
    struct memspan_block_view view;
    int saved_errno = errno;

    if (find(address, &view)) {
        if (on(MEMSPAN_WATCH_TRACE)) {
            memspan_trace_reallocated(old, &view);
        }
        if (on(MEMSPAN_WATCH_HOOKS)) {
            memspan_hook_block_t before = describe(old);
            memspan_hook_block_t block  = describe(&view);
            memspan_hook_call(MEMSPAN_HOOK_REALLOCATED, &before, &block);
        }
    }
    errno = saved_errno;
}

/* ---- requests that were not met ---- */

static void request_event(enum memspan_hook hook, struct memspan_allocator *asked,
                          struct memspan_allocator *given, size_t size_bytes, void *address)
{
    memspan_hook_request_t request = {
        .struct_size = sizeof(request),
        .asked       = (memspan_allocator_h)atomic_load(&asked->handle),
        .given       = (given == NULL) ? MEMSPAN_ALLOCATOR_NULL
                                       : (memspan_allocator_h)atomic_load(&given->handle),
        .size_bytes  = size_bytes,
        .address     = address,
    };

    struct memspan_error_saved saved;
    int saved_errno = errno;

    memspan_error_save(&saved); /* why it failed is what the caller will ask */
    if (on(MEMSPAN_WATCH_TRACE)) {
        memspan_trace_request(asked, given, size_bytes, address);
    }
    if (on(MEMSPAN_WATCH_HOOKS)) {
        memspan_hook_call(hook, &request, NULL);
    }
    memspan_error_restore(&saved);
    errno = saved_errno;
}

void memspan_watch_fallback(struct memspan_allocator *asked, struct memspan_allocator *given,
                            size_t size_bytes, void *address)
{
    request_event(MEMSPAN_HOOK_FALLBACK_USED, asked, given, size_bytes, address);
}

void memspan_watch_failed(struct memspan_allocator *asked, size_t size_bytes)
{
    request_event(MEMSPAN_HOOK_FAILED, asked, NULL, size_bytes, NULL);
}

/* ---- chunks ---- */

static memspan_hook_chunk_t describe_chunk(const struct memspan_chunk *chunk, uint64_t duration_ns)
{
    struct memspan_provider *p = chunk->provider;

    return (memspan_hook_chunk_t){
        .struct_size = sizeof(memspan_hook_chunk_t),
        .backend     = p->spec.device->table->name,
        .device      = p->spec.device->number,
        .kind        = p->spec.kind,
        .address     = chunk->address,
        .size_bytes  = chunk->size_bytes,
        .held_bytes  = atomic_load_explicit(&p->held_bytes, memory_order_relaxed),
        .duration_ns = duration_ns,
    };
}

void memspan_watch_chunk_taken(const struct memspan_chunk *chunk, uint64_t started_ns)
{
    /* Nobody watched when it was asked for: then how long it took is not known. */
    uint64_t now_ns    = memspan_watch_now();
    uint64_t taking_ns = (started_ns == 0) ? 0 : now_ns - started_ns;
    int saved_errno    = errno;

    if (on(MEMSPAN_WATCH_TRACE)) {
        memspan_trace_chunk_taken(chunk, taking_ns);
    }
    if (on(MEMSPAN_WATCH_HOOKS)) {
        memspan_hook_chunk_t record = describe_chunk(chunk, taking_ns);
        memspan_hook_call(MEMSPAN_HOOK_CHUNK_TAKEN, &record, NULL);
    }
    errno = saved_errno;
}

void memspan_watch_chunk_giving_back(const struct memspan_chunk *chunk)
{
    int saved_errno = errno;

    if (on(MEMSPAN_WATCH_TRACE)) {
        memspan_trace_chunk_giving_back(chunk);
    }
    if (on(MEMSPAN_WATCH_HOOKS)) {
        memspan_hook_chunk_t record = describe_chunk(chunk, 0);
        memspan_hook_call(MEMSPAN_HOOK_CHUNK_GIVING_BACK, &record, NULL);
    }
    errno = saved_errno;
}
