/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_MEETING_H
#define MEMSPAN_SHMEM_MEETING_H

/* What PEs must agree on when they make memory together: the members of a team, or, while the job
 * starts and there are no teams, all PEs of the node (team NULL). Every one of them calls. */

#include "shmem/team.h"

/* The largest of what they say. */
uint64_t msp_meeting_max(struct msp_team *team, uint64_t mine);
/* True where all say so. */
bool msp_meeting_all(struct msp_team *team, bool mine);
/* msp_node_share_file(). */
memspan_status_t msp_meeting_share_file(struct msp_team *team, const char *name, size_t size_bytes,
                                        size_t huge_page_bytes, int *fd_p);

#endif /* MEMSPAN_SHMEM_MEETING_H */
