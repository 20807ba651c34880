/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c: atomic operations on memory that the host cannot touch, by several threads of its PE and
 * for another PE, exclude each other. memspan_copy() stands in front of the library's and takes so
 * long that operations which do not would always lose some. */

#include "tests/shmem/check.h"
#include <dlfcn.h>
#include <memspan/memspan.h>
#include <pthread.h>
#include <shmemx.h>
#include <time.h>

enum { PARTITION = 5, THREADS = 2, ADDS = 20 };

static long *word;

MEMSPAN_API memspan_status_t memspan_copy(void *to, const void *from, size_t size_bytes);

memspan_status_t memspan_copy(void *to, const void *from, size_t size_bytes)
{
    static const struct timespec while_others_copy = {0, 2000000};
    memspan_status_t (*next)(void *to_, const void *from_, size_t bytes);
    memspan_status_t status;

    *(void **)&next = dlsym(RTLD_NEXT, "memspan_copy");
    status          = next(to, from, size_bytes);
    nanosleep(&while_others_copy, NULL);
    return status;
}

static void *add(void *unused)
{
    for (int i = 0; i < ADDS; i++) {
        shmem_long_atomic_inc(word, 0);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    int provided;
    long found;

    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0, "no threads");
    word = shmemx_partition_calloc(1, sizeof *word, PARTITION);
    CHECK(word != NULL, "%s", memspan_error_text());
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, add, NULL) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    shmem_barrier_all();
    found = shmem_long_atomic_fetch(word, 0);
    CHECK(found == (long)shmem_n_pes() * THREADS * ADDS, "%ld", found);
    shmem_barrier_all();
    shmem_free(word);
    shmem_finalize();
    return 0;
}
