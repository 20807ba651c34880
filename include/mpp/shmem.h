/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_MPP_SHMEM_H
#define MEMSPAN_MPP_SHMEM_H

/** @file mpp/shmem.h
 * The place of <shmem.h> before 1.1. */
#include <shmem.h>

#endif /* MEMSPAN_MPP_SHMEM_H */
