/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c: the table of contexts. */

#include "shmem/context.h"
#include "shmem/team.h"
#include "shmem/transport/order.h"
#include "shmem/transport/transport.h"
#include <pthread.h>
#include <string.h>

struct msp_context msp_contexts[MSP_CONTEXT_MAX] MSP_SPARSE;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* guards is_live, hint */
static int hint                   = MSP_CONTEXT_FIRST;

static void *handle_of(const struct msp_context *context)
{
    uintptr_t index = (uintptr_t)(context - msp_contexts);

    return (void *)(((uintptr_t)context->generation << MSP_CONTEXT_SHIFT) | index);
}

struct msp_context *msp_context_live(const void *handle)
{
    struct msp_context *context = &msp_contexts[(uintptr_t)handle & MSP_CONTEXT_INDEX_MASK];

    return ((handle != NULL) && context->is_live && (handle_of(context) == handle)) ? context
                                                                                    : NULL;
}

/* A stale handle must not soon be that of another context. */
static void take_context(struct msp_context *context, const struct msp_team *team, long options)
{
    unsigned generation = context->generation + 1;

    *context = (struct msp_context){.start      = team->start,
                                    .stride     = team->stride,
                                    .size       = (team->members == NULL) ? team->size : 0,
                                    .team       = team->index,
                                    .options    = options,
                                    .generation = generation,
                                    .is_live    = true};
}

static memspan_status_t open_queue(const struct msp_context *context)
{
    const struct msp_transport *transport = msp_job.transport;

    return (transport != NULL)
               ? transport->context_open((unsigned)(context - msp_contexts), context->options)
               : MEMSPAN_OK;
}

static void close_queue(const struct msp_context *context)
{
    const struct msp_transport *transport = msp_job.transport;

    if ((context >= &msp_contexts[MSP_CONTEXT_FIRST]) && (transport != NULL)) {
        transport->context_close((unsigned)(context - msp_contexts));
    }
}

int msp_context_create(int team, long options, void **handle_p)
{
    memspan_status_t status = MEMSPAN_OK;
    int tries;

    *handle_p = NULL;
    pthread_mutex_lock(&table_lock);
    for (tries = MSP_CONTEXT_FIRST; tries < MSP_CONTEXT_MAX; tries++) {
        struct msp_context *context = &msp_contexts[hint];

        hint = (hint + 1 < MSP_CONTEXT_MAX) ? (hint + 1) : MSP_CONTEXT_FIRST;
        if (!context->is_live) {
            take_context(context, &msp_teams[team], options);
            status           = open_queue(context);
            context->is_live = (status == MEMSPAN_OK);
            *handle_p        = context->is_live ? handle_of(context) : NULL;
            break;
        }
    }
    pthread_mutex_unlock(&table_lock);
    if ((*handle_p == NULL) && (status == MEMSPAN_OK)) {
        status = msp_refuse(MEMSPAN_ERR_LIMIT, "there are %d contexts already",
                            MSP_CONTEXT_MAX - MSP_CONTEXT_FIRST + 1);
    }
    return (int)status;
}

static void end(struct msp_context *context)
{
    msp_quiet(context);
    close_queue(context);
    context->size    = 0;
    context->is_live = false;
}

void msp_context_destroy(void *handle)
{
    struct msp_context *context;

    if (handle == NULL) {
        return;
    }
    pthread_mutex_lock(&table_lock);
    context = msp_context_live(handle);
    if (context == NULL) {
        pthread_mutex_unlock(&table_lock);
        msp_fatal("shmem_ctx_destroy: %p is no context, or was destroyed before", handle);
    }
    if (context == msp_context_default()) {
        pthread_mutex_unlock(&table_lock);
        msp_fatal("shmem_ctx_destroy: SHMEM_CTX_DEFAULT cannot be destroyed");
    }
    end(context);
    pthread_mutex_unlock(&table_lock);
}

/* Bit 0 of the options is SHMEM_CTX_PRIVATE: the creator destroys those. */
void msp_context_destroy_team(int team)
{
    int i;

    pthread_mutex_lock(&table_lock);
    for (i = MSP_CONTEXT_FIRST; i < MSP_CONTEXT_MAX; i++) {
        struct msp_context *context = &msp_contexts[i];

        if (context->is_live && (context->team == team)) {
            if (((context->options & 1) != 0) && msp_job.checks) {
                msp_fatal("shmem_team_destroy: a private context of the team has not been "
                          "destroyed");
            }
            end(context);
        }
    }
    pthread_mutex_unlock(&table_lock);
}

void msp_context_open(void)
{
    msp_contexts[MSP_CONTEXT_DEFAULT] = (struct msp_context){
        .start = 0, .stride = 1, .size = msp_job.pe_count, .team = MSP_TEAM_WORLD, .is_live = true};
}

void msp_context_close(void)
{
    int i;

    for (i = MSP_CONTEXT_DEFAULT; i < MSP_CONTEXT_MAX; i++) {
        if (msp_contexts[i].is_live) {
            end(&msp_contexts[i]);
        }
    }
}
