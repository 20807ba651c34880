/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c: the kinds of memory that a device offers, the reasons, and the devices that reach them.
 *
 *   device       hipMalloc: coarse-grained, or fine-grained by MEMSPAN_HIP_GRAIN=fine
 *   host-pinned  hipHostMalloc, coherent where the runtime has that flag; or pages of ours that are
 *                registered
 *   managed      hipMallocManaged, advised to be coarse-grained but by MEMSPAN_HIP_GRAIN=fine
 *   coherent     plain host pages where the device reaches all of them; else fine-grained memory of
 *                the device where the host reaches that, or of the host
 *
 * Grain is the concurrency that memory allows. Coarse-grained memory is cached by its user, and
 * writes are seen when a kernel has ended: one side at a time. On fine-grained memory both sides
 * may work at once; atomics between host and device need a link that has them
 * (HostNativeAtomicSupported, which is PCIe atomics on most machines). PCIe carries a device's
 * atomics to the host's memory, and none of the host's to the device's: those take xGMI. */

#include "backends/gpu/common.h"
#include "backends/hip/hip.h"
#include <stdio.h>

/* The kernel lets a process have XNACK on GPUs of generation 9 alone. */
void hip_xnack_words(const struct gpu_device *device, char *text, size_t size)
{
    const struct gpu_facts *f = &device->facts;
    unsigned number           = hip_device(device)->facts.target;
    char target[16];

    hip_target_name(number, target, sizeof(target));
    if (f->pageable) {
        snprintf(text, size, "%s", f->host_page_tables ? "host page tables" : "XNACK on");
    } else if ((number != 0) && (number / 10000 != 9)) {
        snprintf(text, size, "%s has no XNACK", target);
    } else if (!f->managed) {
        snprintf(text, size, "XNACK off: the kernel's amdgpu lacks HMM");
    } else {
        snprintf(text, size, "XNACK off (HSA_XNACK=1 turns it on%s)",
                 (number == 0) ? ", on gfx9" : "");
    }
}

bool hip_managed_is_coarse(const struct gpu_device *device)
{
    return hip_state(device->state)->coarse && (hip_calls(device->state)->hipMemAdvise != NULL);
}

static void offer_managed(struct gpu_device *device)
{
    const struct gpu_facts *f = &device->facts;
    char words[64];

    hip_xnack_words(device, words, sizeof(words));
    if (!f->managed) {
        gpu_offer_kind(&device->info, MEMSPAN_KIND_MANAGED, false, "not offered: %s",
                       (hip_calls(device->state)->hipMallocManaged == NULL)
                           ? "the driver has no hipMallocManaged"
                           : "the driver answers ManagedMemory 0 (it takes Linux's HMM)");
        return;
    }
    gpu_offer_kind(&device->info, MEMSPAN_KIND_MANAGED, true, "hipMallocManaged, %s; %s; %s",
                   hip_managed_is_coarse(device) ? "coarse" : "fine",
                   f->integrated
                       ? "one memory with the host"
                       : (f->pageable ? "pages move by faults" : "pages move by prefetch only"),
                   words);
    if (!f->integrated) {
        device->info.kinds_migratable |= 1u << MEMSPAN_KIND_MANAGED;
    }
}

static void offer_coherent(struct gpu_device *device)
{
    const struct gpu_facts *f = &device->facts;
    char words[64];

    hip_xnack_words(device, words, sizeof(words));
    if (f->pageable) {
        gpu_offer_kind(
            &device->info, MEMSPAN_KIND_COHERENT, true, "host pages%s; %s (PageableMemoryAccess 1)",
            (f->integrated || f->host_page_tables) ? "" : "; they move by faults", words);
        if (!f->integrated) {
            device->info.kinds_migratable |= 1u << MEMSPAN_KIND_COHERENT;
        }
        return;
    }
    if (hip_device(device)->facts.fine_grain && !hip_state(device->state)->host_is_loose) {
        gpu_offer_kind(&device->info, MEMSPAN_KIND_COHERENT, true,
                       "fine-grained, of the device (large BAR) or the host; plain pages: %s",
                       words);
        return;
    }
    gpu_offer_kind(&device->info, MEMSPAN_KIND_COHERENT, false, "not offered: %s; %s", words,
                   hip_state(device->state)->host_is_loose
                       ? "the driver does not support hipHostMallocCoherent"
                       : "no large BAR; host-pinned serves");
}

static void offer_pinned(struct gpu_device *device)
{
    if (hip_state(device->state)->host_is_loose) {
        gpu_offer_kind(&device->info, MEMSPAN_KIND_HOST_PINNED, true,
                       "hipHostMalloc, portable, mapped; one side at a time: the driver does not "
                       "support hipHostMallocCoherent");
        return;
    }
    gpu_offer_kind(&device->info, MEMSPAN_KIND_HOST_PINNED, true,
                   "hipHostMalloc, portable, mapped, coherent; %s",
                   device->facts.host_atomics
                       ? "atomics with the host (HostNativeAtomicSupported 1)"
                       : "no atomics with the host (HostNativeAtomicSupported 0)");
}

void hip_offer(struct gpu_device *device)
{
    bool fine = !hip_state(device->state)->coarse && hip_device(device)->facts.fine_grain;

    gpu_offer_kind(&device->info, MEMSPAN_KIND_DEVICE, true, "%s",
                   fine ? "hipExtMallocWithFlags, fine-grained (MEMSPAN_HIP_GRAIN=fine)"
                        : "hipMalloc, coarse-grained: others see writes after a kernel has ended");
    offer_pinned(device);
    offer_managed(device);
    offer_coherent(device);
}

/* ---- who reaches it ---- */

/* The operations that both sides may do at once on fine-grained memory. */
static memspan_coherence_t fine(const struct gpu_facts *f)
{
    return (f->host_atomics || f->integrated) ? MEMSPAN_COHERENCE_ATOMIC
                                              : MEMSPAN_COHERENCE_CONCURRENT;
}

static memspan_coherence_t pinned(const struct gpu_device *device)
{
    return hip_state(device->state)->host_is_loose ? MEMSPAN_COHERENCE_SYNC : fine(&device->facts);
}

/* The same on coherent memory, which may lie on the device. */
static memspan_coherence_t on_either(const struct gpu_device *device)
{
    const struct gpu_facts *f = &device->facts;

    return (f->pageable || f->integrated || hip_device(device)->facts.host_xgmi)
               ? fine(f)
               : MEMSPAN_COHERENCE_CONCURRENT;
}

static memspan_coherence_t managed(const struct gpu_device *device)
{
    return (device->facts.concurrent && !hip_managed_is_coarse(device)) ? fine(&device->facts)
                                                                        : MEMSPAN_COHERENCE_SYNC;
}

memspan_reach_t hip_reach_host(const struct gpu_device *home, memspan_kind_t kind)
{
    const struct gpu_facts *f = &home->facts;
    bool one                  = f->integrated || f->host_page_tables;

    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
        return (memspan_reach_t){MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
    case MEMSPAN_KIND_MANAGED:
        return (memspan_reach_t){one ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_FAULT, managed(home)};
    case MEMSPAN_KIND_COHERENT:
        if (f->pageable) {
            return (memspan_reach_t){one ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_FAULT, fine(f)};
        }
        return (memspan_reach_t){MEMSPAN_ACCESS_REMOTE, on_either(home)};
    default:
        return (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, pinned(home)};
    }
}

/* A device's reach to memory that is not another device's own. */
memspan_reach_t hip_reach_own(const struct gpu_device *from, memspan_kind_t kind)
{
    const struct gpu_facts *f = &from->facts;
    bool one                  = f->integrated || f->host_page_tables;
    memspan_access_t near     = one ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_REMOTE;

    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
        /* No other side is there: the device's own atomics are all that there is. */
        return (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};
    case MEMSPAN_KIND_MANAGED:
        if (!f->managed) {
            return (memspan_reach_t){MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
        }
        return (memspan_reach_t){(f->pageable && !one) ? MEMSPAN_ACCESS_FAULT : near,
                                 managed(from)};
    case MEMSPAN_KIND_COHERENT:
        return (memspan_reach_t){(f->pageable && !one) ? MEMSPAN_ACCESS_FAULT : near,
                                 on_either(from)};
    default:
        return (memspan_reach_t){near, pinned(from)};
    }
}

/* The memory of another device: coarse-grained, it is read after a kernel has ended. */
static memspan_coherence_t between(const struct gpu_device *home, const struct gpu_device *from)
{
    const struct hip_state *state = hip_state(home->state);

    if (state->coarse || !hip_device(home)->facts.fine_grain) {
        return MEMSPAN_COHERENCE_SYNC;
    }
    return ((state->peer_atomics != NULL) &&
            state->peer_atomics[from->ordinal * state->gpu.device_count + home->ordinal])
               ? MEMSPAN_COHERENCE_ATOMIC
               : MEMSPAN_COHERENCE_CONCURRENT;
}

memspan_reach_t hip_reach_peer(const struct gpu_device *home, memspan_kind_t kind,
                               const struct gpu_device *from)
{
    bool peer              = gpu_peer_can(home->state, from->ordinal, home->ordinal);
    memspan_reach_t copies = {MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};

    if (kind == MEMSPAN_KIND_DEVICE) {
        return peer ? (memspan_reach_t){MEMSPAN_ACCESS_REMOTE, between(home, from)} : copies;
    }
    if ((kind == MEMSPAN_KIND_COHERENT) && home->facts.pageable && !from->facts.pageable) {
        return from->facts.same_address
                   ? (memspan_reach_t){MEMSPAN_ACCESS_REGISTER, MEMSPAN_COHERENCE_NONE}
                   : copies;
    }
    /* It may lie on its device. */
    if ((kind == MEMSPAN_KIND_COHERENT) && !home->facts.pageable && !peer) {
        return copies;
    }
    return (memspan_reach_t){MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
}
