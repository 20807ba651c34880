/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_CONTROL_AGREE_H
#define MEMSPAN_SHMEM_CONTROL_AGREE_H

/* The control plane: agreement of a team's members, on one host or several. All of them call, in
 * the same order. */

#include "shmem/team.h"

/* The largest value that a member gives. */
uint64_t msp_agree_max(struct msp_team *team, uint64_t mine);
/* True where it is true in all. */
bool msp_agree_all(struct msp_team *team, bool mine);
/* How many of at most MSP_AGREE_COUNT_MAX members give the value of this one. */
enum { MSP_AGREE_COUNT_MAX = 256 };
int msp_agree_count(struct msp_team *team, uint64_t mine);
/* The first member whose value is not that of PE 0; -1: all are equal. */
int msp_agree_first_other(struct msp_team *team, uint64_t mine);
/* MEMSPAN_ERR_CONFIG: PE @p pe's value of @p variable is not that of PE 0. */
memspan_status_t msp_agree_refuse(const char *variable, int pe);

/* A file of @p size_bytes that the members on each host share: the first of them makes it. All fail
 * where one fails. *fd_p is the caller's to close. @p huge_page_bytes: see msp_shared_file_make().
 */
memspan_status_t msp_agree_share_file(struct msp_team *team, const char *name, size_t size_bytes,
                                      size_t huge_page_bytes, int *fd_p);

/* The same for a file that the first of each host has open as *fd_p; the others' *fd_p becomes
 * their own. On failure all are closed. */
memspan_status_t msp_agree_share_opened(struct msp_team *team, const char *name, int *fd_p);

#endif /* MEMSPAN_SHMEM_CONTROL_AGREE_H */
