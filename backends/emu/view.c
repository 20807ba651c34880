/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c: the host's access to a block now.
 *
 * Coherent and host-pinned memory is always open, device memory closed. A launch gives the device
 * all managed memory of its own, because kernels follow pointers, and other devices' where an
 * operand lies in it: emu_block::busy has a bit for each device, and the block is closed until
 * every launch of each has been waited for. A block that is attached to a queue is that queue's
 * alone: its launches close it, and waiting for it opens it. While a target region of the program
 * runs on the processor as the device that we stand in for, all is open that the device reaches:
 * the region's code is in this process, and looks like the host's. Managed memory that a region
 * with nowait was given is closed when the region has ended (emu_block::given) until the program
 * waits: only that, for a program may well use its other memory meanwhile. */

#include "backends/emu/emu.h"
#include "core/base/platform.h"
#include <sys/mman.h>
#include <unistd.h>

static bool is_in_region(const struct emu *emu, const struct emu_block *block)
{
    int i;

    for (i = 0; i < emu->device_count; i++) {
        if ((emu->devices[i].regions > 0) && emu_block_is_reached(block, &emu->devices[i])) {
            return true;
        }
    }
    return false;
}

static bool should_be_open(const struct emu *emu, const struct emu_block *block)
{
    switch (block->kind) {
    case MEMSPAN_KIND_DEVICE:
        return is_in_region(emu, block);
    case MEMSPAN_KIND_MANAGED:
        return (((atomic_load(&block->busy) | atomic_load(&block->given)) == 0) &&
                !block->attached_busy) ||
               is_in_region(emu, block);
    default:
        return true;
    }
}

memspan_status_t emu_view_update(const struct emu *emu, struct emu_block *block)
{
    bool open   = should_be_open(emu, block);
    size_t size = msp_round_up(block->size_bytes, msp_page_size());

    if (open == block->open) {
        return MEMSPAN_OK;
    }
    if (mprotect(block->base, size, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
        return emu_system_error(emu, "mprotect", "%zu bytes of %s memory at %p stay %s", size,
                                memspan_kind_name(block->kind), (void *)block->base,
                                open ? "closed" : "open");
    }
    block->open = open;
    return MEMSPAN_OK;
}

static memspan_status_t update_all(const struct emu *emu)
{
    memspan_status_t first = MEMSPAN_OK;
    struct emu_block *block;

    for (block = emu->blocks; block != NULL; block = block->next) {
        memspan_status_t status = emu_view_update(emu, block);
        first                   = (first == MEMSPAN_OK) ? status : first;
    }
    return first;
}

static bool is_operand(const struct emu_block *block, const void *address)
{
    return (address != NULL) &&
           ((uintptr_t)address - (uintptr_t)block->base < (uintptr_t)block->size_bytes);
}

memspan_status_t emu_managed_close(const struct emu_queue *queue, const memspan_kernel_call_t *call)
{
    const struct emu_device *device = queue->device;
    uint32_t bit                    = 1u << device->ordinal;
    struct emu_block *block;

    for (block = device->emu->blocks; block != NULL; block = block->next) {
        bool used = (block->home == device->ordinal) || is_operand(block, call->x) ||
                    is_operand(block, call->y) || is_operand(block, call->z);

        if (block->attached != NULL) {
            block->attached_busy = block->attached_busy || (block->attached == queue);
        } else if (used && (block->kind == MEMSPAN_KIND_MANAGED)) {
            atomic_fetch_or(&block->busy, bit);
        }
    }
    return update_all(device->emu);
}

memspan_status_t emu_managed_open(struct emu_device *device)
{
    uint32_t bit = 1u << device->ordinal;
    struct emu_block *block;

    for (block = device->emu->blocks; block != NULL; block = block->next) {
        atomic_fetch_and(&block->busy, ~bit);
        block->attached_busy =
            block->attached_busy && (block->attached->device->ordinal != device->ordinal);
    }
    return update_all(device->emu);
}

/* Work from before the attachment precedes it (emu_attach()): it is over, too. */
memspan_status_t emu_attached_open(const struct emu_queue *queue)
{
    struct emu_block *block;

    for (block = queue->device->emu->blocks; block != NULL; block = block->next) {
        if (block->attached == queue) {
            block->attached_busy = false;
            atomic_store(&block->busy, 0);
        }
    }
    return update_all(queue->device->emu);
}

void emu_attached_drop(const struct emu_queue *queue)
{
    struct emu_block *block;

    for (block = queue->device->emu->blocks; block != NULL; block = block->next) {
        if (block->attached == queue) {
            block->attached = NULL;
            if (block->attached_busy) {
                atomic_fetch_or(&block->busy, 1u << queue->device->ordinal);
            }
            block->attached_busy = false;
        }
    }
}

/* ---- target regions of the program ---- */

/* Earlier commands for the device come first. */
void emu_region_begin(void *state, int ordinal)
{
    struct emu *emu = state;
    struct emu_device *device;

    if (emu_enter_lost(state, ordinal, &device) != MEMSPAN_OK) {
        return; /* a forked child: its own accesses are explained */
    }
    pthread_mutex_lock(&emu->lock);
    emu_late_run_device(device);
    pthread_mutex_unlock(&emu->lock);
    (void)emu_process_wait(device, atomic_load(&device->control->ring.submitted));
    pthread_mutex_lock(&emu->lock);
    device->regions++;
    (void)update_all(emu);
    pthread_mutex_unlock(&emu->lock);
}

void emu_region_end(void *state, int ordinal)
{
    struct emu *emu = state;
    struct emu_device *device;

    if (emu_enter_lost(state, ordinal, &device) != MEMSPAN_OK) {
        return;
    }
    pthread_mutex_lock(&emu->lock);
    device->regions--;
    (void)update_all(emu);
    pthread_mutex_unlock(&emu->lock);
}

void emu_region_unwaited(void *state, int ordinal, void *const *operands, size_t operand_count)
{
    struct emu *emu = state;
    struct emu_block *block;
    size_t i;

    pthread_mutex_lock(&emu->lock);
    for (block = emu->blocks; block != NULL; block = block->next) {
        for (i = 0; (block->kind == MEMSPAN_KIND_MANAGED) && (i < operand_count); i++) {
            if (is_operand(block, operands[i])) {
                atomic_fetch_or(&block->given, 1u << ordinal);
                atomic_store(&emu->unwaited, true);
            }
        }
    }
    (void)update_all(emu);
    pthread_mutex_unlock(&emu->lock);
}

void emu_region_waited(void *state)
{
    struct emu *emu = state;
    struct emu_block *block;

    if (!atomic_load(&emu->unwaited) || (getpid() != emu->pid)) {
        return;
    }
    pthread_mutex_lock(&emu->lock);
    atomic_store(&emu->unwaited, false);
    for (block = emu->blocks; block != NULL; block = block->next) {
        atomic_store(&block->given, 0);
    }
    (void)update_all(emu);
    pthread_mutex_unlock(&emu->lock);
}
