/* SPDX-License-Identifier: BSD-3-Clause */
/* data_segment.c: global and static variables of the executable as symmetric memory.
 *
 * At start their pages are copied to a file that the host's PEs share, and the file is mapped where
 * they were; at the end the other way round. Addresses differ from PE to PE (executables are placed
 * at random).
 *
 * A child of fork() would share these variables with its parent. So a copy is made before each
 * fork, and put in the file's place in the child. */

#include "shmem/control/agree.h"
#include "shmem/transport/data_pages.h"
#include "shmem/transport/executable.h"
#include "shmem/transport/segment.h"
#include "shmem/transport/transport.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* This PE's copy in the shared file, and where it is. */
static struct {
    struct msp_executable range;
    int fd; /* -1: closed */
    off_t offset;
} data = {.fd = -1};

static void *fork_copy;
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER; /* held while a fork is under way */

/* ---- copying the variables ----
 *
 * By the kernel: it copies whole pages as they are, also a sanitizer's data between variables.
 */

static bool write_pages(uintptr_t first, size_t size_bytes)
{
    off_t at    = data.offset + (off_t)(first - data.range.first);
    size_t done = 0;

    while (done < size_bytes) {
        long got =
            syscall(SYS_pwrite64, data.fd, first + done, size_bytes - done, at + (off_t)done);

        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static bool read_pages(char *to, off_t at, size_t size_bytes)
{
    size_t done = 0;

    while (done < size_bytes) {
        long got = syscall(SYS_pread64, data.fd, to + done, size_bytes - done, at + (off_t)done);

        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

/* A page that cannot be read after all is in a guard region that this kernel does not show. */
static bool write_or_close(struct msp_data_pages *pages, uintptr_t first, size_t size_bytes)
{
    size_t page = msp_page_size();
    size_t at;

    if (write_pages(first, size_bytes)) {
        return true;
    }
    for (at = first; (at < first + size_bytes) && (errno == EFAULT); at += page) {
        if (!write_pages(at, page) &&
            ((errno != EFAULT) || !msp_data_pages_add_guard(pages, at, at + page))) {
            return false;
        }
        errno = EFAULT;
    }
    return errno == EFAULT;
}

/* Guard regions have no contents; nor have pages that begin as zeros and have not been touched: an
 * array of many gigabytes may never have been. */
static bool is_empty(uint64_t entry, bool begins_as_zeros)
{
    return ((entry & MSP_PAGEMAP_GUARD) != 0) ||
           (begins_as_zeros && ((entry & MSP_PAGEMAP_TOUCHED) == 0));
}

static bool write_range(struct msp_data_pages *pages, uintptr_t first, uintptr_t end,
                        bool begins_as_zeros)
{
    size_t page = msp_page_size();
    int fd      = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entries[MSP_PAGEMAP_BATCH];
    bool all_written = true;

    while ((first < end) && all_written) {
        size_t left  = (end - first) / page;
        size_t count = (left < MSP_PAGEMAP_BATCH) ? left : MSP_PAGEMAP_BATCH;
        bool known   = msp_pagemap_read(fd, first, count, entries);
        size_t full  = 0; /* pages before this one that are to be written */
        size_t i;

        for (i = 0; (i < count) && all_written; i++, first += page) {
            if (known && is_empty(entries[i], begins_as_zeros)) {
                all_written = write_or_close(pages, first - (full * page), full * page);
                full        = 0;
            } else {
                full++;
            }
        }
        all_written = all_written && write_or_close(pages, first - (full * page), full * page);
    }
    if (fd >= 0) {
        close(fd);
    }
    return all_written;
}

/* A private copy of the shared pages; NULL when there is no space. */
static void *copy_private(void)
{
    size_t size = data.range.end - data.range.first;
    char *copy  = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    off_t end   = data.offset + (off_t)size;
    off_t at    = data.offset;

    if (copy == MAP_FAILED) {
        return NULL;
    }
    while (at < end) {
        off_t from = lseek(data.fd, at, SEEK_DATA);
        off_t to   = (from >= 0) ? lseek(data.fd, from, SEEK_HOLE) : -1;

        if ((from < 0) || (from >= end)) {
            break;
        }
        to = ((to < 0) || (to > end)) ? end : to;
        if (!read_pages(copy + (from - data.offset), from, (size_t)(to - from))) {
            munmap(copy, size);
            return NULL;
        }
        at = to;
    }
    return copy;
}

/* By the kernel's call: UCX replaces mremap() of the process by one that ignores where to. */
static bool put_in_place(void *copy)
{
    size_t size = data.range.end - data.range.first;
    struct msp_data_pages pages;
    bool is_done = msp_data_pages_read(&pages, data.range.first, data.range.end);

    is_done = is_done &&
              (syscall(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                       data.range.first) == (long)data.range.first) &&
              msp_data_pages_apply(&pages);
    msp_data_pages_free(&pages);
    return is_done;
}

/* ---- fork ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&fork_lock);
    fork_copy = (data.fd >= 0) ? copy_private() : NULL;
}

static void after_fork_in_parent(void)
{
    if (fork_copy != NULL) {
        munmap(fork_copy, data.range.end - data.range.first);
        fork_copy = NULL;
    }
    pthread_mutex_unlock(&fork_lock);
}

static void after_fork_in_child(void)
{
    if (fork_copy != NULL) {
        (void)put_in_place(fork_copy);
        close(data.fd);
        data.fd   = -1;
        fork_copy = NULL;
    }
    msp_job_forget();
    pthread_mutex_unlock(&fork_lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* ---- beginning and end ---- */

static bool write_all(struct msp_data_pages *pages)
{
    bool all_written = true;
    int i;

    for (i = 0; i < data.range.count; i++) {
        const struct msp_executable_piece *piece = &data.range.pieces[i];

        all_written = all_written && write_range(pages, piece->first, piece->file_end, false) &&
                      write_range(pages, piece->file_end, piece->end, true);
    }
    return all_written;
}

/* Copy this PE's pages to its part of the file, and map that part where they were. Writes of other
 * threads to variables at this moment are lost: shmem_init() is no place for that. */
static memspan_status_t replace(struct msp_data_pages *pages)
{
    size_t size = data.range.end - data.range.first;

    if (!msp_data_pages_read(pages, data.range.first, data.range.end) ||
        !msp_data_pages_unlock(pages)) {
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "/proc/self/maps", errno,
                                strerror(errno), NULL,
                                "the protection of the variables cannot be read");
    }
    if (!write_all(pages)) {
        int code = errno;

        (void)msp_data_pages_apply(pages);
        return msp_error_native(
            MEMSPAN_ERR_NO_MEMORY, "", "pwrite", code, strerror(code),
            (code == ENOSPC) || (code == ENOMEM) ? "the host's memory may be full" : NULL,
            "the data segment of %zu bytes cannot be copied", size);
    }
    if (mmap((void *)data.range.first, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             data.fd, data.offset) == MAP_FAILED) {
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "mmap", errno, strerror(errno), NULL,
                                "the data segment of %zu bytes cannot be shared", size);
    }
    return MEMSPAN_OK;
}

static memspan_status_t share(struct msp_segment *segment, char *window)
{
    size_t size                 = data.range.end - data.range.first;
    struct msp_data_pages pages = {0};
    memspan_status_t status     = replace(&pages);

    if ((status == MEMSPAN_OK) && !msp_data_pages_apply(&pages)) {
        status = msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "mprotect", errno, strerror(errno),
                                  "each closed part is a mapping: vm.max_map_count may be too low",
                                  "variables that the program has protected cannot stay so");
    }
    msp_data_pages_free(&pages);
    if (status != MEMSPAN_OK) {
        return status;
    }
    *segment = (struct msp_segment){
        .base         = (char *)data.range.first,
        .size_bytes   = size,
        .reach_count  = (unsigned)msp_job.direct_count,
        .to_window    = (intptr_t)((uintptr_t)window - data.range.first),
        .stride_bytes = size,
        .partition    = -1,
        .host_touches = true,
        .fd           = data.fd,
    };
    return MEMSPAN_OK;
}

static memspan_status_t share_in_window(size_t size_bytes)
{
    memspan_status_t status;
    char *window =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, data.fd, 0);

    if (window == MAP_FAILED) {
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "mmap", errno, strerror(errno),
                                "a limit on address space (ulimit -v) may be in the way",
                                "the data segments of %d PEs cannot be mapped",
                                msp_job.local_count);
    }
    status = share(&msp_segments[MSP_SEGMENT_DATA], window);
    if (status != MEMSPAN_OK) {
        munmap(window, size_bytes);
    }
    return status;
}

memspan_status_t msp_data_segment_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct msp_team *job       = msp_team_job();
    memspan_status_t status;
    size_t size;

    pthread_once(&once, watch_forks);
    msp_executable_find(&data.range);
    size = data.range.end - data.range.first;
    if (!msp_executable_is_common(job) || (size == 0)) {
        return MEMSPAN_OK;
    }
    status =
        msp_agree_share_file(job, "memspan-data", size * (size_t)msp_job.local_count, 0, &data.fd);
    if (status != MEMSPAN_OK) {
        return status;
    }
    data.offset = (off_t)(size * (size_t)msp_job.local_index);
    status      = share_in_window(size * (size_t)msp_job.local_count);
    if (status != MEMSPAN_OK) {
        close(data.fd);
        data.fd = -1;
    }
    return msp_segment_finish(job, MSP_SEGMENT_DATA, "the variables", status);
}

void msp_data_segment_close(void)
{
    struct msp_segment *segment = &msp_segments[MSP_SEGMENT_DATA];
    void *copy;

    if (segment->size_bytes == 0) {
        return;
    }
    if (msp_job.transport != NULL) {
        msp_job.transport->segment_release(MSP_SEGMENT_DATA);
    }
    /* Without memory for it, the variables stay where they are: no other PE writes them any more.
     */
    copy = copy_private();
    if (copy != NULL) {
        (void)put_in_place(copy);
    }
    munmap((void *)((uintptr_t)segment->base + (uintptr_t)segment->to_window),
           segment->stride_bytes * (size_t)msp_job.local_count);
    memset(segment, 0, sizeof *segment);
    close(data.fd);
    data.fd = -1;
}
