/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a program need a PMIx server? Not if it links our library and, beyond it, only libraries
 * that are known to start nothing: our PEs find each other by the job file. Everything else
 * (scripts, interpreters, other libraries) may need one. */

#include "server.h"
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OURS "libmemspan-shmem.so"

static const char *const harmless[] = {
    OURS,           "libmemspan.so",  "libc.so",      "libm.so",        "libpthread.so",
    "libdl.so",     "librt.so",       "libgcc_s.so",  "libomp.so",      "libgomp.so",
    "libstdc++.so", "libgfortran.so", "libatomic.so", "libquadmath.so", "libnuma.so",
    "libhwloc.so",  "libasan.so",     "libubsan.so",  "libtsan.so",     "ld-linux",
    "libz.so",      "libomptarget.so"};

struct image {
    const char *bytes;
    size_t size;
};

static bool is_inside(const struct image *image, size_t offset, size_t size)
{
    return offset <= image->size && size <= image->size - offset;
}

/* Offset in the file of that address of the program; SIZE_MAX: none. */
static size_t offset_of(const struct image *image, ElfW(Addr) address)
{
    const ElfW(Ehdr) *header  = (const void *)image->bytes;
    const ElfW(Phdr) *segment = (const void *)(image->bytes + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (segment[i].p_type == PT_LOAD && address >= segment[i].p_vaddr &&
            address - segment[i].p_vaddr < segment[i].p_filesz) {
            return segment[i].p_offset + (address - segment[i].p_vaddr);
        }
    }
    return SIZE_MAX;
}

static bool is_one_of_ours(const char *name)
{
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        if (strncmp(name, harmless[i], strlen(harmless[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* The relevant dependencies of a program. */
struct links {
    bool has_ours;
    bool is_harmless; /* and no library that may need a server */
    char foreign[64]; /* a library that needs PMIx; "": none */
};

static const char *const by_pmix[] = {"libmpi.so", "libmpi_", "libmpich", "liboshmem.so",
                                      "libpmix.so"};

static void note_library(struct links *links, const char *name)
{
    links->has_ours    = links->has_ours || strncmp(name, OURS, strlen(OURS)) == 0;
    links->is_harmless = links->is_harmless && is_one_of_ours(name);
    for (size_t i = 0; i < sizeof(by_pmix) / sizeof(by_pmix[0]) && links->foreign[0] == '\0'; i++) {
        if (strncmp(name, by_pmix[i], strlen(by_pmix[i])) == 0) {
            snprintf(links->foreign, sizeof(links->foreign), "%s", name);
        }
    }
}

/* False when the names cannot be read. */
static bool read_names(const struct image *image, size_t offset, size_t count, struct links *links)
{
    const ElfW(Dyn) *entry = (const void *)(image->bytes + offset);
    ElfW(Addr) names       = 0;
    for (size_t i = 0; i < count && entry[i].d_tag != DT_NULL; i++) {
        names = entry[i].d_tag == DT_STRTAB ? entry[i].d_un.d_ptr : names;
    }
    size_t table = offset_of(image, names);
    for (size_t i = 0; i < count && entry[i].d_tag != DT_NULL; i++) {
        if (entry[i].d_tag != DT_NEEDED) {
            continue;
        }
        size_t at = table + entry[i].d_un.d_val;
        if (table == SIZE_MAX || !is_inside(image, at, 1) ||
            memchr(image->bytes + at, 0, image->size - at) == NULL) {
            return false;
        }
        note_library(links, image->bytes + at);
    }
    return true;
}

/* False when it is no program for this machine. */
static bool read_image(const struct image *image, struct links *links)
{
    const ElfW(Ehdr) *header = (const void *)image->bytes;
    if (image->size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phoff % sizeof(void *) != 0 ||
        !is_inside(image, header->e_phoff, (size_t)header->e_phnum * sizeof(ElfW(Phdr)))) {
        return false;
    }
    const ElfW(Phdr) *segment = (const void *)(image->bytes + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (segment[i].p_type == PT_DYNAMIC && segment[i].p_offset % sizeof(void *) == 0 &&
            is_inside(image, segment[i].p_offset, segment[i].p_filesz)) {
            return read_names(image, segment[i].p_offset, segment[i].p_filesz / sizeof(ElfW(Dyn)),
                              links);
        }
    }
    return false;
}

static struct links read_links(const char *path)
{
    struct links links = {.is_harmless = true};
    struct stat status;
    bool is_known = false;
    int fd        = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return (struct links){.has_ours = false};
    }
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            struct image image = {file, (size_t)status.st_size};
            is_known           = read_image(&image, &links);
            munmap(file, image.size);
        }
    }
    close(fd);
    return is_known ? links : (struct links){.has_ours = false};
}

bool server_is_needed(const char *path)
{
    struct links links = read_links(path);
    return !(links.has_ours && links.is_harmless);
}

bool server_is_missed(const char *path, const char **library_p)
{
    static struct links links;
    links      = read_links(path);
    *library_p = links.foreign;
    return links.foreign[0] != '\0';
}
