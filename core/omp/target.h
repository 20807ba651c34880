/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_TARGET_H
#define MEMSPAN_CORE_OMP_TARGET_H

/* The library that serves a device-memory routine. */

#include <memspan/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/omp/runtime.h"

/* True when device memory of the runtime's device @p number comes from a backend that watches its
 * use (core/base/region.h), and not from the runtime. */
bool msp_omp_alloc_is_watched(int number);

/* The real routine when every device in the call is the runtime's, with the host's numbers
 * replaced by the one that all runtimes accept; 0 when the call is ours to serve.
 * MEMSPAN_ERR_INVALID for an unknown number (real runtimes end the process for some). */
memspan_status_t msp_omp_target_route(enum msp_omp_real real, int *device_a, int *device_b,
                                      uintptr_t *routine_p);

/* Before an asynchronous call is served at once: its dependences may be on sibling tasks. */
void msp_omp_target_wait(int depend_count);

/* A block of boxes; see omp_target_memcpy_rect(). */
struct msp_omp_rect {
    char *to;
    const char *from;
    size_t element_bytes;
    int dimensions;
    const size_t *volume;
    const size_t *to_offsets;
    const size_t *from_offsets;
    const size_t *to_dimensions;
    const size_t *from_dimensions;
};

/* Most dimensions that msp_omp_rect_copy() takes. */
enum { MSP_OMP_RECT_DIMENSIONS = 32 };

/* Copy the boxes, run by run. MEMSPAN_ERR_INVALID when a box leaves its array or a product
 * overflows. */
memspan_status_t msp_omp_rect_copy(const struct msp_omp_rect *rect);

#endif /* MEMSPAN_CORE_OMP_TARGET_H */
