/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_TIERS_MACHINE_H
#define MEMSPAN_TESTS_TIERS_MACHINE_H

/* The machine of lane.sh, and where pages are there. By files and system calls of its own: nothing
 * is taken from the library that is tested. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* NUMA nodes, by their numbers. */
enum { USUAL = 0, FAST = 1, LARGE = 2, NVDIMM = 3 };

enum { PAGE = 4096 };

static inline bool machine_file_is(const char *path, const char *line)
{
    char text[64] = "";
    FILE *file    = fopen(path, "r");
    bool is;

    is = (file != NULL) && (fgets(text, sizeof text, file) != NULL) && (strcmp(text, line) == 0);
    if (file != NULL) {
        fclose(file);
    }
    return is;
}

/* Ends the program with a skip on any other machine. */
static inline void machine_need(void)
{
    if (!machine_file_is("/sys/devices/system/node/has_memory", "0-3\n") ||
        !machine_file_is("/sys/devices/system/node/has_cpu", "0\n")) {
        puts("skip: needs the virtual machine of ./cmake/bootstrap tiers");
        exit(77);
    }
}

/* The node of the page at @p address; a negative errno where there is no page. */
static inline int machine_node_of(const void *address)
{
    void *page = (void *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1));
    int node   = -1;

    return (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0) == 0) ? node : -1;
}

/* How many of the pages of [address, address + size_bytes) are on @p node. */
static inline size_t machine_pages_on(const void *address, size_t size_bytes, int node)
{
    uintptr_t at  = (uintptr_t)address & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = (uintptr_t)address + size_bytes;
    size_t count  = 0;

    for (; at < end; at += PAGE) {
        count += (machine_node_of((const void *)at) == node) ? 1 : 0;
    }
    return count;
}

static inline void machine_touch(void *address, size_t size_bytes)
{
    memset(address, 0x5a, size_bytes);
}

#endif /* MEMSPAN_TESTS_TIERS_MACHINE_H */
