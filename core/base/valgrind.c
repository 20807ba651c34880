/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/process.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Its tools preload a library of that name. */
static bool find_preloaded(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = false;
    char line[512];

    while ((maps != NULL) && !found && (fgets(line, sizeof(line), maps) != NULL)) {
        found = (strstr(line, "/vgpreload_") != NULL);
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

bool msp_valgrind_runs(void)
{
    enum { UNKNOWN, NO, YES };
    static atomic_int known;
    int value = atomic_load_explicit(&known, memory_order_relaxed);

    if (value == UNKNOWN) {
        value = find_preloaded() ? YES : NO;
        atomic_store_explicit(&known, value, memory_order_relaxed);
    }
    return value == YES;
}
