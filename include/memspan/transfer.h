/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TRANSFER_H
#define MEMSPAN_TRANSFER_H

#include <memspan/space.h>

/** @file transfer.h
 * Copies, fills, prefetches, moves between memory spaces, and the few built-in kernels.
 *
 * The library finds the device of its own memory from the address; any other address counts as host
 * memory. Copies and fills are complete when the call returns. Kernels and prefetches may still
 * run: memspan_device_synchronize() waits for them.
 *
 * Threads: every call may run on any thread; calls on one device run in order. */

MEMSPAN_BEGIN_DECLS

/** Copy @p size_bytes between host and device memory, or between two devices of any vendors
 * (through host memory). The ranges must not overlap. Size 0: no effect. Errors:
 * MEMSPAN_ERR_INVALID (NULL, or a range that runs past its block), MEMSPAN_ERR_UNSUPPORTED (the
 * backend cannot copy), MEMSPAN_ERR_NO_MEMORY (for the staging buffer), MEMSPAN_ERR_DRIVER,
 * MEMSPAN_ERR_FORKED. */
MEMSPAN_API memspan_status_t memspan_copy(void *to, const void *from, size_t size_bytes);

/** Copy @p block_count blocks of @p block_bytes, whose starts are @p to_stride_bytes and
 * @p from_stride_bytes apart (at least block_bytes): by one call of a driver that has one. Bytes
 * between the blocks are not touched. No block, or blocks of 0 bytes: no effect. Otherwise as
 * memspan_copy(); MEMSPAN_ERR_INVALID also where blocks of one side overlap. */
MEMSPAN_API memspan_status_t memspan_copy_blocks(void *to, size_t to_stride_bytes, const void *from,
                                                 size_t from_stride_bytes, size_t block_bytes,
                                                 size_t block_count);

/** Set @p size_bytes bytes to @p byte; the device does it where the memory is a device's. Size 0:
 * no effect. Errors: MEMSPAN_ERR_INVALID (NULL, or a range that runs past its block),
 * MEMSPAN_ERR_UNSUPPORTED (the backend cannot fill), MEMSPAN_ERR_DRIVER, MEMSPAN_ERR_FORKED. */
MEMSPAN_API memspan_status_t memspan_fill(void *to, unsigned char byte, size_t size_bytes);

/** Start to migrate managed memory to @p device (or the host).
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such device), MEMSPAN_ERR_INVALID (NULL, or a range that runs
 * past its block), MEMSPAN_ERR_UNSUPPORTED (the memory does not migrate; it stays usable),
 * MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_prefetch(const void *pointer, size_t size_bytes, int device);

/** Move the live block that starts at @p pointer to @p space; it keeps its address, contents, owner
 * and charge, and its pages count for the pools of the space from now on. Host memory goes to the
 * NUMA node that the space prefers and that has free memory (the nearest one, for a space of memory
 * by first touch), and so do pages that are touched later. Managed memory is prefetched to the
 * first device of the space, or to the host. memspan_realloc() to a larger size may return the
 * block to the space of its allocator.
 *
 * Other threads may load and store meanwhile, but make no call on the block. Errors:
 * MEMSPAN_ERR_NOT_FOUND (no live block starts there, or no such space), MEMSPAN_ERR_UNSUPPORTED
 * (the address cannot stay, and the message has the reason: the block shares pages with others, is
 * locked or imported, or is coherent or device memory; the space has no such memory),
 * MEMSPAN_ERR_NO_MEMORY (no node of the space has free memory; or pages have stayed, because
 * something else holds them: the others have moved), MEMSPAN_ERR_PERMISSION, MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_move(void *pointer, memspan_space_h space);

/** The kernels that every backend with MEMSPAN_CAN_KERNELS has. */
typedef enum memspan_kernel {
    MEMSPAN_KERNEL_DAXPY = 0, /**< z[i] += a * x[i] + y[i], doubles (the proposal's listing 1.1) */
    MEMSPAN_KERNEL_FILL,      /**< z[i] = a, doubles */
    MEMSPAN_KERNEL_SUM,       /**< z[0] = sum of x[i], doubles */
    MEMSPAN_KERNEL_CHASE, /**< follow x[0] as a pointer list of pointers for count steps and write
                               the last address to z[0]: proves that addresses are shared */
    MEMSPAN_KERNEL_ADD_ATOMIC, /**< add a (as a 32-bit integer) to the 32-bit word z[0], count
                                  times, atomically at system scope */
    /** This range: MEMSPAN_KERNEL_COMBINE(), which few backends have. */
    MEMSPAN_KERNEL_COMBINE_FIRST = 0x1000,
    MEMSPAN_KERNEL_COMBINE_LAST  = 0x1fff
} memspan_kernel_t;

/** Operation of a combining kernel on each pair of elements. AND, OR and XOR take integers, MIN and
 * MAX all but complex numbers. */
typedef enum memspan_operation {
    MEMSPAN_OPERATION_SUM = 0,
    MEMSPAN_OPERATION_PROD,
    MEMSPAN_OPERATION_MIN,
    MEMSPAN_OPERATION_MAX,
    MEMSPAN_OPERATION_AND,
    MEMSPAN_OPERATION_OR,
    MEMSPAN_OPERATION_XOR,
    MEMSPAN_OPERATION_COUNT
} memspan_operation_t;

/** Element type of a combining kernel: integer, floating-point or complex, with its bits. */
typedef enum memspan_element {
    MEMSPAN_ELEMENT_S8 = 0,
    MEMSPAN_ELEMENT_U8,
    MEMSPAN_ELEMENT_S16,
    MEMSPAN_ELEMENT_U16,
    MEMSPAN_ELEMENT_S32,
    MEMSPAN_ELEMENT_U32,
    MEMSPAN_ELEMENT_S64,
    MEMSPAN_ELEMENT_U64,
    MEMSPAN_ELEMENT_F32,
    MEMSPAN_ELEMENT_F64,
    MEMSPAN_ELEMENT_C32, /**< two F32 */
    MEMSPAN_ELEMENT_C64, /**< two F64 */
    MEMSPAN_ELEMENT_COUNT
} memspan_element_t;

/** z[i] = x[i] OPERATION y[i]: the step of a reduction over several devices or processes. z may be
 * x or y. */
#define MEMSPAN_KERNEL_COMBINE(operation, element)                                                 \
    MEMSPAN_CONSTANT(memspan_kernel_t, MEMSPAN_KERNEL_COMBINE_FIRST +                              \
                                           (MEMSPAN_CONSTANT(int, operation) << 8) +               \
                                           MEMSPAN_CONSTANT(int, element))

/** Arguments of a kernel; it ignores those that it does not use. Set struct_size first. The device
 * must reach all addresses. */
typedef struct memspan_kernel_call {
    size_t struct_size; /**< in: sizeof(memspan_kernel_call_t) */
    memspan_kernel_t kernel;
    size_t count; /**< elements (or steps) */
    double a;
    const void *x;
    const void *y;
    void *z;
} memspan_kernel_call_t;

/** Start a kernel on @p device, after all work that was started there before. On the host it runs
 * in the calling thread. Errors: MEMSPAN_ERR_NOT_FOUND (no such device), MEMSPAN_ERR_UNSUPPORTED
 * (no such kernel there), MEMSPAN_ERR_INVALID (struct_size not set, no such kernel, or an address
 * that the device does not reach: the message has the address and the reason), MEMSPAN_ERR_DRIVER.
 */
MEMSPAN_API memspan_status_t memspan_kernel_launch(int device, const memspan_kernel_call_t *call);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_TRANSFER_H */
