/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/file.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *bench_file_open(const char *path)
{
    FILE *file = (strcmp(path, "-") == 0) ? stdout : fopen(path, "we");

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
