/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c: contexts and their sessions. */

#include "shmem/context.h"
#include "shmem/api/routine.h"

static int create(const struct memspan_team *team, long options, shmem_ctx_t *ctx)
{
    void *handle = NULL;
    int status   = memspan_context_create(team->index, options, &handle);

    *ctx = (status == 0) ? (shmem_ctx_t)handle : SHMEM_CTX_INVALID;
    return status;
}

MEMSPAN_ROUTINE(int, shmem_ctx_create, long options, shmem_ctx_t *ctx)
{
    memspan_require_result(MEMSPAN_CALL, "ctx", ctx);
    return create(memspan_team_world(), options, ctx);
}

MEMSPAN_ROUTINE(int, shmem_team_create_ctx, shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    const struct memspan_team *of = memspan_team_of(team);

    memspan_require_result(MEMSPAN_CALL, "ctx", ctx);
    if ((of == NULL) || (of->pe < 0)) {
        *ctx = SHMEM_CTX_INVALID;
        return (int)memspan_error(MEMSPAN_ERR_INVALID, "%s: team is no team of this PE's",
                                  MEMSPAN_CALL);
    }
    return create(of, options, ctx);
}

MEMSPAN_ROUTINE(int, shmem_ctx_get_team, shmem_ctx_t ctx, shmem_team_t *team)
{
    const struct memspan_context *context = memspan_context_live(ctx);

    memspan_require_result(MEMSPAN_CALL, "team", team);
    *team = SHMEM_TEAM_INVALID;
    if (context == NULL) {
        return (int)memspan_error(MEMSPAN_ERR_INVALID, "%s: ctx is no context", MEMSPAN_CALL);
    }
    *team = (shmem_team_t)memspan_team_handle(&memspan_teams[context->team]);
    return 0;
}

MEMSPAN_ROUTINE(void, shmem_ctx_destroy, shmem_ctx_t ctx)
{
    memspan_job_require(MEMSPAN_CALL);
    memspan_context_destroy(ctx);
}

/* Sessions are hints: what is mapped needs none, and what is served is not batched. */
static void check_session(const char *call, shmem_ctx_t ctx)
{
    memspan_job_require(call);
    if (memspan_job.checks && (ctx != SHMEM_CTX_INVALID)) {
        memspan_check_context(call, ctx, 0);
    }
}

MEMSPAN_ROUTINE(void, shmem_ctx_session_start, shmem_ctx_t ctx, long options,
                const shmem_ctx_session_config_t *config, long config_mask)
{
    (void)options;
    (void)config;
    (void)config_mask;
    check_session(MEMSPAN_CALL, ctx);
}

MEMSPAN_ROUTINE(void, shmem_ctx_session_stop, shmem_ctx_t ctx)
{
    check_session(MEMSPAN_CALL, ctx);
}
