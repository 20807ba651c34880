/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c: contexts and their sessions. */

#include "shmem/context.h"
#include "shmem/api/routine.h"

static int create(const struct msp_team *team, long options, shmem_ctx_t *ctx)
{
    void *handle = NULL;
    int status   = msp_context_create(team->index, options, &handle);

    *ctx = (status == 0) ? (shmem_ctx_t)handle : SHMEM_CTX_INVALID;
    return status;
}

MSP_ROUTINE(int, shmem_ctx_create, long options, shmem_ctx_t *ctx)
{
    msp_require_result(MSP_CALL, "ctx", ctx);
    return create(msp_team_world(), options, ctx);
}

MSP_ROUTINE(int, shmem_team_create_ctx, shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    const struct msp_team *of = msp_team_of(team);

    msp_require_result(MSP_CALL, "ctx", ctx);
    if ((of == NULL) || (of->pe < 0)) {
        *ctx = SHMEM_CTX_INVALID;
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: team is no team of this PE's", MSP_CALL);
    }
    return create(of, options, ctx);
}

MSP_ROUTINE(int, shmem_ctx_get_team, shmem_ctx_t ctx, shmem_team_t *team)
{
    const struct msp_context *context = msp_context_live(ctx);

    msp_require_result(MSP_CALL, "team", team);
    *team = SHMEM_TEAM_INVALID;
    if (context == NULL) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: ctx is no context", MSP_CALL);
    }
    *team = (shmem_team_t)msp_team_handle(&msp_teams[context->team]);
    return 0;
}

MSP_ROUTINE(void, shmem_ctx_destroy, shmem_ctx_t ctx)
{
    msp_job_require(MSP_CALL);
    msp_context_destroy(ctx);
}

/* Sessions are hints, which no transport uses. */
static void check_session(const char *call, shmem_ctx_t ctx)
{
    msp_job_require(call);
    if (msp_job.checks && (ctx != SHMEM_CTX_INVALID)) {
        msp_check_context(call, ctx, 0);
    }
}

MSP_ROUTINE(void, shmem_ctx_session_start, shmem_ctx_t ctx, long options,
            const shmem_ctx_session_config_t *config, long config_mask)
{
    (void)options;
    (void)config;
    (void)config_mask;
    check_session(MSP_CALL, ctx);
}

MSP_ROUTINE(void, shmem_ctx_session_stop, shmem_ctx_t ctx)
{
    check_session(MSP_CALL, ctx);
}
