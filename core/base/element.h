/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_ELEMENT_H
#define MEMSPAN_CORE_BASE_ELEMENT_H

/* Elements of combining kernels, for the library and for backends. */

#include <memspan/transfer.h>

/* Size of an element of a combining kernel; 0 for other kernels and unknown elements. */
static inline size_t msp_element_bytes(memspan_kernel_t kernel)
{
    static const unsigned char sizes[MEMSPAN_ELEMENT_COUNT] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16};
    unsigned which = (unsigned)kernel - (unsigned)MEMSPAN_KERNEL_COMBINE_FIRST;

    return (((which >> 8) < MEMSPAN_OPERATION_COUNT) && ((which & 0xff) < MEMSPAN_ELEMENT_COUNT))
               ? sizes[which & 0xff]
               : 0;
}

#endif /* MEMSPAN_CORE_BASE_ELEMENT_H */
