/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.c: votes in a team's barriers. */

#include "shmem/control/agree.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/sync.h"
#include "shmem/control/shared_file.h"
#include "shmem/network/network.h"
#include <string.h>
#include <unistd.h>

uint64_t msp_agree_max(struct msp_team *team, uint64_t mine)
{
    return msp_sync_max(team, mine);
}

bool msp_agree_all(struct msp_team *team, bool mine)
{
    return msp_sync_max(team, mine ? 0 : 1) == 0;
}

_Static_assert(MSP_AGREE_COUNT_MAX * sizeof(uint64_t) <= MSP_HOSTS_VOTE_BYTES, "it is one vote");

int msp_agree_count(struct msp_team *team, uint64_t mine)
{
    uint64_t values[MSP_AGREE_COUNT_MAX] = {0};
    int count                            = 0;
    int i;

    values[team->pe] = mine;
    msp_hosts_vote(team, MSP_REDUCE_OR, MSP_NUMBER_U64, values, (size_t)team->size);
    for (i = 0; i < team->size; i++) {
        count += (values[i] == mine) ? 1 : 0;
    }
    return count;
}

int msp_agree_first_other(struct msp_team *team, uint64_t mine)
{
    uint64_t first = msp_agree_max(team, (team->pe == 0) ? mine : 0);
    uint64_t place = (mine == first) ? 0 : (uint64_t)(team->size - team->pe);

    place = msp_agree_max(team, place);
    return (place == 0) ? -1 : (team->size - (int)place);
}

memspan_status_t msp_agree_refuse(const char *variable, int pe)
{
    char host[80];

    memspan_error(MEMSPAN_ERR_CONFIG, "%s differs between PE 0 and PE %d%s", variable, pe,
                  msp_network_card_where(pe, host, sizeof host));
    return msp_error_hint("hand the same environment to all of them (mpirun -x %s)", variable);
}

/* The ticket of PE @p first, the first of this host, travels in the team's work area. */
static memspan_status_t share(struct msp_team *team, int first, const char *name,
                              struct msp_shared_file *ticket, int *fd_p)
{
    bool is_first = (team->pe == first);

    msp_sync_distribute(team, ticket, is_first ? sizeof *ticket : 0);
    memcpy(ticket, msp_sync_distributed(team, first), sizeof *ticket);
    if (is_first) {
        return (memspan_status_t)ticket->status;
    }
    return (ticket->status == MEMSPAN_OK)
               ? msp_shared_file_open(ticket, name, fd_p)
               : msp_error_elsewhere((memspan_status_t)ticket->status, "PE %d could not make %s",
                                     msp_team_world_pe(team, first), name);
}

static memspan_status_t settle(struct msp_team *team, const char *name, memspan_status_t status,
                               int fd, int *fd_p)
{
    if (msp_agree_all(team, status == MEMSPAN_OK)) {
        *fd_p = fd;
        return MEMSPAN_OK;
    }
    if (fd >= 0) {
        close(fd);
    }
    *fd_p = -1;
    return (status != MEMSPAN_OK)
               ? status
               : msp_error_elsewhere(MEMSPAN_ERR_UNREACHABLE, "another PE cannot open %s", name);
}

memspan_status_t msp_agree_share_file(struct msp_team *team, const char *name, size_t size_bytes,
                                      size_t huge_page_bytes, int *fd_p)
{
    struct msp_shared_file ticket = {.fd = -1};
    int first                     = msp_team_first_local(team);
    int fd                        = -1;
    memspan_status_t status;

    if (team->pe == first) {
        msp_shared_file_make(&ticket, name, size_bytes, huge_page_bytes, &fd);
    }
    status = share(team, first, name, &ticket, &fd);
    return settle(team, name, status, fd, fd_p);
}

memspan_status_t msp_agree_share_opened(struct msp_team *team, const char *name, int *fd_p)
{
    struct msp_shared_file ticket = {.fd = -1};
    int first                     = msp_team_first_local(team);
    memspan_status_t status;

    if (team->pe == first) {
        ticket.status = (int)msp_shared_file_offer(&ticket, *fd_p);
    }
    status = share(team, first, name, &ticket, fd_p);
    return settle(team, name, status, *fd_p, fd_p);
}
