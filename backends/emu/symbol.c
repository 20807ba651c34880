/* SPDX-License-Identifier: BSD-3-Clause */
/* symbol.c: the function and line of an address of code, found in the file that is mapped there, by
 * system calls alone: it must work in a signal handler, where dladdr() may wait for ever.
 */

#include "backends/emu/emu.h"
#include "core/base/elf.h"
#include <dlfcn.h>
#include <string.h>

/* "FUNCTION+0x1c at FILE:LINE", or a part of that. */
static void write_place(struct emu_writer *w, const char *path, uint64_t offset)
{
    const char *slash  = strrchr(path, '/');
    const char *name   = NULL;
    const char *source = NULL;
    uint64_t into      = offset;
    struct msp_elf elf;
    uint64_t address;
    unsigned line;

    if (msp_elf_open(&elf, path)) {
        address = msp_elf_address(&elf, offset);
        name    = msp_elf_function(&elf, address, &into);
        emu_write_text(w, (name != NULL) ? name : "offset ");
        emu_write_text(w, (name != NULL) ? "+" : "");
        emu_write_hexadecimal(w, into);
        if (msp_elf_line(&elf, address, &source, &line)) {
            emu_write_text(w, " at ");
            emu_write_text(w, source);
            emu_write_text(w, ":");
            emu_write_number(w, line);
        }
        msp_elf_close(&elf);
    } else {
        emu_write_text(w, "offset ");
        emu_write_hexadecimal(w, offset);
    }
    if (source == NULL) {
        emu_write_text(w, " of ");
        emu_write_text(w, (slash != NULL) ? slash + 1 : path);
    }
}

const char *emu_symbol_text(char *buffer, size_t size, uintptr_t pc)
{
    struct emu_writer w = {buffer, size, 0};
    char lines[4096 + 512];
    struct emu_maps maps;
    struct emu_mapping m;

    buffer[0] = '\0';
    if (emu_maps_open(&maps, lines, sizeof(lines)) == 0) {
        while (emu_maps_next(&maps, &m)) {
            if ((pc >= m.start) && (pc < m.end) && (m.path[0] == '/')) {
                write_place(&w, m.path, m.offset + (pc - m.start));
                break;
            }
        }
        emu_maps_close(&maps);
    }
    if (buffer[0] == '\0') {
        emu_write_text(&w, "code of no file");
    }
    return buffer;
}

void emu_write_callers(struct emu_writer *w, const char *label, void *const *callers, int count)
{
    bool inside = true;
    Dl_info own;
    Dl_info caller;
    int i;

    if (dladdr((const void *)(uintptr_t)emu_write_callers, &own) == 0) {
        return;
    }
    for (i = 0; i < count; i++) {
        char place[256];

        inside =
            inside && (dladdr(callers[i], &caller) != 0) && (caller.dli_fbase == own.dli_fbase);
        if (!inside) {
            emu_write_text(w, label);
            emu_write_text(w, " ");
            /* A return address may be the next function's first byte. */
            emu_write_text(w, emu_symbol_text(place, sizeof(place), (uintptr_t)callers[i] - 1));
            emu_write_text(w, "\n");
        }
    }
}
