/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_ICV_H
#define MEMSPAN_CORE_OMP_ICV_H

/* def-allocator-var. msp_omp_default_allocator() (base/omp_hook.h) is the reading side. */

#include "core/omp/abi.h"

/* The value stored in a runtime where omp_default_mem_alloc was set on purpose while OMP_ALLOCATOR
 * names another initial value that the runtime itself did not understand. Means handle 1. */
#define MSP_OMP_EXPLICIT_DEFAULT ((msp_omp_allocator_t)0x4d656d7370616e31)

#endif /* MEMSPAN_CORE_OMP_ICV_H */
