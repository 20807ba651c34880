/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_SHARE_H
#define MEMSPAN_CORE_SHARE_H

/* Memory of other processes that this one has opened. It is in no pool and not in the pointer map:
 * an address that is not found there is looked up here. */

#include "core/device/device.h"
#include <memspan/share.h>
#include <stdatomic.h>

/* One block of another process. */
struct msp_opened {
    const struct msp_device *device;
    memspan_kind_t kind;
    void *base;
    size_t size_bytes;
};

extern atomic_size_t msp_opened_count;

bool msp_opened_search(const void *address, struct msp_opened *opened_p);

/* The block that holds @p address. One load where nothing is open. */
static inline bool msp_opened_find(const void *address, struct msp_opened *opened_p)
{
    return (atomic_load_explicit(&msp_opened_count, memory_order_relaxed) != 0) &&
           msp_opened_search(address, opened_p);
}

#endif /* MEMSPAN_CORE_SHARE_H */
