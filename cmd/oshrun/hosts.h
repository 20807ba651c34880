/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_HOSTS_H
#define OSHRUN_HOSTS_H

/* The hosts of a job and how many PEs each gets, from --hosts and --hostfile. */

#include <stdbool.h>
#include <stddef.h>

struct host {
    char *name;
    int pe_count;
};

struct hosts {
    struct host *items;
    size_t count;  /* 0: this host alone */
    int pe_count;  /* of all */
    void *by_name; /* tree of items */
};

/* "a:4,b:4"; a host without a number gets one PE; one that is there already gets more. False after
 * a message that begins with @p where. */
bool hosts_add_list(struct hosts *hosts, const char *where, const char *text);

/* Lines "a slots=4", "a:4" or "a"; # begins a comment. False after a message. */
bool hosts_add_file(struct hosts *hosts, const char *path);

#endif /* OSHRUN_HOSTS_H */
