/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.c: the kinds of memory that a device offers, the reasons, and the devices that reach them.
 *
 *   device       coarse-grain SVM that the host never maps; of a processor fine-grain SVM
 *   managed      coarse-grain SVM, mapped for the host or unmapped for the devices
 *   coherent     fine-grain SVM
 *   host-pinned  fine-grain SVM; else plain host pages, where the device takes them as they are
 */

#include "backends/gpu/common.h"
#include "backends/opencl/opencl.h"
#include <string.h>

bool opencl_may_import(const struct opencl_device *device)
{
    if ((device->svm & OPENCL_SVM_SYSTEM) != 0) {
        return true;
    }
    return device->unified && device->has_compiler && (device->same != OPENCL_SAME_NO);
}

bool opencl_pins_host_pages(const struct opencl_device *device)
{
    return ((device->svm & OPENCL_SVM_FINE) == 0) && opencl_may_import(device);
}

bool opencl_device_is_fine(const struct opencl_device *device)
{
    return device->processor && ((device->svm & OPENCL_SVM_FINE) != 0) &&
           (device->platform->device_count == 1);
}

/* Why a sort of SVM is not in use. */
static const char *missing(const struct opencl_device *device, unsigned what)
{
    return ((device->svm_has & what) != 0) ? "MEMSPAN_OPENCL_SVM leaves it out"
                                           : "the device has none";
}

static void offer_coarse(struct opencl_device *device)
{
    bool coarse = (device->svm & OPENCL_SVM_COARSE) != 0;
    bool fine   = (device->svm & OPENCL_SVM_FINE) != 0;

    if (!coarse) {
        const char *why = missing(device, OPENCL_SVM_COARSE);
        gpu_offer_kind(&device->info, MEMSPAN_KIND_DEVICE, false,
                       "not offered: needs coarse-grain SVM for real addresses, and %s", why);
        gpu_offer_kind(&device->info, MEMSPAN_KIND_MANAGED, false,
                       "not offered: needs coarse-grain SVM, and %s", why);
        return;
    }
    gpu_offer_kind(&device->info, MEMSPAN_KIND_DEVICE, true, "%s",
                   opencl_device_is_fine(device)
                       ? "fine-grain SVM, which the host copies as its own"
                       : "coarse-grain SVM that the host never maps");
    gpu_offer_kind(&device->info, MEMSPAN_KIND_MANAGED, true,
                   "coarse-grain SVM, mapped for the host%s",
                   (device->unified && fine)
                       ? "; no gain: the memory is the host's, and fine-grain SVM needs no mapping"
                       : " and unmapped for the devices");
    if (device->unified && fine) {
        device->info.kinds_without_gain |= 1u << MEMSPAN_KIND_MANAGED;
    }
}

static void offer_fine(struct opencl_device *device)
{
    if ((device->svm & OPENCL_SVM_FINE) != 0) {
        bool atomics = (device->svm & OPENCL_SVM_ATOMICS) != 0;
        gpu_offer_kind(&device->info, MEMSPAN_KIND_COHERENT, true, "fine-grain SVM, %s",
                       atomics ? "atomics between host and device"
                               : "no atomics between host and device");
        gpu_offer_kind(
            &device->info, MEMSPAN_KIND_HOST_PINNED, true,
            "fine-grain SVM: one address for host and device; locked where the limit allows");
        return;
    }
    gpu_offer_kind(&device->info, MEMSPAN_KIND_COHERENT, false,
                   "not offered: needs fine-grain SVM, and %s", missing(device, OPENCL_SVM_FINE));
    if ((device->svm & OPENCL_SVM_SYSTEM) != 0) {
        gpu_offer_kind(&device->info, MEMSPAN_KIND_HOST_PINNED, true,
                       "host pages: the device reaches all host memory (fine-grain system SVM)");
    } else if (opencl_may_import(device)) {
        gpu_offer_kind(
            &device->info, MEMSPAN_KIND_HOST_PINNED, true,
            "host pages as a USE_HOST_PTR buffer; a kernel confirms the address each time");
    } else {
        gpu_offer_kind(&device->info, MEMSPAN_KIND_HOST_PINNED, false, "not offered: %s",
                       (device->same == OPENCL_SAME_NO)
                           ? "its kernels see host pages at another address"
                           : (device->unified
                                  ? "no compiler for the kernel that confirms addresses"
                                  : "its memory is apart and there is no fine-grain SVM"));
    }
}

void opencl_device_fill_kinds(struct opencl_device *device)
{
    memspan_device_info_t *info = &device->info;

    info->kinds              = 0;
    info->kinds_without_gain = 0;
    gpu_offer_kind(&device->info, MEMSPAN_KIND_NONE, false, "%s", "");
    gpu_offer_kind(&device->info, MEMSPAN_KIND_HOST, false,
                   "not offered: the host's own backend has it");
    offer_coarse(device);
    offer_fine(device);
    opencl_device_fill_capabilities(device);
    info->kinds_migratable = device->unified ? 0 : (info->kinds & (1u << MEMSPAN_KIND_MANAGED));
    atomic_store(&device->kinds, info->kinds);
}

static memspan_coherence_t coherence_of(const struct opencl_device *device, memspan_kind_t kind)
{
    switch (kind) {
    case MEMSPAN_KIND_COHERENT:
        break;
    case MEMSPAN_KIND_HOST_PINNED:
        /* A USE_HOST_PTR buffer promises nothing while a kernel runs. */
        if ((device->svm & (OPENCL_SVM_FINE | OPENCL_SVM_SYSTEM)) == 0) {
            return MEMSPAN_COHERENCE_SYNC;
        }
        break;
    default:
        return MEMSPAN_COHERENCE_SYNC;
    }
    return ((device->svm & OPENCL_SVM_ATOMICS) != 0) ? MEMSPAN_COHERENCE_ATOMIC
                                                     : MEMSPAN_COHERENCE_CONCURRENT;
}

static memspan_access_t access_of(const struct opencl_device *home, memspan_kind_t kind,
                                  const struct opencl_device *from)
{
    bool host = (from == NULL);

    if (host && (kind == MEMSPAN_KIND_DEVICE)) {
        return MEMSPAN_ACCESS_COPY;
    }
    if (home->unified && (host || from->unified)) {
        return MEMSPAN_ACCESS_LOCAL;
    }
    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
        return (from == home) ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_REMOTE;
    case MEMSPAN_KIND_MANAGED:
        /* It moves as a whole when it is handed over, not by faults: its holder has it here.
         */
        return MEMSPAN_ACCESS_LOCAL;
    case MEMSPAN_KIND_HOST_PINNED:
        return host ? MEMSPAN_ACCESS_LOCAL : MEMSPAN_ACCESS_REMOTE;
    default: /* OpenCL does not report on which side coherent memory is */
        return MEMSPAN_ACCESS_REMOTE;
    }
}

/* Can another device of the same context use it at all? */
static bool shares(const struct opencl_device *from, memspan_kind_t kind)
{
    switch (kind) {
    case MEMSPAN_KIND_DEVICE:
    case MEMSPAN_KIND_MANAGED:
        return (from->svm & OPENCL_SVM_COARSE) != 0;
    case MEMSPAN_KIND_COHERENT:
        return (from->svm & OPENCL_SVM_FINE) != 0;
    default:
        return ((from->svm & (OPENCL_SVM_FINE | OPENCL_SVM_SYSTEM)) != 0);
    }
}

memspan_reach_t opencl_reach(void *opaque, int home_ordinal, memspan_kind_t kind, int from_ordinal)
{
    const struct opencl_state *state = opaque;
    memspan_reach_t reach            = {MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
    const struct opencl_device *home;
    const struct opencl_device *from = NULL;

    if ((home_ordinal < 0) || (home_ordinal >= state->device_count) ||
        (from_ordinal >= state->device_count)) {
        return reach;
    }
    home = state->devices[home_ordinal];
    if ((kind <= MEMSPAN_KIND_NONE) || (kind >= MEMSPAN_KIND_COUNT) ||
        ((atomic_load(&home->kinds) & (1u << kind)) == 0)) {
        return reach;
    }
    if (from_ordinal >= 0) {
        from = state->devices[from_ordinal];
        if ((from->platform != home->platform) || ((from != home) && !shares(from, kind))) {
            bool pages = home->unified && (kind != MEMSPAN_KIND_DEVICE) && opencl_may_import(from);
            reach.access = pages ? MEMSPAN_ACCESS_REGISTER : MEMSPAN_ACCESS_COPY;
            return reach;
        }
    }
    reach.access = access_of(home, kind, from);
    if (reach.access == MEMSPAN_ACCESS_COPY) {
        return reach;
    }
    reach.coherence = coherence_of(home, kind);
    if ((from != NULL) && (from != home) && (coherence_of(from, kind) < reach.coherence)) {
        reach.coherence = coherence_of(from, kind);
    }
    if ((from == home) && (kind == MEMSPAN_KIND_DEVICE)) {
        /* No other side is there: the device's own atomics are all that there is. */
        reach.coherence = MEMSPAN_COHERENCE_ATOMIC;
    }
    return reach;
}
