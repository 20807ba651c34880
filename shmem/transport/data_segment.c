/* SPDX-License-Identifier: BSD-3-Clause */
/* data_segment.c: global and static variables of the executable as symmetric memory.
 *
 * At start their pages are copied to a file that the host's PEs share, and the file is mapped where
 * they were; at the end the other way round. Addresses differ from PE to PE (executables are placed
 * at random). */

#include "shmem/transport/data_segment.h"
#include "shmem/control/agree.h"
#include "shmem/transport/data_pages.h"
#include "shmem/transport/segment.h"
#include "shmem/transport/transport.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct msp_data msp_data = {.fd = -1};

/* ---- copying the variables ----
 *
 * By the kernel: it copies whole pages as they are, also a sanitizer's data between variables.
 */

static bool write_pages(uintptr_t first, size_t size_bytes)
{
    off_t at    = msp_data.offset + (off_t)(first - msp_data.range.first);
    size_t done = 0;

    while (done < size_bytes) {
        long got =
            syscall(SYS_pwrite64, msp_data.fd, first + done, size_bytes - done, at + (off_t)done);

        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static bool read_pages(char *to, uintptr_t first, size_t size_bytes)
{
    off_t at    = msp_data.offset + (off_t)(first - msp_data.range.first);
    size_t done = 0;

    while (done < size_bytes) {
        long got =
            syscall(SYS_pread64, msp_data.fd, to + done, size_bytes - done, at + (off_t)done);

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

bool msp_data_next_run(uintptr_t *first, uintptr_t *end)
{
    const uintptr_t base = msp_data.range.first - (uintptr_t)msp_data.offset;
    off_t from           = lseek(msp_data.fd, (off_t)(*first - base), SEEK_DATA);
    off_t to             = (from >= 0) ? lseek(msp_data.fd, from, SEEK_HOLE) : -1;

    if ((from < 0) || (base + (uintptr_t)from >= msp_data.range.end)) {
        return false;
    }
    *first = base + (uintptr_t)from;
    *end   = ((to < 0) || (base + (uintptr_t)to > msp_data.range.end)) ? msp_data.range.end
                                                                       : (base + (uintptr_t)to);
    return true;
}

/* By the kernel's calls: UCX replaces mremap() of the process by one that ignores where to. */
bool msp_data_copy_private(void)
{
    size_t size     = msp_data.range.end - msp_data.range.first;
    uintptr_t first = msp_data.range.first;
    struct msp_data_pages pages;
    bool is_done = msp_data_pages_read(&pages, msp_data.range.first, msp_data.range.end);
    long copy    = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    uintptr_t end;

    for (is_done = is_done && (copy != -1); is_done && msp_data_next_run(&first, &end);
         first   = end) {
        is_done = read_pages((char *)copy + (first - msp_data.range.first), first, end - first);
    }
    is_done = is_done &&
              (syscall(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                       msp_data.range.first) == (long)msp_data.range.first) &&
              msp_data_pages_apply(&pages);
    if (!is_done && (copy != -1)) {
        int code = errno;

        (void)syscall(SYS_munmap, copy, size);
        errno = code;
    }
    msp_data_pages_free(&pages);
    return is_done;
}

/* ---- beginning and end ---- */

static bool write_all(struct msp_data_pages *pages)
{
    bool all_written = true;
    int i;

    for (i = 0; i < msp_data.range.count; i++) {
        const struct msp_executable_piece *piece = &msp_data.range.pieces[i];

        all_written = all_written && write_range(pages, piece->first, piece->file_end, false) &&
                      write_range(pages, piece->file_end, piece->end, true);
    }
    return all_written;
}

/* Copy this PE's pages to its part of the file, and map that part where they were. Writes of other
 * threads to variables at this moment are lost: shmem_init() is no place for that. */
static memspan_status_t replace(struct msp_data_pages *pages)
{
    size_t size = msp_data.range.end - msp_data.range.first;

    if (!msp_data_pages_read(pages, msp_data.range.first, msp_data.range.end) ||
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
    if (mmap((void *)msp_data.range.first, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             msp_data.fd, msp_data.offset) == MAP_FAILED) {
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "mmap", errno, strerror(errno), NULL,
                                "the data segment of %zu bytes cannot be shared", size);
    }
    return MEMSPAN_OK;
}

static memspan_status_t share(struct msp_segment *segment, char *window)
{
    size_t size                 = msp_data.range.end - msp_data.range.first;
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
        .base         = (char *)msp_data.range.first,
        .size_bytes   = size,
        .reach_count  = (unsigned)msp_job.direct_count,
        .to_window    = (intptr_t)((uintptr_t)window - msp_data.range.first),
        .stride_bytes = size,
        .partition    = -1,
        .host_touches = true,
        .fd           = msp_data.fd,
    };
    return MEMSPAN_OK;
}

static memspan_status_t share_in_window(size_t size_bytes)
{
    memspan_status_t status;
    char *window =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, msp_data.fd, 0);

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
    struct msp_team *job = msp_team_job();
    memspan_status_t status;
    size_t size;

    msp_data_fork_watch();
    msp_executable_find(&msp_data.range);
    size = msp_data.range.end - msp_data.range.first;
    if (!msp_executable_is_common(job) || (size == 0)) {
        return MEMSPAN_OK;
    }
    status = msp_agree_share_file(job, "memspan-data", size * (size_t)msp_job.local_count, 0,
                                  &msp_data.fd);
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_data.offset = (off_t)(size * (size_t)msp_job.local_index);
    status          = share_in_window(size * (size_t)msp_job.local_count);
    if (status != MEMSPAN_OK) {
        close(msp_data.fd);
        msp_data.fd = -1;
    }
    return msp_segment_finish(job, MSP_SEGMENT_DATA, "the variables", status);
}

void msp_data_segment_close(void)
{
    struct msp_segment *segment = &msp_segments[MSP_SEGMENT_DATA];

    if (segment->size_bytes == 0) {
        return;
    }
    if (msp_job.transport != NULL) {
        msp_job.transport->segment_release(MSP_SEGMENT_DATA);
    }
    munmap((void *)((uintptr_t)segment->base + (uintptr_t)segment->to_window),
           segment->stride_bytes * (size_t)msp_job.local_count);
    memset(segment, 0, sizeof *segment);
    /* Without space for a copy the variables stay in the file: no other PE writes them any more,
     * and children get their own all the same. */
    if (msp_data_copy_private()) {
        close(msp_data.fd);
        msp_data.fd = -1;
    }
}
