/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TORCH_H
#define MEMSPAN_TORCH_H

#include <memspan/status.h>
#include <stddef.h>

/** @file torch.h
 * The two functions of torch.cuda.memory.CUDAPluggableAllocator. PyTorch loads them by name from
 * libmemspan.so; memspan_torch_alloc(3) has the lines.
 *
 * Memory is the device memory of PyTorch's device, in CUDA or HIP. The driver may use it in every
 * stream at once. PyTorch frees a tensor while kernels may still use it, in its stream and in
 * others, and expects what cudaFree() does: the free waits for all work on the device.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** Allocate @p size_bytes on PyTorch's device @p device, aligned to 256 bytes. @p stream has no
 * effect. NULL for 0 bytes, and on failure, with the error record of memspan_alloc();
 * MEMSPAN_ERR_NOT_FOUND: no such device. */
MEMSPAN_API void *memspan_torch_alloc(ptrdiff_t size_bytes, int device, void *stream);

/** Wait for all work on the device, and free. Where the wait fails, as in the capture of a graph,
 * the memory stays allocated. Only @p pointer and @p device have an effect. */
MEMSPAN_API void memspan_torch_free(void *pointer, ptrdiff_t size_bytes, int device, void *stream);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_TORCH_H */
