/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c: the kinds of memory that a device offers, the reasons, and the devices that reach them.
 *
 *   device       cuMemAlloc, or mapped by ourselves where it is to be shared
 *   host-pinned  cuMemHostAlloc, or pages of ours that are registered
 *   managed      cuMemAllocManaged
 *   coherent     plain host pages, where the device reaches all of them
 *
 * A promise of atomics between host and device follows the driver's documentation for the widest
 * scope: managed memory with concurrent access, any memory with pageable access, mapped memory with
 * native host atomics. */

#include "backends/cuda/cuda.h"
#include "backends/gpu/common.h"

static void offer_managed(struct gpu_device *device)
{
    const struct gpu_facts *f = &device->facts;

    if (!f->managed) {
        gpu_offer_kind(&device->info, MEMSPAN_KIND_MANAGED, false, "not offered: %s",
                       (cuda_calls(device->state)->cuMemAllocManaged == NULL)
                           ? "the driver has no cuMemAllocManaged"
                           : "the driver answers MANAGED_MEMORY 0");
        return;
    }
    gpu_offer_kind(&device->info, MEMSPAN_KIND_MANAGED, true,
                   f->concurrent
                       ? "cuMemAllocManaged; pages move by faults, host and device at once"
                       : "cuMemAllocManaged; CONCURRENT_MANAGED_ACCESS 0: no host access before "
                         "the device is synchronised");
    if (!f->integrated) {
        device->info.kinds_migratable |= 1u << MEMSPAN_KIND_MANAGED;
    }
}

static void offer_coherent(struct gpu_device *device)
{
    const struct gpu_facts *f = &device->facts;

    if (!f->pageable) {
        gpu_offer_kind(
            &device->info, MEMSPAN_KIND_COHERENT, false,
            "not offered: PAGEABLE_MEMORY_ACCESS 0 (open kernel modules on a kernel with HMM, "
            "or Grace, have it)");
        return;
    }
    gpu_offer_kind(&device->info, MEMSPAN_KIND_COHERENT, true,
                   f->host_page_tables
                       ? "host pages, by the host's page tables (PAGEABLE_MEMORY_ACCESS 1)"
                       : "host pages; they move by faults (PAGEABLE_MEMORY_ACCESS 1, HMM)");
    if (!f->integrated) {
        device->info.kinds_migratable |= 1u << MEMSPAN_KIND_COHERENT;
    }
}

void cuda_offer(struct gpu_device *device)
{
    const struct cuda_facts *own = &cuda_device(device)->facts;

    gpu_offer_kind(&device->info, MEMSPAN_KIND_DEVICE, true, "cuMemAlloc%s",
                   (own->shares_fd || own->shares_fabric) ? "; cuMemCreate where it is to be shared"
                                                          : "");
    gpu_offer_kind(
        &device->info, MEMSPAN_KIND_HOST_PINNED, true, "cuMemHostAlloc, portable and mapped; %s",
        device->facts.host_atomics ? "atomics with the host (HOST_NATIVE_ATOMIC_SUPPORTED 1)"
                                   : "no atomics with the host (HOST_NATIVE_ATOMIC_SUPPORTED 0)");
    offer_managed(device);
    offer_coherent(device);
}

/* ---- who reaches it ---- */

memspan_reach_t cuda_reach_host(const struct gpu_device *device, memspan_kind_t kind)
{
    const struct gpu_facts *home = &device->facts;

    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
        return (memspan_reach_t){MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
    case MEMSPAN_KIND_MANAGED:
        return (memspan_reach_t){home->integrated ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_FAULT,
                                 home->concurrent ? MEMSPAN_COHERENCE_ATOMIC
                                                  : MEMSPAN_COHERENCE_SYNC};
    case MEMSPAN_KIND_COHERENT:
        return (memspan_reach_t){home->host_page_tables ? MEMSPAN_ACCESS_LOCAL
                                                        : MEMSPAN_ACCESS_FAULT,
                                 MEMSPAN_COHERENCE_ATOMIC};
    default:
        return (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, home->host_atomics
                                                           ? MEMSPAN_COHERENCE_ATOMIC
                                                           : MEMSPAN_COHERENCE_CONCURRENT};
    }
}

/* A device's reach to memory that is not another device's own. */
memspan_reach_t cuda_reach_own(const struct gpu_device *device, memspan_kind_t kind)
{
    const struct gpu_facts *from = &device->facts;
    memspan_access_t near        = from->integrated ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_REMOTE;

    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
        /* No other side is there: the device's own atomics are all that there is. */
        return (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};
    case MEMSPAN_KIND_MANAGED:
        if (from->concurrent) {
            return (memspan_reach_t){MEMSPAN_ACCESS_FAULT, MEMSPAN_COHERENCE_ATOMIC};
        }
        /* All of it is moved before a kernel starts. */
        return (memspan_reach_t){from->managed ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_COPY,
                                 from->managed ? MEMSPAN_COHERENCE_SYNC : MEMSPAN_COHERENCE_NONE};
    case MEMSPAN_KIND_COHERENT:
        if (from->pageable) {
            return (memspan_reach_t){from->host_page_tables ? near : MEMSPAN_ACCESS_FAULT,
                                     MEMSPAN_COHERENCE_ATOMIC};
        }
        return (memspan_reach_t){from->same_address ? MEMSPAN_ACCESS_REGISTER : MEMSPAN_ACCESS_COPY,
                                 MEMSPAN_COHERENCE_NONE};
    default:
        return (memspan_reach_t){near, from->host_atomics ? MEMSPAN_COHERENCE_ATOMIC
                                                          : MEMSPAN_COHERENCE_CONCURRENT};
    }
}

memspan_reach_t cuda_reach_peer(const struct gpu_device *home, memspan_kind_t kind,
                                const struct gpu_device *from)
{
    if (kind != MEMSPAN_KIND_DEVICE) {
        return (memspan_reach_t){MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
    }
    return gpu_peer_can(home->state, from->ordinal, home->ordinal)
               ? (memspan_reach_t){MEMSPAN_ACCESS_REMOTE, MEMSPAN_COHERENCE_CONCURRENT}
               : (memspan_reach_t){MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
}
