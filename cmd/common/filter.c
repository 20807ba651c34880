/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.c: from /proc/self/status. */

#include "cmd/common/cli.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_filter_count(void)
{
    char text[4096];
    ssize_t size = -1;
    int fd       = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const char *line;

    if (fd >= 0) {
        size = read(fd, text, sizeof(text) - 1);
        (void)close(fd);
    }
    text[(size > 0) ? size : 0] = '\0';
    line                        = strstr(text, "\nSeccomp_filters:");
    line                        = (line != NULL) ? line : strstr(text, "\nSeccomp:");
    return (line != NULL) ? atoi(strchr(line, ':') + 1) : 0;
}
