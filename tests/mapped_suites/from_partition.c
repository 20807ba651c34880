/* SPDX-License-Identifier: BSD-3-Clause */
/* from_partition.c, preloaded: before main() of a program that knows nothing of OpenSHMEM, its
 * mapped variables are given memory of a partition. When it ends, a line in the file $MAPPED_REPORT
 * says how many blocks were taken and how many of them are left.
 *
 * With MAPPED_STOCK set there is no OpenSHMEM, and the runtime lists what is left. */

#define SHMEMX_PARTITION_NAMES
#include <dlfcn.h>
#include <shmemx.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef int main_fn(int argc, char **argv, char **environment);
typedef int start_fn(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                     void (*loader_fini)(void), void *stack_end);

static main_fn *real_main;
static atomic_int taken;
static atomic_int returned;

static void *take(size_t size, int id)
{
    void *block = shmemx_partition_malloc_nosync(size, id);

    taken += (block != NULL);
    return block;
}

static void give(void *block)
{
    returned++;
    shmem_free(block);
}

static void report(void)
{
    FILE *file = fopen(getenv("MAPPED_REPORT"), "a");
    void (*dump)(void);

    if (getenv("MAPPED_STOCK") != NULL) {
        *(void **)&dump = dlsym(RTLD_DEFAULT, "ompx_dump_mapping_tables");
        if (dump != NULL) {
            fflush(NULL);
            dump();
        }
    } else {
        fprintf(file, "%d %d\n", taken, taken - returned);
        shmem_finalize();
    }
    fclose(file);
}

static int prepared_main(int argc, char **argv, char **environment)
{
    unsetenv("LD_PRELOAD"); /* not for what the program starts */
    if (getenv("MAPPED_STOCK") == NULL) {
        shmem_init();
        if (__tgt_set_shmem_allocator(take, give, 0) != 0) {
            fprintf(stderr, "%s\n", memspan_error_text());
            exit(99);
        }
    }
    atexit(report);
    return real_main(argc, argv, environment);
}

__attribute__((visibility("default"))) int __libc_start_main(main_fn *main, int argc, char **argv,
                                                             void (*init)(void), void (*fini)(void),
                                                             void (*loader_fini)(void),
                                                             void *stack_end);

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end)
{
    start_fn *start;

    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main        = main;
    return start(prepared_main, argc, argv, init, fini, loader_fini, stack_end);
}
