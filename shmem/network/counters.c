/* SPDX-License-Identifier: BSD-3-Clause */
/* counters.c: counters of the main channel, and how many channels there are. */

#include "shmem/network/peer.h"
#include "shmem/network/region.h"

void msp_network_measure(shmemx_network_info_t *info)
{
    struct msp_network_channel *channel = msp_network.main;
    struct msp_network_counters counters;
    const struct msp_network_channel *each;

    if (channel == NULL) {
        return;
    }
    msp_network.driver->describe(info->driver, sizeof info->driver);
    msp_network_lock(channel);
    counters         = channel->counters;
    info->peer_count = (int)channel->contact_count;
    msp_network_unlock(channel);
    info->queue_count = 0;
    for (each = msp_network_channel_first(); each != NULL; each = each->next) {
        info->queue_count++;
    }
    info->key_count        = counters.keys;
    info->registered_bytes = msp_network_region_total();
    info->message_count    = counters.messages;
    info->message_bytes    = counters.message_bytes;
    info->put_count        = counters.puts;
    info->put_bytes        = counters.put_bytes;
    info->get_count        = counters.gets;
    info->get_bytes        = counters.get_bytes;
}
