/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEVICE_SPACE_H
#define MEMSPAN_CORE_DEVICE_SPACE_H

/* Memory spaces, interned: made once, never freed, never changed. */

#include "core/device/device.h"
#include "core/topology/topology.h"
#include <memspan/space.h>

/* One physical place and the kind of memory it serves. */
struct msp_resource {
    const struct msp_device *home;
    memspan_kind_t kind;
    int node;      /* operating-system number for host memory; -1: any */
    bool imported; /* host pages that every listed device imports at one address */
};

struct msp_space {
    memspan_space_h handle; /* omp_get_target_memspace() answers its address */
    enum msp_base_hint hint;
    bool target;  /* made for a list of devices */
    bool host;    /* the host must reach it */
    bool partial; /* a sub-space: some of a space's resources */
    bool alias;   /* it takes what the default space takes: serves a hint, never a guarantee */
    int *devices; /* ascending numbers, the host not among them */
    size_t device_count;
    struct msp_resource *resources;
    size_t resource_count;
    char name[64];
    char note[160];
};

/* The space of a handle, 0 and 99 both the default one; NULL (no error recorded) for any value that
 * names none. Resources of host spaces may not have been looked for yet. */
const struct msp_space *msp_space_find(memspan_space_h handle);

/* The same, with its resources; NULL with an error recorded. Reads the topology for host spaces. */
const struct msp_space *msp_space_resolve(memspan_space_h handle);

/* The predefined space of a hint. */
memspan_space_h msp_space_of_hint(enum msp_base_hint hint);

/* Where managed memory that is moved to the space goes: a device's number, or MEMSPAN_HOST. */
static inline int msp_space_residence(const struct msp_space *space)
{
    return (space->device_count > 0) ? space->devices[0] : MEMSPAN_HOST;
}

/* "opencl0.coherent", "node0" */
const char *msp_resource_label(const struct msp_resource *resource, char *buffer, size_t size);

/* How a device reaches a resource; imported pages as their importer sees them. */
memspan_reach_t msp_resource_reach(const struct msp_resource *resource,
                                   const struct msp_device *from);

/* Memory of @p kind at @p home will be taken for the space: let its other devices reach it from now
 * on. Drivers that give access only to devices in use need their list. */
memspan_status_t msp_space_connect(const struct msp_space *space, const struct msp_device *home,
                                   memspan_kind_t kind);

#endif /* MEMSPAN_CORE_DEVICE_SPACE_H */
