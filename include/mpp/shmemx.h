/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_MPP_SHMEMX_H
#define MEMSPAN_MPP_SHMEMX_H

/** @file mpp/shmemx.h
 * The place of <shmemx.h> before 1.1. */
#include <shmemx.h>

#endif /* MEMSPAN_MPP_SHMEMX_H */
