/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_NETWORK_SOCKETS_H
#define MEMSPAN_TESTS_SHMEM_NETWORK_SOCKETS_H

/* Where this process listens: its sockets, compared with the kernel's lists of those that do. */

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SOCKETS_LISTEN = 10 /* in the kernel's list */ };

struct sockets {
    int on_loopback;
    int elsewhere;
};

static inline bool sockets_own(unsigned long inode)
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

static inline void sockets_count(const char *path, const char *loopback, struct sockets *count_p)
{
    FILE *list = fopen(path, "r");
    char line[512];

    while ((list != NULL) && (fgets(line, sizeof line, list) != NULL)) {
        char address[64];
        unsigned long inode;
        unsigned state;

        if ((sscanf(line, " %*d: %63s %*s %x %*s %*s %*s %*s %*s %lu", address, &state, &inode) ==
             3) &&
            (state == SOCKETS_LISTEN) && sockets_own(inode)) {
            const bool is_loopback = strncmp(address, loopback, strlen(loopback)) == 0;

            count_p->on_loopback += is_loopback ? 1 : 0;
            count_p->elsewhere += is_loopback ? 0 : 1;
        }
    }
    if (list != NULL) {
        fclose(list);
    }
}

static inline struct sockets sockets_that_listen(void)
{
    struct sockets count = {0, 0};

    sockets_count("/proc/self/net/tcp", "0100007F:", &count);
    sockets_count("/proc/self/net/tcp6", "00000000000000000000000001000000:", &count);
    return count;
}

#endif /* MEMSPAN_TESTS_SHMEM_NETWORK_SOCKETS_H */
