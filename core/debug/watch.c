/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c: events, from the calls where they happen to the trace and the hooks.
 *
 * An event is looked up from its address, so that the callers need to keep nothing for it; then it
 * goes to the trace, then to the hooks. errno and the thread's error record stay as they were:
 * watching does not change the program's view. */

#include "core/debug/watch.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/platform.h"
#include "core/debug/follow.h"
#include "core/debug/guard.h"
#include "core/debug/placement.h"
#include "core/debug/watcher.h"
#include "core/engine/allocator_record.h"
#include "core/engine/thread.h"
#include <errno.h>
#include <pthread.h>
#include <time.h>

static bool on(enum msp_watch_flag flag)
{
    return (atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) & flag) != 0;
}

/* ---- chunks ---- */

static memspan_hook_chunk_t describe_chunk(const struct msp_chunk *chunk, uint64_t duration_ns)
{
    struct msp_provider *p = chunk->provider;

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

static void chunk_taken(const struct msp_chunk *chunk, uint64_t started_ns)
{
    /* The request was not watched: then its duration is unknown. */
    uint64_t now_ns    = msp_watch_now();
    uint64_t taking_ns = (started_ns == 0) ? 0 : now_ns - started_ns;
    int saved_errno    = errno;

    if (on(MSP_WATCH_TRACE)) {
        msp_trace_chunk_taken(chunk, taking_ns);
    }
    if (on(MSP_WATCH_HOOKS)) {
        memspan_hook_chunk_t record = describe_chunk(chunk, taking_ns);
        msp_hook_call(MSP_HOOK_CHUNK_TAKEN, &record, NULL);
    }
    errno = saved_errno;
}

static void chunk_giving_back(const struct msp_chunk *chunk)
{
    int saved_errno = errno;

    if (on(MSP_WATCH_TRACE)) {
        msp_trace_chunk_giving_back(chunk);
    }
    if (on(MSP_WATCH_HOOKS)) {
        memspan_hook_chunk_t record = describe_chunk(chunk, 0);
        msp_hook_call(MSP_HOOK_CHUNK_GIVING_BACK, &record, NULL);
    }
    errno = saved_errno;
}

static const struct msp_chunk_watcher chunk_watcher = {chunk_taken, chunk_giving_back};

/* ---- beginning ---- */

static void start(void)
{
    struct msp_error_saved saved;

    /* A trace that cannot be recorded is reported, but is no failure of the call that happens to be
     * first. */
    msp_error_save(&saved);
    msp_fork_prepare();
    atomic_store(&msp_chunk_watcher, &chunk_watcher);
    msp_trace_start();
    msp_guard_start();
    msp_placement_start();
    msp_error_restore(&saved);
}

void msp_watch_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start);
}

void msp_watch_ending(void)
{
    msp_trace_flush();
}

/* ---- blocks ---- */

static memspan_hook_block_t describe(const struct msp_block_view *view)
{
    const struct msp_provider_spec *spec = &view->chunk->provider->spec;
    const struct msp_allocator *a        = view->owner.account->allocator;

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

static bool find(void *address, struct msp_block_view *view_p)
{
    return msp_block_find(address, view_p) && (view_p->address == address);
}

bool msp_watch_refuses(void)
{
    if (MSP_LIKELY(!msp_hook_in_chunk_hook())) {
        return false;
    }
    memspan_error(MEMSPAN_ERR_CONFLICT, "a chunk hook may not allocate from Memspan or free");
    msp_error_hint("note what is to be done and do it after the hook has returned");
    return true;
}

void msp_watch_allocated(void *address)
{
    struct msp_block_view view;
    int saved_errno = errno;

    if (find(address, &view)) {
        if (on(MSP_WATCH_FOLLOW)) {
            msp_follow_allocated(&view);
        }
        if (on(MSP_WATCH_TRACE)) {
            msp_trace_allocated(&view);
        }
        if (on(MSP_WATCH_HOOKS)) {
            memspan_hook_block_t block = describe(&view);
            msp_hook_call(MSP_HOOK_ALLOCATED, &block, NULL);
        }
    }
    errno = saved_errno;
}

void msp_watch_freeing(void *address)
{
    struct msp_block_view view;
    int saved_errno = errno;

    if (find(address, &view)) {
        if (view.capacity_bytes >= MSP_FOLLOW_BYTES) {
            msp_follow_forget(address);
        }
        if (on(MSP_WATCH_TRACE)) {
            msp_trace_freeing(&view);
        }
        if (on(MSP_WATCH_HOOKS)) {
            memspan_hook_block_t block = describe(&view);
            msp_hook_call(MSP_HOOK_FREEING, &block, NULL);
        }
    }
    errno = saved_errno;
}

void msp_watch_reallocated(const struct msp_block_view *old, void *address)
{
    struct msp_block_view view;
    int saved_errno = errno;

    if (find(address, &view)) {
        if (on(MSP_WATCH_FOLLOW)) {
            msp_follow_allocated(&view);
        }
        if (on(MSP_WATCH_TRACE)) {
            msp_trace_reallocated(old, &view);
        }
        if (on(MSP_WATCH_HOOKS)) {
            memspan_hook_block_t before = describe(old);
            memspan_hook_block_t block  = describe(&view);
            msp_hook_call(MSP_HOOK_REALLOCATED, &before, &block);
        }
    }
    errno = saved_errno;
}

/* ---- requests that were not satisfied ---- */

static void request_event(enum msp_hook hook, struct msp_allocator *asked,
                          struct msp_allocator *given, size_t size_bytes, void *address)
{
    memspan_hook_request_t request = {
        .struct_size = sizeof(request),
        .asked       = (memspan_allocator_h)atomic_load(&asked->handle),
        .given       = (given == NULL) ? MEMSPAN_ALLOCATOR_NULL
                                       : (memspan_allocator_h)atomic_load(&given->handle),
        .size_bytes  = size_bytes,
        .address     = address,
    };

    struct msp_error_saved saved;
    int saved_errno = errno;

    msp_error_save(&saved); /* the caller will read the reason of the failure */
    if (on(MSP_WATCH_TRACE)) {
        msp_trace_request(asked, given, size_bytes, address);
    }
    if (on(MSP_WATCH_HOOKS)) {
        msp_hook_call(hook, &request, NULL);
    }
    msp_error_restore(&saved);
    errno = saved_errno;
}

void msp_watch_fallback(struct msp_allocator *asked, struct msp_allocator *given, size_t size_bytes,
                        void *address)
{
    request_event(MSP_HOOK_FALLBACK_USED, asked, given, size_bytes, address);
}

void msp_watch_failed(struct msp_allocator *asked, size_t size_bytes)
{
    request_event(MSP_HOOK_FAILED, asked, NULL, size_bytes, NULL);
}
