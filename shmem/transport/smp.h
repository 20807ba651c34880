/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_SMP_H
#define MEMSPAN_SHMEM_TRANSPORT_SMP_H

#include "shmem/transport/transport.h"

/* Mapped memory (target->direct). */
extern const struct msp_transport msp_transport_smp MSP_HIDDEN;

#endif /* MEMSPAN_SHMEM_TRANSPORT_SMP_H */
