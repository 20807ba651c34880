/* SPDX-License-Identifier: BSD-3-Clause */
/* active_set.c: the older way of naming PEs in a collective call. */

#include "shmem/collective/collective.h"

void memspan_active_set_open(const char *call, struct memspan_active_set *set, int start,
                             int log_stride, int size, long *sync)
{
    struct memspan_team *team = &set->team;
    int distance              = memspan_job.pe - start;

    memspan_job_require(call);
    if ((start < 0) || (size < 1) || (log_stride < 0) || (log_stride > 30) ||
        (start + ((long)(size - 1) << log_stride) >= memspan_job.pe_count)) {
        memspan_fatal("%s: PE_start %d, logPE_stride %d, PE_size %d is no active set of %d PEs",
                      call, start, log_stride, size, memspan_job.pe_count);
    }
    if (sync == NULL) {
        memspan_fatal("%s: pSync is NULL", call);
    }
    *team = (struct memspan_team){
        .start = start, .stride = 1 << log_stride, .size = size, .active_set_sync = sync};
    team->pe = distance / team->stride;
    if ((distance < 0) || (distance % team->stride != 0) || (team->pe >= size)) {
        memspan_fatal("%s: PE %d is not in the active set of PE_start %d, logPE_stride %d, "
                      "PE_size %d",
                      call, memspan_job.pe, start, log_stride, size);
    }
}

/* Whoever meets in a pSync leaves it as it was (sync.c). */
void memspan_active_set_close(struct memspan_active_set *set)
{
    set->team.active_set_sync = NULL;
}
