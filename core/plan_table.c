/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_table.c: equal plans are one. There are as many as different requests, which are few, so a
 * list is enough; the most requested one comes to its front. */

#include "core/base/error.h"
#include "core/plan.h"
#include <stdlib.h>
#include <string.h>

struct entry {
    struct msp_plan plan;
    bool plain;
    struct entry *next;
};

static struct entry *entries;

static struct msp_plan *add(const struct msp_plan *plan, bool plain)
{
    struct entry *e = calloc(1, sizeof(*e));

    if (e == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a plan");
        return NULL;
    }
    e->plan  = *plan;
    e->plain = plain;
    e->next  = entries;
    entries  = e;
    return &e->plan;
}

static struct msp_plan *use(struct entry **link)
{
    struct entry *e = *link;

    *link   = e->next;
    e->next = entries;
    entries = e;
    return &e->plan;
}

void msp_plan_clear(struct msp_plan *plan)
{
    free(plan->nodes);
    free(plan->importers);
    plan->nodes     = NULL;
    plan->importers = NULL;
}

struct msp_plan *msp_plan_table_find(const struct msp_space *space)
{
    struct entry **link;

    for (link = &entries; *link != NULL; link = &(*link)->next) {
        if ((*link)->plain && ((*link)->plan.space == space)) {
            return use(link);
        }
    }
    return NULL;
}

struct msp_plan *msp_plan_table_plain(const struct msp_space *space)
{
    struct msp_plan plan;

    return (msp_plan_make_plain(space, &plan) == MEMSPAN_OK) ? add(&plan, true) : NULL;
}

static bool equal(const struct msp_plan *a, const struct msp_plan *b)
{
    return (a->space == b->space) && (a->kind_asked == b->kind_asked) &&
           (a->kind_given == b->kind_given) && (a->resident == b->resident) &&
           (a->blocked_bytes == b->blocked_bytes) && (a->exact == b->exact) &&
           (a->serves == b->serves) && (a->warns == b->warns) && (a->migratable == b->migratable) &&
           msp_provider_spec_equal(&a->spec, &b->spec) && (strcmp(a->why, b->why) == 0);
}

struct msp_plan *msp_plan_table_enter(struct msp_plan *plan)
{
    struct msp_plan *entered;
    struct entry **link;

    for (link = &entries; *link != NULL; link = &(*link)->next) {
        if (!(*link)->plain && equal(&(*link)->plan, plan)) {
            entered = use(link);
            msp_plan_clear(plan);
            return entered;
        }
    }
    entered = add(plan, false);
    if (entered == NULL) {
        msp_plan_clear(plan);
    }
    return entered;
}
