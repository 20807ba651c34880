/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: an emulated device's properties, and the devices that reach its memory. */

#include "backends/emu/emu.h"
#include "core/base/capability.h"
#include "core/base/platform.h"
#include <stdio.h>

static void note(memspan_device_info_t *info, memspan_kind_t kind, const char *text)
{
    snprintf(info->kind_note[kind], sizeof(info->kind_note[kind]), "%s", text);
}

/* The maker of the device has it so: the device is this library's. */
static void describe_capabilities(memspan_device_info_t *info)
{
    msp_capability_set(info, MEMSPAN_CAN_SHARE_ADDRESSES, true,
                       "emu: the device processes map the program's addresses");
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_CONCURRENT, false,
                       "emu closes managed memory to the host from launch to synchronise");
    msp_capability_set(info, MEMSPAN_CAN_ACCESS_PAGEABLE, false,
                       "emu: a kernel reaches only what was allocated or imported for it");
    msp_capability_set(info, MEMSPAN_CAN_HOST_ATOMICS, true,
                       "emu: one memory file under host and devices");
    msp_capability_set(info, MEMSPAN_CAN_IMPORT, true,
                       "emu: host pages are mapped in the device at their address");
    msp_capability_set(info, MEMSPAN_CAN_PREFETCH, true, "emu: managed memory changes sides");
    msp_capability_set(info, MEMSPAN_CAN_IPC, true, "emu: /proc/PID/fd of the memory file");
    msp_capability_set(info, MEMSPAN_CAN_DMABUF, false,
                       "emu: a memory file is no dma-buf of a device");
    msp_capability_set(info, MEMSPAN_CAN_RDMA, false,
                       "no card knows it; a network registers the host's second mapping of it");
    msp_capability_set(info, MEMSPAN_CAN_KERNELS, true,
                       "emu: functions on the device's own threads");
    msp_capability_set(info, MEMSPAN_CAN_UNIFIED_PHYSICAL, false,
                       "emu counts its memory apart (MEMSPAN_EMU_MEMORY)");
    msp_mode_set(info, "concurrent managed access", 0,
                 "emu enforces the rule of devices that lack it",
                 "it cannot be turned on: the emulated device checks the stricter rule");
    msp_mode_set(info, "pageable memory access", 0, "emu: malloc memory is not the device's",
                 "it cannot be turned on: the emulated device checks the stricter rule");
}

memspan_status_t emu_device_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    struct emu *emu = state;
    struct emu_device *device;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    snprintf(info_p->name, sizeof(info_p->name), "emulated device %d", ordinal);
    snprintf(info_p->vendor, sizeof(info_p->vendor), "Memspan");
    snprintf(info_p->driver, sizeof(info_p->driver), "emu %s", MEMSPAN_VERSION_STRING);
    snprintf(info_p->uid, sizeof(info_p->uid), "emu:%d", ordinal);
    snprintf(info_p->capacity_source, sizeof(info_p->capacity_source), "MEMSPAN_EMU_MEMORY");
    info_p->pci_address[0]  = '\0';
    info_p->numa_node       = -1;
    info_p->capacity_bytes  = emu->capacity_bytes;
    info_p->alloc_max_bytes = emu->capacity_bytes;
    info_p->page_size_bytes = msp_page_size();
    pthread_mutex_lock(&emu->lock);
    info_p->free_bytes = emu->capacity_bytes - device->device_used_bytes;
    pthread_mutex_unlock(&emu->lock);
    info_p->kinds = (1u << MEMSPAN_KIND_DEVICE) | (1u << MEMSPAN_KIND_MANAGED) |
                    (1u << MEMSPAN_KIND_COHERENT) | (1u << MEMSPAN_KIND_HOST_PINNED);
    info_p->kinds_without_gain = 0;
    info_p->kinds_migratable   = 1u << MEMSPAN_KIND_MANAGED;
    describe_capabilities(info_p);
    note(info_p, MEMSPAN_KIND_HOST, "host memory is imported for the device, never allocated");
    note(info_p, MEMSPAN_KIND_HOST_PINNED, "pages of a memory file, open for host and devices");
    note(info_p, MEMSPAN_KIND_MANAGED, "closed for the host from a launch to the next synchronise");
    note(info_p, MEMSPAN_KIND_COHERENT, "pages of a memory file, open for host and devices");
    note(info_p, MEMSPAN_KIND_DEVICE, "closed for the host; counted against the capacity");
    return MEMSPAN_OK;
}

static memspan_reach_t reach_device_memory(const struct emu *emu, int home, int from)
{
    if (from == MEMSPAN_HOST) {
        return (memspan_reach_t){MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
    }
    if (from == home) {
        return (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};
    }
    if ((emu->devices[from].reaches & (1u << home)) == 0) {
        return (memspan_reach_t){MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
    }
    return (memspan_reach_t){MEMSPAN_ACCESS_REMOTE, MEMSPAN_COHERENCE_ATOMIC};
}

memspan_reach_t emu_reach(void *state, int home, memspan_kind_t kind, int from)
{
    const struct emu *emu     = state;
    const memspan_reach_t not = {MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
    bool at_home              = (from == home);

    if ((home < 0) || (home >= emu->device_count) ||
        ((from != MEMSPAN_HOST) && ((from < 0) || (from >= emu->device_count)))) {
        return not ;
    }
    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
        return reach_device_memory(emu, home, from);
    case MEMSPAN_KIND_MANAGED:
        return (memspan_reach_t){at_home ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_FAULT,
                                 MEMSPAN_COHERENCE_SYNC};
    case MEMSPAN_KIND_COHERENT:
        return (memspan_reach_t){at_home ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_REMOTE,
                                 MEMSPAN_COHERENCE_ATOMIC};
    case MEMSPAN_KIND_HOST_PINNED:
        return (memspan_reach_t){(from == MEMSPAN_HOST) ? MEMSPAN_ACCESS_LOCAL
                                                        : MEMSPAN_ACCESS_REMOTE,
                                 MEMSPAN_COHERENCE_CONCURRENT};
    default:
        return not ;
    }
}

void emu_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text, size_t size)
{
    const struct emu *emu = state;

    text[0] = '\0';
    if ((home < 0) || (home >= emu->device_count) || (from >= emu->device_count)) {
        return;
    }
    if (from == home) {
        snprintf(text, size, "its own");
    } else if ((kind != MEMSPAN_KIND_DEVICE) || (from < 0)) {
        snprintf(text, size, "%s",
                 (kind == MEMSPAN_KIND_DEVICE) ? "closed for the host; memspan_copy"
                                               : "one memory file");
    } else {
        snprintf(text, size, "MEMSPAN_EMU_PEERS: %s",
                 ((emu->devices[from].reaches & (1u << home)) != 0) ? "reaches it"
                                                                    : "does not reach it");
    }
}

memspan_status_t emu_pointer_describe(void *state, const void *pointer,
                                      memspan_pointer_facts_t *facts_p)
{
    const struct emu *emu         = state;
    const struct emu_block *block = emu_arena_find(emu, pointer);

    if ((block == NULL) || (atomic_load(&block->state) != EMU_BLOCK_LIVE) ||
        ((const char *)pointer >= block->base + block->size_bytes)) {
        return emu_refuse(emu, MEMSPAN_ERR_NOT_FOUND, NULL, "%p is no memory of a device", pointer);
    }
    *facts_p = (memspan_pointer_facts_t){.kind             = block->kind,
                                         .ordinal          = block->home,
                                         .resident_ordinal = block->resident,
                                         .base             = block->base,
                                         .size_bytes       = block->size_bytes};
    return MEMSPAN_OK;
}
