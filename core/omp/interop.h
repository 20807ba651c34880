/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_INTEROP_H
#define MEMSPAN_CORE_OMP_INTEROP_H

/* Interop objects of this library (omp_interop_t). An object is a queue, and its handle the queue's
 * handle: no address, so it is told from a runtime's object by its value, and a stale one is
 * recognised. Every getter and every call of the compiler looks at that first, and passes the
 * others on. */

#include "core/queue.h"

static inline bool msp_interop_is_ours(uintptr_t handle)
{
    return msp_queue_is_handle(handle);
}

/* What calls need of an object. */
struct msp_interop {
    int number; /* of the device, as omp_get_interop_int() returns it */
    bool is_immediate;
    enum msp_queue_interop made;
    memspan_queue_type_t type;
    void *native; /* of that type; NULL for MEMSPAN_QUEUE_OWN */
};

/* False with an error record: a stale handle. */
bool msp_interop_get(uintptr_t handle, struct msp_interop *object_p);

#endif /* MEMSPAN_CORE_OMP_INTEROP_H */
