/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c: which kinds of memory a device offers, why, and who reaches them. The driver answers
 * with four bits for each origin of memory: may be used at all, with the device's atomics, by host
 * and device at once, with atomics between them. Nothing is offered that these do not promise.
 *
 *   device       zeMemAllocDevice
 *   host-pinned  zeMemAllocHost
 *   managed      zeMemAllocShared
 *   coherent     zeMemAllocShared, where host and device may use it at once, with atomics */

#include "backends/gpu/common.h"
#include "backends/level_zero/level_zero.h"

enum {
    AT_ONCE = LZ_MEMORY_ACCESS_CAP_FLAG_CONCURRENT,
    ATOMICS = LZ_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC
};

static bool usable(uint32_t access)
{
    return (access & LZ_MEMORY_ACCESS_CAP_FLAG_RW) != 0;
}

static memspan_coherence_t coherence_of(uint32_t access)
{
    if (!usable(access)) {
        return MEMSPAN_COHERENCE_NONE;
    }
    if ((access & AT_ONCE) == 0) {
        return MEMSPAN_COHERENCE_SYNC;
    }
    return ((access & ATOMICS) != 0) ? MEMSPAN_COHERENCE_ATOMIC : MEMSPAN_COHERENCE_CONCURRENT;
}

/* ---- what is offered ---- */

static void offer_shared(struct gpu_device *device)
{
    const struct lz_facts *f = &lz_device(device)->facts;
    bool coherent            = coherence_of(f->shared_access) == MEMSPAN_COHERENCE_ATOMIC;
    unsigned both            = 1u << MEMSPAN_KIND_MANAGED | 1u << MEMSPAN_KIND_COHERENT;

    if (!usable(f->shared_access)) {
        gpu_offer_kind(&device->info, MEMSPAN_KIND_MANAGED, false,
                       "not offered: sharedSingleDeviceAllocCapabilities %#x, no shared memory",
                       f->shared_access);
        gpu_offer_kind(&device->info, MEMSPAN_KIND_COHERENT, false,
                       "not offered: there is no shared memory");
        return;
    }
    gpu_offer_kind(&device->info, MEMSPAN_KIND_MANAGED, true,
                   ((f->shared_access & AT_ONCE) != 0)
                       ? "zeMemAllocShared; host and device at once"
                       : "zeMemAllocShared; no host access before the device is synchronised "
                         "(no CONCURRENT)");
    gpu_offer_kind(
        &device->info, MEMSPAN_KIND_COHERENT, coherent,
        coherent ? "zeMemAllocShared (CONCURRENT_ATOMIC)"
                 : "not offered: shared memory has no %s (sharedSingleDeviceAllocCapabilities "
                   "%#x)",
        ((f->shared_access & AT_ONCE) != 0) ? "CONCURRENT_ATOMIC" : "CONCURRENT", f->shared_access);
    if (!device->facts.integrated) {
        device->info.kinds_migratable |= device->info.kinds & both;
    }
}

/* Intel's drivers report less than their hardware does. */
static const char *pinned_words(const struct lz_facts *f)
{
    switch (coherence_of(f->host_access)) {
    case MEMSPAN_COHERENCE_ATOMIC:
        return "zeMemAllocHost; atomics with the host";
    case MEMSPAN_COHERENCE_CONCURRENT:
        return "zeMemAllocHost; no atomics with the host";
    case MEMSPAN_COHERENCE_SYNC:
        return "zeMemAllocHost; one side at a time: no CONCURRENT; "
               "MEMSPAN_LEVEL_ZERO_PINNED=concurrent overrides";
    default:
        return "not offered: no RW";
    }
}

void lz_offer(struct gpu_device *device)
{
    const struct lz_facts *f = &lz_device(device)->facts;
    bool own                 = usable(f->device_access);
    bool host                = usable(f->host_access);
    const char *pinned       = pinned_words(f);

    gpu_offer_kind(&device->info, MEMSPAN_KIND_DEVICE, own,
                   own ? "zeMemAllocDevice" : "not offered: deviceAllocCapabilities %#x",
                   f->device_access);
    gpu_offer_kind(&device->info, MEMSPAN_KIND_HOST_PINNED, host,
                   "%s (hostAllocCapabilities %#x%s)", pinned, f->host_access,
                   f->host_claimed ? " by MEMSPAN_LEVEL_ZERO_PINNED" : "");
    offer_shared(device);
}

/* ---- who reaches it ---- */

memspan_reach_t lz_reach_host(const struct gpu_device *device, memspan_kind_t kind)
{
    const struct lz_facts *home = &lz_device(device)->facts;
    bool integrated             = device->facts.integrated;

    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
        return (memspan_reach_t){MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
    case MEMSPAN_KIND_HOST_PINNED:
        return (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, coherence_of(home->host_access)};
    default:
        return (memspan_reach_t){integrated ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_FAULT,
                                 coherence_of(home->shared_access)};
    }
}

memspan_reach_t lz_reach_own(const struct gpu_device *device, memspan_kind_t kind)
{
    const struct lz_facts *own = &lz_device(device)->facts;
    bool integrated            = device->facts.integrated;

    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
        /* No other side is there: the device's own atomics are all that there is. */
        return (memspan_reach_t){MEMSPAN_ACCESS_LOCAL,
                                 ((own->device_access & LZ_MEMORY_ACCESS_CAP_FLAG_ATOMIC) != 0)
                                     ? MEMSPAN_COHERENCE_ATOMIC
                                     : MEMSPAN_COHERENCE_CONCURRENT};
    case MEMSPAN_KIND_HOST_PINNED:
        return (memspan_reach_t){integrated ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_REMOTE,
                                 coherence_of(own->host_access)};
    default:
        return (memspan_reach_t){integrated ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_FAULT,
                                 coherence_of(own->shared_access)};
    }
}

memspan_reach_t lz_reach_peer(const struct gpu_device *home, memspan_kind_t kind,
                              const struct gpu_device *from)
{
    const struct lz_facts *theirs = &lz_device(from)->facts;
    const struct lz_facts *own    = &lz_device(home)->facts;
    memspan_reach_t copy          = {MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};

    if (lz_device(from)->driver != lz_device(home)->driver) {
        return copy;
    }
    if (kind == MEMSPAN_KIND_DEVICE) {
        return gpu_peer_can(home->state, from->ordinal, home->ordinal)
                   ? (memspan_reach_t){MEMSPAN_ACCESS_REMOTE, lz_peer_atomics(from, home)
                                                                  ? MEMSPAN_COHERENCE_ATOMIC
                                                                  : MEMSPAN_COHERENCE_CONCURRENT}
                   : copy;
    }
    if (kind == MEMSPAN_KIND_HOST_PINNED) {
        uint32_t access = theirs->host_access & own->host_access;
        return usable(access) ? (memspan_reach_t){from->facts.integrated ? MEMSPAN_ACCESS_LOCAL
                                                                         : MEMSPAN_ACCESS_REMOTE,
                                                  coherence_of(access)}
                              : copy;
    }
    return usable(theirs->cross_access)
               ? (memspan_reach_t){MEMSPAN_ACCESS_FAULT,
                                   coherence_of(theirs->cross_access & own->shared_access)}
               : copy;
}
