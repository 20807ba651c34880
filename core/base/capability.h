/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_CAPABILITY_H
#define MEMSPAN_CORE_BASE_CAPABILITY_H

#include <memspan/device.h>
#include <memspan/transfer.h>
#include <stdbool.h>

/* A device's capabilities with their sources: one call writes both, so that neither is there
 * without the other. */

/* Set or clear @p bit (one of enum memspan_capability) with the reason. */
void msp_capability_set(memspan_device_info_t *info, unsigned bit, bool can, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* A mode; the first of that name is written over. More than there is space for are left out. */
void msp_mode_set(memspan_device_info_t *info, const char *name, int on, const char *source,
                  const char *remedy);

/* ---- elements ---- */

/* Elements of combining kernels, for the library and for backends. */

/* Size of an element of a combining kernel; 0 for other kernels and unknown elements. */
static inline size_t msp_element_bytes(memspan_kernel_t kernel)
{
    static const unsigned char sizes[MEMSPAN_ELEMENT_COUNT] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16};
    unsigned which = (unsigned)kernel - (unsigned)MEMSPAN_KERNEL_COMBINE_FIRST;

    return (((which >> 8) < MEMSPAN_OPERATION_COUNT) && ((which & 0xff) < MEMSPAN_ELEMENT_COUNT))
               ? sizes[which & 0xff]
               : 0;
}

#endif /* MEMSPAN_CORE_BASE_CAPABILITY_H */
