/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHARE_H
#define MEMSPAN_SHARE_H

#include <memspan/device.h>

/** @file share.h
 * Device memory for other processes of this node, and for network cards.
 *
 * Whether memory can be shared is decided when it is taken from the driver: the allocator must have
 * the trait shareable=true. What is shared is the driver's whole block, of which an allocation may
 * be a part: the other process can reach all memory of that block, which no allocator without the
 * trait ever uses. Blocks of half of MEMSPAN_CHUNK_SIZE's largest chunk and more are not divided.
 *
 * Ownership: the exporter's memory lives until it frees it, whoever has opened it. Importers must
 * close before the owner frees; what an importer does with memory that is gone is as with any other
 * memory that is gone. A token is mere bytes and holds nothing: it may be sent, copied, dropped.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** For memspan_share_import(): the device that the memory is of, whatever its number here. */
#define MEMSPAN_SHARE_ITS_DEVICE (-0x4d01)

/** No token is longer. */
#define MEMSPAN_SHARE_TOKEN_MAX_BYTES 1024

/** Write a token for the memory at @p pointer (any address inside a block), with which another
 * process of this node and user opens it. @p token NULL: only the size that it takes. Where the
 * driver shares by a file descriptor, every process of this user may trace this one from then on
 * (PR_SET_PTRACER_ANY; memspan_share(3) says why).
 * @param token_size_p in: room in @p token; out: bytes of it
 * Errors: MEMSPAN_ERR_NOT_FOUND (no live block), MEMSPAN_ERR_UNSUPPORTED (it was not taken with
 * shareable=true, or its driver shares nothing), MEMSPAN_ERR_INVALID (no room). */
MEMSPAN_API memspan_status_t memspan_share_export(const void *pointer, void *token,
                                                  size_t *token_size_p);

/** Open memory of another process on @p device, which must be the device that it is of, or
 * MEMSPAN_SHARE_ITS_DEVICE: that device, found by its uid, for numbers differ between processes
 * that see different devices. Where this process does not see it, the first device of the same
 * backend opens it, if its driver can (CUDA's does). The address is one that memspan_copy(),
 * memspan_fill() and kernels of that device take; the host may use it no more than the owner's host
 * may use the owner's. The same memory is opened once and counted.
 * @param size_p bytes from the address to the end of what was asked for by its owner; may be NULL
 * Errors: MEMSPAN_ERR_INVALID (no token), MEMSPAN_ERR_CONFLICT (of another device, or of one that
 * this process does not see and cannot open),
 * MEMSPAN_ERR_UNSUPPORTED (this process's own memory), MEMSPAN_ERR_PERMISSION,
 * MEMSPAN_ERR_NOT_FOUND (its owner is gone), MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_share_import(const void *token, size_t token_size, int device,
                                                  void **address_p, size_t *size_p);

/** Close what memspan_share_import() opened, once for each time. NULL: no effect.
 * MEMSPAN_ERR_NOT_FOUND for any other address. */
MEMSPAN_API memspan_status_t memspan_share_close(void *address);

/** A dma-buf descriptor of the device memory at [pointer, pointer + size_bytes), with which a
 * network library registers it: the memory begins *offset_p bytes into it. The caller closes it.
 * Errors: as memspan_share_export(); MEMSPAN_ERR_INVALID where the range leaves its block. */
MEMSPAN_API memspan_status_t memspan_share_dmabuf(const void *pointer, size_t size_bytes, int *fd_p,
                                                  uint64_t *offset_p);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_SHARE_H */
