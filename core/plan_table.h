/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_PLAN_TABLE_H
#define MEMSPAN_CORE_PLAN_TABLE_H

/* Plans of allocators. Equal ones are one, so that a hundred thousand allocators of a kind have one
 * plan; they are never freed, so that a thread that has seen one may look at it. All calls are made
 * under the lock of the table of allocators. */

#include "core/plan.h"

/* The plan of plain host memory for a space (msp_plan_is_plain()), if it was made; NULL. */
struct msp_plan *msp_plan_table_find(const struct msp_space *space);

/* The same, made for the first time; NULL with an error. */
struct msp_plan *msp_plan_table_plain(const struct msp_space *space);

/* The plan in the table that equals @p plan, which is used up; NULL with an error. */
struct msp_plan *msp_plan_table_enter(struct msp_plan *plan);

#endif /* MEMSPAN_CORE_PLAN_TABLE_H */
