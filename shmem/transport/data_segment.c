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

/* Of pages that begin as zeros, those that have been touched: an array of many gigabytes may never
 * have been. */
static bool write_touched(uintptr_t first, size_t size_bytes)
{
    enum { BATCH = 512 };
    const uint64_t present_or_swapped = UINT64_C(3) << 62;
    size_t page                       = msp_page_size();
    int fd                            = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entries[BATCH];
    bool all_written = true;
    size_t at        = 0;

    while (at < size_bytes) {
        size_t left  = (size_bytes - at) / page;
        size_t count = (left < BATCH) ? left : BATCH;
        off_t where  = (off_t)((first + at) / page * sizeof entries[0]);
        ssize_t want = (ssize_t)(count * sizeof entries[0]);
        bool known   = (fd >= 0) && (pread(fd, entries, (size_t)want, where) == want);
        size_t i;

        for (i = 0; i < count; i++, at += page) {
            if (!known || ((entries[i] & present_or_swapped) != 0)) {
                all_written = write_pages(first + at, page) && all_written;
            }
        }
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

    return syscall(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, data.range.first) ==
           (long)data.range.first;
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

static bool write_all(const struct msp_executable *range)
{
    bool all_written = true;
    int i;

    for (i = 0; i < range->count; i++) {
        const struct msp_executable_piece *piece = &range->pieces[i];

        all_written = all_written && write_pages(piece->first, piece->file_end - piece->first) &&
                      write_touched(piece->file_end, piece->end - piece->file_end);
    }
    return all_written;
}

/* Copy this PE's pages to its part of the file, and map that part where they were. Writes of other
 * threads to variables at this moment are lost: shmem_init() is no place for that. */
static memspan_status_t share(struct msp_segment *segment, char *window)
{
    const struct msp_executable *range = &data.range;
    size_t size                        = range->end - range->first;

    if (!write_all(range)) {
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "pwrite", errno, strerror(errno),
                                "the host's memory may be full",
                                "the data segment of %zu bytes cannot be copied", size);
    }
    if (mmap((void *)range->first, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, data.fd,
             data.offset) == MAP_FAILED) {
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "mmap", errno, strerror(errno), NULL,
                                "the data segment of %zu bytes cannot be shared", size);
    }
    *segment = (struct msp_segment){
        .base         = (char *)range->first,
        .size_bytes   = size,
        .reach_count  = (unsigned)msp_job.direct_count,
        .to_window    = (intptr_t)((uintptr_t)window - range->first),
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
