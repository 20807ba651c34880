/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_UNIT_MAP_FLAG_H
#define MEMSPAN_TESTS_UNIT_MAP_FLAG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Flags of the mapping at the address: "hg" advised to use huge pages, "nh" not to. */
static inline bool has_map_flag(const void *address, const char *flag)
{
    char line[1024];
    FILE *maps  = fopen("/proc/self/smaps", "re");
    bool inside = false;
    bool found  = false;

    while (fgets(line, sizeof(line), maps) != NULL) {
        unsigned long from;
        unsigned long to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            inside = ((uintptr_t)address >= from) && ((uintptr_t)address < to);
        } else if (inside && (strncmp(line, "VmFlags:", 8) == 0)) {
            found = (strstr(line, flag) != NULL);
        }
    }
    fclose(maps);
    return found;
}

#endif /* MEMSPAN_TESTS_UNIT_MAP_FLAG_H */
