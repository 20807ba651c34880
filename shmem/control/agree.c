/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.c: votes, in the control memory of the host or in barriers of a team. */

#include "shmem/control/agree.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/sync.h"
#include <string.h>
#include <unistd.h>

uint64_t msp_agree_max(struct msp_team *team, uint64_t mine)
{
    uint64_t most = mine;
    int pe;

    if (team == NULL) {
        return msp_host_max(mine);
    }
    msp_sync_publish(team, &mine, sizeof mine);
    for (pe = 0; pe < team->size; pe++) {
        uint64_t theirs;

        memcpy(&theirs, msp_sync_published(team, pe), sizeof theirs);
        most = (theirs > most) ? theirs : most;
    }
    return most;
}

bool msp_agree_all(struct msp_team *team, bool mine)
{
    return msp_agree_max(team, mine ? 0 : 1) == 0;
}

memspan_status_t msp_agree_share_file(struct msp_team *team, const char *name, size_t size_bytes,
                                      size_t huge_page_bytes, int *fd_p)
{
    struct msp_shared_file ticket = {.fd = -1};
    memspan_status_t status       = MEMSPAN_OK;
    int fd                        = -1;

    if (team == NULL) {
        return msp_host_share_file(name, size_bytes, huge_page_bytes, fd_p);
    }
    if (team->pe == 0) {
        msp_shared_file_make(&ticket, name, size_bytes, huge_page_bytes, &fd);
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
        status = msp_shared_file_open(&ticket, name, &fd);
    }
    if (!msp_agree_all(team, status == MEMSPAN_OK)) {
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
