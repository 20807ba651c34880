/* SPDX-License-Identifier: BSD-3-Clause */
/* server_needed.c: does a program need a PMIx server? Not if it links our library and, beyond it,
 * only libraries that are known to start nothing: our PEs find each other by the job file.
 * Everything else (scripts, interpreters, other libraries) may need one. */

#include "cmd/oshrun/oshrun.h"
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

static const char *const by_pmix[] = {"libmpi.so", "libmpi_", "libmpich", "liboshmem.so",
                                      "libpmix.so"};

struct image {
    const char *bytes;
    size_t size;
};

/* The @p size bytes at @p offset of the file; NULL where it has fewer. */
static const void *part(const struct image *image, size_t offset, size_t size)
{
    bool fits = offset % sizeof(void *) == 0 && offset <= image->size;
    return fits && size <= image->size - offset ? image->bytes + offset : NULL;
}

/* The table of sections and its length; NULL: it is no program for this machine. */
static const ElfW(Shdr) * find_sections(const struct image *image, size_t *count_p)
{
    const ElfW(Ehdr) *header = part(image, 0, sizeof(*header));
    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header->e_shentsize != sizeof(ElfW(Shdr))) {
        return NULL;
    }
    *count_p = header->e_shnum;
    return part(image, header->e_shoff, header->e_shnum * sizeof(ElfW(Shdr)));
}

static bool begins(const char *name, const char *const *words, size_t count)
{
    size_t i = 0;
    while (i < count && strncmp(name, words[i], strlen(words[i])) != 0) {
        i++;
    }
    return i < count;
}

static enum server_need judge(const struct image *image, char *library, size_t library_size)
{
    size_t count               = 0;
    const ElfW(Shdr) *sections = find_sections(image, &count);
    const ElfW(Dyn) *entries   = NULL;
    bool has_ours              = false;
    bool is_harmless           = true;
    size_t i                   = 0;
    while (sections != NULL && i < count && sections[i].sh_type != SHT_DYNAMIC) {
        i++;
    }
    if (sections != NULL && i < count && sections[i].sh_link < count) {
        entries = part(image, sections[i].sh_offset, sections[i].sh_size);
    }
    for (size_t e = 0; entries != NULL && e < sections[i].sh_size / sizeof(*entries); e++) {
        size_t at = sections[sections[i].sh_link].sh_offset + entries[e].d_un.d_val;
        if (entries[e].d_tag != DT_NEEDED) {
            continue;
        }
        if (at >= image->size || memchr(image->bytes + at, 0, image->size - at) == NULL) {
            return SERVER_OPTIONAL;
        }
        const char *name = image->bytes + at;
        has_ours         = has_ours || strncmp(name, OURS, strlen(OURS)) == 0;
        is_harmless = is_harmless && begins(name, harmless, sizeof(harmless) / sizeof(harmless[0]));
        if (begins(name, by_pmix, sizeof(by_pmix) / sizeof(by_pmix[0]))) {
            snprintf(library, library_size, "%s", name);
            return SERVER_REQUIRED;
        }
    }
    return has_ours && is_harmless ? SERVER_USELESS : SERVER_OPTIONAL;
}

enum server_need server_need(const char *path, char *library, size_t library_size)
{
    enum server_need need = SERVER_OPTIONAL;
    int fd                = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0) {
        return need;
    }
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            need = judge(&(struct image){file, (size_t)status.st_size}, library, library_size);
            munmap(file, (size_t)status.st_size);
        }
    }
    close(fd);
    return need;
}
