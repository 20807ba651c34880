/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_CALL_STACK_H
#define MEMSPAN_CORE_DEBUG_CALL_STACK_H

#include <stddef.h>
#include <stdint.h>

/* Where calls came from. Equal stacks are kept once and for ever, so that a million blocks of one
 * line of a program cost one record and stacks compare by address. */

enum { MSP_CALL_STACK_FRAMES_MAX = 24 };

struct msp_call_stack {
    struct msp_call_stack *next; /* of those with the same hash */
    uint64_t hash;
    size_t depth;
    void *frames[]; /* return addresses, the innermost first */
};

/* Make ready: the first walk of a stack loads the unwinder. */
void msp_call_stack_start(void);

/* The stack of the caller, without the library's own innermost frames. NULL when it cannot be had.
 * To be called without any lock: the walk may wait for the dynamic linker's. */
const struct msp_call_stack *msp_call_stack_here(void);

/* ---- call sites ---- */

/* Call stacks as text that is the same in every run of a program, wherever it is loaded. */

/* MODULE:BUILD, for a frame's module. */
enum { MSP_MODULE_BYTES = 80 };

/* The stack of the caller; NULL when it cannot be had. No lock is held. */
const struct msp_call_stack *msp_call_site_stack(void);

/* The text that memspan_call_site() gives for @p stack. */
void msp_call_site_print(const struct msp_call_stack *stack, char *text, size_t size_bytes);

/* Call @p take with MODULE:BUILD of every loaded module. */
void msp_call_site_modules(void (*take)(void *data, const char *module), void *data);

/* ---- symbols ---- */

/* Names for addresses of code, for reports. */

struct msp_symbol {
    char name[160]; /* of the function; "" when it is unknown */
    size_t offset;  /* from its start */
    char module[256];
    uintptr_t module_offset; /* the argument of addr2line -e MODULE */
    char file[64];           /* of source, without its folders */
    unsigned line;           /* 0: unknown */
};

/* The function and line of the instruction at @p address. Opens the module's file. */
void msp_symbol_find(const void *address, struct msp_symbol *symbol_p);

#endif /* MEMSPAN_CORE_DEBUG_CALL_STACK_H */
