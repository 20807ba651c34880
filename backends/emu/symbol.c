/* SPDX-License-Identifier: BSD-3-Clause */
/* symbol.c: which function an address of code belongs to, found in the file that is mapped there,
 * by system calls alone: it must work in a signal handler, where dladdr() may wait for ever. Static
 * functions are found too, in files that are not stripped. */

#include "backends/emu/emu.h"
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const char *bytes;
    size_t size;
};

static const void *part(const struct image *image, uint64_t offset, uint64_t size)
{
    return ((offset <= image->size) && (size <= image->size - offset)) ? image->bytes + offset
                                                                       : NULL;
}

/* The address that the file's own tables use for what lies at @p offset of it; 0: none. */
static uint64_t address_of(const struct image *image, const Elf64_Ehdr *head, uint64_t offset)
{
    uint64_t i;

    for (i = 0; i < head->e_phnum; i++) {
        const Elf64_Phdr *p =
            part(image, head->e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));

        if ((p != NULL) && (p->p_type == PT_LOAD) && (offset >= p->p_offset) &&
            (offset - p->p_offset < p->p_filesz)) {
            return p->p_vaddr + (offset - p->p_offset);
        }
    }
    return 0;
}

/* The function of one symbol table that holds @p address; its name stays in the image. */
static const char *search_table(const struct image *image, const Elf64_Shdr *table,
                                const Elf64_Shdr *strings, uint64_t address, uint64_t *start_p)
{
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    uint64_t i;

    for (i = 0; i < count; i++) {
        const Elf64_Sym *s =
            part(image, table->sh_offset + i * sizeof(Elf64_Sym), sizeof(Elf64_Sym));

        if ((s != NULL) && (ELF64_ST_TYPE(s->st_info) == STT_FUNC) && (s->st_value <= address) &&
            (address - s->st_value < s->st_size) && (s->st_name < strings->sh_size)) {
            const char *name = part(image, strings->sh_offset + s->st_name, 1);
            if (name != NULL) {
                *start_p = s->st_value;
                return name;
            }
        }
    }
    return NULL;
}

static const char *search(const struct image *image, uint64_t offset, uint64_t *into_p)
{
    const Elf64_Ehdr *head = part(image, 0, sizeof(*head));
    const char *name       = NULL;
    uint64_t address;
    uint64_t start;
    uint64_t i;

    if ((head == NULL) || (head->e_ident[0] != ELFMAG0) || (head->e_ident[1] != ELFMAG1) ||
        (head->e_ident[EI_CLASS] != ELFCLASS64) || (head->e_shentsize != sizeof(Elf64_Shdr))) {
        return NULL;
    }
    address = address_of(image, head, offset);
    for (i = 0; (name == NULL) && (i < head->e_shnum); i++) {
        const Elf64_Shdr *table = part(image, head->e_shoff + i * sizeof(*table), sizeof(*table));
        const Elf64_Shdr *strings;

        if ((table == NULL) || ((table->sh_type != SHT_SYMTAB) && (table->sh_type != SHT_DYNSYM))) {
            continue;
        }
        strings = part(image, head->e_shoff + table->sh_link * sizeof(*strings), sizeof(*strings));
        if (strings != NULL) {
            name = search_table(image, table, strings, address, &start);
        }
    }
    if (name != NULL) {
        *into_p = address - start;
    }
    return name;
}

static void write_place(struct emu_writer *w, const char *path, uint64_t offset)
{
    struct image image = {NULL, 0};
    const char *name   = NULL;
    const char *base   = path;
    uint64_t into      = 0;
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if ((file >= 0) && (fstat(file, &about) == 0) && (about.st_size > 0)) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        image.bytes = (bytes == MAP_FAILED) ? NULL : bytes;
        image.size  = (image.bytes == NULL) ? 0 : (size_t)about.st_size;
    }
    if (file >= 0) {
        close(file);
    }
    name = search(&image, offset, &into);
    if (name != NULL) {
        emu_write_text(w, name);
        emu_write_text(w, "+");
        emu_write_hexadecimal(w, into);
    } else {
        emu_write_text(w, "offset ");
        emu_write_hexadecimal(w, offset);
    }
    for (; *path != '\0'; path++) {
        base = (*path == '/') ? path + 1 : base;
    }
    emu_write_text(w, " of ");
    emu_write_text(w, base);
    if (image.bytes != NULL) {
        munmap((void *)(uintptr_t)image.bytes, image.size);
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
