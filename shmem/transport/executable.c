/* SPDX-License-Identifier: BSD-3-Clause */
/* executable.c: the program headers of the main program, and an identity made of them.
 *
 * The identity is the build ID, which the linker makes of all that it has linked, and the layout of
 * the segments. Without a build ID the contents of the read-only segments stand for it: code has
 * the places of variables in it. Stripping changes none of these. */

#include "shmem/transport/executable.h"
#include "shmem/collective/sync.h"
#include "shmem/control/agree.h"
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A PE's answer where the identities differ. */
struct description {
    char text[192];
};

struct identity {
    uint64_t digest;
    unsigned char build_id[20];
    size_t build_id_bytes;
};

static char difference[(2 * sizeof(struct description)) + 64];

/* ---- the variables ---- */

/* A piece that is not next to those before takes their place: linkers that make several put the one
 * first that becomes read-only later, and memory between them is not ours. */
static void add_piece(struct msp_executable *executable, struct msp_executable_piece piece,
                      size_t near_bytes)
{
    bool is_next = (executable->count > 0) && (executable->count < MSP_EXECUTABLE_PIECES_MAX) &&
                   (piece.first >= executable->end) &&
                   (piece.first - executable->end <= near_bytes);

    if (!is_next) {
        executable->count = 0;
        executable->first = piece.first;
    }
    executable->pieces[executable->count++] = piece;
    executable->end                         = piece.end;
}

/* The writable part of the main program, which is the first in the list. */
static int find_pieces(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct msp_executable *executable = argument;
    uintptr_t read_only = 0; /* the end of the part that becomes read-only after relocation */
    size_t page         = msp_page_size();
    int i;

    (void)size;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];

        if (header->p_type == PT_GNU_RELRO) {
            read_only = (info->dlpi_addr + header->p_vaddr + header->p_memsz) & ~(page - 1);
        }
    }
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t at             = info->dlpi_addr + header->p_vaddr;
        uintptr_t first          = at & ~(page - 1);
        uintptr_t end            = msp_round_up(at + header->p_memsz, page);

        if ((header->p_type == PT_LOAD) && ((header->p_flags & PF_W) != 0) && (end > read_only)) {
            const struct msp_executable_piece piece = {
                .first    = (first < read_only) ? read_only : first,
                .file_end = msp_round_up(at + header->p_filesz, page),
                .end      = end};

            add_piece(executable, piece, header->p_align);
        }
    }
    return 1;
}

void msp_executable_find(struct msp_executable *executable)
{
    memset(executable, 0, sizeof *executable);
    dl_iterate_phdr(find_pieces, executable);
}

struct search {
    uintptr_t address;
    enum msp_executable_part part;
};

static int find_part(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    int i;

    (void)size;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];

        if (search->address - (info->dlpi_addr + header->p_vaddr) >= header->p_memsz) {
            continue;
        }
        if ((header->p_type == PT_GNU_RELRO) ||
            ((header->p_type == PT_LOAD) && ((header->p_flags & PF_W) == 0))) {
            search->part = MSP_EXECUTABLE_CONSTANT;
            break;
        }
        if (header->p_type == PT_LOAD) {
            search->part = MSP_EXECUTABLE_VARIABLE;
        }
    }
    return 1; /* the main program is the first */
}

enum msp_executable_part msp_executable_part_at(const void *address)
{
    struct search search = {.address = (uintptr_t)address, .part = MSP_EXECUTABLE_NOTHING};

    dl_iterate_phdr(find_part, &search);
    return search.part;
}

/* ---- identity ---- */

static uint64_t mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ (digest >> 29);
}

/* Sanitizers refuse reads between variables. */
static __attribute__((no_sanitize("address", "thread"))) uint64_t
mix_bytes(uint64_t digest, const unsigned char *bytes, size_t size_bytes)
{
    uint64_t word;

    for (; size_bytes >= sizeof word; bytes += sizeof word, size_bytes -= sizeof word) {
        __builtin_memcpy(&word, bytes, sizeof word);
        digest = mix(digest, word);
    }
    for (; size_bytes > 0; bytes++, size_bytes--) {
        digest = mix(digest, *bytes);
    }
    return digest;
}

/* Notes: name size, description size, type, then both on boundaries of 4 bytes. */
static void find_build_id(const unsigned char *notes, size_t size_bytes, struct identity *identity)
{
    static const unsigned char name[4] = "GNU";
    ElfW(Nhdr) note;

    while (size_bytes > sizeof note + sizeof name) {
        size_t name_bytes;
        size_t bytes;

        memcpy(&note, notes, sizeof note);
        name_bytes = msp_round_up(note.n_namesz, 4);
        bytes      = sizeof note + name_bytes + msp_round_up(note.n_descsz, 4);
        if ((name_bytes > size_bytes) || (bytes > size_bytes)) {
            return;
        }
        if ((note.n_type == NT_GNU_BUILD_ID) && (note.n_namesz == sizeof name) &&
            (memcmp(notes + sizeof note, name, sizeof name) == 0)) {
            identity->build_id_bytes = (note.n_descsz < sizeof identity->build_id)
                                           ? note.n_descsz
                                           : sizeof identity->build_id;
            memcpy(identity->build_id, notes + sizeof note + name_bytes, identity->build_id_bytes);
            return;
        }
        notes += bytes;
        size_bytes -= bytes;
    }
}

/* Not the header of the file, which says where the sections are that stripping removes. */
static uint64_t mix_contents(uint64_t digest, const struct dl_phdr_info *info,
                             const ElfW(Phdr) * header)
{
    size_t skipped = (header->p_offset == 0) ? sizeof(ElfW(Ehdr)) : 0;

    if (((header->p_flags & (PF_R | PF_W)) != PF_R) || (header->p_filesz <= skipped)) {
        return digest;
    }
    return mix_bytes(digest, (const unsigned char *)(info->dlpi_addr + header->p_vaddr) + skipped,
                     header->p_filesz - skipped);
}

static int find_identity(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct identity *identity = argument;
    uint64_t digest           = 0;
    int i;

    (void)size;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];

        if (header->p_type == PT_NOTE) {
            find_build_id((const unsigned char *)(info->dlpi_addr + header->p_vaddr),
                          header->p_memsz, identity);
        }
    }
    digest = mix_bytes(digest, identity->build_id, identity->build_id_bytes);
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];

        if ((header->p_type != PT_LOAD) && (header->p_type != PT_GNU_RELRO)) {
            continue;
        }
        digest = mix(mix(digest, header->p_vaddr), header->p_memsz);
        digest = mix(mix(digest, header->p_filesz), header->p_flags);
        if ((header->p_type == PT_LOAD) && (identity->build_id_bytes == 0)) {
            digest = mix_contents(digest, info, header);
        }
    }
    identity->digest = digest;
    return 1;
}

/* Its path, of a long one the end, and the build ID. */
static void describe(const struct identity *identity, struct description *description)
{
    char path[4096];
    ssize_t length    = readlink("/proc/self/exe", path, sizeof path - 1);
    size_t path_bytes = 0;
    char build_id[9]  = "none";
    size_t i;

    if (length < 0) {
        length = snprintf(path, sizeof path, "%s", program_invocation_name);
    }
    path[length] = '\0';
    path_bytes   = strlen(path);
    for (i = 0; (i < 4) && (i < identity->build_id_bytes); i++) {
        snprintf(build_id + (2 * i), 3, "%02x", identity->build_id[i]);
    }
    i = (path_bytes > 140) ? (path_bytes - 140) : 0;
    snprintf(description->text, sizeof description->text, "%s%s (build ID %s)",
             (i != 0) ? "..." : "", path + i, build_id);
}

bool msp_executable_is_common(struct msp_team *job)
{
    static int key;
    struct identity identity = {0};
    struct description mine;
    struct description first;
    struct description other;
    struct description buffer;
    int pe;

    dl_iterate_phdr(find_identity, &identity);
    difference[0] = '\0';
    pe            = msp_agree_first_other(job, identity.digest);
    if (pe < 0) {
        return true;
    }
    memset(&mine, 0, sizeof mine);
    describe(&identity, &mine);
    msp_sync_distribute(job, &mine, sizeof mine);
    first = *(const struct description *)msp_sync_read(job, 0, &buffer, sizeof buffer);
    other = *(const struct description *)msp_sync_read(job, pe, &buffer, sizeof buffer);
    snprintf(difference, sizeof difference, "PE 0 runs %s, PE %d runs %s", first.text, pe,
             other.text);
    if (job->pe == 0) {
        msp_warn_once(&key,
                      "global variables are not symmetric, because the PEs run different "
                      "executables: %s",
                      difference);
    }
    return false;
}

const char *msp_executable_difference(void)
{
    return difference;
}
