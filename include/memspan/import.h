/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_IMPORT_H
#define MEMSPAN_IMPORT_H

#include <memspan/device.h>

/** @file import.h
 * Host pages of the program (a shared file mapping, for example), made reachable by devices at the
 * same address.
 *
 * Ownership: the pages stay the caller's; release them before they are unmapped.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** Import the whole pages [address, address + size_bytes) into the drivers of @p devices: all of
 * them, or none. Kernels of those devices then take addresses in it. Ranges must not overlap.
 *
 * Errors: MEMSPAN_ERR_INVALID (no whole pages, no devices), MEMSPAN_ERR_NOT_FOUND (no such device),
 * MEMSPAN_ERR_UNSUPPORTED (its driver cannot import), MEMSPAN_ERR_UNREACHABLE (it maps the pages at
 * another address), MEMSPAN_ERR_CONFLICT (imported already), MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_import(void *address, size_t size_bytes, const int *devices,
                                            size_t device_count);

/** Undo the import that begins at @p address.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such import), MEMSPAN_ERR_DRIVER. */
MEMSPAN_API memspan_status_t memspan_import_release(void *address);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_IMPORT_H */
