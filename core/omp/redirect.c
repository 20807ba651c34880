/* SPDX-License-Identifier: BSD-3-Clause */
/* redirect.c: the tables by which objects call each other's functions, as the dynamic linker left
 * them: a relocation names a symbol and the word that holds its address. */

#include "core/base/platform.h"
#include "core/omp/openmp.h"
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

struct search {
    const struct msp_redirect *list;
    size_t count;
    unsigned long long loads; /* how often something had been loaded when it was done last */
    bool first;
};

/* The entries of an object's dynamic section that are needed here. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * relocations[2]; /* of data, of calls */
    size_t bytes[2];
};

static bool read_tables(const struct dl_phdr_info *object, struct tables *t)
{
    const ElfW(Dyn) *d = NULL;
    bool has_addends   = false;
    int i;

    for (i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            d = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        }
    }
    for (; (d != NULL) && (d->d_tag != DT_NULL); d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            t->symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
            break;
        case DT_STRTAB:
            t->names = (const char *)d->d_un.d_ptr;
            break;
        case DT_RELA:
            t->relocations[0] = (const ElfW(Rela) *)d->d_un.d_ptr;
            break;
        case DT_RELASZ:
            t->bytes[0] = d->d_un.d_val;
            break;
        case DT_JMPREL:
            t->relocations[1] = (const ElfW(Rela) *)d->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            t->bytes[1] = d->d_un.d_val;
            break;
        case DT_PLTREL:
            has_addends = (d->d_un.d_val == DT_RELA);
            break;
        default:
            break;
        }
    }
    /* The kernel's own object has its tables at other addresses, and calls no other. */
    return has_addends && (t->symbols != NULL) && ((uintptr_t)t->symbols >= object->dlpi_addr);
}

/* Where the linker protected the word after it was done, it is protected again. */
static void write_slot(const struct dl_phdr_info *object, uintptr_t *slot, uintptr_t to)
{
    uintptr_t page = (uintptr_t)slot & ~((uintptr_t)msp_page_size() - 1);
    bool closed    = false;
    int i;

    for (i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_GNU_RELRO) {
            closed = ((uintptr_t)slot - (object->dlpi_addr + part->p_vaddr) < part->p_memsz);
        }
    }
    if (closed && (mprotect((void *)page, msp_page_size(), PROT_READ | PROT_WRITE) != 0)) {
        return;
    }
    __atomic_store_n(slot, to, __ATOMIC_RELEASE);
    if (closed) {
        (void)mprotect((void *)page, msp_page_size(), PROT_READ);
    }
}

static int redirect_object(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = data;
    struct tables t       = {0};
    size_t i;
    size_t k;
    int part;

    (void)size;
    if (search->first && (search->loads == object->dlpi_adds)) {
        return 1;
    }
    search->first = false;
    search->loads = object->dlpi_adds;
    if (!read_tables(object, &t)) {
        return 0;
    }
    for (part = 0; part < 2; part++) {
        for (i = 0; i < t.bytes[part] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *r    = &t.relocations[part][i];
            const ElfW(Sym) *named = &t.symbols[ELF64_R_SYM(r->r_info)];
            uintptr_t *slot        = (uintptr_t *)(object->dlpi_addr + r->r_offset);
            for (k = 0; (ELF64_R_SYM(r->r_info) != 0) && (k < search->count); k++) {
                if ((strcmp(t.names + named->st_name, search->list[k].name) == 0) &&
                    (*slot != (uintptr_t)search->list[k].to)) {
                    write_slot(object, slot, (uintptr_t)search->list[k].to);
                }
            }
        }
    }
    return 0;
}

unsigned long long msp_redirect(const struct msp_redirect *list, size_t count,
                                unsigned long long loads)
{
    struct search search = {.list = list, .count = count, .loads = loads, .first = true};

    (void)dl_iterate_phdr(redirect_object, &search);
    return search.loads;
}
