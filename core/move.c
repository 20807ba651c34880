/* SPDX-License-Identifier: BSD-3-Clause */
/* move.c: a live block goes to another memory space, and keeps its address.
 *
 * Pages move, by the kernel or a driver. So only a block moves that is a chunk of its own: it
 * shares no page with others, and its chunk changes its provider as a whole. The account that the
 * block is charged to stays. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/debug/follow.h"
#include "core/debug/guard.h"
#include <memspan/transfer.h>

/* Plans are never freed: it outlives the allocator. NULL with an error. */
static const struct msp_plan *plan_of(memspan_space_h space)
{
    const struct msp_plan *plan = NULL;
    struct msp_allocator *a;
    memspan_allocator_h handle;

    if (memspan_allocator_create(space, NULL, 0, &handle) != MEMSPAN_OK) {
        return NULL;
    }
    a = msp_allocator_acquire(handle);
    if ((a != NULL) && (msp_allocator_ensure_plan(a) == MEMSPAN_OK)) {
        plan = a->plan;
    }
    if (a != NULL) {
        msp_allocator_release(a);
    }
    memspan_allocator_destroy(handle);
    return plan;
}

static memspan_status_t refuse_move(const void *pointer, const char *why)
{
    return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "the block at %p cannot move: %s", pointer, why);
}

static memspan_status_t refuse_shared(const void *pointer, const struct msp_provider *provider)
{
    char size[32];

    refuse_move(pointer, "it shares pages with other blocks");
    return msp_error_hint("blocks of %s or more have pages of their own (MEMSPAN_CHUNK_SIZE)",
                          msp_text_from_size(size, sizeof(size), provider->direct_bytes));
}

static memspan_status_t check(const void *pointer, const struct msp_chunk *chunk)
{
    const struct msp_provider_spec *spec = &chunk->provider->spec;

    if ((spec->kind != MEMSPAN_KIND_HOST) && (spec->kind != MEMSPAN_KIND_HOST_PINNED) &&
        (spec->kind != MEMSPAN_KIND_MANAGED)) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "the block at %p cannot move: it is %s memory",
                      pointer, memspan_kind_name(spec->kind));
        return msp_error_hint("only host and managed memory keeps its address when it moves");
    }
    if (spec->importer_count > 0) {
        return refuse_move(pointer, "its pages are imported into a driver");
    }
    if ((spec->kind == MEMSPAN_KIND_HOST_PINNED) ||
        ((chunk->block.flags & MEMSPAN_BLOCK_PINNED) != 0)) {
        return refuse_move(pointer, "its pages are locked");
    }
    return chunk->is_direct ? MEMSPAN_OK : refuse_shared(pointer, chunk->provider);
}

static memspan_status_t move_host(const void *pointer, struct msp_chunk *chunk,
                                  memspan_space_h space)
{
    const struct msp_plan *plan = plan_of(space);

    if (plan == NULL) {
        return memspan_error_last()->status;
    }
    if ((plan->spec.device != chunk->provider->spec.device) ||
        (plan->spec.kind != MEMSPAN_KIND_HOST)) {
        return refuse_move(pointer, "the space has no host memory of the kernel's");
    }
    return msp_chunk_move(chunk, plan->provider);
}

memspan_status_t memspan_move(void *pointer, memspan_space_h handle)
{
    const struct msp_space *space;
    struct msp_block_view view;
    memspan_status_t status;

    if ((pointer == NULL) || !msp_block_look(pointer, &view) || (view.address != pointer)) {
        msp_block_refused(pointer, "move");
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "no live block of Memspan starts at %p", pointer);
        return msp_error_hint("symmetric memory, and that of other allocators, stays where it is");
    }
    space = msp_space_resolve(handle);
    if (space == NULL) {
        return memspan_error_last()->status;
    }
    status = check(pointer, view.chunk);
    msp_follow_forget(pointer); /* the program places it */
    if (status == MEMSPAN_OK) {
        status =
            (view.chunk->provider->spec.kind == MEMSPAN_KIND_HOST)
                ? move_host(pointer, view.chunk, handle)
                : memspan_prefetch(pointer, view.owner.requested_bytes, msp_space_residence(space));
    }
    if (status == MEMSPAN_OK) {
        view.chunk->moved_to = space;
    }
    return status;
}
