/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_IMPORT_H
#define MEMSPAN_IMPORT_H

#include <memspan/device.h>

/** @file import.h
 * Host pages that are not Memspan's, made reachable by devices at their own address: what the
 * library does for its own memory of several devices, for shared files and the like.
 *
 * Ownership: the pages stay the caller's, who releases them before they are unmapped.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** Import [address, address + size_bytes), whole pages, into the drivers of @p devices: all of
 * them, or none. Kernels of those devices then take addresses in it. Ranges do not overlap.
 *
 * Errors: MEMSPAN_ERR_INVALID (no pages, no devices), MEMSPAN_ERR_NOT_FOUND (no such device),
 * MEMSPAN_ERR_UNSUPPORTED (its driver imports nothing), MEMSPAN_ERR_UNREACHABLE (it sees the pages
 * at another address), MEMSPAN_ERR_CONFLICT (imported before), MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_import(void *address, size_t size_bytes, const int *devices,
                                            size_t device_count);

/** Undo the import that began at @p address. MEMSPAN_ERR_NOT_FOUND when there is none. */
MEMSPAN_API memspan_status_t memspan_import_release(void *address);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_IMPORT_H */
