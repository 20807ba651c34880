/* SPDX-License-Identifier: BSD-3-Clause */
/* capacity.c: starts and ends a job on a machine whose memory is what CAPACITY_TOTAL_KB,
 * CAPACITY_FREE_KB and, of a control group, CAPACITY_GROUP_BYTES say: the files that tell of it are
 * replaced, so that nothing is ever taken. CAPACITY_SPACE_BYTES: makes a space of that size, and
 * ends with 3 where it is refused. */

#include "tests/shmem/check.h"
#include <fcntl.h>
#include <shmemx.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int file_of(const char *text)
{
    int fd = memfd_create("capacity", MFD_CLOEXEC);

    if ((fd < 0) || (write(fd, text, strlen(text)) < 0)) {
        return -1;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* In front of the C library's, for the libraries too. */
__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    const char *group = getenv("CAPACITY_GROUP_BYTES");
    char text[256];
    va_list args;
    unsigned mode;

    if (strcmp(path, "/proc/meminfo") == 0) {
        snprintf(text, sizeof text, "MemTotal: %s kB\nMemAvailable: %s kB\n",
                 getenv("CAPACITY_TOTAL_KB"), getenv("CAPACITY_FREE_KB"));
        return file_of(text);
    }
    if (strcmp(path, "/proc/self/cgroup") == 0) {
        return file_of((group != NULL) ? "0::/job\n" : "0::/\n");
    }
    if ((group != NULL) && (strcmp(path, "/sys/fs/cgroup/job/memory.max") == 0)) {
        return file_of(group);
    }
    va_start(args, flags);
    mode = va_arg(args, unsigned);
    va_end(args);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, ((flags & O_CREAT) != 0) ? mode : 0);
}

int main(void)
{
    const char *space_bytes      = getenv("CAPACITY_SPACE_BYTES");
    shmemx_space_config_t config = {.struct_size = sizeof config};
    shmemx_space_t space;
    int status = 0;

    shmem_init();
    if (space_bytes != NULL) {
        config.size   = (size_t)atoll(space_bytes);
        config.kind   = SHMEMX_KIND_SYSDEFAULT;
        config.policy = SHMEMX_POLICY_MANDATORY;
        status        = (shmemx_space_create(SHMEM_TEAM_WORLD, &config, &space) != 0) ? 3 : 0;
    }
    shmem_finalize();
    return status;
}
