/* SPDX-License-Identifier: BSD-3-Clause */
/* listen.c: a job of one machine listens on its loopback interface alone, and has no shared memory
 * of UCX's. Each PE has been in touch with all; then it compares its sockets with the kernel's
 * lists of those that listen, and looks at its mappings. */

#include "tests/shmem/check.h"
#include <dirent.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LISTENS = 10 /* in the kernel's list */ };

static long word;

static bool is_own(unsigned long inode)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    char wanted[64];
    char path[300];
    char target[64];
    bool is_found = false;

    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    while (!is_found && (folder != NULL) && ((entry = readdir(folder)) != NULL)) {
        ssize_t length;

        snprintf(path, sizeof path, "/proc/self/fd/%.255s", entry->d_name);
        length                            = readlink(path, target, sizeof target - 1);
        target[(length > 0) ? length : 0] = '\0';
        is_found                          = (strcmp(target, wanted) == 0);
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return is_found;
}

/* How many sockets of this process listen; their addresses begin with @p loopback. */
static int count(const char *path, const char *loopback)
{
    FILE *list  = fopen(path, "r");
    int listens = 0;
    char line[512];

    while ((list != NULL) && (fgets(line, sizeof line, list) != NULL)) {
        char address[64];
        unsigned long inode;
        unsigned state;

        if ((sscanf(line, " %*d: %63s %*s %x %*s %*s %*s %*s %*s %lu", address, &state, &inode) ==
             3) &&
            (state == LISTENS) && is_own(inode)) {
            CHECK(strncmp(address, loopback, strlen(loopback)) == 0, "listens at %s", address);
            listens++;
        }
    }
    if (list != NULL) {
        fclose(list);
    }
    return listens;
}

/* Those of UCX's transports posix and sysv. */
static void refuse_shared_memory(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];

    while ((maps != NULL) && (fgets(line, sizeof line, maps) != NULL)) {
        CHECK((strstr(line, "/ucx_shm_") == NULL) && (strstr(line, "/SYSV") == NULL), "%s", line);
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

int main(void)
{
    int pe;
    int listens;

    shmem_init();
    for (pe = 0; pe < shmem_n_pes(); pe++) {
        shmem_long_atomic_inc(&word, pe);
    }
    shmem_barrier_all();
    CHECK(word == shmem_n_pes(), "%ld", word);
    listens = count("/proc/self/net/tcp", "0100007F:") +
              count("/proc/self/net/tcp6", "00000000000000000000000001000000:");
    CHECK(listens > 0, "it listens nowhere");
    refuse_shared_memory();
    shmem_finalize();
    return 0;
}
