/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_VENDOR_H
#define MEMSPAN_CORE_OMP_VENDOR_H

/* The memory kinds that vendors name: LLVM's and Intel's target_host, target_shared and
 * target_device; GCC's pinned and managed. */

#include <memspan/allocator.h>

enum msp_omp_vendor {
    MSP_OMP_TARGET_HOST   = 100, /* host memory that the device reaches */
    MSP_OMP_TARGET_SHARED = 101, /* moves between host and device */
    MSP_OMP_TARGET_DEVICE = 102, /* the device's own */
    MSP_OMP_GNU_PINNED    = 200, /* (allocator) host memory that is locked */
    MSP_OMP_GNU_MANAGED   = 201  /* (allocator; its space is 200) as target_shared */
};

/* The allocator of such memory for one device, made on first use; the default allocator where
 * @p device is the host, since then there is nothing special to reach. 0 with an error record when
 * the device has no such memory. */
memspan_allocator_h msp_omp_vendor_allocator(enum msp_omp_vendor kind, int device);

#endif /* MEMSPAN_CORE_OMP_VENDOR_H */
