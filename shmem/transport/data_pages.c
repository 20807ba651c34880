/* SPDX-License-Identifier: BSD-3-Clause */
/* data_pages.c: protections from /proc/self/maps, guard regions from the page map.
 *
 * The kernel keeps a guard region in the page tables, so no mapping shows it. A child of fork()
 * calls this too: neither the allocator nor streams, whose locks may be held for ever there. */

#include "shmem/transport/data_pages.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GUARD_INSTALL = 102 }; /* MADV_GUARD_INSTALL of headers since Linux 6.13 */

/* By the kernel's calls, as all of the child's (data_fork.c). */
static bool grow(struct msp_data_pages *pages)
{
    size_t capacity =
        (pages->capacity == 0) ? (msp_page_size() / sizeof *pages->runs) : (2 * pages->capacity);
    long at = syscall(SYS_mmap, NULL, capacity * sizeof *pages->runs, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    struct msp_data_run *runs = (struct msp_data_run *)at;

    if (at == -1) {
        return false;
    }
    if (pages->capacity != 0) {
        memcpy(runs, pages->runs, pages->count * sizeof *runs);
        (void)syscall(SYS_munmap, pages->runs, pages->capacity * sizeof *runs);
    }
    pages->runs     = runs;
    pages->capacity = capacity;
    return true;
}

static bool add_run(struct msp_data_pages *pages, struct msp_data_run run)
{
    struct msp_data_run *last = (pages->count > 0) ? &pages->runs[pages->count - 1] : NULL;

    if ((last != NULL) && (last->end == run.first) && (last->protection == run.protection) &&
        (last->is_guard == run.is_guard)) {
        last->end = run.end;
        return true;
    }
    if ((pages->count == pages->capacity) && !grow(pages)) {
        return false;
    }
    pages->runs[pages->count++] = run;
    return true;
}

bool msp_data_pages_add_guard(struct msp_data_pages *pages, uintptr_t first, uintptr_t end)
{
    return add_run(pages, (struct msp_data_run){.first = first, .end = end, .is_guard = true});
}

bool msp_pagemap_read(int fd, uintptr_t first, size_t count, uint64_t *entries)
{
    ssize_t want = (ssize_t)(count * sizeof entries[0]);

    return (fd >= 0) && (pread(fd, entries, (size_t)want,
                               (off_t)(first / msp_page_size() * sizeof entries[0])) == want);
}

static bool add_guards(struct msp_data_pages *pages, uintptr_t first, uintptr_t end)
{
    int fd         = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    size_t page    = msp_page_size();
    bool all_added = true;
    uint64_t entries[MSP_PAGEMAP_BATCH];

    while ((first < end) && all_added) {
        size_t left  = (end - first) / page;
        size_t count = (left < MSP_PAGEMAP_BATCH) ? left : MSP_PAGEMAP_BATCH;
        size_t i;

        if (!msp_pagemap_read(fd, first, count, entries)) {
            break; /* such a kernel, or container, hides them */
        }
        for (i = 0; (i < count) && all_added; i++, first += page) {
            all_added = ((entries[i] & MSP_PAGEMAP_GUARD) == 0) ||
                        msp_data_pages_add_guard(pages, first, first + page);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return all_added;
}

/* One line of the maps, as far as it lies in the range; @p at is where the last one has ended. */
static bool add_mapping(struct msp_data_pages *pages, const char *line, uintptr_t *at,
                        uintptr_t end)
{
    struct msp_data_run run = {0};
    char rights[5];

    if (sscanf(line, "%lx-%lx %4s", &run.first, &run.end, rights) != 3) {
        errno = EIO;
        return false;
    }
    run.first = (run.first < *at) ? *at : run.first;
    run.end   = (run.end > end) ? end : run.end;
    if ((run.first > *at) && (*at < end)) {
        const uintptr_t hole_end = (run.first < end) ? run.first : end;

        if (!add_run(pages, (struct msp_data_run){.first = *at, .end = hole_end})) {
            return false;
        }
    }
    if (run.first >= run.end) {
        *at = (run.first >= end) ? end : *at;
        return true;
    }
    *at            = run.end;
    run.protection = ((rights[0] == 'r') ? PROT_READ : 0) | ((rights[1] == 'w') ? PROT_WRITE : 0) |
                     ((rights[2] == 'x') ? PROT_EXEC : 0);
    return (run.protection == (PROT_READ | PROT_WRITE)) || add_run(pages, run);
}

struct lines {
    int fd;
    size_t first; /* of what has been read and not given */
    size_t end;
    bool is_rest; /* of a line that has been given in part */
    char bytes[1024];
};

/* More bytes behind those that are left; false: there are none. */
static bool read_more(struct lines *lines)
{
    ssize_t got;

    memmove(lines->bytes, lines->bytes + lines->first, lines->end - lines->first);
    lines->end -= lines->first;
    lines->first = 0;
    got          = read(lines->fd, lines->bytes + lines->end, sizeof lines->bytes - 1 - lines->end);
    lines->end += (got > 0) ? (size_t)got : 0;
    return got > 0;
}

/* The next line, without its end; of a long one the beginning. NULL: there is none. */
static const char *next_line(struct lines *lines)
{
    for (;;) {
        char *line    = lines->bytes + lines->first;
        char *newline = memchr(line, '\n', lines->end - lines->first);
        bool is_first = !lines->is_rest;

        if (newline != NULL) {
            lines->first = (size_t)(newline + 1 - lines->bytes);
        } else if ((lines->first == 0) && (lines->end == sizeof lines->bytes - 1)) {
            newline    = lines->bytes + lines->end;
            lines->end = 0;
        } else if (read_more(lines)) {
            continue;
        } else {
            return NULL;
        }
        lines->is_rest = (lines->end == 0);
        if (is_first) {
            *newline = '\0';
            return line;
        }
    }
}

bool msp_data_pages_read(struct msp_data_pages *pages, uintptr_t first, uintptr_t end)
{
    struct lines lines = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    bool all_added     = (lines.fd >= 0);
    uintptr_t at       = first;
    const char *line   = NULL;

    *pages = (struct msp_data_pages){0};
    while (all_added && (at < end) && ((line = next_line(&lines)) != NULL)) {
        all_added = add_mapping(pages, line, &at, end);
    }
    if (lines.fd >= 0) {
        close(lines.fd);
    }
    return all_added && add_guards(pages, first, end);
}

bool msp_data_pages_unlock(const struct msp_data_pages *pages)
{
    bool all_done = true;
    size_t i;

    for (i = 0; i < pages->count; i++) {
        const struct msp_data_run *run = &pages->runs[i];

        /* Of addresses without a mapping it fails, and there is nothing to copy. */
        if (!run->is_guard && ((run->protection & PROT_READ) == 0) &&
            (mprotect((void *)run->first, run->end - run->first, PROT_READ) != 0)) {
            all_done = (errno == ENOMEM) && all_done;
        }
    }
    return all_done;
}

/* A guard region, or where the kernel has none for such memory, a page without access: it stays
 * closed, but MADV_GUARD_REMOVE does not open it. */
static bool close_run(const struct msp_data_run *run)
{
    size_t size_bytes = run->end - run->first;

    return (syscall(SYS_madvise, run->first, size_bytes, GUARD_INSTALL) == 0) ||
           (mprotect((void *)run->first, size_bytes, PROT_NONE) == 0);
}

bool msp_data_pages_apply(const struct msp_data_pages *pages)
{
    size_t i;

    for (i = 0; i < pages->count; i++) {
        const struct msp_data_run *run = &pages->runs[i];

        if (run->is_guard
                ? !close_run(run)
                : (mprotect((void *)run->first, run->end - run->first, run->protection) != 0)) {
            return false;
        }
    }
    return true;
}

void msp_data_pages_free(struct msp_data_pages *pages)
{
    if (pages->capacity != 0) {
        (void)syscall(SYS_munmap, pages->runs, pages->capacity * sizeof *pages->runs);
    }
    *pages = (struct msp_data_pages){0};
}
