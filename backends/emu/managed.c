/* SPDX-License-Identifier: BSD-3-Clause */
/* managed.c: who has managed memory now.
 *
 * A launch gives the device all managed memory of its own, because kernels follow pointers, and
 * other devices' where an operand lies in it. The host's view of it is closed until every launch of
 * the device has been waited for. emu_block::busy has a bit for each device: the view is open when
 * there is none. */

#include "backends/emu/emu.h"
#include <sys/mman.h>

static bool is_operand(const struct emu_block *block, const void *address)
{
    return (address != NULL) &&
           ((uintptr_t)address - (uintptr_t)block->base < (uintptr_t)block->size_bytes);
}

static memspan_status_t set_view(const struct emu *emu, const struct emu_block *block, int access)
{
    if (mprotect(block->base, block->size_bytes, access) != 0) {
        return emu_system_error(emu, "mprotect", "%zu bytes of managed memory at %p stay %s",
                                block->size_bytes, (void *)block->base,
                                (access == PROT_NONE) ? "open" : "closed");
    }
    return MEMSPAN_OK;
}

memspan_status_t emu_managed_close(struct emu_device *device, const memspan_kernel_call_t *call)
{
    uint32_t bit = 1u << device->ordinal;
    struct emu_block *block;

    for (block = device->emu->managed; block != NULL; block = block->next) {
        bool used = (block->home == device->ordinal) || is_operand(block, call->x) ||
                    is_operand(block, call->y) || is_operand(block, call->z);

        if (used && (atomic_fetch_or(&block->busy, bit) == 0)) {
            memspan_status_t status = set_view(device->emu, block, PROT_NONE);
            if (status != MEMSPAN_OK) {
                return status;
            }
        }
    }
    return MEMSPAN_OK;
}

memspan_status_t emu_managed_open(struct emu_device *device)
{
    uint32_t bit           = 1u << device->ordinal;
    memspan_status_t first = MEMSPAN_OK;
    struct emu_block *block;

    for (block = device->emu->managed; block != NULL; block = block->next) {
        if (atomic_fetch_and(&block->busy, ~bit) == bit) {
            memspan_status_t status = set_view(device->emu, block, PROT_READ | PROT_WRITE);
            first                   = (first == MEMSPAN_OK) ? status : first;
        }
    }
    return first;
}
