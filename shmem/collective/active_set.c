/* SPDX-License-Identifier: BSD-3-Clause */
/* active_set.c: the older way of naming PEs in a collective call. */

#include "shmem/collective/collective.h"
#include "shmem/collective/peer.h"

static void require_set(const char *call, int start, int log_stride, int size)
{
    if ((start < 0) || (size < 1) || (log_stride < 0) || (log_stride > 30) ||
        (start + ((long)(size - 1) << log_stride) >= msp_job.pe_count)) {
        msp_fatal("%s: PE_start %d, logPE_stride %d, PE_size %d is no active set of %d PEs", call,
                  start, log_stride, size, msp_job.pe_count);
    }
}

/* All PEs, in calls that come one after the other: they use the world's barriers. */
static bool is_the_world(const struct msp_team *team)
{
    return (team->size == msp_job.pe_count) && (msp_job.thread_level < SHMEM_THREAD_MULTIPLE);
}

void msp_active_set_open(const char *call, struct msp_active_set *set, int start, int log_stride,
                         int size, long *sync)
{
    struct msp_team *team = &set->team;
    int distance          = msp_job.pe - start;

    msp_job_require(call);
    require_set(call, start, log_stride, size);
    *team    = (struct msp_team){.start           = start,
                                 .stride          = 1 << log_stride,
                                 .size            = size,
                                 .barrier         = MSP_BARRIER_ACTIVE_SET,
                                 .is_active_set   = true,
                                 .active_set_sync = sync,
                                 .call            = call};
    team->pe = distance / team->stride;
    if ((distance < 0) || (distance % team->stride != 0) || (team->pe >= size)) {
        msp_fatal("%s: PE %d is not in the active set of PE_start %d, logPE_stride %d, "
                  "PE_size %d",
                  call, msp_job.pe, start, log_stride, size);
    }
    if (MSP_UNLIKELY((sync == NULL) || msp_job.checks)) {
        if (sync == NULL) {
            msp_fatal("%s: pSync is NULL", call);
        }
        msp_rma_require(call, sync, SHMEM_SYNC_SIZE * sizeof *sync, msp_job.pe);
    }
    if (is_the_world(team)) {
        *team               = *msp_team_world();
        team->is_active_set = true;
    }
}

/* A barrier in a pSync leaves it as it was (sync.c). */
void msp_active_set_close(struct msp_active_set *set)
{
    if (set->team.active_set_sync == NULL) {
        struct msp_team *world = msp_team_world();

        world->sync_count    = set->team.sync_count;
        world->work_count    = set->team.work_count;
        world->message_count = set->team.message_count;
    }
}
