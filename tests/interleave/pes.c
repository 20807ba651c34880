/* SPDX-License-Identifier: BSD-3-Clause */
/* pes.c: PROGRAM's scenarios are those of PROGRAM-0.so, PROGRAM-1.so, ... beside it. */

#include "pe.h"
#include "shmem/control/memory.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef const struct scenario *table_of(unsigned *count_p);

static const struct scenario *tables[PE_COUNT];

static void *load(int number)
{
    char path[1024];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    void *library;

    snprintf(path + ((length < 0) ? 0 : length), 16, "-%d.so", number);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return library;
}

static void *shared(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return memory;
}

const struct scenario *scenario_table(unsigned *count_p)
{
    static struct scenario table[32];
    struct pe_place place = {.slots     = shared(PE_COUNT * sizeof(struct msp_control_offsets)),
                             .doorbells = shared(PE_COUNT * sizeof(struct msp_doorbell)),
                             .page      = shared(1 << 16)};
    unsigned i;

    for (place.number = 0; place.number < PE_COUNT; place.number++) {
        void *library = load(place.number);
        table_of *get = (table_of *)(uintptr_t)dlsym(library, "pe_scenarios");

        *(struct pe_place *)dlsym(library, "pe_place") = place;
        tables[place.number]                           = get(count_p);
    }
    for (i = 0; i < *count_p; i++) {
        unsigned pe;

        table[i] = tables[0][i];
        for (pe = 0; pe < PE_COUNT; pe++) {
            table[i].threads[pe] = tables[pe][i].threads[pe];
        }
    }
    return table;
}

void scenario_set_up(unsigned number)
{
    unsigned pe;

    for (pe = 0; pe < PE_COUNT; pe++) {
        if (tables[pe][number].setup != NULL) {
            tables[pe][number].setup();
        }
    }
}
