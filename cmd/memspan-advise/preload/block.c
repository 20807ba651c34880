/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c: tables of fixed size, without malloc: this is called by malloc.
 *
 * Blocks are in an open hash table by address. A child of fork() must not share pages with its
 * parent, so before a fork all blocks are mapped privately from the file, which is no longer
 * written: both processes see its contents and change their own copies. They are not sampled
 * any more. */

#include "cmd/memspan-advise/preload/block.h"
#include "cmd/memspan-advise/preload/sample.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TAKEN_OUT ((void *)(uintptr_t)-1)

enum { PAGE_BYTES = 4096, TEXT_BYTES = 4 << 20 };

pthread_mutex_t block_lock = PTHREAD_MUTEX_INITIALIZER;

static struct block blocks[BLOCKS_MAX];
static size_t block_count;
static struct site sites[SITES_MAX];
static size_t site_count;
static char texts[TEXT_BYTES]; /* the frames of all sites */
static size_t text_used;
static int file = -1;
static uint64_t file_bytes;

double block_now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

size_t block_sites(struct site **sites_p)
{
    *sites_p = sites;
    return site_count;
}

/* ---- tables ---- */

static struct site *site_of(const char *frames)
{
    size_t length = strlen(frames) + 1;

    for (size_t i = 0; i < site_count; i++) {
        if (strcmp(sites[i].frames, frames) == 0) {
            return &sites[i];
        }
    }
    if ((site_count == SITES_MAX) || (length > TEXT_BYTES - text_used)) {
        return NULL;
    }
    sites[site_count].frames = memcpy(texts + text_used, frames, length);
    text_used += length;
    return &sites[site_count++];
}

/* Its place in the table, or with @p add a free one; NULL: there is none. */
static struct block *find(const void *address, bool add)
{
    size_t start = (((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        struct block *block = &blocks[(start + i) % BLOCKS_MAX];

        if ((block->address == address) || (add && (block->address == TAKEN_OUT))) {
            return block;
        }
        if (block->address == NULL) {
            return add ? block : NULL;
        }
    }
    return NULL;
}

/* ---- pages ---- */

static uintptr_t first_page(const struct block *block)
{
    return ((uintptr_t)block->address + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
}

static uintptr_t end_page(const struct block *block)
{
    return ((uintptr_t)block->address + block->size_bytes) & ~(uintptr_t)(PAGE_BYTES - 1);
}

bool block_open(void)
{
    file = memfd_create("memspan-advise", MFD_CLOEXEC);
    return file >= 0;
}

static bool map(const struct block *block, int flags, int fd)
{
    uintptr_t start = first_page(block);

    return mmap((void *)start, end_page(block) - start, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
                fd, (fd < 0) ? 0 : (off_t)block->offset) != MAP_FAILED;
}

/* Exchange the pages of a new block for those at the end of the file. */
static void share_pages(struct block *block, bool filled)
{
    uintptr_t start = first_page(block);
    size_t bytes    = end_page(block) - start;

    block->offset = file_bytes;
    if ((file < 0) || (ftruncate(file, (off_t)(file_bytes + bytes)) != 0)) {
        return;
    }
    if (filled && (pwrite(file, (void *)start, bytes, (off_t)file_bytes) != (ssize_t)bytes)) {
        return;
    }
    file_bytes += bytes;
    block->shared = map(block, MAP_SHARED, file);
}

/* ---- blocks ---- */

void block_add(void *address, size_t size_bytes, bool filled, bool placed)
{
    char frames[MEMSPAN_CALL_SITE_BYTES];
    struct block *block;
    struct site *site;

    if (memspan_call_site(frames, sizeof(frames)) != MEMSPAN_OK) {
        return;
    }
    pthread_mutex_lock(&block_lock);
    site  = site_of(frames);
    block = ((site == NULL) || (block_count > BLOCKS_MAX / 2)) ? NULL : find(address, true);
    if (block != NULL) {
        *block = (struct block){.address    = address,
                                .size_bytes = size_bytes,
                                .born_s     = block_now_s(),
                                .site       = site,
                                .placed     = placed};
        block_count++;
        site->count++;
        site->total_bytes += size_bytes;
        site->live_bytes += size_bytes;
        if (site->live_bytes > site->peak_bytes) {
            site->peak_bytes = site->live_bytes;
        }
        if (!placed) {
            share_pages(block, filled);
        }
    }
    pthread_mutex_unlock(&block_lock);
}

bool block_remove(void *address, struct block *block_p)
{
    struct block *block;

    pthread_mutex_lock(&block_lock);
    block = find(address, false);
    if (block != NULL) {
        *block_p = *block;
        block->site->live_bytes -= block->size_bytes;
        block->site->lifetime_s += block_now_s() - block->born_s;
        if (block->shared) {
            sample_forget(first_page(block), end_page(block));
            (void)map(block, MAP_PRIVATE | MAP_ANONYMOUS, -1);
            (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)block->offset,
                            (off_t)(end_page(block) - first_page(block)));
        }
        block->address = TAKEN_OUT;
        block->shared  = false;
        block_count--;
    }
    pthread_mutex_unlock(&block_lock);
    return block != NULL;
}

bool block_find(void *address, struct block *block_p)
{
    struct block *block;

    pthread_mutex_lock(&block_lock);
    block = find(address, false);
    if (block != NULL) {
        *block_p = *block;
    }
    pthread_mutex_unlock(&block_lock);
    return block != NULL;
}

void block_close(void)
{
    pthread_mutex_lock(&block_lock);
    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        if ((blocks[i].address != NULL) && (blocks[i].address != TAKEN_OUT)) {
            blocks[i].site->lifetime_s += block_now_s() - blocks[i].born_s;
        }
    }
    pthread_mutex_unlock(&block_lock);
}

/* ---- windows ---- */

static uintptr_t first_window(const struct block *block)
{
    return (first_page(block) + WINDOW_BYTES - 1) & ~(uintptr_t)(WINDOW_BYTES - 1);
}

uintptr_t block_window(const struct site *site, uint64_t chance, struct block **block_p)
{
    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        struct block *block = &blocks[(chance + i) % BLOCKS_MAX];
        uintptr_t start;

        if (!block->shared || (block->site != site)) {
            continue;
        }
        start = first_window(block);
        if (start + WINDOW_BYTES <= end_page(block)) {
            *block_p = block;
            return start +
                   (chance >> 16) % ((end_page(block) - start) / WINDOW_BYTES) * WINDOW_BYTES;
        }
    }
    return 0;
}

/* ---- fork ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&block_lock);
    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        if (blocks[i].shared) {
            sample_forget(first_page(&blocks[i]), end_page(&blocks[i]));
            (void)map(&blocks[i], MAP_PRIVATE, file);
            blocks[i].shared = false;
        }
    }
}

static void after_fork(void)
{
    pthread_mutex_unlock(&block_lock);
}

/* What both appended to the file would be at the same place. */
static void after_fork_in_child(void)
{
    file = -1;
    pthread_mutex_unlock(&block_lock);
}

__attribute__((constructor)) static void register_fork(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
