/* SPDX-License-Identifier: BSD-3-Clause */
/* data_pages.c: protections from /proc/self/maps, guard regions from the page map.
 *
 * The kernel keeps a guard region in the page tables, so no mapping shows it. */

#include "shmem/transport/data_pages.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD_INSTALL = 102 }; /* MADV_GUARD_INSTALL of headers since Linux 6.13 */

static bool add_run(struct msp_data_pages *pages, struct msp_data_run run)
{
    struct msp_data_run *last = (pages->count > 0) ? &pages->runs[pages->count - 1] : NULL;

    if ((last != NULL) && (last->end == run.first) && (last->protection == run.protection) &&
        (last->is_guard == run.is_guard)) {
        last->end = run.end;
        return true;
    }
    if (pages->count == pages->capacity) {
        size_t capacity           = (2 * pages->capacity) + 16;
        struct msp_data_run *runs = realloc(pages->runs, capacity * sizeof *runs);

        if (runs == NULL) {
            return false;
        }
        pages->runs     = runs;
        pages->capacity = capacity;
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

bool msp_data_pages_read(struct msp_data_pages *pages, uintptr_t first, uintptr_t end)
{
    FILE *maps     = fopen("/proc/self/maps", "re");
    bool all_added = (maps != NULL);
    uintptr_t at   = first;
    char line[512];

    *pages = (struct msp_data_pages){0};
    while (all_added && (at < end) && (fgets(line, sizeof line, maps) != NULL)) {
        bool is_whole = (strchr(line, '\n') != NULL);

        all_added = add_mapping(pages, line, &at, end);
        while (!is_whole && (fgets(line, sizeof line, maps) != NULL)) {
            is_whole = (strchr(line, '\n') != NULL);
        }
    }
    if (maps != NULL) {
        fclose(maps);
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

    return (madvise((void *)run->first, size_bytes, GUARD_INSTALL) == 0) ||
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
    free(pages->runs);
    *pages = (struct msp_data_pages){0};
}
