/* SPDX-License-Identifier: BSD-3-Clause */
/* query.c: a block's request and result, its place, the devices that reach it, and the reasons. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/debug/follow.h"
#include "core/debug/guard.h"
#include "core/engine/allocator_record.h"
#include "core/share.h"
#include "core/topology/topology.h"
#include <stdio.h>
#include <string.h>

/* ---- allocators ---- */

static memspan_allocator_h fallback_of(const struct msp_allocator *a)
{
    if (a->traits.fallback == MEMSPAN_VALUE_ALLOCATOR_FB) {
        return a->traits.fb_data;
    }
    return (a->traits.fallback == MEMSPAN_VALUE_DEFAULT_MEM_FB) ? MEMSPAN_ALLOCATOR_DEFAULT
                                                                : MEMSPAN_ALLOCATOR_NULL;
}

static int node_of_spec(const struct msp_provider_spec *spec)
{
    return (spec->node_count == 1) ? spec->nodes[0] : -1;
}

/* Bytes of a page as far as is known: those of the provider's last chunk, or those requested of it.
 */
static size_t page_size_of(const struct msp_provider *p)
{
    size_t given = atomic_load_explicit(&p->given_page_size, memory_order_relaxed);

    if (given != 0) {
        return given;
    }
    if ((p->spec.page_size_bytes != 0) && !atomic_load(&p->page_size_missed)) {
        return p->spec.page_size_bytes;
    }
    return (p->spec.device->number == MEMSPAN_HOST) ? msp_page_size()
                                                    : (size_t)p->spec.device->info.page_size_bytes;
}

/* The value of the last chunk, or of every future chunk. */
static bool is_pinned(const struct msp_allocator *a)
{
    const struct msp_plan *plan = a->plan;
    unsigned given = atomic_load_explicit(&plan->provider->given_flags, memory_order_relaxed);

    if (given != 0) {
        return (given & MEMSPAN_BLOCK_PINNED) != 0;
    }
    return (plan->kind_given == MEMSPAN_KIND_HOST_PINNED) || a->traits.pinned;
}

static void describe(struct msp_allocator *a, memspan_allocator_info_t *info)
{
    const struct msp_plan *plan = a->plan;
    bool missed                 = atomic_load(&plan->provider->page_size_missed);

    info->space           = a->space->handle;
    info->kind_asked      = plan->kind_asked;
    info->kind_given      = plan->kind_given;
    info->home            = plan->spec.device->number;
    info->resident_device = plan->resident->number;
    info->numa_node       = node_of_spec(&plan->spec);
    info->page_size_bytes = page_size_of(plan->provider);
    info->align_bytes     = (a->traits.alignment > 16) ? a->traits.alignment : 16;
    info->pool_size_bytes = a->traits.pool_size;
    info->pinned          = is_pinned(a);
    info->migratable      = plan->migratable;
    info->exact           = plan->exact && !missed;
    info->serves          = plan->serves && !missed;
    info->fallback        = fallback_of(a);
    info->shareable       = a->traits.shareable;
    info->aborts          = (a->traits.fallback == MEMSPAN_VALUE_ABORT_FB);
    snprintf(info->name, sizeof(info->name), "%s", memspan_allocator_name(a));
    snprintf(info->why, sizeof(info->why), "%.450s%s", plan->why,
             missed ? "; pages of the requested size were not available" : "");
}

memspan_status_t memspan_allocator_describe(memspan_allocator_h handle,
                                            memspan_allocator_info_t *info_p)
{
    struct msp_allocator *a       = msp_allocator_acquire(handle);
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_status_t status;

    if (a == NULL) {
        return memspan_error_last()->status;
    }
    status = (info_p == NULL) ? memspan_error(MEMSPAN_ERR_INVALID, "info_p is NULL")
                              : msp_allocator_ensure_plan(a);
    if (status == MEMSPAN_OK) {
        describe(a, &info);
    }
    msp_allocator_release(a);
    return (status == MEMSPAN_OK) ? msp_struct_write(info_p, &info, sizeof(info)) : status;
}

static memspan_reach_t reach_of(const struct msp_provider *p, const struct msp_device *from)
{
    struct msp_resource r = {p->spec.device, p->spec.kind, -1, p->spec.importer_count > 0};

    return msp_resource_reach(&r, from);
}

static memspan_status_t write_reach(const struct msp_provider *provider, int number,
                                    memspan_reach_t *reach_p)
{
    const struct msp_device *from;

    if (reach_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "reach_p is NULL");
    }
    from = msp_device_find(number);
    if (from == NULL) {
        return memspan_error_last()->status;
    }
    *reach_p = reach_of(provider, from);
    return MEMSPAN_OK;
}

memspan_status_t memspan_allocator_reach(memspan_allocator_h handle, int number,
                                         memspan_reach_t *reach_p)
{
    struct msp_allocator *a = msp_allocator_acquire(handle);
    memspan_status_t status;

    if (a == NULL) {
        return memspan_error_last()->status;
    }
    status = msp_allocator_ensure_plan(a);
    if (status == MEMSPAN_OK) {
        status = write_reach(a->plan->provider, number, reach_p);
    }
    msp_allocator_release(a);
    return status;
}

/* ---- addresses ---- */

static int number_of(const struct msp_backend_slot *slot, int ordinal)
{
    const struct msp_device *d = msp_device_of_ordinal(slot->table, ordinal);

    return (d == NULL) ? MEMSPAN_HOST : d->number;
}

/* Memory that is not ours: a driver that is open already may have it. */
static memspan_status_t describe_foreign(const void *pointer, memspan_pointer_info_t *info)
{
    memspan_pointer_facts_t facts;
    struct msp_opened opened;
    int i;

    if (msp_opened_find(pointer, &opened)) {
        info->kind_given      = opened.kind;
        info->home            = opened.device->number;
        info->resident_device = opened.device->number;
        info->base            = opened.base;
        info->size_bytes      = opened.size_bytes;
        info->pinned          = 1;
        info->opened          = 1;
        snprintf(info->why, sizeof(info->why), "%s memory of another process, opened on %s%d",
                 memspan_kind_name(opened.kind), opened.device->table->name,
                 opened.device->ordinal);
        return MEMSPAN_OK;
    }
    /* Of memory between our blocks a driver reports only that it is ours. */
    for (i = 0; !msp_pointer_is_ours(pointer) && (i < msp_backend_slots()); i++) {
        const struct msp_backend_slot *slot = msp_backend_slot_if_open(i);

        if ((slot == NULL) || !slot->on || (slot->table->pointer_describe == NULL)) {
            continue;
        }
        memset(&facts, 0, sizeof(facts));
        if (slot->table->pointer_describe(slot->state, pointer, &facts) == MEMSPAN_OK) {
            info->kind_given      = facts.kind;
            info->home            = number_of(slot, facts.ordinal);
            info->resident_device = number_of(slot, facts.resident_ordinal);
            info->base            = facts.base;
            info->size_bytes      = facts.size_bytes;
            snprintf(info->why, sizeof(info->why), "foreign memory; %s knows it as %s memory",
                     slot->name, memspan_kind_name(facts.kind));
            return MEMSPAN_OK;
        }
    }
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "nothing is known of the memory at %p", pointer);
    return msp_error_hint("it is not Memspan's, or was freed");
}

/* The live block whose bytes, as many as were requested, hold @p pointer: the rest of its place in
 * the pool is unaccounted. */
static bool find_block(const void *pointer, struct msp_block_view *view_p)
{
    return msp_block_look(pointer, view_p) &&
           ((size_t)((const char *)pointer - (const char *)view_p->address) <
            view_p->owner.requested_bytes);
}

static void say_why(memspan_pointer_info_t *info, const struct msp_block_view *view,
                    const struct msp_plan *plan)
{
    if (view->chunk->moved_to != NULL) {
        snprintf(info->why, sizeof(info->why), "%s memory, moved to space %s since",
                 memspan_kind_name(info->kind_given), view->chunk->moved_to->name);
    } else if (view->owner.fallback) {
        snprintf(info->why, sizeof(info->why),
                 "%s memory, given by a fallback of the allocator "
                 "that was asked",
                 memspan_kind_name(info->kind_given));
    } else if ((plan->provider == view->chunk->provider) ||
               (plan->spec.spread == MEMSPAN_SPREAD_NEAREST)) {
        snprintf(info->why, sizeof(info->why), "%.511s", plan->why);
    } else {
        snprintf(info->why, sizeof(info->why), "%s memory, by traits of this allocation's own",
                 memspan_kind_name(info->kind_given));
    }
}

/* Finds the block and the facts about its allocator. Under the table's lock: the block may be the
 * last of an allocator that was destroyed, and freed meanwhile; then the allocator ends, which
 * takes the lock. Plans stay. */
static bool find_owner(const void *pointer, struct msp_block_view *view_p,
                       const struct msp_plan **plan_p, memspan_pointer_info_t *info)
{
    const struct msp_allocator *a;
    bool found;

    msp_allocator_lock_table();
    found = find_block(pointer, view_p);
    if (found) {
        a               = view_p->owner.account->allocator;
        *plan_p         = a->plan;
        info->allocator = (memspan_allocator_h)atomic_load(&a->handle);
        info->space     = a->space->handle;
        found           = (a->plan != NULL) && (view_p->chunk->provider != NULL);
    }
    msp_allocator_unlock_table();
    return found;
}

memspan_allocator_h msp_allocator_of_block(const void *address)
{
    memspan_allocator_h handle = MEMSPAN_ALLOCATOR_NULL;
    struct msp_block_view view;

    msp_allocator_lock_table();
    if (find_block(address, &view)) {
        handle = (memspan_allocator_h)atomic_load(&view.owner.account->allocator->handle);
    }
    msp_allocator_unlock_table();
    return handle;
}

memspan_status_t memspan_pointer_describe(const void *pointer, memspan_pointer_info_t *info_p)
{
    memspan_pointer_info_t info = {.struct_size     = sizeof(info),
                                   .numa_node       = -1,
                                   .home            = MEMSPAN_HOST,
                                   .resident_device = MEMSPAN_HOST};
    const struct msp_plan *plan;
    const struct msp_provider *p;
    const struct msp_device *resident;
    struct msp_block_view view;
    memspan_status_t status;

    if ((pointer == NULL) || (info_p == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "the address, or where to describe it, is NULL");
    }
    if (!find_owner(pointer, &view, &plan, &info)) {
        status = describe_foreign(pointer, &info);
        return (status == MEMSPAN_OK) ? msp_struct_write(info_p, &info, sizeof(info)) : status;
    }
    p                    = view.chunk->provider;
    info.base            = view.address;
    info.size_bytes      = view.owner.requested_bytes;
    info.kind_asked      = plan->kind_asked;
    info.kind_given      = p->spec.kind;
    info.home            = p->spec.device->number;
    info.page_size_bytes = (view.chunk->block.page_size_bytes != 0)
                               ? view.chunk->block.page_size_bytes
                               : page_size_of(p);
    info.pinned          = (view.chunk->block.flags & MEMSPAN_BLOCK_PINNED) != 0;
    info.migratable      = (view.chunk->block.flags & MEMSPAN_BLOCK_MIGRATABLE) != 0;
    info.fallback        = view.owner.fallback;
    info.shareable       = (p->spec.flags & MEMSPAN_REQUEST_SHARED) != 0;
    if (p->spec.resident_ordinal != MEMSPAN_HOST) {
        resident = msp_device_of_ordinal(p->spec.device->table, p->spec.resident_ordinal);
        info.resident_device = (resident == NULL) ? p->spec.device->number : resident->number;
    }
    if (view.chunk->moved_to != NULL) {
        info.space = view.chunk->moved_to->handle;
    }
    if ((view.chunk->moved_to != NULL) && (p->spec.kind == MEMSPAN_KIND_MANAGED)) {
        info.resident_device = msp_space_residence(view.chunk->moved_to);
    }
    if ((p->spec.kind != MEMSPAN_KIND_DEVICE) &&
        (info_p->struct_size > offsetof(memspan_pointer_info_t, numa_node))) { /* a system call */
        info.numa_node = msp_numa_node_of_page(pointer);
    }
    say_why(&info, &view, plan);
    (void)msp_follow_why(pointer, info.why, sizeof(info.why));
    return msp_struct_write(info_p, &info, sizeof(info));
}

static memspan_status_t reach_opened(const struct msp_opened *opened, int number,
                                     memspan_reach_t *reach_p)
{
    const struct msp_device *from = msp_device_find(number);

    if (reach_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "reach_p is NULL");
    }
    if (from == NULL) {
        return memspan_error_last()->status;
    }
    *reach_p = msp_device_reach_of(opened->device, opened->kind, from);
    return MEMSPAN_OK;
}

memspan_status_t memspan_pointer_reach(const void *pointer, int number, memspan_reach_t *reach_p)
{
    struct msp_block_view view;
    struct msp_opened opened;

    if ((pointer != NULL) && msp_opened_find(pointer, &opened)) {
        return reach_opened(&opened, number, reach_p);
    }

    if ((pointer == NULL) || !find_block(pointer, &view)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is not in a live block of Memspan", pointer);
        return msp_error_hint("only memory of Memspan can be asked about");
    }
    return write_reach(view.chunk->provider, number, reach_p);
}

/* ---- the kind alone ---- */

bool msp_pointer_is_ours(const void *pointer)
{
    return msp_store_chunk(pointer) != NULL;
}

/* A function of its own, so that the fast path saves no registers for it. */
static __attribute__((noinline)) memspan_kind_t kind_in_partial(const void *pointer,
                                                                uintptr_t entry)
{
    return (msp_store_chunk(pointer) == NULL) ? MEMSPAN_KIND_NONE : msp_entry_kind(entry);
}

MSP_LINE_ALIGNED memspan_kind_t memspan_pointer_kind(const void *pointer)
{
    uintptr_t entry = msp_map_find(pointer);

    if (MSP_UNLIKELY((entry & MSP_ENTRY_PARTIAL) != 0)) {
        return kind_in_partial(pointer, entry);
    }
    return msp_entry_kind(entry);
}
