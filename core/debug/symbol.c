/* SPDX-License-Identifier: BSD-3-Clause */
/* symbol.c: from an address of code to its function and module.
 *
 * The dynamic linker knows what is exported. A program's own functions are not, unless it was
 * linked with -rdynamic, and OpenMP regions never are: they are looked up in the symbol table of
 * the module's file, if it was not stripped. The file may be anything by now, so nothing in it is
 * believed without a look at its bounds. */

#include "core/debug/symbol.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const unsigned char *bytes;
    size_t size;
};

static bool map_file(const char *path, struct file *file_p)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes = MAP_FAILED;

    if (fd < 0) {
        return false;
    }
    if ((fstat(fd, &status) == 0) && (status.st_size > 0)) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    if (bytes == MAP_FAILED) {
        return false;
    }
    *file_p = (struct file){bytes, (size_t)status.st_size};
    return true;
}

/* @p count records of @p size bytes at @p offset of the file; NULL when they are not all there. */
static const unsigned char *range(const struct file *f, uint64_t offset, uint64_t count,
                                  uint64_t size)
{
    if ((offset > f->size) || (count > (f->size - offset) / size)) {
        return NULL;
    }
    return f->bytes + offset;
}

static bool section_at(const struct file *f, const ElfW(Ehdr) * header, size_t index,
                       ElfW(Shdr) * section_p)
{
    const unsigned char *sections = range(f, header->e_shoff, header->e_shnum, sizeof(ElfW(Shdr)));

    if ((sections == NULL) || (index >= header->e_shnum)) {
        return false;
    }
    memcpy(section_p, sections + index * sizeof(*section_p), sizeof(*section_p));
    return true;
}

/* The function of one table of symbols that holds @p value. */
static bool search_table(const struct file *f, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                         uintptr_t value, struct msp_symbol *symbol)
{
    size_t count                 = table->sh_size / sizeof(ElfW(Sym));
    const unsigned char *symbols = range(f, table->sh_offset, count, sizeof(ElfW(Sym)));
    const unsigned char *names   = range(f, strings->sh_offset, strings->sh_size, 1);
    ElfW(Sym) s;
    size_t i;

    if ((symbols == NULL) || (names == NULL)) {
        return false;
    }
    for (i = 0; i < count; i++) {
        memcpy(&s, symbols + i * sizeof(s), sizeof(s));
        if (((s.st_info & 0xf) != STT_FUNC) || (value - s.st_value >= s.st_size) ||
            (s.st_name >= strings->sh_size)) {
            continue;
        }
        snprintf(symbol->name, sizeof(symbol->name), "%.*s", (int)(strings->sh_size - s.st_name),
                 (const char *)names + s.st_name);
        symbol->offset = value - s.st_value;
        return true;
    }
    return false;
}

static void search_file(const struct file *f, uintptr_t value, struct msp_symbol *symbol)
{
    ElfW(Ehdr) header;
    ElfW(Shdr) table;
    ElfW(Shdr) strings;
    size_t i;

    if (f->size < sizeof(header)) {
        return;
    }
    memcpy(&header, f->bytes, sizeof(header));
    if ((memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) ||
        (header.e_shentsize != sizeof(ElfW(Shdr)))) {
        return;
    }
    for (i = 0; i < header.e_shnum; i++) {
        if (section_at(f, &header, i, &table) && (table.sh_type == SHT_SYMTAB) &&
            section_at(f, &header, table.sh_link, &strings) &&
            search_table(f, &table, &strings, value, symbol)) {
            return;
        }
    }
}

void msp_symbol_find(const void *address, struct msp_symbol *symbol_p)
{
    struct msp_symbol symbol = {.module_offset = (uintptr_t)address};
    struct link_map *map     = NULL;
    struct file file;
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
    } else if (map_file(symbol.module, &file)) {
        search_file(&file, symbol.module_offset, &symbol);
        munmap((void *)(uintptr_t)file.bytes, file.size);
    }
    *symbol_p = symbol;
}
