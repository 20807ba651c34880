/* SPDX-License-Identifier: BSD-3-Clause */
/* no_offload.c: a program without target regions; kernels are the backend's. */

#include "conform.h"

conform_kernels_t *const conform_own_kernels = NULL;
