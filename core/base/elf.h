/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_ELF_H
#define MEMSPAN_CORE_BASE_ELF_H

/* The facts about an address of code in the file of its program or library: the function, from its
 * symbol tables, and the line of source, from its line table (DWARF 2 to 5; not from one that is
 * compressed or in another file).
 *
 * Signal handlers call this: it makes system calls, and takes no lock and no memory. The file may
 * have changed since it was loaded, so every offset in it is checked. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msp_elf {
    const unsigned char *bytes;
    size_t size_bytes;
};

/* Map the file. False: it is no ELF file of this machine, or cannot be read. */
bool msp_elf_open(struct msp_elf *elf_p, const char *path);
void msp_elf_close(struct msp_elf *elf);

/* The address that its tables have for the byte at @p offset of the file; 0: none. */
uint64_t msp_elf_address(const struct msp_elf *elf, uint64_t offset);

/* The name of the function at an address, in the mapped file, and how far inside it the address is.
 * NULL: unknown. */
const char *msp_elf_function(const struct msp_elf *elf, uint64_t address, uint64_t *into_p);

/* The line of source at an address: the file's name without its folders, in the mapped file. False:
 * unknown. */
bool msp_elf_line(const struct msp_elf *elf, uint64_t address, const char **file_p,
                  unsigned *line_p);

/* For elf_line.c: the contents of a section; false: there is none, or it is compressed. */
bool msp_elf_section(const struct msp_elf *elf, const char *name, struct msp_elf *section_p);

#endif /* MEMSPAN_CORE_BASE_ELF_H */
