/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c: tables of fixed size, without malloc: this is called by malloc.
 *
 * Blocks are in chains by a hash of their address. A child of fork() must not share pages with its
 * parent, so before a fork all blocks are mapped privately from the file, which is no longer
 * written: both processes see its contents and change their own copies. They are not sampled
 * any more, and blocks that follow are of another file: the kernel frees the old one with the last
 * block of it, in all processes.
 *
 * The program may close the file's descriptor, with all descriptors that it did not open, and get
 * its number for a file of its own: it is verified before each use. */

#include "cmd/common/clock.h"
#include "cmd/memspan-advise/preload/preload.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, TEXT_BYTES = 4 << 20, BUCKETS = 1 << 16 };

/* Other threads hold the lock for microseconds; stopped ones, and those of a busy machine, longer.
 */
enum { LOCK_S = 60 };

/* Of the memory file: offsets are not used again. */
#define FILE_BYTES (INT64_MAX & ~(off_t)(PAGE_BYTES - 1))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that follows */
static __thread volatile bool holds;                     /* this thread has it */

static struct block blocks[BLOCKS_MAX];
static size_t blocks_used; /* of the array; those given back are in: */
static struct block *unused;
static struct block *buckets[BUCKETS];
static struct site sites[SITES_MAX];
static size_t site_count;
static char texts[TEXT_BYTES]; /* the frames of all sites */
static size_t text_used;
static int file = -1;
static struct stat file_facts;
static uint64_t file_used;
static bool file_kept; /* blocks before a fork keep its pages */
static size_t sampled_count;
static uint64_t live_bytes;
static uint64_t peak_bytes;
static atomic_bool has_left;

void block_lock(void)
{
    pthread_mutex_lock(&lock);
    holds = true;
}

void block_unlock(void)
{
    holds = false;
    pthread_mutex_unlock(&lock);
}

size_t block_sites(struct site **sites_p)
{
    *sites_p = sites;
    return site_count;
}

uint64_t block_peak_bytes(void)
{
    return peak_bytes;
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

static struct block **bucket_of(const void *address)
{
    return &buckets[((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}

static struct block *find(const void *address)
{
    struct block *block = *bucket_of(address);

    while ((block != NULL) && (block->address != address)) {
        block = block->next;
    }
    return block;
}

/* A record, in its bucket; NULL: all are used. */
static struct block *take_record(void *address)
{
    struct block **bucket = bucket_of(address);
    struct block *block   = unused;

    if (block != NULL) {
        unused = block->next;
    } else if (blocks_used < BLOCKS_MAX) {
        block = &blocks[blocks_used++];
    } else {
        return NULL;
    }
    *block  = (struct block){.next = *bucket, .address = address};
    *bucket = block;
    return block;
}

static void give_record(struct block *block)
{
    struct block **link = bucket_of(block->address);

    while (*link != block) {
        link = &(*link)->next;
    }
    *link       = block->next;
    block->next = unused;
    unused      = block;
}

/* ---- pages ---- */

static uintptr_t first_page(const struct block *block)
{
    return ((uintptr_t)block->address + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
}

static uintptr_t end_page(const struct block *block)
{
    return ((uintptr_t)block->address + block->capacity_bytes) & ~(uintptr_t)(PAGE_BYTES - 1);
}

static uintptr_t first_window(const struct block *block)
{
    return (first_page(block) + WINDOW_BYTES - 1) & ~(uintptr_t)(WINDOW_BYTES - 1);
}

/* Its windows: as many as are used of its exchanged pages. */
static size_t windows_of(const struct block *block)
{
    uintptr_t end   = (uintptr_t)block->address + block->size_bytes;
    uintptr_t start = first_window(block);

    end = (end < end_page(block)) ? end : end_page(block);
    return (end < start) ? 0 : (end - start) / WINDOW_BYTES;
}

bool block_open(void)
{
    struct rlimit limit;

    if ((getrlimit(RLIMIT_FSIZE, &limit) != 0) || (limit.rlim_cur != RLIM_INFINITY)) {
        errno = EFBIG;
        return false;
    }
    file = memfd_create("memspan-advise", MFD_CLOEXEC);
    return (file >= 0) && (fstat(file, &file_facts) == 0) && (ftruncate(file, FILE_BYTES) == 0);
}

static bool file_is_ours(void)
{
    struct stat facts;
    bool open = (file >= 0) && (fstat(file, &facts) == 0);

    return open && (facts.st_dev == file_facts.st_dev) && (facts.st_ino == file_facts.st_ino);
}

/* New pages instead of the block's. */
static bool map(const struct block *block, int flags, int fd)
{
    uintptr_t start = first_page(block);

    return mmap((void *)start, end_page(block) - start, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
                fd, (fd < 0) ? 0 : (off_t)block->offset) != MAP_FAILED;
}

/* The same, with the contents that the block has. */
static bool map_filled(const struct block *block, int flags, int fd)
{
    uintptr_t start = first_page(block);
    size_t bytes    = end_page(block) - start;
    void *pages =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, (fd < 0) ? 0 : (off_t)block->offset);

    if (pages == MAP_FAILED) {
        return false;
    }
    memcpy(pages, (void *)start, bytes);
    if (mremap(pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, start) == MAP_FAILED) {
        (void)munmap(pages, bytes);
        return false;
    }
    return true;
}

/* Exchange the pages of a new block for those at the end of the file. */
static void share_pages(struct block *block, bool filled)
{
    struct site *site = block->site;

    if ((site->sampled_count == SAMPLED_OF_SITE) || (sampled_count == SAMPLED_MAX) ||
        (windows_of(block) == 0) || !file_is_ours()) {
        return;
    }
    block->offset = file_used;
    block->shared = filled ? map_filled(block, MAP_SHARED, file) : map(block, MAP_SHARED, file);
    block->mapped = block->shared;
    if (block->shared) {
        file_used += end_page(block) - first_page(block);
        site->sampled[site->sampled_count++] = block;
        sampled_count++;
    }
}

/* The block is sampled no more. Its pages are still the file's. */
static void forget(struct block *block)
{
    struct site *site = block->site;
    size_t i          = 0;

    sample_forget(first_page(block), end_page(block));
    while (site->sampled[i] != block) {
        i++;
    }
    site->sampled[i] = site->sampled[--site->sampled_count];
    sampled_count--;
    block->shared = false;
}

/* Its pages are its own, with their contents. */
static void keep_pages(struct block *block)
{
    forget(block);
    if (file_is_ours()) {
        (void)map(block, MAP_PRIVATE, file);
    } else {
        (void)map_filled(block, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    }
}

/* Its pages are no file's any more; their contents are lost. */
static void drop_pages(struct block *block)
{
    uintptr_t start = first_page(block);

    if (block->shared) {
        forget(block);
        (void)madvise((void *)start, end_page(block) - start, MADV_REMOVE);
    }
    if (block->mapped && !has_left) {
        (void)map(block, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    }
}

/* ---- blocks ---- */

static void set_size(struct block *block, size_t size_bytes)
{
    struct site *site = block->site;

    site->live_bytes += size_bytes - block->size_bytes;
    site->byte_seconds += ((double)block->size_bytes - (double)size_bytes) * cli_clock_s();
    if (site->live_bytes > site->peak_bytes) {
        site->peak_bytes = site->live_bytes;
    }
    live_bytes += size_bytes - block->size_bytes;
    peak_bytes        = (live_bytes > peak_bytes) ? live_bytes : peak_bytes;
    block->size_bytes = size_bytes;
}

bool block_add(void *address, size_t size_bytes, size_t capacity_bytes, bool filled)
{
    char frames[MEMSPAN_CALL_SITE_BYTES];
    struct block *block;
    struct site *site;

    if (memspan_call_site(frames, sizeof(frames)) != MEMSPAN_OK) {
        return false;
    }
    block_lock();
    site  = site_of(frames);
    block = (site == NULL) ? NULL : take_record(address);
    if (block != NULL) {
        block->site           = site;
        block->capacity_bytes = capacity_bytes;
        set_size(block, size_bytes);
        site->count++;
        site->live_count++;
        site->lifetime_s -= cli_clock_s();
        share_pages(block, filled);
    }
    block_unlock();
    return block != NULL;
}

bool block_remove(void *address)
{
    struct block *block;

    block_lock();
    block = find(address);
    if (block != NULL) {
        set_size(block, 0);
        block->site->live_count--;
        block->site->lifetime_s += cli_clock_s();
        drop_pages(block);
        give_record(block);
    }
    block_unlock();
    return block != NULL;
}

size_t block_find(void *address)
{
    struct block *block;
    size_t size_bytes;

    block_lock();
    block      = find(address);
    size_bytes = (block == NULL) ? 0 : block->size_bytes;
    block_unlock();
    return size_bytes;
}

bool block_fit(void *address, size_t size_bytes)
{
    char frames[MEMSPAN_CALL_SITE_BYTES];
    struct block *block;
    bool fits;

    if (memspan_call_site(frames, sizeof(frames)) != MEMSPAN_OK) {
        return false;
    }
    block_lock();
    block = find(address);
    fits  = (block != NULL) && (size_bytes <= block->capacity_bytes) &&
           (strcmp(block->site->frames, frames) == 0);
    if (fits) {
        set_size(block, size_bytes);
    }
    block_unlock();
    return fits;
}

void block_resized(void *address, size_t size_bytes)
{
    struct block *block;

    block_lock();
    block = find(address);
    if (block != NULL) {
        if (size_bytes < block->capacity_bytes) {
            if (block->shared) {
                keep_pages(block);
            }
            block->capacity_bytes = size_bytes;
        }
        set_size(block, size_bytes);
    }
    block_unlock();
}

/* ---- windows ---- */

uintptr_t block_window(const struct site *site, uint64_t chance, size_t *segment_p)
{
    const struct block *block;
    size_t windows;
    size_t window;

    if (site->sampled_count == 0) {
        return 0;
    }
    block   = site->sampled[chance % site->sampled_count];
    windows = windows_of(block);
    if (windows == 0) {
        return 0;
    }
    window     = (chance >> 16) % windows;
    *segment_p = window * SEGMENTS / windows;
    return first_window(block) + window * WINDOW_BYTES;
}

/* ---- fork ---- */

/* Holding the lock: the pages of all blocks are their own. */
static void keep_all(void)
{
    for (size_t i = 0; (i < site_count) && (sampled_count > 0); i++) {
        while (sites[i].sampled_count > 0) {
            keep_pages(sites[i].sampled[0]);
            file_kept = true;
        }
    }
}

/* The lock is not to be had: a handler calls _Fork() on a thread that holds it. */
static __thread bool fork_skips;

/* A handler calls this: nothing of stdio. */
static void tell_shared(void)
{
    static const char text[] =
        "memspan-advise: a signal handler made a process in the middle of malloc(): until it runs "
        "another program, the blocks that are watched are those of both processes\n";

    if (sampled_count > 0) {
        (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    }
}

void block_before_fork(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOCK_S;
    fork_skips = holds || (pthread_mutex_timedlock(&lock, &until) != 0);
    if (fork_skips) {
        tell_shared();
    } else {
        holds = true;
        keep_all();
    }
}

static void close_file(void)
{
    if (file_is_ours()) {
        (void)close(file);
    }
    file = -1;
}

void block_after_fork(void)
{
    if (fork_skips) {
        return;
    }
    if (file_kept) {
        close_file();
        (void)block_open();
        file_kept = false;
    }
    block_unlock();
}

/* Records that both appended to the file would be at the same place. */
void block_after_fork_in_child(void)
{
    close_file();
    if (!fork_skips) {
        block_unlock();
    }
}

void block_leave(void)
{
    block_lock();
    keep_all();
    close_file();
    file_kept = false;
    has_left  = true;
    block_unlock();
}

__attribute__((constructor)) static void register_fork(void)
{
    (void)pthread_atfork(block_before_fork, block_after_fork, block_after_fork_in_child);
}
