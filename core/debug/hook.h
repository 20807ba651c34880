/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_HOOK_H
#define MEMSPAN_CORE_DEBUG_HOOK_H

/* The tables of hooks that are installed (include/memspan/hook.h), and calling them. */

#include <memspan/hook.h>
#include <stdbool.h>

/* The hooks of a table; memspan_hooks_t has their arguments. */
enum msp_hook {
    MSP_HOOK_ALLOCATED,
    MSP_HOOK_FREEING,
    MSP_HOOK_REALLOCATED,
    MSP_HOOK_CHUNK_TAKEN,
    MSP_HOOK_CHUNK_GIVING_BACK,
    MSP_HOOK_FALLBACK_USED,
    MSP_HOOK_FAILED,
};

/* Call that hook of every table with the records it takes (@p second: the new block of a
 * reallocation, else NULL). Nothing when the calling thread is inside a hook. No lock is held. */
void msp_hook_call(enum msp_hook hook, const void *first, const void *second);

/* True when the calling thread is inside a chunk hook. */
bool msp_hook_in_chunk_hook(void);

#endif /* MEMSPAN_CORE_DEBUG_HOOK_H */
