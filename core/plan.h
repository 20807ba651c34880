/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_PLAN_H
#define MEMSPAN_CORE_PLAN_H

#include "core/trait.h"

/* From a space and traits to the provider that serves them: the ladder. */

/* Choose. Opens the drivers of the devices that the space names, no others; takes no memory.
 * Errors as memspan_allocator_create(). The plan is released by msp_plan_clear(). */
memspan_status_t msp_plan_make(const struct msp_space *space, const struct msp_traits *traits,
                               struct msp_plan *plan_p);

/* Log, unless MEMSPAN_FALLBACK=quiet, the plan's deviations from the request. For allocators that
 * are made, not for questions. */
void msp_plan_report(const struct msp_plan *plan);

/* Find or make the plan's provider. */
memspan_status_t msp_plan_provide(struct msp_plan *plan);

/* The provider for a block that the calling thread requests now: the plan's own, or with
 * partition=nearest the one of the node nearest to the thread. NULL with an error recorded. */
struct msp_provider *msp_plan_provider_here(const struct msp_plan *plan);

void msp_plan_clear(struct msp_plan *plan);

/* True when the space and traits need nothing beyond ordinary host memory, so that no topology has
 * to be read and no device opened to serve them. */
bool msp_plan_is_plain(const struct msp_space *space, const struct msp_traits *traits);

/* The plan of ordinary host memory. */
memspan_status_t msp_plan_make_plain(const struct msp_space *space, struct msp_plan *plan_p);

/* ---- the table ---- */

/* Plans of allocators. Equal ones are one, so that a hundred thousand allocators of a kind have one
 * plan; they are never freed, so that a thread that has seen one may look at it. All calls are made
 * under the lock of the table of allocators. */

/* The plan of plain host memory for a space (msp_plan_is_plain()), if it was made; NULL. */
struct msp_plan *msp_plan_table_find(const struct msp_space *space);

/* The same, made for the first time; NULL with an error. */
struct msp_plan *msp_plan_table_plain(const struct msp_space *space);

/* The plan in the table that equals @p plan, which is used up; NULL with an error. */
struct msp_plan *msp_plan_table_enter(struct msp_plan *plan);

#endif /* MEMSPAN_CORE_PLAN_H */
