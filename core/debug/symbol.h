/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_SYMBOL_H
#define MEMSPAN_CORE_DEBUG_SYMBOL_H

/* Names for addresses of code, for reports. */

#include <stddef.h>
#include <stdint.h>

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

#endif /* MEMSPAN_CORE_DEBUG_SYMBOL_H */
