/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_CONTEXT_H
#define MEMSPAN_SHMEM_CONTEXT_H

/* Communication contexts: streams of operations, each ordered and completed by itself.
 *
 * A handle is a number, index | generation << 12, never an address: index 0 is no context, 1 the
 * default one. Operations on mapped memory are complete when they return: there a context only
 * translates PE numbers. Transports keep queues by its index. */

#include "shmem/team.h"

enum {
    MSP_CONTEXT_MAX        = 4096,
    MSP_CONTEXT_INDEX_MASK = MSP_CONTEXT_MAX - 1,
    MSP_CONTEXT_SHIFT      = 12,
    MSP_CONTEXT_DEFAULT    = 1,
    MSP_CONTEXT_INTERNAL   = 2, /* the library's own: it has no PEs for programs */
    MSP_CONTEXT_CALL       = 3, /* of calls of handlers, whichever context they name */
    MSP_CONTEXT_FIRST      = 4, /* of those that programs create */
};

struct msp_context {
    int start; /* its PE i is PE start + i * stride of the world */
    int stride;
    int size; /* 0 where its team has a table (members.h) */
    int team; /* index of the team it belongs to, which lives as long as it */
    long options;
    unsigned generation;
    bool is_live;
};

extern struct msp_context msp_contexts[MSP_CONTEXT_MAX] MSP_HIDDEN;

/* The context of a handle. An invalid one finds a context without PEs; the checked mode refuses it.
 */
static inline const struct msp_context *msp_context_of(const void *handle)
{
    return &msp_contexts[(uintptr_t)handle & MSP_CONTEXT_INDEX_MASK];
}

static inline const struct msp_context *msp_context_default(void)
{
    return &msp_contexts[MSP_CONTEXT_DEFAULT];
}

/* For operations of the library, apart from the queues of the program's contexts. */
static inline const struct msp_context *msp_context_internal(void)
{
    return &msp_contexts[MSP_CONTEXT_INTERNAL];
}

/* The context of a handle that must be live; NULL otherwise. */
struct msp_context *msp_context_live(const void *handle);

/* How many PEs it has, also in a table: 0 when it is not live. */
static inline int msp_context_size(const struct msp_context *context)
{
    return context->is_live ? msp_teams[context->team].size : 0;
}

/* The world's number of the context's PE @p pe; -1, which no operation takes, when it has none. A
 * table is looked at where a run's number would be refused: runs pay nothing for it. */
static inline int msp_context_pe(const struct msp_context *context, int pe)
{
    if (MSP_LIKELY((unsigned)pe < (unsigned)context->size)) {
        return context->start + (pe * context->stride);
    }
    return ((unsigned)pe < (unsigned)msp_context_size(context))
               ? msp_team_world_pe(&msp_teams[context->team], pe)
               : -1;
}

/* A context on the team with that index (team.h). 0, or nonzero with *handle_p NULL when all are in
 * use. Any thread. */
int msp_context_create(int team, long options, void **handle_p);
/* Completes its operations. NULL: nothing to do; the default one: refused. */
void msp_context_destroy(void *handle);
/* End the contexts of a team that are not private (a team is destroyed). */
void msp_context_destroy_team(int team);

void msp_context_open(void); /* the default one exists from here on */
void msp_context_close(void);

#endif /* MEMSPAN_SHMEM_CONTEXT_H */
