/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_PLACEMENT_H
#define MEMSPAN_PLACEMENT_H

#include <memspan/allocator.h>

/** @file placement.h Placement by call site: a file, named by MEMSPAN_PLACEMENT, maps call sites to
 * predefined allocators. memspan-advise(1) writes it; it applies to requests of 64 KiB or more to
 * the predefined allocators. The calls below are for tools that replace other allocation calls.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** Requests of fewer bytes are not placed. */
#define MEMSPAN_PLACEMENT_BYTES 65536

/** Space for the text of any call site. */
#define MEMSPAN_CALL_SITE_BYTES 2048

/** The call site: the stack of the calling code, twelve frames at most, the innermost first, as a
 * placement file has it: MODULE:BUILD+OFFSET, separated by a blank. Frames of libraries whose name
 * begins with libmemspan are left out where they are innermost, those of the C library everywhere.
 * It is the same in every run of the same program.
 *
 * @param text       at least one byte; frames that do not fit are left out
 * @param size_bytes of @p text; MEMSPAN_CALL_SITE_BYTES are always enough
 *
 * Errors: MEMSPAN_ERR_INVALID (text is NULL or has no space), MEMSPAN_ERR_NO_MEMORY. */
MEMSPAN_API memspan_status_t memspan_call_site(char *text, size_t size_bytes);

/** The predefined allocator that MEMSPAN_PLACEMENT gives to the calling code; the default one where
 * memory follows its use (auto);
 * MEMSPAN_ALLOCATOR_NULL when it gives none. Nothing to release. No error is recorded. */
MEMSPAN_API memspan_allocator_h memspan_placement_find(void);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_PLACEMENT_H */
