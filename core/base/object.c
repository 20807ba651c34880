/* SPDX-License-Identifier: BSD-3-Clause */
/* object.c: the dynamic linker's list of objects, read in place.
 *
 * dl_iterate_phdr() holds a recursive lock that keeps every listed object mapped. Each question is
 * answered inside its callback, which may go through the list again. */

#include "core/base/object.h"
#include <dlfcn.h>
#include <link.h>
#include <string.h>

struct relocations {
    const ElfW(Rela) * first;
    size_t bytes;
};

/* The parts of a dynamic section that are needed here. */
struct tables {
    msp_object_t object;
    uintptr_t address; /* added to every address in the tables */
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hashes;    /* GNU's table */
    const ElfW(Word) * chains; /* the older table */
    const ElfW(Half) * versions;
    struct relocations bound[2]; /* at once, and at the first call */
    const char *soname;
    bool stays; /* is never unloaded */
};

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
    int i;

    for (i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        }
    }
    return NULL;
}

static void read_entry(const ElfW(Dyn) * d, struct tables *t, size_t *soname)
{
    switch (d->d_tag) {
    case DT_SYMTAB:
        t->symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
        break;
    case DT_STRTAB:
        t->names = (const char *)d->d_un.d_ptr;
        break;
    case DT_GNU_HASH:
        t->hashes = (const uint32_t *)d->d_un.d_ptr;
        break;
    case DT_HASH:
        t->chains = (const ElfW(Word) *)d->d_un.d_ptr;
        break;
    case DT_VERSYM:
        t->versions = (const ElfW(Half) *)d->d_un.d_ptr;
        break;
    case DT_RELA:
        t->bound[0].first = (const ElfW(Rela) *)d->d_un.d_ptr;
        break;
    case DT_RELASZ:
        t->bound[0].bytes = d->d_un.d_val;
        break;
    case DT_JMPREL:
        t->bound[1].first = (const ElfW(Rela) *)d->d_un.d_ptr;
        break;
    case DT_PLTRELSZ:
        t->bound[1].bytes = d->d_un.d_val;
        break;
    case DT_FLAGS_1:
        t->stays = ((d->d_un.d_val & DF_1_NODELETE) != 0);
        break;
    case DT_SONAME:
        *soname = d->d_un.d_val;
        break;
    default:
        break;
    }
}

static bool read_tables(const struct dl_phdr_info *info, struct tables *t)
{
    const ElfW(Dyn) *d = dynamic_of(info);
    size_t soname      = 0;

    *t = (struct tables){.object = (uintptr_t)d, .address = info->dlpi_addr, .dynamic = d};
    for (; (d != NULL) && (d->d_tag != DT_NULL); d++) {
        read_entry(d, t, &soname);
    }
    /* The kernel's own object has its tables at other addresses. */
    if ((t->symbols == NULL) || (t->names == NULL) || ((uintptr_t)t->symbols < t->address)) {
        return false;
    }
    t->soname = (soname == 0) ? NULL : t->names + soname;
    return true;
}

/* The symbol's address when it is a definition of @p name that other objects are given: the default
 * version of a function or variable. */
static uintptr_t match(const struct tables *t, size_t i, const char *name)
{
    const ElfW(Sym) *s = &t->symbols[i];
    int type           = s->st_info & 0xf;
    int binding        = s->st_info >> 4;

    if ((s->st_shndx == SHN_UNDEF) || (s->st_value == 0) ||
        ((type != STT_FUNC) && (type != STT_OBJECT) && (type != STT_NOTYPE)) ||
        ((binding != STB_GLOBAL) && (binding != STB_WEAK)) ||
        ((t->versions != NULL) && ((t->versions[i] & 0x8000) != 0))) {
        return 0;
    }
    return (strcmp(t->names + s->st_name, name) == 0) ? t->address + s->st_value : 0;
}

static uintptr_t find_by_gnu_hash(const struct tables *t, const char *name)
{
    uint32_t bucket_count   = t->hashes[0];
    uint32_t first          = t->hashes[1];
    const uint32_t *buckets = t->hashes + 4 + t->hashes[2] * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain   = buckets + bucket_count;
    uint32_t hash           = 5381;
    const unsigned char *c;
    uint32_t i;

    for (c = (const unsigned char *)name; *c != '\0'; c++) {
        hash = hash * 33 + *c;
    }
    i = (bucket_count == 0) ? 0 : buckets[hash % bucket_count];
    for (; i >= first && i != 0; i++) {
        uint32_t h        = chain[i - first];
        uintptr_t address = ((h | 1) == (hash | 1)) ? match(t, i, name) : 0;

        if ((address != 0) || ((h & 1) != 0)) {
            return address;
        }
    }
    return 0;
}

static uintptr_t find_in(const struct tables *t, const char *name)
{
    size_t i;

    if (t->hashes != NULL) {
        return find_by_gnu_hash(t, name);
    }
    for (i = 1; (t->chains != NULL) && (i < t->chains[1]); i++) {
        uintptr_t address = match(t, i, name);
        if (address != 0) {
            return address;
        }
    }
    return 0;
}

bool msp_object_holds(const struct dl_phdr_info *info, uintptr_t address)
{
    int i;

    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if ((part->p_type == PT_LOAD) &&
            (address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)) {
            return true;
        }
    }
    return false;
}

/* ---- of an address ---- */

struct of_search {
    uintptr_t address;
    msp_object_t found;
};

static int visit_of(struct dl_phdr_info *info, size_t size, void *data)
{
    struct of_search *search = data;

    (void)size;
    if (!msp_object_holds(info, search->address)) {
        return 0;
    }
    search->found = (msp_object_t)dynamic_of(info);
    return 1;
}

msp_object_t msp_object_of(const void *address)
{
    struct of_search search = {(uintptr_t)address, 0};

    (void)dl_iterate_phdr(visit_of, &search);
    return search.found;
}

static int visit_program(struct dl_phdr_info *info, size_t size, void *data)
{
    msp_object_t *found = data;

    (void)size;
    *found = (msp_object_t)dynamic_of(info);
    return 1;
}

msp_object_t msp_object_program(void)
{
    msp_object_t found = 0;

    (void)dl_iterate_phdr(visit_program, &found);
    return found;
}

static msp_object_t own_object(void)
{
    return msp_object_of((const void *)(uintptr_t)msp_object_of);
}

/* ---- a name ---- */

struct name_search {
    const char *name;
    msp_object_t object; /* the one to look in; for next: this library */
    msp_object_accept_t *accept;
    const void *argument;
    bool passed;      /* next: this library was seen */
    uintptr_t before; /* next: the object found before it */
    uintptr_t found;
};

static int visit_symbol(struct dl_phdr_info *info, size_t size, void *data)
{
    struct name_search *search = data;
    struct tables t;

    (void)size;
    if ((msp_object_t)dynamic_of(info) != search->object) {
        return 0;
    }
    if (read_tables(info, &t)) {
        search->found = find_in(&t, search->name);
    }
    return 1;
}

uintptr_t msp_object_symbol(msp_object_t object, const char *name)
{
    struct name_search search = {.name = name, .object = object};

    if (object != 0) {
        (void)dl_iterate_phdr(visit_symbol, &search);
    }
    return search.found;
}

static int visit_next(struct dl_phdr_info *info, size_t size, void *data)
{
    struct name_search *search = data;
    uintptr_t address;
    struct tables t;

    (void)size;
    if ((msp_object_t)dynamic_of(info) == search->object) {
        search->passed = true;
        return 0;
    }
    /* Not in the program itself: its own definitions are there. */
    if ((info->dlpi_name == NULL) || (info->dlpi_name[0] == '\0') ||
        (!search->passed && (search->before != 0)) || !read_tables(info, &t)) {
        return 0;
    }
    address = find_in(&t, search->name);
    if ((address == 0) ||
        ((search->accept != NULL) && !search->accept(t.object, search->argument))) {
        return 0;
    }
    if (search->passed) {
        search->found = address;
        return 1;
    }
    search->before = address;
    return 0;
}

uintptr_t msp_object_next_of(const char *name, msp_object_accept_t *accept, const void *argument)
{
    struct name_search search = {
        .name = name, .object = own_object(), .accept = accept, .argument = argument};

    (void)dl_iterate_phdr(visit_next, &search);
    return (search.found != 0) ? search.found : search.before;
}

uintptr_t msp_object_next(const char *name)
{
    return msp_object_next_of(name, NULL, NULL);
}

/* ---- dependencies ---- */

struct scope_search {
    msp_object_t *scope;
    size_t count;
    msp_object_t own;
    msp_object_t dependent; /* whose dependency is looked for, by @p name */
    const char *name;
};

static int visit_named(struct dl_phdr_info *info, size_t size, void *data)
{
    struct scope_search *search = data;
    const char *base;
    struct tables t;
    size_t i;

    (void)size;
    if ((info->dlpi_name == NULL) || !read_tables(info, &t)) {
        return 0;
    }
    base = strrchr(info->dlpi_name, '/');
    base = (base == NULL) ? info->dlpi_name : base + 1;
    if ((strcmp(search->name, info->dlpi_name) != 0) &&
        (strcmp(search->name, (t.soname != NULL) ? t.soname : base) != 0)) {
        return 0;
    }
    for (i = 0; i < search->count; i++) {
        if (search->scope[i] == t.object) {
            return 1;
        }
    }
    if ((t.object != search->own) && (search->count < MSP_OBJECT_SCOPE_MAX)) {
        search->scope[search->count++] = t.object;
    }
    return 1;
}

static int visit_dependent(struct dl_phdr_info *info, size_t size, void *data)
{
    struct scope_search *search = data;
    const ElfW(Dyn) * d;
    struct tables t;

    (void)size;
    if ((msp_object_t)dynamic_of(info) != search->dependent) {
        return 0;
    }
    if (!read_tables(info, &t)) {
        return 1;
    }
    for (d = t.dynamic; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_NEEDED) {
            search->name = t.names + d->d_un.d_val;
            (void)dl_iterate_phdr(visit_named, search);
        }
    }
    return 1;
}

/* In a callback, so that no object of the scope is unloaded meanwhile. */
static int visit_scope(struct dl_phdr_info *info, size_t size, void *data)
{
    struct scope_search *search = data;
    size_t i;

    (void)info;
    (void)size;
    for (i = 0; i < search->count; i++) {
        search->dependent = search->scope[i];
        (void)dl_iterate_phdr(visit_dependent, search);
    }
    return 1;
}

size_t msp_object_scope(msp_object_t object, msp_object_t *scope)
{
    struct scope_search search = {.scope = scope, .own = own_object()};

    if ((object == 0) || (object == search.own)) {
        return 0;
    }
    scope[search.count++] = object;
    (void)dl_iterate_phdr(visit_scope, &search);
    return search.count;
}

/* ---- bindings ---- */

struct call_search {
    msp_object_t object;
    const char *prefix;
    char name[64];     /* empty: there is none */
    uintptr_t address; /* in the object itself: not bound yet */
    bool is_bound;
};

static bool read_call(const struct tables *t, const struct relocations *bound,
                      struct call_search *search)
{
    size_t count = (bound->first == NULL) ? 0 : bound->bytes / sizeof(*bound->first);
    size_t i;

    for (i = 0; i < count; i++) {
        const ElfW(Sym) *s = &t->symbols[ELF64_R_SYM(bound->first[i].r_info)];
        const char *name   = t->names + s->st_name;

        if ((s->st_shndx == SHN_UNDEF) && (strlen(name) < sizeof(search->name)) &&
            (strncmp(name, search->prefix, strlen(search->prefix)) == 0)) {
            memcpy(search->name, name, strlen(name) + 1);
            memcpy(&search->address, (const void *)(t->address + bound->first[i].r_offset),
                   sizeof(search->address));
            return true;
        }
    }
    return false;
}

static int visit_call(struct dl_phdr_info *info, size_t size, void *data)
{
    struct call_search *search = data;
    struct tables t;

    (void)size;
    if ((msp_object_t)dynamic_of(info) != search->object) {
        return 0;
    }
    if (read_tables(info, &t) &&
        (read_call(&t, &t.bound[0], search) || read_call(&t, &t.bound[1], search))) {
        search->is_bound = (search->address != 0) && !msp_object_holds(info, search->address);
    }
    return 1;
}

static bool is_dependency(msp_object_t object, msp_object_t of)
{
    msp_object_t scope[MSP_OBJECT_SCOPE_MAX];
    size_t count = msp_object_scope(of, scope);
    size_t i;

    for (i = 0; i < count; i++) {
        if (scope[i] == object) {
            return true;
        }
    }
    return false;
}

bool msp_object_calls(msp_object_t object, const char *prefix, uintptr_t *address_p)
{
    struct call_search search = {.object = object, .prefix = prefix};

    (void)dl_iterate_phdr(visit_call, &search);
    if (search.name[0] == '\0') {
        return false;
    }
    if (!search.is_bound) {
        /* Objects that the program started with are bound in load order. */
        search.address = is_dependency(object, msp_object_program())
                             ? msp_object_next(search.name)
                             : (uintptr_t)dlsym(RTLD_DEFAULT, search.name);
    }
    *address_p = search.address;
    return search.address != 0;
}

/* ---- counts, keeping ---- */

struct counts {
    unsigned long long loads;
    unsigned long long unloads;
};

static int visit_counts(struct dl_phdr_info *info, size_t size, void *data)
{
    struct counts *counts = data;

    (void)size;
    counts->loads   = info->dlpi_adds;
    counts->unloads = info->dlpi_subs;
    return 1;
}

void msp_object_counts(unsigned long long *loads_p, unsigned long long *unloads_p)
{
    struct counts counts = {0, 0};

    (void)dl_iterate_phdr(visit_counts, &counts);
    *loads_p   = counts.loads;
    *unloads_p = counts.unloads;
}

struct path_search {
    msp_object_t object;
    msp_object_t program; /* the first in the list */
    char path[1024];      /* empty: it cannot be unloaded */
};

static int visit_path(struct dl_phdr_info *info, size_t size, void *data)
{
    struct path_search *search = data;
    struct tables t;

    (void)size;
    if (search->program == 0) {
        search->program = (msp_object_t)dynamic_of(info);
    }
    if ((msp_object_t)dynamic_of(info) != search->object) {
        return 0;
    }
    if (read_tables(info, &t) && !t.stays && (info->dlpi_name != NULL) &&
        (strlen(info->dlpi_name) < sizeof(search->path))) {
        memcpy(search->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
    }
    return 1;
}

void msp_object_keep(msp_object_t object)
{
    struct path_search search = {.object = object};
    void *handle;

    (void)dl_iterate_phdr(visit_path, &search);
    if ((search.path[0] == '\0') || is_dependency(object, search.program)) {
        return;
    }
    handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle != NULL) {
        dlclose(handle);
    }
}
