/* SPDX-License-Identifier: BSD-3-Clause */
/* meeting.c: agreement, in the node's control memory or on the way of a team's meetings. */

#include "shmem/meeting.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/sync.h"
#include <string.h>
#include <unistd.h>

uint64_t msp_meeting_max(struct msp_team *team, uint64_t mine)
{
    uint64_t most = mine;
    int pe;

    if (team == NULL) {
        return msp_node_max(mine);
    }
    msp_sync_publish(team, &mine, sizeof mine);
    for (pe = 0; pe < team->size; pe++) {
        uint64_t said;

        memcpy(&said, msp_sync_published(team, pe), sizeof said);
        most = (said > most) ? said : most;
    }
    return most;
}

bool msp_meeting_all(struct msp_team *team, bool mine)
{
    return msp_meeting_max(team, mine ? 0 : 1) == 0;
}

memspan_status_t msp_meeting_share_file(struct msp_team *team, const char *name, size_t size_bytes,
                                        size_t huge_page_bytes, int *fd_p)
{
    struct msp_node_ticket ticket = {.fd = -1};
    memspan_status_t status       = MEMSPAN_OK;
    int fd                        = -1;

    if (team == NULL) {
        return msp_node_share_file(name, size_bytes, huge_page_bytes, fd_p);
    }
    if (team->pe == 0) {
        msp_node_ticket_make(&ticket, name, size_bytes, huge_page_bytes, &fd);
    }
    msp_sync_publish(team, &ticket, (team->pe == 0) ? sizeof ticket : 0);
    memcpy(&ticket, msp_sync_published(team, 0), sizeof ticket);
    if (ticket.status != MEMSPAN_OK) {
        status = (memspan_status_t)ticket.status;
        if (team->pe != 0) {
            msp_error_elsewhere(status, "the team's first PE could not make %s of %zu bytes", name,
                                size_bytes);
        }
    } else if (team->pe != 0) {
        status = msp_node_ticket_open(&ticket, name, &fd);
    }
    if (!msp_meeting_all(team, status == MEMSPAN_OK)) {
        if (fd >= 0) {
            close(fd);
        }
        return (status != MEMSPAN_OK) ? status
                                      : msp_error_elsewhere(MEMSPAN_ERR_UNREACHABLE,
                                                            "another PE cannot open %s", name);
    }
    *fd_p = fd;
    return MEMSPAN_OK;
}
