/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_PIPELINE_H
#define MEMSPAN_SHMEM_NETWORK_PIPELINE_H

/* Large blocks to or from memory of devices that the network does not register: in pieces, several
 * of which are under way. A piece passes through a staging buffer at each end that is a device's;
 * between the ends it is the driver's put or get. So the copies of both devices and the network
 * work at the same time. */

#include "shmem/network/stream.h"

/* Both return when the operation is complete at this end (put: and at the other, where that is a
 * device's), and how many bytes they have moved: the caller moves the rest by other paths. 0 where
 * these are better. */
size_t msp_network_pipeline_put(const struct msp_network_work *work, const char *source,
                                size_t size_bytes);
size_t msp_network_pipeline_get(const struct msp_network_work *work, char *dest, size_t size_bytes);

#endif /* MEMSPAN_SHMEM_NETWORK_PIPELINE_H */
