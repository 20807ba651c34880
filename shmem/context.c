/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c: the table of contexts. */

#include "shmem/context.h"
#include "shmem/order.h"
#include "shmem/team.h"
#include <pthread.h>
#include <string.h>

struct memspan_context memspan_contexts[MEMSPAN_CONTEXT_MAX] MEMSPAN_SPARSE;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* guards is_live, hint */
static int hint                   = MEMSPAN_CONTEXT_DEFAULT + 1;

static void *handle_of(const struct memspan_context *context)
{
    uintptr_t index = (uintptr_t)(context - memspan_contexts);

    return (void *)(((uintptr_t)context->generation << MEMSPAN_CONTEXT_SHIFT) | index);
}

struct memspan_context *memspan_context_live(const void *handle)
{
    struct memspan_context *context =
        &memspan_contexts[(uintptr_t)handle & MEMSPAN_CONTEXT_INDEX_MASK];

    return ((handle != NULL) && context->is_live && (handle_of(context) == handle)) ? context
                                                                                    : NULL;
}

/* A handle must not become that of another context soon. */
static void take(struct memspan_context *context, const struct memspan_team *team, long options)
{
    unsigned generation = context->generation + 1;

    *context = (struct memspan_context){.start      = team->start,
                                        .stride     = team->stride,
                                        .size       = team->size,
                                        .team       = team->index,
                                        .options    = options,
                                        .generation = generation,
                                        .is_live    = true};
}

int memspan_context_create(int team, long options, void **handle_p)
{
    int tries;

    *handle_p = NULL;
    pthread_mutex_lock(&table_lock);
    for (tries = 0; tries < MEMSPAN_CONTEXT_MAX; tries++) {
        struct memspan_context *context = &memspan_contexts[hint];

        hint = (hint + 1 < MEMSPAN_CONTEXT_MAX) ? (hint + 1) : (MEMSPAN_CONTEXT_DEFAULT + 1);
        if (!context->is_live) {
            take(context, &memspan_teams[team], options);
            *handle_p = handle_of(context);
            break;
        }
    }
    pthread_mutex_unlock(&table_lock);
    if (*handle_p == NULL) {
        return (int)memspan_error(MEMSPAN_ERR_LIMIT, "there are %d contexts already",
                                  MEMSPAN_CONTEXT_MAX - 2);
    }
    return 0;
}

static void end(struct memspan_context *context)
{
    memspan_quiet(context);
    context->size    = 0;
    context->is_live = false;
}

void memspan_context_destroy(void *handle)
{
    struct memspan_context *context;

    if (handle == NULL) {
        return;
    }
    pthread_mutex_lock(&table_lock);
    context = memspan_context_live(handle);
    if (context == NULL) {
        pthread_mutex_unlock(&table_lock);
        memspan_fatal("shmem_ctx_destroy: %p is no context, or was destroyed before", handle);
    }
    if (context == memspan_context_default()) {
        pthread_mutex_unlock(&table_lock);
        memspan_fatal("shmem_ctx_destroy: SHMEM_CTX_DEFAULT cannot be destroyed");
    }
    end(context);
    pthread_mutex_unlock(&table_lock);
}

/* Bit 0 of the options is SHMEM_CTX_PRIVATE: those are their creators' to destroy. */
void memspan_context_destroy_team(int team)
{
    int i;

    pthread_mutex_lock(&table_lock);
    for (i = MEMSPAN_CONTEXT_DEFAULT + 1; i < MEMSPAN_CONTEXT_MAX; i++) {
        struct memspan_context *context = &memspan_contexts[i];

        if (context->is_live && (context->team == team)) {
            if (((context->options & 1) != 0) && memspan_job.checks) {
                memspan_fatal("shmem_team_destroy: a private context of the team has not been "
                              "destroyed");
            }
            end(context);
        }
    }
    pthread_mutex_unlock(&table_lock);
}

void memspan_context_open(void)
{
    memspan_contexts[MEMSPAN_CONTEXT_DEFAULT] =
        (struct memspan_context){.start   = 0,
                                 .stride  = 1,
                                 .size    = memspan_job.pe_count,
                                 .team    = MEMSPAN_TEAM_WORLD,
                                 .is_live = true};
}

void memspan_context_close(void)
{
    int i;

    for (i = MEMSPAN_CONTEXT_DEFAULT; i < MEMSPAN_CONTEXT_MAX; i++) {
        if (memspan_contexts[i].is_live) {
            end(&memspan_contexts[i]);
        }
    }
}
