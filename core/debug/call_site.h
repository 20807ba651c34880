/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_CALL_SITE_H
#define MEMSPAN_CORE_DEBUG_CALL_SITE_H

/* Call stacks as text that is the same in every run of a program, wherever it is loaded. */

#include "core/debug/call_stack.h"

/* MODULE:BUILD, for a frame's module. */
enum { MSP_MODULE_BYTES = 80 };

/* The stack of the caller; NULL when it cannot be had. No lock is held. */
const struct msp_call_stack *msp_call_site_stack(void);

/* The text that memspan_call_site() gives for @p stack. */
void msp_call_site_print(const struct msp_call_stack *stack, char *text, size_t size_bytes);

/* Call @p take with MODULE:BUILD of every loaded module. */
void msp_call_site_modules(void (*take)(void *data, const char *module), void *data);

#endif /* MEMSPAN_CORE_DEBUG_CALL_SITE_H */
