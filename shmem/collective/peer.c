/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c: reading another PE's memory, writing one's own. */

#include "shmem/collective/peer.h"

bool msp_peer_is_indirect;

void msp_peer_copy(void *to, const void *from, size_t size_bytes)
{
    if ((size_bytes == 0) || (to == from)) {
        return;
    }
    msp_rma_move("a collective", to, from, size_bytes);
}

void msp_peer_read(const struct msp_team *team, int pe, const void *symmetric, void *to,
                   size_t size_bytes)
{
    if (size_bytes != 0) {
        msp_get(msp_peer_call(team), msp_context_default(), to, symmetric, size_bytes,
                msp_team_world_pe(team, pe), 0);
    }
}
