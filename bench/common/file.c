/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/file.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool bench_file_is_output(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool bench_file_may_write(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    int length = (slash == NULL) ? 1 : (int)(slash - path) + 1;

    if (bench_file_is_output(path) || (access(path, W_OK) == 0)) {
        return true;
    }
    if (errno == ENOENT) {
        (void)snprintf(folder, sizeof(folder), "%.*s", length, (slash == NULL) ? "." : path);
        if (access(folder, W_OK | X_OK) == 0) {
            return true;
        }
    }
    fprintf(stderr, "cannot write '%s': %s\n", path, strerror(errno));
    return false;
}

FILE *bench_file_open(const char *path)
{
    FILE *file = bench_file_is_output(path) ? stdout : fopen(path, "we");

    if (file == NULL) {
        fprintf(stderr, "cannot write '%s': %s\n", path, strerror(errno));
    }
    return file;
}

/* Devices and pipes (/dev/full, a fifo) are not ours to remove. */
static void remove_broken(const char *path)
{
    struct stat facts;

    if ((stat(path, &facts) == 0) && S_ISREG(facts.st_mode)) {
        (void)unlink(path);
    }
}

bool bench_file_close(FILE *file, const char *path)
{
    bool broken = (fflush(file) != 0) || (ferror(file) != 0);
    int error   = errno;

    if (file == stdout) {
        return !broken;
    }
    if ((fclose(file) != 0) && !broken) {
        broken = true;
        error  = errno;
    }
    if (broken) {
        fprintf(stderr, "cannot write '%s': %s\n", path, strerror(error));
        remove_broken(path);
    }
    return !broken;
}
