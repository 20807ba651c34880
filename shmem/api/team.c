/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c: teams, and what they are asked. Handles that name no team get an answer, not an end. */

#include "shmem/team.h"
#include "shmem/api/routine.h"

/* The team of a handle if this PE is a member; NULL. */
static struct memspan_team *own_team(const char *call, shmem_team_t handle)
{
    struct memspan_team *team = memspan_team_of(handle);

    memspan_job_require(call);
    if ((team == NULL) && memspan_job.checks && (handle != SHMEM_TEAM_INVALID)) {
        memspan_fatal("%s: %p is no team, or was destroyed", call, (void *)handle);
    }
    return ((team != NULL) && (team->pe >= 0)) ? team : NULL;
}

/* The number in a team of the world's PE; -1. */
static int number_of(const struct memspan_team *team, int world_pe)
{
    int distance = world_pe - team->start;
    int pe;

    if (team->stride == 0) {
        return (distance == 0) ? 0 : -1;
    }
    pe = distance / team->stride;
    return ((distance % team->stride == 0) && (pe >= 0) && (pe < team->size)) ? pe : -1;
}

MEMSPAN_ROUTINE(int, shmem_team_my_pe, shmem_team_t team)
{
    const struct memspan_team *of = own_team(MEMSPAN_CALL, team);

    return (of != NULL) ? of->pe : -1;
}

MEMSPAN_ROUTINE(int, shmem_team_n_pes, shmem_team_t team)
{
    const struct memspan_team *of = own_team(MEMSPAN_CALL, team);

    return (of != NULL) ? of->size : -1;
}

MEMSPAN_ROUTINE(int, shmem_team_translate_pe, shmem_team_t src_team, int src_pe,
                shmem_team_t dest_team)
{
    const struct memspan_team *from = own_team(MEMSPAN_CALL, src_team);
    const struct memspan_team *to   = own_team(MEMSPAN_CALL, dest_team);

    if ((from == NULL) || (to == NULL) || ((unsigned)src_pe >= (unsigned)from->size)) {
        return -1;
    }
    return number_of(to, memspan_team_world_pe(from, src_pe));
}

MEMSPAN_ROUTINE(int, shmem_team_get_config, shmem_team_t team, long config_mask,
                shmem_team_config_t *config)
{
    const struct memspan_team *of = own_team(MEMSPAN_CALL, team);

    if (of == NULL) {
        return (int)memspan_error(MEMSPAN_ERR_INVALID, "%s: team is no team of this PE's",
                                  MEMSPAN_CALL);
    }
    if ((config_mask & SHMEM_TEAM_NUM_CONTEXTS) == 0) {
        return 0;
    }
    if (config == NULL) {
        return (int)memspan_error(MEMSPAN_ERR_INVALID, "%s: config is NULL", MEMSPAN_CALL);
    }
    config->num_contexts = of->context_count;
    return 0;
}

/* ---- splitting ---- */

static shmem_team_t handle_of(const struct memspan_team *team)
{
    return (team != NULL) ? (shmem_team_t)memspan_team_handle(team) : SHMEM_TEAM_INVALID;
}

static int refuse_parent(const char *call)
{
    return (int)memspan_error(MEMSPAN_ERR_INVALID, "%s: parent_team is no team of this PE's", call);
}

static void check_config(const char *call, const shmem_team_config_t *config, long mask)
{
    if ((mask != 0) && (config == NULL)) {
        memspan_fatal("%s: config is NULL, while config_mask %ld says that it has something", call,
                      mask);
    }
}

MEMSPAN_ROUTINE(int, shmem_team_split_strided, shmem_team_t parent_team, int start, int stride,
                int size, const shmem_team_config_t *config, long config_mask,
                shmem_team_t *new_team)
{
    struct memspan_team *parent = own_team(MEMSPAN_CALL, parent_team);
    struct memspan_team *made   = NULL;
    int status;

    memspan_require_result(MEMSPAN_CALL, "new_team", new_team);
    *new_team = SHMEM_TEAM_INVALID;
    if (parent == NULL) {
        return refuse_parent(MEMSPAN_CALL);
    }
    check_config(MEMSPAN_CALL, config, config_mask);
    status = memspan_team_split_strided(parent, start, stride, size, config, config_mask, &made);
    if (status == 0) {
        *new_team = handle_of(made);
    }
    return status;
}

MEMSPAN_ROUTINE(int, shmem_team_split_2d, shmem_team_t parent_team, int xrange,
                const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team,
                const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team)
{
    struct memspan_team *parent = own_team(MEMSPAN_CALL, parent_team);
    struct memspan_team *x_team = NULL;
    struct memspan_team *y_team = NULL;
    int status;

    memspan_require_result(MEMSPAN_CALL, "xaxis_team", xaxis_team);
    memspan_require_result(MEMSPAN_CALL, "yaxis_team", yaxis_team);
    *xaxis_team = SHMEM_TEAM_INVALID;
    *yaxis_team = SHMEM_TEAM_INVALID;
    if (parent == NULL) {
        return refuse_parent(MEMSPAN_CALL);
    }
    check_config(MEMSPAN_CALL, xaxis_config, xaxis_mask);
    check_config(MEMSPAN_CALL, yaxis_config, yaxis_mask);
    status = memspan_team_split_2d(parent, xrange, xaxis_config, xaxis_mask, &x_team, yaxis_config,
                                   yaxis_mask, &y_team);
    if (status == 0) {
        *xaxis_team = handle_of(x_team);
        *yaxis_team = handle_of(y_team);
    }
    return status;
}

MEMSPAN_ROUTINE(void, shmem_team_destroy, shmem_team_t team)
{
    struct memspan_team *of;

    if (team == SHMEM_TEAM_INVALID) {
        memspan_job_require(MEMSPAN_CALL);
        return;
    }
    of = memspan_require_team(MEMSPAN_CALL, "team", team);
    if ((of->index == MEMSPAN_TEAM_WORLD) || (of->index == MEMSPAN_TEAM_SHARED)) {
        memspan_fatal("%s: SHMEM_TEAM_%s cannot be destroyed", MEMSPAN_CALL,
                      (of->index == MEMSPAN_TEAM_WORLD) ? "WORLD" : "SHARED");
    }
    memspan_team_destroy(of);
}
