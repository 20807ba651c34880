/* SPDX-License-Identifier: BSD-3-Clause */
/* Opened and closed by loading.c. While its constructor runs, the dynamic linker holds a lock of
 * its own; a thread that the constructor waits for must be able to use OpenMP's routines. */
#include <memspan/omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *work(void *unused)
{
    void *p;

    omp_set_default_allocator((omp_allocator_handle_t)1);
    p = omp_alloc(64, (omp_allocator_handle_t)0);
    if ((p == NULL) || (omp_get_num_devices() < 0)) {
        fprintf(stderr, "no memory in a constructor's thread\n");
        exit(1);
    }
    omp_free(p, (omp_allocator_handle_t)0);
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    struct timespec limit;
    pthread_t thread;

    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 10;
    if ((getenv("LOADING_CONSTRUCTOR") != NULL) &&
        ((pthread_create(&thread, NULL, work, NULL) != 0) ||
         (pthread_timedjoin_np(thread, NULL, &limit) != 0))) {
        fprintf(stderr, "the constructor's thread waits for the dynamic linker\n");
        _exit(1);
    }
}
