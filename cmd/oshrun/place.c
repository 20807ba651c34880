/* SPDX-License-Identifier: BSD-3-Clause */
/* A core is identified by the first of its processors that this process may use. More PEs than
 * cores wrap around. */

#include "cmd/oshrun/oshrun.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSORS_MAX 4096

typedef struct {
    cpu_set_t sets[PROCESSORS_MAX / CPU_SETSIZE];
} processors_t;

static bool has(const processors_t *processors, int processor)
{
    return CPU_ISSET_S((size_t)processor, sizeof(*processors), processors->sets) != 0;
}

static void add(processors_t *processors, int processor)
{
    CPU_SET_S((size_t)processor, sizeof(*processors), processors->sets);
}

/* The processors of the same core, itself included. */
static processors_t siblings(int processor)
{
    processors_t found;
    char path[96];
    char text[1024] = "";
    memset(&found, 0, sizeof(found));
    add(&found, processor);
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             processor);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return found;
    }
    if (fgets(text, sizeof(text), file) == NULL) {
        text[0] = '\0';
    }
    fclose(file);
    for (char *at = text; *at >= '0' && *at <= '9'; at += *at == ',' ? 1 : 0) {
        long first = strtol(at, &at, 10);
        long last  = *at == '-' ? strtol(at + 1, &at, 10) : first;
        for (long i = first; i <= last && i < PROCESSORS_MAX; i++) {
            add(&found, (int)i);
        }
    }
    return found;
}

/* Iterates over the cores; stores the one with that index, or the last. Returns their number. */
static int walk(int index, processors_t *core_p)
{
    processors_t allowed;
    processors_t seen;
    int count = 0;
    memset(&seen, 0, sizeof(seen));
    if (sched_getaffinity(0, sizeof(allowed), allowed.sets) != 0) {
        return 0;
    }
    for (int i = 0; i < PROCESSORS_MAX; i++) {
        if (!has(&allowed, i) || has(&seen, i)) {
            continue;
        }
        processors_t core = siblings(i);
        CPU_OR_S(sizeof(seen), seen.sets, seen.sets, core.sets);
        CPU_AND_S(sizeof(core), core.sets, core.sets, allowed.sets);
        if (count++ == index) {
            *core_p = core;
        }
    }
    return count;
}

int place_count(void)
{
    processors_t core;
    int count = walk(-1, &core);
    return count > 0 ? count : 1;
}

void place_pe(enum binding binding, int pe)
{
    processors_t core;
    if (binding == BIND_NONE) {
        return;
    }
    int count = place_count();
    if (walk(pe % count, &core) > 0) {
        sched_setaffinity(0, sizeof(core), core.sets);
    }
}
