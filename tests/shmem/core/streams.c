/* SPDX-License-Identifier: BSD-3-Clause */
/* streams.c: a program that was started without standard streams prints into nothing, not into the
 * memory that PEs share. */

#include "tests/shmem/check.h"
#include <shmem.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 4096 };

static char zeros[BYTES];

int main(void)
{
    char text[BYTES];
    char *heap;
    size_t i;
    int fd;

    memset(text, 'x', sizeof text);
    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        (void)close(fd);
    }
    shmem_init();
    heap = shmem_calloc(1, BYTES);
    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        CHECK(write(fd, text, sizeof text) < 0, "%d is an open file", fd);
    }
    shmem_barrier_all();
    for (i = 0; i < BYTES; i++) {
        CHECK(heap[i] == 0 && zeros[i] == 0, "byte %zu was written", i);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
