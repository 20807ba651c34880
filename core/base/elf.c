/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/elf.h"
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* @p count records of @p size bytes at @p offset; NULL when they are not all there. */
static const unsigned char *range(const struct msp_elf *elf, uint64_t offset, uint64_t count,
                                  uint64_t size)
{
    if ((offset > elf->size_bytes) || (count > (elf->size_bytes - offset) / size)) {
        return NULL;
    }
    return elf->bytes + offset;
}

/* The text at @p offset of a section of texts; NULL without an end in it. */
static const char *text_at(const struct msp_elf *elf, const Elf64_Shdr *texts, uint64_t offset)
{
    const unsigned char *all = range(elf, texts->sh_offset, texts->sh_size, 1);

    if ((all == NULL) || (offset >= texts->sh_size) ||
        (memchr(all + offset, '\0', texts->sh_size - offset) == NULL)) {
        return NULL;
    }
    return (const char *)all + offset;
}

static void read_header(const struct msp_elf *elf, Elf64_Ehdr *header)
{
    memcpy(header, elf->bytes, sizeof(*header));
}

static bool section_at(const struct msp_elf *elf, const Elf64_Ehdr *header, uint64_t index,
                       Elf64_Shdr *section)
{
    const unsigned char *sections =
        range(elf, header->e_shoff, header->e_shnum, sizeof(Elf64_Shdr));

    if ((sections == NULL) || (index >= header->e_shnum)) {
        return false;
    }
    memcpy(section, sections + index * sizeof(*section), sizeof(*section));
    return true;
}

bool msp_elf_open(struct msp_elf *elf_p, const char *path)
{
    int file    = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    struct msp_elf elf;
    struct stat status;
    Elf64_Ehdr header;

    if (file < 0) {
        return false;
    }
    if ((fstat(file, &status) == 0) && (status.st_size >= (off_t)sizeof(header))) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    (void)close(file);
    if (bytes == MAP_FAILED) {
        return false;
    }
    elf = (struct msp_elf){bytes, (size_t)status.st_size};
    read_header(&elf, &header);
    if ((memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) ||
        (header.e_ident[EI_CLASS] != ELFCLASS64) || (header.e_shentsize != sizeof(Elf64_Shdr)) ||
        (header.e_phentsize != sizeof(Elf64_Phdr))) {
        msp_elf_close(&elf);
        return false;
    }
    *elf_p = elf;
    return true;
}

void msp_elf_close(struct msp_elf *elf)
{
    (void)munmap((void *)(uintptr_t)elf->bytes, elf->size_bytes);
}

uint64_t msp_elf_address(const struct msp_elf *elf, uint64_t offset)
{
    const unsigned char *segments;
    Elf64_Ehdr header;
    Elf64_Phdr segment;

    read_header(elf, &header);
    segments = range(elf, header.e_phoff, header.e_phnum, sizeof(segment));
    for (size_t i = 0; (segments != NULL) && (i < header.e_phnum); i++) {
        memcpy(&segment, segments + i * sizeof(segment), sizeof(segment));
        if ((segment.p_type == PT_LOAD) && (offset - segment.p_offset < segment.p_filesz)) {
            return segment.p_vaddr + (offset - segment.p_offset);
        }
    }
    return 0;
}

bool msp_elf_section(const struct msp_elf *elf, const char *name, struct msp_elf *section_p)
{
    const unsigned char *bytes;
    const char *found;
    Elf64_Ehdr header;
    Elf64_Shdr names;
    Elf64_Shdr section;

    read_header(elf, &header);
    if (!section_at(elf, &header, header.e_shstrndx, &names)) {
        return false;
    }
    for (size_t i = 0; section_at(elf, &header, i, &section); i++) {
        found = text_at(elf, &names, section.sh_name);
        if ((found != NULL) && (strcmp(found, name) == 0)) {
            bytes = range(elf, section.sh_offset, section.sh_size, 1);
            if ((bytes == NULL) || (section.sh_type == SHT_NOBITS) ||
                ((section.sh_flags & SHF_COMPRESSED) != 0)) {
                return false;
            }
            *section_p = (struct msp_elf){bytes, section.sh_size};
            return true;
        }
    }
    return false;
}

static const char *search_table(const struct msp_elf *elf, const Elf64_Shdr *table,
                                const Elf64_Shdr *texts, uint64_t address, uint64_t *into_p)
{
    uint64_t count               = table->sh_size / sizeof(Elf64_Sym);
    const unsigned char *symbols = range(elf, table->sh_offset, count, sizeof(Elf64_Sym));
    const char *name;
    Elf64_Sym symbol;

    for (uint64_t i = 0; (symbols != NULL) && (i < count); i++) {
        memcpy(&symbol, symbols + i * sizeof(symbol), sizeof(symbol));
        if ((ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) &&
            (address - symbol.st_value < symbol.st_size) &&
            ((name = text_at(elf, texts, symbol.st_name)) != NULL)) {
            *into_p = address - symbol.st_value;
            return name;
        }
    }
    return NULL;
}

const char *msp_elf_function(const struct msp_elf *elf, uint64_t address, uint64_t *into_p)
{
    const char *name = NULL;
    Elf64_Ehdr header;
    Elf64_Shdr table;
    Elf64_Shdr texts;

    read_header(elf, &header);
    for (size_t i = 0; (name == NULL) && section_at(elf, &header, i, &table); i++) {
        if (((table.sh_type == SHT_SYMTAB) || (table.sh_type == SHT_DYNSYM)) &&
            section_at(elf, &header, table.sh_link, &texts)) {
            name = search_table(elf, &table, &texts, address, into_p);
        }
    }
    return name;
}
