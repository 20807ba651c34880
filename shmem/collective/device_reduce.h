/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_COLLECTIVE_DEVICE_REDUCE_H
#define MEMSPAN_SHMEM_COLLECTIVE_DEVICE_REDUCE_H

/* Reductions of large vectors in memory of devices, by the devices' kernels. */

#include "shmem/collective/collective.h"

/* Whether such a reduction is one of these: the same in all members. */
bool msp_device_reduce_takes(const void *dest, const void *source, size_t bytes);

/* As msp_collective_reduce(). */
void msp_device_reduce(struct msp_team *team, enum msp_reduction operation, enum msp_number type,
                       void *dest, const void *source, size_t count);

#endif /* MEMSPAN_SHMEM_COLLECTIVE_DEVICE_REDUCE_H */
