/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c: teams and their queries. An invalid handle is answered, not fatal. */

#include "shmem/team.h"
#include "shmem/api/routine.h"
#include <shmemx.h>

/* The team of a handle if this PE is a member; NULL. */
static struct msp_team *own_team(const char *call, shmem_team_t handle)
{
    struct msp_team *team = msp_team_of(handle);

    msp_job_require(call);
    if ((team == NULL) && msp_job.checks && (handle != SHMEM_TEAM_INVALID)) {
        msp_fatal("%s: %p is no team, or was destroyed", call, (void *)handle);
    }
    return ((team != NULL) && (team->pe >= 0)) ? team : NULL;
}

MSP_ROUTINE(int, shmem_team_my_pe, shmem_team_t team)
{
    const struct msp_team *of = own_team(MSP_CALL, team);

    return (of != NULL) ? of->pe : -1;
}

MSP_ROUTINE(int, shmem_team_n_pes, shmem_team_t team)
{
    const struct msp_team *of = own_team(MSP_CALL, team);

    return (of != NULL) ? of->size : -1;
}

MSP_ROUTINE(int, shmem_team_translate_pe, shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
    return msp_team_translate(own_team(MSP_CALL, src_team), src_pe, own_team(MSP_CALL, dest_team));
}

MSP_ROUTINE(int, shmem_team_get_config, shmem_team_t team, long config_mask,
            shmem_team_config_t *config)
{
    const struct msp_team *of = own_team(MSP_CALL, team);

    if (of == NULL) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: team is no team of this PE's", MSP_CALL);
    }
    if ((config_mask & SHMEM_TEAM_NUM_CONTEXTS) == 0) {
        return 0;
    }
    if (config == NULL) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: config is NULL", MSP_CALL);
    }
    config->num_contexts = of->context_count;
    return 0;
}

/* ---- splitting ---- */

static shmem_team_t handle_of(const struct msp_team *team)
{
    return (team != NULL) ? (shmem_team_t)msp_team_handle(team) : SHMEM_TEAM_INVALID;
}

static int refuse_parent(const char *call)
{
    return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: parent_team is no team of this PE's", call);
}

static void check_config(const char *call, const shmem_team_config_t *config, long mask)
{
    if ((mask != 0) && (config == NULL)) {
        msp_fatal("%s: config is NULL, while config_mask %ld says that it has something", call,
                  mask);
    }
}

MSP_ROUTINE(int, shmem_team_split_strided, shmem_team_t parent_team, int start, int stride,
            int size, const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)
{
    struct msp_team *parent = own_team(MSP_CALL, parent_team);
    struct msp_team *made   = NULL;
    int status;

    msp_require_result(MSP_CALL, "new_team", new_team);
    *new_team = SHMEM_TEAM_INVALID;
    if (parent == NULL) {
        return refuse_parent(MSP_CALL);
    }
    check_config(MSP_CALL, config, config_mask);
    status = msp_team_split_strided(parent, start, stride, size, config, config_mask, &made);
    if (status == 0) {
        *new_team = handle_of(made);
    }
    return status;
}

MSP_ROUTINE(int, shmem_team_split_2d, shmem_team_t parent_team, int xrange,
            const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team,
            const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team)
{
    struct msp_team *parent = own_team(MSP_CALL, parent_team);
    struct msp_team *x_team = NULL;
    struct msp_team *y_team = NULL;
    int status;

    msp_require_result(MSP_CALL, "xaxis_team", xaxis_team);
    msp_require_result(MSP_CALL, "yaxis_team", yaxis_team);
    *xaxis_team = SHMEM_TEAM_INVALID;
    *yaxis_team = SHMEM_TEAM_INVALID;
    if (parent == NULL) {
        return refuse_parent(MSP_CALL);
    }
    check_config(MSP_CALL, xaxis_config, xaxis_mask);
    check_config(MSP_CALL, yaxis_config, yaxis_mask);
    status = msp_team_split_2d(parent, xrange, xaxis_config, xaxis_mask, &x_team, yaxis_config,
                               yaxis_mask, &y_team);
    if (status == 0) {
        *xaxis_team = handle_of(x_team);
        *yaxis_team = handle_of(y_team);
    }
    return status;
}

int shmemx_team_split_color(shmem_team_t parent_team, int color, int key,
                            const shmem_team_config_t *config, long config_mask,
                            shmem_team_t *new_team)
{
    struct msp_team *parent = own_team(__func__, parent_team);
    struct msp_team *made   = NULL;
    int status;

    msp_require_result(__func__, "new_team", new_team);
    *new_team = SHMEM_TEAM_INVALID;
    if (parent == NULL) {
        return refuse_parent(__func__);
    }
    check_config(__func__, config, config_mask);
    status = msp_team_split_color(parent, color, key, config, config_mask, &made);
    if (status == 0) {
        *new_team = handle_of(made);
    }
    return status;
}

MSP_ROUTINE(void, shmem_team_destroy, shmem_team_t team)
{
    struct msp_team *of;

    if (team == SHMEM_TEAM_INVALID) {
        msp_job_require(MSP_CALL);
        return;
    }
    of = msp_require_team(MSP_CALL, "team", team);
    if ((of->index == MSP_TEAM_WORLD) || (of->index == MSP_TEAM_SHARED)) {
        msp_fatal("%s: SHMEM_TEAM_%s cannot be destroyed", MSP_CALL,
                  (of->index == MSP_TEAM_WORLD) ? "WORLD" : "SHARED");
    }
    msp_team_destroy(of);
}
