/* SPDX-License-Identifier: BSD-3-Clause */
/* data_segment.c: global and static variables of the executable as symmetric memory.
 *
 * At start their pages are copied to a file that the host's PEs share, and the file is mapped where
 * they were; at the end the other way round. Addresses differ from PE to PE (executables are placed
 * at random): only sizes must agree, which they do for one executable.
 *
 * A child of fork() would share these variables with its parent. So a copy is made before each
 * fork, and put in the file's place in the child. */

#include "shmem/control/agree.h"
#include "shmem/transport/segment.h"
#include "shmem/transport/transport.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIECES_MAX = 4 };

/* Addresses of the variables, in whole pages. With large code models there are several pieces, a
 * page or a few apart. */
struct range {
    struct piece {
        uintptr_t first;
        uintptr_t file_end; /* from here on they begin as zeros */
        uintptr_t end;
    } pieces[PIECES_MAX];
    int count;
    uintptr_t first; /* of all pieces */
    uintptr_t end;
};

/* This PE's copy in the shared file, and where it is. */
static struct {
    struct range range;
    int fd; /* -1: closed */
    off_t offset;
} data = {.fd = -1};

static void *fork_copy;
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER; /* held while a fork is under way */

/* A piece that is not next to those before takes their place: linkers that make several put the one
 * first that becomes read-only later, and memory between them is not ours. */
static void add_piece(struct range *range, struct piece piece, size_t near_bytes)
{
    bool is_next = (range->count > 0) && (range->count < PIECES_MAX) &&
                   (piece.first >= range->end) && (piece.first - range->end <= near_bytes);

    if (!is_next) {
        range->count = 0;
        range->first = piece.first;
    }
    range->pieces[range->count++] = piece;
    range->end                    = piece.end;
}

/* The writable part of the main program, which is the first in the list. */
static int find_range(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct range *range = argument;
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
            const struct piece piece = {.first    = (first < read_only) ? read_only : first,
                                        .file_end = msp_round_up(at + header->p_filesz, page),
                                        .end      = end};

            add_piece(range, piece, header->p_align);
        }
    }
    return 1;
}

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

/* ---- variables that are not in it ---- */

static int find_constant(struct dl_phdr_info *info, size_t size, void *argument)
{
    const uintptr_t *address = argument;
    int i;

    (void)size;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        bool is_constant = ((header->p_type == PT_LOAD) && ((header->p_flags & PF_W) == 0)) ||
                           (header->p_type == PT_GNU_RELRO);

        if (is_constant && (*address - (info->dlpi_addr + header->p_vaddr) < header->p_memsz)) {
            return 2;
        }
    }
    return 1; /* the main program is the first */
}

bool msp_data_segment_is_constant(const void *address)
{
    uintptr_t wanted = (uintptr_t)address;

    return dl_iterate_phdr(find_constant, &wanted) == 2;
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

static bool write_all(const struct range *range)
{
    bool all_written = true;
    int i;

    for (i = 0; i < range->count; i++) {
        const struct piece *piece = &range->pieces[i];

        all_written = all_written && write_pages(piece->first, piece->file_end - piece->first) &&
                      write_touched(piece->file_end, piece->end - piece->file_end);
    }
    return all_written;
}

/* Copy this PE's pages to its part of the file, and map that part where they were. Writes of other
 * threads to variables at this moment are lost: shmem_init() is no place for that. */
static memspan_status_t share(struct msp_segment *segment, char *window)
{
    const struct range *range = &data.range;
    size_t size               = range->end - range->first;

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
    static int several_key;
    struct msp_team *job = msp_team_job();
    memspan_status_t status;
    size_t size;

    pthread_once(&once, watch_forks);
    memset(&data.range, 0, sizeof data.range);
    dl_iterate_phdr(find_range, &data.range);
    size = data.range.end - data.range.first;
    if (!msp_agree_all(job, size == msp_agree_max(job, size)) || (size == 0)) {
        msp_warn_once(&several_key, "global variables are not symmetric: the PEs of this job "
                                    "run different executables");
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
