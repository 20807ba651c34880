/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c: which kinds of memory a device offers, why, and who reaches them.
 *
 *   device       cuMemAlloc, or mapped by ourselves where it is to be shared
 *   host-pinned  cuMemHostAlloc, or pages of ours that are registered
 *   managed      cuMemAllocManaged
 *   coherent     plain host pages, where the device reaches all of them
 *
 * A promise of atomics between host and device follows what the driver's documentation gives for
 * the widest scope: managed memory with concurrent access, any memory with pageable access, mapped
 * memory with native host atomics. */

#include "backends/cuda/cuda.h"
#include "core/base/driver.h"

static void offer_managed(struct cuda_device *device)
{
    const struct cuda_facts *f = &device->facts;

    if (!f->managed) {
        msp_driver_offer(&device->info, MEMSPAN_KIND_MANAGED, false, "not offered: %s",
                         (device->state->cu.cuMemAllocManaged == NULL)
                             ? "the driver has no cuMemAllocManaged"
                             : "the driver answers MANAGED_MEMORY 0");
        return;
    }
    msp_driver_offer(&device->info, MEMSPAN_KIND_MANAGED, true,
                     f->concurrent
                         ? "cuMemAllocManaged; pages move by faults, host and device at once"
                         : "cuMemAllocManaged; CONCURRENT_MANAGED_ACCESS 0: no host access before "
                           "the device is synchronised");
    if (!f->integrated) {
        device->info.kinds_migratable |= 1u << MEMSPAN_KIND_MANAGED;
    }
}

static void offer_coherent(struct cuda_device *device)
{
    const struct cuda_facts *f = &device->facts;

    if (!f->pageable) {
        msp_driver_offer(
            &device->info, MEMSPAN_KIND_COHERENT, false,
            "not offered: PAGEABLE_MEMORY_ACCESS 0 (open kernel modules on a kernel with HMM, "
            "or Grace, have it)");
        return;
    }
    msp_driver_offer(&device->info, MEMSPAN_KIND_COHERENT, true,
                     f->host_page_tables
                         ? "host pages, by the host's page tables (PAGEABLE_MEMORY_ACCESS 1)"
                         : "host pages; they move by faults (PAGEABLE_MEMORY_ACCESS 1, HMM)");
    if (!f->integrated) {
        device->info.kinds_migratable |= 1u << MEMSPAN_KIND_COHERENT;
    }
}

void cuda_device_fill_kinds(struct cuda_device *device)
{
    const struct cuda_facts *f = &device->facts;

    cuda_device_fill_capabilities(device);
    msp_driver_offer(&device->info, MEMSPAN_KIND_NONE, false, "%s", "");
    msp_driver_offer(&device->info, MEMSPAN_KIND_HOST, false,
                     "not offered: the host's own backend has it");
    if (!f->unified_addressing) {
        int kind;
        for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
            msp_driver_offer(
                &device->info, (memspan_kind_t)kind, false,
                "not offered: UNIFIED_ADDRESSING 0, an address would mean something else");
        }
        return;
    }
    msp_driver_offer(&device->info, MEMSPAN_KIND_DEVICE, true, "cuMemAlloc%s",
                     (f->shares_fd || f->shares_fabric) ? "; cuMemCreate where it is to be shared"
                                                        : "");
    msp_driver_offer(&device->info, MEMSPAN_KIND_HOST_PINNED, true,
                     "cuMemHostAlloc, portable and mapped; %s",
                     f->host_atomics ? "atomics with the host (HOST_NATIVE_ATOMIC_SUPPORTED 1)"
                                     : "no atomics with the host (HOST_NATIVE_ATOMIC_SUPPORTED 0)");
    offer_managed(device);
    offer_coherent(device);
}

/* ---- who reaches it ---- */

static memspan_reach_t reach_of_host(const struct cuda_facts *home, memspan_kind_t kind)
{
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
static memspan_reach_t reach_of_device(const struct cuda_facts *from, memspan_kind_t kind)
{
    memspan_access_t near = from->integrated ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_REMOTE;

    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
        /* Nobody else is there: the device's own atomics are all that there is. */
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

static memspan_reach_t reach_of_peer(const struct cuda_state *state, int home, memspan_kind_t kind,
                                     int from)
{
    memspan_reach_t theirs = reach_of_device(&state->devices[from].facts, kind);
    memspan_reach_t own    = reach_of_device(&state->devices[home].facts, kind);
    enum cuda_peer peer    = cuda_peer_get(state, from, home);

    if (kind == MEMSPAN_KIND_DEVICE) {
        if ((peer == CUDA_PEER_MAY) || (peer == CUDA_PEER_ENABLED)) {
            return (memspan_reach_t){MEMSPAN_ACCESS_REMOTE, MEMSPAN_COHERENCE_CONCURRENT};
        }
        return (memspan_reach_t){MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
    }
    if (own.coherence < theirs.coherence) {
        theirs.coherence = own.coherence;
    }
    return theirs;
}

memspan_reach_t cuda_reach(void *opaque, int home, memspan_kind_t kind, int from)
{
    const struct cuda_state *state = opaque;
    memspan_reach_t none           = {MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};

    if ((home < 0) || (home >= state->device_count) || (from >= state->device_count) ||
        (kind <= MEMSPAN_KIND_NONE) || (kind >= MEMSPAN_KIND_COUNT) ||
        ((state->devices[home].info.kinds & (1u << kind)) == 0)) {
        return none;
    }
    if (from < 0) {
        return reach_of_host(&state->devices[home].facts, kind);
    }
    if (!state->devices[from].facts.unified_addressing) {
        return none;
    }
    return (from == home) ? reach_of_device(&state->devices[home].facts, kind)
                          : reach_of_peer(state, home, kind, from);
}
