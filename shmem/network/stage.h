/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_STAGE_H
#define MEMSPAN_SHMEM_NETWORK_STAGE_H

/* Staging: memory of a device that the network does not register passes through memory of the host,
 * at both ends. It is pinned where the device's driver pins host memory, so that its copies are
 * DMA.
 *
 * At the end that started the operation: buffers, which are kept for the next one. At the other:
 * the area STAGE of the control memory, which peers lease by slots, put to and get from. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MSP_NETWORK_STAGE_BYTES = 512 << 10, /* of a buffer, and of a slot */
    MSP_NETWORK_STAGE_SLOTS = 8,         /* of a lease, one behind the other */
};

/* ---- buffers; any thread ---- */

struct msp_network_stage {
    struct msp_network_stage *next; /* of those that are kept, or the user's */
    char *memory;                   /* MSP_NETWORK_STAGE_BYTES */
    int device;                     /* whose memory it is for */
    bool is_pinned;
};

/* A buffer for memory of the device that has @p device_address. Fatal, for @p call, without
 * memory. */
struct msp_network_stage *msp_network_stage_take(const char *call, const void *device_address);
void msp_network_stage_give(struct msp_network_stage *stage);

/* ---- leases ---- */

#define MSP_NETWORK_NO_LEASE UINT64_MAX

/* Where slots that no peer has begin in this PE's control memory; MSP_NETWORK_NO_LEASE: all have
 * been leased. Any thread. */
uint64_t msp_network_stage_lease(void);
void msp_network_stage_release(uint64_t lease);

/* For the worker: between a slot at @p place of the control memory and a device's
 * memory. Fatal, for @p call, when the driver fails, or the place is none. */
void msp_network_stage_copy(const char *call, bool to_device, void *device_address, uint64_t place,
                            size_t size_bytes);

/* Frees buffers; no peer uses slots any more. */
void msp_network_stage_close(void);

#endif /* MEMSPAN_SHMEM_NETWORK_STAGE_H */
