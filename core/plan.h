/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_PLAN_H
#define MEMSPAN_CORE_PLAN_H

/* From a space and traits to the provider that serves them: the ladder. */

#include "core/provider.h"
#include "core/trait.h"

/* What will be given, and why. */
struct memspan_plan {
    const struct memspan_space *space;
    struct memspan_provider *provider; /* NULL until memspan_plan_provide() */
    struct memspan_provider_spec spec; /* nodes and importers point into the arrays below */
    memspan_kind_t kind_asked;
    memspan_kind_t kind_given;
    const struct memspan_device *resident;
    size_t
        blocked_bytes; /* from here on a block is spread over all nodes by itself; else SIZE_MAX */
    bool exact;
    bool serves; /* exact, or a stronger kind of memory that keeps all that was asked for */
    bool migratable;
    char why[512];
    int *nodes;
    const struct memspan_device **importers;
};

/* Choose. Opens the drivers of the devices that the space names, no others; takes no memory.
 * Errors as memspan_allocator_create(). The plan is released by memspan_plan_clear(). */
memspan_status_t memspan_plan_make(const struct memspan_space *space,
                                   const struct memspan_traits *traits,
                                   struct memspan_plan *plan_p);

/* Log, unless MEMSPAN_FALLBACK=quiet, what the plan gives other than asked. For allocators that are
 * made, not for questions. */
void memspan_plan_report(const struct memspan_plan *plan);

/* Find or make the plan's provider. */
memspan_status_t memspan_plan_provide(struct memspan_plan *plan);

/* The provider for a block that the calling thread asks for now: the plan's own, or with
 * partition=nearest the one of the node nearest to the thread. NULL with an error recorded. */
struct memspan_provider *memspan_plan_provider_here(const struct memspan_plan *plan);

void memspan_plan_clear(struct memspan_plan *plan);

/* True when the space and traits need nothing beyond ordinary host memory, so that no topology has
 * to be read and no device opened to serve them. */
bool memspan_plan_is_plain(const struct memspan_space *space, const struct memspan_traits *traits);

/* The plan of ordinary host memory. */
memspan_status_t memspan_plan_make_plain(const struct memspan_space *space,
                                         struct memspan_plan *plan_p);

#endif /* MEMSPAN_CORE_PLAN_H */
