/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c: bytes and a flag, by stores or by the transport. */

#include "shmem/collective/exchange.h"
#include "shmem/collective/peer.h"
#include "shmem/control/memory.h"
#include "shmem/transport/order.h"
#include "shmem/transport/transport.h"
#include <string.h>

static uint64_t offset_of(const void *place)
{
    return (uint64_t)((const char *)place - (const char *)msp_control_slot(msp_job.local_index));
}

static bool is_in_slot(const void *place)
{
    return offset_of(place) < sizeof(struct msp_control_offsets);
}

static void *in_slot(int local_index, const void *place)
{
    return (char *)msp_control_slot(local_index) + offset_of(place);
}

static struct msp_target slot_target(const struct msp_team *team, int world_pe, const void *place)
{
    return msp_target_at(msp_peer_call(team), MSP_SEGMENT_CONTROL, offset_of(place), world_pe);
}

/* To a PE of this host. Memory that is not mapped even there is reached by another path than the
 * flag, so the bytes must have arrived first. */
static void send_local(const struct msp_team *team, int world_pe, int local_index, void *dest,
                       const void *source, size_t size_bytes, _Atomic uint64_t *flag,
                       uint64_t value, bool adds)
{
    _Atomic uint64_t *theirs = in_slot(local_index, flag);

    if ((size_bytes != 0) && is_in_slot(dest)) {
        memcpy(in_slot(local_index, dest), source, size_bytes);
    } else if (size_bytes != 0) {
        unsigned index;

        msp_put(msp_peer_call(team), msp_context_internal(), dest, source, size_bytes, world_pe, 0);
        if (msp_peer_resolve(dest, size_bytes, world_pe, &index) == NULL) {
            msp_quiet(msp_context_internal());
        }
    }
    if (adds) {
        atomic_fetch_add_explicit(theirs, value, memory_order_acq_rel);
    } else {
        atomic_store_explicit(theirs, value, memory_order_release);
    }
    msp_doorbell_notify(local_index);
}

void msp_message_send(const struct msp_team *team, int pe, void *dest, const void *source,
                      size_t size_bytes, _Atomic uint64_t *flag, uint64_t value, bool adds)
{
    int world_pe    = msp_team_world_pe(team, pe);
    int local_index = msp_job_local_index(world_pe);
    struct msp_target target;
    struct msp_target signal;

    if (local_index >= 0) {
        send_local(team, world_pe, local_index, dest, source, size_bytes, flag, value, adds);
        return;
    }
    signal = slot_target(team, world_pe, flag);
    if (size_bytes == 0) {
        (adds ? msp_target_add : msp_target_store)(&signal, value);
        return;
    }
    target = is_in_slot(dest) ? slot_target(team, world_pe, dest)
                              : msp_target_resolve(msp_peer_call(team), msp_context_internal(),
                                                   dest, size_bytes, world_pe);
    msp_target_put_signal(&target, source, size_bytes, &signal, value, adds, 0);
}

void msp_message_read(const struct msp_team *team, int pe, const void *place, void *to,
                      size_t size_bytes)
{
    int world_pe    = msp_team_world_pe(team, pe);
    int local_index = msp_job_local_index(world_pe);
    struct msp_target target;

    if (local_index >= 0) {
        memcpy(to, in_slot(local_index, place), size_bytes);
        return;
    }
    target = slot_target(team, world_pe, place);
    msp_target_get(&target, to, size_bytes, 0);
}
