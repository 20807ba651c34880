/* SPDX-License-Identifier: BSD-3-Clause */
/* symbol.c: from an address of code to its function, line and module.
 *
 * The dynamic linker has the exported symbols. A program's own functions are not, unless it was
 * linked with -rdynamic, and OpenMP regions never are: they are looked up in the symbol table of
 * the module's file, if it was not stripped. Lines are in that file too. */

#include "core/base/elf.h"
#include "core/debug/call_stack.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>

static void search_file(uintptr_t value, struct msp_symbol *symbol)
{
    struct msp_elf elf;
    const char *name = NULL;
    const char *file;
    uint64_t into;

    if (!msp_elf_open(&elf, symbol->module)) {
        return;
    }
    if (symbol->name[0] == '\0') {
        name = msp_elf_function(&elf, value, &into);
    }
    if (name != NULL) {
        snprintf(symbol->name, sizeof(symbol->name), "%s", name);
        symbol->offset = into;
    }
    if (msp_elf_line(&elf, value, &file, &symbol->line)) {
        snprintf(symbol->file, sizeof(symbol->file), "%s", file);
    }
    msp_elf_close(&elf);
}

void msp_symbol_find(const void *address, struct msp_symbol *symbol_p)
{
    struct msp_symbol symbol = {.module_offset = (uintptr_t)address};
    struct link_map *map     = NULL;
    Dl_info info;

    if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0) {
        *symbol_p = symbol;
        return;
    }
    symbol.module_offset = (uintptr_t)address - ((map == NULL) ? 0 : map->l_addr);
    snprintf(symbol.module, sizeof(symbol.module), "%s", info.dli_fname);
    if ((map != NULL) && (map->l_name[0] == '\0')) {
        /* The program, whose name as it was started may lead nowhere from here. */
        ssize_t n = readlink("/proc/self/exe", symbol.module, sizeof(symbol.module) - 1);
        symbol.module[(n < 0) ? 0 : n] = '\0';
    }
    if (info.dli_sname != NULL) {
        snprintf(symbol.name, sizeof(symbol.name), "%s", info.dli_sname);
        symbol.offset = (uintptr_t)address - (uintptr_t)info.dli_saddr;
    }
    search_file(symbol.module_offset, &symbol);
    *symbol_p = symbol;
}
