/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_MESSAGE_H
#define MEMSPAN_SHMEM_COLLECTIVE_MESSAGE_H

/* One-sided messages between members of a team, on one host or several: bytes for symmetric memory
 * or for the slot of the target, then a flag in that slot. Mapped memory is stored to; everything
 * else goes through the transport, in the library's own context.
 *
 * Places in slots are named by this PE's address of the same place in its own slot. */

#include "shmem/team.h"
#include <stdatomic.h>

/* @p size_bytes (0: none) to @p dest, which is symmetric memory or in the slot; then the flag
 * becomes @p value, or with @p adds is increased by it. The source may be reused. */
void msp_message_send(const struct msp_team *team, int pe, void *dest, const void *source,
                      size_t size_bytes, _Atomic uint64_t *flag, uint64_t value, bool adds);

/* @p size_bytes at @p place of its slot. */
void msp_message_read(const struct msp_team *team, int pe, const void *place, void *to,
                      size_t size_bytes);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_MESSAGE_H */
