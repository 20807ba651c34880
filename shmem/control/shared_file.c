/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_file.c: a memfd of one PE's, opened by others of its host.
 *
 * The maker keeps it open until the others have it; they open it through /proc/PID/fd and verify
 * its number on the file system. Nothing has a name, so nothing stays behind. */

#include "shmem/control/shared_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not where a program that was started without them expects its standard streams: its output would
 * be written to the file. */
int msp_fd_above_streams(int fd)
{
    int above = fd;

    if ((fd >= 0) && (fd <= STDERR_FILENO)) {
        above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(fd);
    }
    return above;
}

void msp_fd_occupy_streams(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    } while ((fd >= 0) && (fd <= STDERR_FILENO));
    if (fd >= 0) {
        close(fd);
    }
}

/* ftruncate() beyond the limit would not fail, but end the process by a signal. */
bool msp_shared_file_is_beyond_limit(struct msp_shared_file *file, const char *name,
                                     size_t size_bytes)
{
    struct rlimit limit;

    if ((getrlimit(RLIMIT_FSIZE, &limit) != 0) || (size_bytes <= limit.rlim_cur)) {
        return false;
    }
    file->status = MEMSPAN_ERR_LIMIT;
    memspan_error(MEMSPAN_ERR_LIMIT,
                  "no shared file of %zu bytes for %s: files may have %llu bytes", size_bytes, name,
                  (unsigned long long)limit.rlim_cur);
    msp_error_hint("raise the limit (ulimit -f)");
    return true;
}

memspan_status_t msp_shared_file_offer(struct msp_shared_file *file, int fd)
{
    struct stat facts;

    if (fstat(fd, &facts) != 0) {
        return msp_error_native(MEMSPAN_ERR_DRIVER, "", "fstat", errno, strerror(errno), NULL,
                                "a file has no facts");
    }
    *file = (struct msp_shared_file){.pid        = getpid(),
                                     .fd         = fd,
                                     .inode      = facts.st_ino,
                                     .device     = facts.st_dev,
                                     .size_bytes = (uint64_t)facts.st_size};
    return MEMSPAN_OK;
}

void msp_shared_file_make(struct msp_shared_file *file, const char *name, size_t size_bytes,
                          size_t huge_page_bytes, int *fd_p)
{
    unsigned flags = MFD_CLOEXEC;
    int fd;

    *fd_p = -1;
    if (msp_shared_file_is_beyond_limit(file, name, size_bytes)) {
        return;
    }
    if (huge_page_bytes != 0) {
        flags |= MFD_HUGETLB | ((unsigned)__builtin_ctzll(huge_page_bytes) << MAP_HUGE_SHIFT);
    }
    fd           = msp_fd_above_streams(memfd_create(name, flags));
    file->status = MEMSPAN_OK;
    if ((fd < 0) || (ftruncate(fd, (off_t)size_bytes) != 0) ||
        (msp_shared_file_offer(file, fd) != MEMSPAN_OK)) {
        file->status = MEMSPAN_ERR_NO_MEMORY;
        msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", (fd < 0) ? "memfd_create" : "ftruncate", errno,
                         strerror(errno), NULL, "no shared file of %zu bytes for %s can be made",
                         size_bytes, name);
        if (fd >= 0) {
            close(fd);
        }
        *fd_p = -1;
        return;
    }
    *fd_p = fd;
}

memspan_status_t msp_shared_file_open(const struct msp_shared_file *file, const char *name,
                                      int *fd_p)
{
    char path[64];
    struct stat facts;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", file->pid, file->fd);
    fd = msp_fd_above_streams(open(path, O_RDWR | O_CLOEXEC));
    if (fd < 0) {
        int error = errno;

        /* Its maker may have died: the launcher ends the job then, and names the PE. */
        if (error == ENOENT) {
            sleep(1);
        }
        errno = error;
        return msp_error_native(
            MEMSPAN_ERR_PERMISSION, "", "open", errno, strerror(errno),
            ((errno == EMFILE) || (errno == ENFILE))
                ? "the limit on open files (ulimit -n) is in the way"
                : "the PEs of a host must run as one user, see each other in one /proc, and be "
                  "dumpable",
            "%s of the first PE of this host cannot be opened as %s", name, path);
    }
    if ((fstat(fd, &facts) != 0) || (facts.st_ino != file->inode) ||
        (facts.st_dev != file->device) || ((uint64_t)facts.st_size != file->size_bytes)) {
        close(fd);
        memspan_error(MEMSPAN_ERR_UNREACHABLE, "%s is another file than the first PE's %s", path,
                      name);
        return msp_error_hint("PEs of one host must be in one PID namespace: start them in one "
                              "container, or tell the launcher that they are on several hosts");
    }
    *fd_p = fd;
    return MEMSPAN_OK;
}
