/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: blocks.
 *
 * Fresh pages of the memory file are zero, and pages that are given back are cut out of it, so
 * every block starts as zeros. Device and managed memory count against the device's capacity;
 * coherent and host-pinned memory, which are the host's, against as much again. */

#include "backends/emu/emu.h"
#include "core/base/platform.h"
#include "core/topology/pages.h"
#include <execinfo.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

static bool is_own(memspan_kind_t kind)
{
    return (kind == MEMSPAN_KIND_DEVICE) || (kind == MEMSPAN_KIND_MANAGED);
}

static uint64_t *account(struct emu_device *device, memspan_kind_t kind)
{
    return is_own(kind) ? &device->device_used_bytes : &device->host_used_bytes;
}

static memspan_status_t check_request(const struct emu *emu, const memspan_request_t *request)
{
    if ((request->kind <= MEMSPAN_KIND_HOST) || (request->kind >= MEMSPAN_KIND_COUNT)) {
        return emu_refuse(emu, MEMSPAN_ERR_UNSUPPORTED, NULL, "an emulated device has no %s memory",
                          memspan_kind_name(request->kind));
    }
    if ((request->size_bytes == 0) || (request->size_bytes > SIZE_MAX / 2)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "size in bytes out of range: %zu",
                          request->size_bytes);
    }
    if (!msp_is_power_of_two(request->align_bytes) && (request->align_bytes != 0)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "alignment is no power of two: %zu",
                          request->align_bytes);
    }
    if (request->page_size_bytes > msp_page_size()) {
        return emu_refuse(emu, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "emulated devices have no pages of %zu bytes", request->page_size_bytes);
    }
    return MEMSPAN_OK;
}

bool emu_block_is_reached(const struct emu_block *block, const struct emu_device *device)
{
    return (block->kind != MEMSPAN_KIND_DEVICE) || ((device->reaches & (1u << block->home)) != 0);
}

static struct emu_command about(const struct emu_block *block, enum emu_op op)
{
    return (struct emu_command){.op    = (uint32_t)op,
                                .count = msp_round_up(block->size_bytes, msp_page_size()),
                                .z     = (uintptr_t)block->base};
}

memspan_status_t emu_block_tell(struct emu *emu, const struct emu_block *block, enum emu_op op,
                                bool wait)
{
    struct emu_command command = about(block, op);
    memspan_status_t first     = MEMSPAN_OK;
    int i;

    for (i = 0; i < emu->device_count; i++) {
        struct emu_device *device = &emu->devices[i];
        memspan_status_t status;
        uint64_t number;

        if (!emu_block_is_reached(block, device) || atomic_load(&device->lost)) {
            continue;
        }
        status = emu_process_submit(device, &command, &number);
        if ((status == MEMSPAN_OK) && wait) {
            status = emu_process_wait(device, number);
        }
        if (i == block->home) {
            first = status;
        }
    }
    return first;
}

static memspan_status_t reserve(struct emu_device *device, const memspan_request_t *request)
{
    struct emu *emu = device->emu;
    uint64_t *used  = account(device, request->kind);
    uint64_t left   = emu->capacity_bytes - *used;

    if (request->size_bytes > left) {
        return emu->services->fail(
            MEMSPAN_ERR_NO_MEMORY, EMU_NAME, "", 2, "out of memory",
            "free memory, or give the devices more: MEMSPAN_EMU_MEMORY",
            "no %zu bytes of %s memory on emu%d: %llu of %llu bytes are left", request->size_bytes,
            memspan_kind_name(request->kind), device->ordinal, (unsigned long long)left,
            (unsigned long long)emu->capacity_bytes);
    }
    *used += request->size_bytes;
    return MEMSPAN_OK;
}

/* Cut the pages out of the file, and close the host's view. */
static void drop_pages(const struct emu *emu, const struct emu_block *block)
{
    size_t size = msp_round_up(block->size_bytes, msp_page_size());

    msp_pages_unlock(block->base, size);
    mprotect(block->base, size, PROT_NONE);
    if (fallocate(emu->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(block->base - emu->arena), (off_t)size) != 0) {
        memset(emu_arena_window(emu, block->base), 0, size);
    }
}

/* The properties of a fresh block. Lock held. */
static void enlist(struct emu *emu, struct emu_block *block, memspan_kind_t kind, int resident)
{
    block->kind          = kind;
    block->resident      = (kind == MEMSPAN_KIND_DEVICE) ? block->home : resident;
    block->open          = false;
    block->attached      = NULL;
    block->attached_busy = false;
    block->next          = emu->blocks;
    emu->blocks          = block;
}

/* Lock held. */
static void leave(struct emu *emu, struct emu_block *block)
{
    struct emu_block **link;

    for (link = &emu->blocks; *link != NULL; link = &(*link)->next) {
        if (*link == block) {
            *link = block->next;
            break;
        }
    }
    if (!block->imported) {
        *account(&emu->devices[block->home], block->kind) -= block->size_bytes;
    }
    emu_arena_give_back(emu, block);
}

/* Lock held. */
static memspan_status_t take_block(struct emu_device *device, const memspan_request_t *request,
                                   struct emu_block **block_p)
{
    struct emu *emu         = device->emu;
    size_t align            = (request->align_bytes > 1) ? request->align_bytes : 1;
    memspan_status_t status = reserve(device, request);
    struct emu_block *block;

    if (status != MEMSPAN_OK) {
        return status;
    }
    block = emu_arena_take(device, request->size_bytes, align);
    if (block == NULL) {
        *account(device, request->kind) -= request->size_bytes;
        return MEMSPAN_ERR_NO_MEMORY;
    }
    enlist(emu, block, request->kind, request->resident_ordinal);
    status = emu_view_update(emu, block);
    if (status != MEMSPAN_OK) {
        leave(emu, block);
        return status;
    }
    *block_p = block;
    return MEMSPAN_OK;
}

struct emu_block *emu_block_take(struct emu_device *device, memspan_kind_t kind, size_t size_bytes)
{
    struct emu *emu         = device->emu;
    struct emu_block *block = emu_arena_take(device, size_bytes, EMU_GRANULE_BYTES);

    if (block != NULL) {
        block->imported = true;
        enlist(emu, block, kind, device->ordinal);
    }
    return block;
}

void emu_block_give_back(struct emu *emu, struct emu_block *block)
{
    pthread_mutex_lock(&emu->lock);
    leave(emu, block);
    pthread_mutex_unlock(&emu->lock);
}

static memspan_status_t give_back(struct emu *emu, struct emu_block *block)
{
    memspan_status_t status = emu_block_tell(emu, block, EMU_OP_CLOSE, true);

    drop_pages(emu, block);
    emu_block_give_back(emu, block);
    return status;
}

/* Where the block's pages are, and whether they stay there. Device memory is closed, and its own
 * device keeps it in place. */
static memspan_status_t set_pages(const struct emu *emu, const memspan_request_t *request,
                                  memspan_block_t *given)
{
    bool is_asked = (request->flags & MEMSPAN_REQUEST_PINNED) != 0;
    memspan_status_t status;

    if (request->kind == MEMSPAN_KIND_DEVICE) {
        given->flags |= MEMSPAN_BLOCK_PINNED;
        return MEMSPAN_OK;
    }
    status = msp_pages_bind(request, given->address, &given->node);
    if (request->kind == MEMSPAN_KIND_MANAGED) {
        given->flags |= MEMSPAN_BLOCK_MIGRATABLE;
        return status;
    }
    if ((status == MEMSPAN_OK) && ((request->kind == MEMSPAN_KIND_HOST_PINNED) || is_asked)) {
        status = msp_lock_pages(emu->services, EMU_NAME, is_asked, given);
    }
    return status;
}

memspan_status_t emu_alloc(void *state, int ordinal, const memspan_request_t *request,
                           memspan_block_t *block_p)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_block *block = NULL;
    memspan_block_t given;
    void *callers[EMU_CALLERS_MAX];
    int caller_count        = backtrace(callers, EMU_CALLERS_MAX); /* it may wait for the linker */
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        status = check_request(emu, request);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    emu_small_watch(emu);
    pthread_mutex_lock(&emu->lock);
    status = take_block(device, request, &block);
    if (status == MEMSPAN_OK) {
        memcpy(block->callers, callers, sizeof(callers));
        block->caller_count = caller_count;
    }
    pthread_mutex_unlock(&emu->lock);
    if (status != MEMSPAN_OK) {
        return status;
    }
    given  = (memspan_block_t){.address         = block->base,
                               .size_bytes      = block->size_bytes,
                               .page_size_bytes = msp_page_size(),
                               .flags           = MEMSPAN_BLOCK_ZEROED,
                               .node            = -1,
                               .cookie          = block};
    status = set_pages(emu, request, &given);
    if (status == MEMSPAN_OK) {
        status = emu_block_tell(emu, block, EMU_OP_OPEN, false);
    }
    if (status != MEMSPAN_OK) {
        give_back(emu, block);
        return status;
    }
    *block_p = given;
    return MEMSPAN_OK;
}

memspan_status_t emu_free(void *state, int ordinal, const memspan_block_t *given)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_block *block;
    uint32_t live           = EMU_BLOCK_LIVE;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((given == NULL) || (given->address == NULL)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "no block to give back");
    }
    block = emu_arena_find(emu, given->address);
    if ((block == NULL) || ((void *)block->base != given->address) || block->imported ||
        !atomic_compare_exchange_strong(&block->state, &live, EMU_BLOCK_LEAVING)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "%p is no block of emu%d", given->address,
                          ordinal);
    }
    pthread_mutex_lock(&emu->lock);
    emu_order_free(emu, block);
    pthread_mutex_unlock(&emu->lock);
    status = give_back(emu, block);
    return atomic_load(&device->lost) ? MEMSPAN_OK : status;
}
