/* SPDX-License-Identifier: BSD-3-Clause */
/* openmp_end.c RUNTIME: a process that ends with memory in the contexts of an OpenMP runtime, whose
 * handler of exit ends these first. The status is 0, from main to the end. */

#include <dlfcn.h>
#include <memspan/memspan.h>
#include <stdio.h>

enum { BYTES = 100000 };

static void *take(const int *devices, size_t count, int kept)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    void *memory                  = NULL;

    if ((memspan_space_get(devices, count, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK) &&
        (memspan_allocator_create(space, NULL, 0, &allocator) == MEMSPAN_OK)) {
        memory = memspan_alloc(allocator, BYTES);
    }
    if ((memory == NULL) || (memspan_fill(memory, 1, BYTES) != MEMSPAN_OK)) {
        printf("%s\n", memspan_error_text());
        return NULL;
    }
    if (!kept) {
        (void)memspan_free(memory);
    }
    return memory;
}

int main(int argc, char **argv)
{
    const int devices[]        = {0, MEMSPAN_HOST};
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    int kept;

    if ((argc < 2) || (dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == NULL) ||
        (memspan_device_describe(0, &info) != MEMSPAN_OK)) {
        printf("%s\n", memspan_error_text());
        return 1;
    }
    printf("device 0 is %s:%d\n", info.backend, info.ordinal);
    for (kept = 0; kept < 2; kept++) {
        if ((take(devices, 1, kept) == NULL) || (take(devices, 2, kept) == NULL)) {
            return 1;
        }
    }
    return 0;
}
