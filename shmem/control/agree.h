/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_CONTROL_AGREE_H
#define MEMSPAN_SHMEM_CONTROL_AGREE_H

/* What PEs must agree on when they make memory together: the members of a team, or, while the job
 * starts and there are no teams, all PEs of the host (team NULL). All of them call. */

#include "shmem/team.h"

/* The largest value that a member gives. */
uint64_t msp_agree_max(struct msp_team *team, uint64_t mine);
/* True where it is true in all. */
bool msp_agree_all(struct msp_team *team, bool mine);
/* msp_host_share_file(). */
memspan_status_t msp_agree_share_file(struct msp_team *team, const char *name, size_t size_bytes,
                                      size_t huge_page_bytes, int *fd_p);

#endif /* MEMSPAN_SHMEM_CONTROL_AGREE_H */
