/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHARE_H
#define MEMSPAN_SHARE_H

#include <memspan/device.h>

/** @file share.h
 * Device memory for other processes on this node, and for networks.
 *
 * Drivers decide at allocation whether memory can be shared: the allocator needs the trait
 * shareable=true. A process shares the driver's whole chunk, of which an allocation may be a part.
 * The importer reaches all of that chunk; no allocator without the trait uses it. Blocks of at
 * least half of MEMSPAN_CHUNK_SIZE's largest chunk have a chunk of their own.
 *
 * Ownership: the owner's free ends the memory, with or without importers. Importers must close it
 * before; later access is a use after free. A token is plain bytes and holds no resource.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** For memspan_share_import(): the device that holds the memory, under any number. */
#define MEMSPAN_SHARE_ITS_DEVICE (-0x4d01)

/** Upper bound of a token's size. */
#define MEMSPAN_SHARE_TOKEN_MAX_BYTES 1024

/** Write a token for the memory at @p pointer (any address inside a block). Another process of this
 * user on this node opens the memory with it. @p token NULL: only its size. Where the driver shares
 * by a file descriptor, every process of this user may trace this one from then on
 * (PR_SET_PTRACER_ANY; memspan_share(3) has the reason).
 * @param token_size_p in: capacity of @p token in bytes; out: bytes of the token
 * Errors: MEMSPAN_ERR_NOT_FOUND (no live block), MEMSPAN_ERR_UNSUPPORTED (allocated without
 * shareable=true, or its driver cannot share), MEMSPAN_ERR_INVALID (the capacity is too small),
 * MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_share_export(const void *pointer, void *token,
                                                  size_t *token_size_p);

/** Open memory of another process. @p device must be the device that holds it, or
 * MEMSPAN_SHARE_ITS_DEVICE, which finds that device by its uid: device numbers differ between
 * processes. Where this process does not see that device, the first device of the same backend
 * opens the memory, if its driver can (CUDA's does). memspan_copy(), memspan_fill() and kernels of
 * the device take the address; the host may access it only where the owner's host may. Memory that
 * is opened twice has one address and a count.
 * @param size_p bytes from the address to the end of the owner's block; may be NULL
 * Errors: MEMSPAN_ERR_INVALID (no token), MEMSPAN_ERR_CONFLICT (another device's memory, or of a
 * device that this process does not see and cannot open), MEMSPAN_ERR_UNSUPPORTED (this process's
 * own memory), MEMSPAN_ERR_PERMISSION, MEMSPAN_ERR_NOT_FOUND (the owner has exited),
 * MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_share_import(const void *token, size_t token_size, int device,
                                                  void **address_p, size_t *size_p);

/** Close memory that memspan_share_import() opened, once for each import. NULL: no effect.
 * Errors: MEMSPAN_ERR_NOT_FOUND (not an imported address), MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_share_close(void *address);

/** A dma-buf file descriptor for the device memory at [pointer, pointer + size_bytes), with which a
 * network library registers it. The memory begins *offset_p bytes into the buffer. The caller
 * closes the descriptor. Errors: as memspan_share_export(); MEMSPAN_ERR_INVALID (the range leaves
 * its block). */
MEMSPAN_API memspan_status_t memspan_share_dmabuf(const void *pointer, size_t size_bytes, int *fd_p,
                                                  uint64_t *offset_p);

/** Where the host's processors and its network may read and write the device memory at [pointer,
 * pointer + size_bytes) at any time, also while the device works: of devices whose memory is pages
 * of the host, by whose driver's rules that is allowed (emulated devices, OpenMP devices on the
 * host's processors, fine-grain SVM of OpenCL). It is for libraries that move bytes, as a network
 * library that registers host memory: work of the device neither waits for such accesses nor is
 * waited for, and an emulated device does not check them. Any allocator's device memory will do.
 * @param host_p may be @p pointer itself. Valid until memspan_share_host_close(), which precedes
 * the free: an emulated device stops a program that frees the memory before.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no live block), MEMSPAN_ERR_UNSUPPORTED (memory of another kind;
 * memory apart from the host's; the driver's rules forbid it), MEMSPAN_ERR_INVALID (the range
 * leaves its block, host_p NULL), MEMSPAN_ERR_FORKED. */
MEMSPAN_API memspan_status_t memspan_share_host_open(const void *pointer, size_t size_bytes,
                                                     void **host_p);

/** End what memspan_share_host_open() gave for the same arguments. Errors: MEMSPAN_ERR_NOT_FOUND
 * (no live block; of an emulated device, it is not open), MEMSPAN_ERR_UNSUPPORTED,
 * MEMSPAN_ERR_INVALID. */
MEMSPAN_API memspan_status_t memspan_share_host_close(const void *pointer, size_t size_bytes);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_SHARE_H */
