/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c: reading another PE's memory, writing one's own. */

#include "shmem/collective/peer.h"

bool memspan_peer_is_indirect;

void memspan_peer_copy(void *to, const void *from, size_t size_bytes)
{
    if ((size_bytes == 0) || (to == from)) {
        return;
    }
    memspan_rma_move("a collective", to, from, size_bytes);
}

void memspan_peer_read(const struct memspan_team *team, int pe, const void *symmetric, void *to,
                       size_t size_bytes)
{
    if (size_bytes != 0) {
        memspan_get(memspan_peer_call(team), memspan_context_default(), to, symmetric, size_bytes,
                    memspan_team_world_pe(team, pe));
    }
}
