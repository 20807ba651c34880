/* SPDX-License-Identifier: BSD-3-Clause */
/* loading.c PLUGIN [COUNT]: OpenMP's routines look for a runtime while another thread opens and
 * closes a library COUNT times. Without a count: once, with a constructor that waits for a thread
 * which calls them. */
#include <dlfcn.h>
#include <memspan/omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *path;
static int count;
static atomic_bool done;

static void *open_and_close(void *unused)
{
    int i;

    for (i = 0; i < count; i++) {
        void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (plugin == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        dlclose(plugin);
    }
    atomic_store(&done, true);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int looks = 0;

    if (argc < 2) {
        return 2;
    }
    path = argv[1];
    alarm(30);
    if (argc < 3) {
        count = 1;
        setenv("LOADING_CONSTRUCTOR", "1", 1);
        open_and_close(NULL);
        return 0;
    }
    count = atoi(argv[2]);
    if (pthread_create(&thread, NULL, open_and_close, NULL) != 0) {
        return 2;
    }
    while (!atomic_load(&done)) {
        /* What was not found is looked for again before a default is set. */
        omp_set_default_allocator((omp_allocator_handle_t)1);
        looks++;
    }
    pthread_join(thread, NULL);
    printf("%d searches\n", looks);
    return 0;
}
