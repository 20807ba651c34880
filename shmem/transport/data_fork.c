/* SPDX-License-Identifier: BSD-3-Clause */
/* data_fork.c: a child of fork() has the variables as they were, in memory of its own.
 *
 * The child maps the pages of the file privately: what it writes is its own from then on. A page
 * that the parent or another PE writes later would still be seen there, until the child has a copy
 * of it. So fork() returns in the parent when the child has copies of all pages, or has executed a
 * program, or is gone. Few pages are copied by the child itself. Of many, the parent has the kernel
 * make the copies while the child runs: it begins a write to them, for which the kernel gives the
 * child a page of its own, and whose source cannot be read, so that nothing is written. A child
 * that executes a program at once has cost few copies.
 *
 * Other threads and PEs may write during the call. Whether the child sees that is open. */

#include "shmem/error.h"
#include "shmem/job.h"
#include "shmem/transport/data_pages.h"
#include "shmem/transport/data_segment.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    RUNS_MAX    = 512,     /* of pages with contents: each is a mapping of the child */
    FEW_BYTES   = 1 << 20, /* the child copies them in the time of two messages */
    CHUNK_PAGES = MSP_PAGEMAP_BATCH,
};

/* Messages. The parent answers IS_PRIVATE alone. */
enum word {
    IS_GONE = 0, /* the end of the channel */
    IS_COPIED,
    IS_PRIVATE,
    GO_ON,
    COPY,
};

/* The pages with contents, as the child has found them: finding them takes the kernel some time. */
struct runs {
    struct iovec list[RUNS_MAX];
    size_t count;
    size_t bytes; /* of all */
};

#define PAGEMAP_OF_FILE (UINT64_C(1) << 61) /* or of shared memory */

/* Held while a fork is under way; it guards the channel. */
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;
static int channel[2]            = {-1, -1}; /* the parent's end, the child's */
static int channel_error;                    /* why there is none */
static void *unreadable;                     /* a page without access */

/* ---- the child ----
 *
 * By the kernel's calls: a library that replaces mmap(), as UCX does, may hold a lock for a thread
 * that the child does not have. No allocation, for the same reason.
 */

static bool map_at(uintptr_t first, uintptr_t end, bool of_file)
{
    int flags    = MAP_PRIVATE | MAP_FIXED | (of_file ? 0 : (MAP_ANONYMOUS | MAP_NORESERVE));
    off_t offset = of_file ? (msp_data.offset + (off_t)(first - msp_data.range.first)) : 0;

    return (first == end) || (syscall(SYS_mmap, first, end - first, PROT_READ | PROT_WRITE, flags,
                                      of_file ? msp_data.fd : -1, offset) == (long)first);
}

/* False: there are more than RUNS_MAX. */
static bool find_runs(struct runs *runs)
{
    uintptr_t first = msp_data.range.first;
    uintptr_t end;

    runs->count = 0;
    runs->bytes = 0;
    for (; msp_data_next_run(&first, &end); first = end) {
        if (runs->count == RUNS_MAX) {
            return false;
        }
        runs->list[runs->count++] =
            (struct iovec){.iov_base = (void *)first, .iov_len = end - first};
        runs->bytes += end - first;
    }
    return true;
}

/* Of the pages without contents the parent may write some later: they are no longer the file's. */
static bool map_private(const struct runs *runs)
{
    uintptr_t at = msp_data.range.first;
    bool all     = true;
    size_t i;

    for (i = 0; (i < runs->count) && all; i++) {
        uintptr_t first = (uintptr_t)runs->list[i].iov_base;

        all = map_at(first, first + runs->list[i].iov_len, true) && map_at(at, first, false);
        at  = first + runs->list[i].iov_len;
    }
    return all && map_at(at, msp_data.range.end, false);
}

/* Writing a byte to itself: no other thread is there. */
static __attribute__((no_sanitize("address", "thread"))) void touch(const struct runs *runs)
{
    size_t page = msp_page_size();
    size_t i;

    for (i = 0; i < runs->count; i++) {
        volatile unsigned char *bytes = runs->list[i].iov_base;
        size_t at;

        for (at = 0; at < runs->list[i].iov_len; at += page) {
            bytes[at] = bytes[at];
        }
    }
}

/* A word, and the runs that it is about. */
static void say(int end, enum word word, const struct runs *runs)
{
    unsigned char byte    = (unsigned char)word;
    size_t count          = (runs != NULL) ? runs->count : 0;
    struct iovec parts[2] = {
        {&byte, sizeof byte},
        {(runs != NULL) ? (void *)(uintptr_t)runs->list : NULL, count * sizeof runs->list[0]}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (count != 0) ? 2 : 1};

    while ((sendmsg(end, &message, MSG_NOSIGNAL) < 0) && (errno == EINTR)) {
    }
}

static bool is_told_to_go_on(void)
{
    unsigned char byte = COPY;

    while ((recv(channel[1], &byte, sizeof byte, 0) < 0) && (errno == EINTR)) {
    }
    return byte == GO_ON;
}

static bool take_variables(void)
{
    struct msp_data_pages pages;
    struct runs runs;
    bool is_told = false;
    bool is_done;

    if (!find_runs(&runs)) {
        return msp_data_copy_private(); /* for which there must be as many addresses once more */
    }
    is_done =
        msp_data_pages_read(&pages, msp_data.range.first, msp_data.range.end) && map_private(&runs);
    if (is_done && (runs.bytes > FEW_BYTES) && (pages.count == 0)) {
        say(channel[1], IS_PRIVATE, &runs);
        is_told = is_told_to_go_on();
    }
    if (is_done && !is_told) {
        touch(&runs);
        is_done = msp_data_pages_apply(&pages);
    }
    msp_data_pages_free(&pages);
    return is_done;
}

/* The child of a process whose memory it would change. */
static _Noreturn void refuse_child(void)
{
    int key = 0;

    msp_warn_once(&key,
                  "a child of fork() ends: its copy of the variables, up to %zu bytes, cannot "
                  "be made (%s); memory, addresses (ulimit -v) or open files may be short",
                  msp_data.range.end - msp_data.range.first, strerror(errno));
    _exit(127);
}

static void after_fork_in_child(void)
{
    if (msp_data.fd >= 0) {
        errno = channel_error;
        if ((channel[0] < 0) || (close(channel[0]) != 0) || !take_variables()) {
            refuse_child();
        }
        say(channel[1], IS_COPIED, NULL);
        close(channel[1]);
        close(msp_data.fd);
        msp_data.fd = -1;
    }
    msp_job_forget();
    pthread_mutex_unlock(&fork_lock);
}

/* ---- the parent ---- */

struct child {
    pid_t pid;
    int pid_fd;
    int pagemap; /* of its memory */
    struct runs runs;
};

/* The next word of the child, and its number here: it may be in a namespace of its own. */
static enum word hear(struct child *child)
{
    unsigned char byte    = IS_GONE;
    struct iovec parts[2] = {{&byte, sizeof byte}, {child->runs.list, sizeof child->runs.list}};
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov        = parts,
                             .msg_iovlen     = 2,
                             .msg_control    = &control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header;
    struct ucred sender;
    ssize_t got;

    do {
        got = recvmsg(channel[0], &message, MSG_CMSG_CLOEXEC);
    } while ((got < 0) && (errno == EINTR));
    if (got <= 0) {
        return IS_GONE;
    }
    child->runs.count = ((size_t)got - sizeof byte) / sizeof child->runs.list[0];
    header            = CMSG_FIRSTHDR(&message);
    if ((header != NULL) && (header->cmsg_type == SCM_CREDENTIALS)) {
        memcpy(&sender, CMSG_DATA(header), sizeof sender);
        child->pid = sender.pid;
    }
    return (enum word)byte;
}

static bool open_child(struct child *child)
{
    char path[64];

    child->pid_fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)child->pid);
    child->pagemap = open(path, O_RDONLY | O_CLOEXEC);
    return (child->pid > 0) && (child->pid_fd >= 0) && (child->pagemap >= 0);
}

static void close_child(const struct child *child)
{
    if (child->pid_fd >= 0) {
        close(child->pid_fd);
    }
    if (child->pagemap >= 0) {
        close(child->pagemap);
    }
}

/* Whether these pages are the child's own: the kernel does not tell how far a write came. */
static bool are_own(const struct child *child, uintptr_t first, size_t count)
{
    uint64_t entries[CHUNK_PAGES];
    size_t i;

    if (!msp_pagemap_read(child->pagemap, first, count, entries)) {
        return false;
    }
    for (i = 0; i < count; i++) {
        if (((entries[i] & PAGEMAP_OF_FILE) != 0) || ((entries[i] & MSP_PAGEMAP_TOUCHED) == 0)) {
            return false;
        }
    }
    return true;
}

static bool copy_chunk(const struct child *child, uintptr_t first, size_t count)
{
    size_t bytes              = count * msp_page_size();
    const struct iovec source = {unreadable, bytes};
    const struct iovec dest   = {(void *)first, bytes};
    int tries;

    for (tries = 0; tries < 3; tries++) {
        (void)syscall(SYS_process_vm_writev, child->pid, &source, 1, &dest, 1, 0);
        if (are_own(child, first, count)) {
            return true;
        }
    }
    return false;
}

struct look {
    bool has_file;    /* mapped privately among the variables: not in a program that it executes */
    bool is_writable; /* the file's pages at an address, which the child has not closed itself */
};

static struct look look_at(const struct child *child, uintptr_t address)
{
    struct look look = {0};
    unsigned long inode;
    struct stat file;
    uintptr_t first;
    uintptr_t end;
    char line[512];
    char write;
    FILE *maps;

    snprintf(line, sizeof line, "/proc/%d/maps", (int)child->pid);
    maps = (fstat(msp_data.fd, &file) == 0) ? fopen(line, "re") : NULL;
    while ((maps != NULL) && (fgets(line, sizeof line, maps) != NULL)) {
        if ((sscanf(line, "%lx-%lx %*c%c%*cp %*x %*s %lu", &first, &end, &write, &inode) == 4) &&
            (inode == file.st_ino) && (first >= msp_data.range.first) &&
            (first < msp_data.range.end)) {
            look.has_file = true;
            look.is_writable =
                look.is_writable || ((write == 'w') && (address >= first) && (address < end));
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return look;
}

enum outcome { COPIED, NOT_NEEDED, FAILED };

/* Pages that the child has closed meanwhile are left. */
static enum outcome copy_pages(const struct child *child, uintptr_t first, size_t count)
{
    size_t i;

    if (copy_chunk(child, first, count)) {
        return COPIED;
    }
    for (i = 0; i < count; i++) {
        uintptr_t address = first + (i * msp_page_size());
        struct look look;

        if (copy_chunk(child, address, 1)) {
            continue;
        }
        look = look_at(child, address);
        if (!look.has_file || look.is_writable) {
            return look.has_file ? FAILED : NOT_NEEDED;
        }
    }
    return COPIED;
}

/* At most @p limit pages. FAILED: the child would see what is written from now on. */
static enum outcome copy_for(const struct child *child, size_t limit)
{
    enum outcome outcome = COPIED;
    size_t i;

    for (i = 0; (i < child->runs.count) && (outcome == COPIED); i++) {
        uintptr_t first = (uintptr_t)child->runs.list[i].iov_base;
        uintptr_t end   = first + child->runs.list[i].iov_len;

        while ((first < end) && (limit > 0) && (outcome == COPIED)) {
            size_t count = (end - first) / msp_page_size();

            count   = (count > CHUNK_PAGES) ? CHUNK_PAGES : count;
            count   = (count > limit) ? limit : count;
            outcome = copy_pages(child, first, count);
            first += count * msp_page_size();
            limit -= count;
        }
    }
    return outcome;
}

static void end_child(const struct child *child)
{
    int key = 0;

    (void)syscall(SYS_pidfd_send_signal, child->pid_fd, SIGKILL, NULL, 0);
    msp_warn_once(&key,
                  "the child %d of fork() was ended: there is no memory for its copy of the "
                  "variables, up to %zu bytes",
                  (int)child->pid, msp_data.range.end - msp_data.range.first);
}

/* Until the child needs nothing from here any more; fork() may have failed, too. */
static void serve_child(void)
{
    struct child child = {.pid_fd = -1, .pagemap = -1};

    if (hear(&child) != IS_PRIVATE) {
        return;
    }
    if (open_child(&child) && (copy_for(&child, 1) == COPIED)) {
        say(channel[0], GO_ON, NULL);
        if (copy_for(&child, SIZE_MAX) == FAILED) {
            end_child(&child);
        }
    } else {
        say(channel[0], COPY, NULL);
        (void)hear(&child);
    }
    close_child(&child);
}

static void open_channel(void)
{
    const int yes = 1;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0) {
        channel_error = errno;
        channel[0]    = -1;
        channel[1]    = -1;
        return;
    }
    (void)setsockopt(channel[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
}

static void before_fork(void)
{
    pthread_mutex_lock(&fork_lock);
    if (msp_data.fd >= 0) {
        open_channel();
    }
}

static void after_fork_in_parent(void)
{
    int code = errno;

    if (channel[0] >= 0) {
        close(channel[1]);
        serve_child();
        close(channel[0]);
        channel[0] = -1;
        channel[1] = -1;
    }
    errno = code;
    pthread_mutex_unlock(&fork_lock);
}

static void watch(void)
{
    unreadable = mmap(NULL, msp_page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void msp_data_fork_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch);
}
