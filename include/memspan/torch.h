/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TORCH_H
#define MEMSPAN_TORCH_H

#include <memspan/status.h>
#include <stddef.h>
#include <stdint.h>

/** @file torch.h
 * The functions of torch.cuda.memory.CUDAPluggableAllocator. PyTorch loads them by name from
 * libmemspan.so; memspan_torch_alloc(3) has the lines, and memspan.torch of Python makes the
 * allocator with all of them.
 *
 * Memory is the device memory of PyTorch's device, in CUDA or HIP. PyTorch frees a tensor while
 * kernels may still use it, in its stream and in others.
 *
 * With the hooks, after memspan_torch_hooks(): memory is allocated and freed in the order of
 * PyTorch's streams, as by memspan_alloc_on() and memspan_free_on(). No call waits for the device,
 * and a tensor of a stream is served from memory that was freed on it without a call of the driver.
 * A stream that PyTorch passes must exist as long as the process, as PyTorch's own do.
 *
 * Without them nothing is known of other streams and of captured graphs: the driver may use the
 * memory in every stream at once, and the free waits for all work on the device, as cudaFree()
 * does.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** Allocate @p size_bytes on PyTorch's device @p device, aligned to 256 bytes, with the hooks for
 * the work that follows on @p stream. NULL for 0 bytes, and on failure, with the error record of
 * memspan_alloc(); MEMSPAN_ERR_NOT_FOUND: no such device. */
MEMSPAN_API void *memspan_torch_alloc(ptrdiff_t size_bytes, int device, void *stream);

/** Free after the work that is on @p stream now and, by memspan_torch_record_stream(), on others;
 * without the hooks after all work on the device. Where that cannot be waited for, as in the
 * capture of a graph, the memory stays allocated. @p size_bytes has no effect. */
MEMSPAN_API void memspan_torch_free(void *pointer, ptrdiff_t size_bytes, int device, void *stream);

/** PyTorch calls the hooks below from now on: memspan_torch_record_stream() by
 * set_record_stream_fn(), and those of pools. Before the first tensor. Never fails. */
MEMSPAN_API void memspan_torch_hooks(void);

/** Tensor.record_stream(): @p stream uses the memory at @p pointer, too. */
MEMSPAN_API void memspan_torch_record_stream(void *pointer, void *stream);

/** torch.cuda.empty_cache(), by set_reset_fn(): memspan_trim(). Never fails. */
MEMSPAN_API void memspan_torch_reset(void);

/** The name of a pool of a captured graph: PyTorch's MempoolId_t. */
typedef struct memspan_torch_pool {
    uint64_t first;
    uint64_t second;
} memspan_torch_pool_t;

/** The capture of a graph on @p device begins, by set_begin_allocate_to_pool(), and ends, by
 * set_end_allocate_to_pool_fn(). Memory that is allocated or freed meanwhile is the graph's: no
 * other tensor gets it before memspan_torch_pool_release(), by set_release_pool(), has been called
 * once for each beginning. That call waits for the device. @p filter has no effect. Never fail. */
MEMSPAN_API void memspan_torch_pool_begin(int device, memspan_torch_pool_t pool, void *filter);
MEMSPAN_API void memspan_torch_pool_end(int device, memspan_torch_pool_t pool);
MEMSPAN_API void memspan_torch_pool_release(int device, memspan_torch_pool_t pool);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_TORCH_H */
