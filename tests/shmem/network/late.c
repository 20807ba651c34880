/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c: shmem_fence() of one thread holds while the put of another waits for an earlier one. Of
 * two threads of one context, the first waits before its put until a message has arrived, and is
 * stopped when it takes the channel's lock again. Meanwhile the second sends a message and calls
 * shmem_fence(). Its put must not reach the target before that message. */

#include "tests/shmem/check.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { BLOCK_BYTES = 64 << 10 /* more than a message takes */ };

static long word;
static unsigned char first_block[BLOCK_BYTES];
static unsigned char second_block[BLOCK_BYTES];

static _Thread_local bool stops; /* at the second lock of a put */
static _Thread_local int locks;
static atomic_bool is_stopped;
static atomic_bool is_over; /* the first put */
static atomic_bool goes_on;

/* Takes the place of the C library's in the library too. */
__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*_Atomic real)(pthread_mutex_t *);

    if (atomic_load(&real) == NULL) {
        int (*found)(pthread_mutex_t *);

        *(void **)&found = dlsym(RTLD_NEXT, "pthread_mutex_lock");
        atomic_store(&real, found);
    }
    if (stops && (++locks > 1)) {
        stops = false;
        atomic_store(&is_stopped, true);
        while (!atomic_load(&goes_on)) {
            sched_yield();
        }
    }
    return atomic_load(&real)(mutex);
}

static void *put_first(void *unused)
{
    shmem_long_p(&word, 1, 1);
    shmem_fence();
    stops = true;
    shmem_putmem(first_block, first_block, BLOCK_BYTES, 1);
    stops = false;
    atomic_store(&is_over, true);
    return unused;
}

static void *put_second(void *unused)
{
    while (!atomic_load(&is_stopped) && !atomic_load(&is_over)) {
        sched_yield();
    }
    shmem_long_p(&word, 2, 1);
    shmem_fence();
    atomic_store(&goes_on, true);
    pthread_join(*(pthread_t *)unused, NULL);
    second_block[BLOCK_BYTES - 1] = 1;
    shmem_putmem(second_block, second_block, BLOCK_BYTES, 1);
    return NULL;
}

int main(void)
{
    int provided;

    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0, "no threads");
    if (shmem_my_pe() == 0) {
        pthread_t first;
        pthread_t second;

        /* Keys are known. */
        shmem_putmem(first_block, first_block, BLOCK_BYTES, 1);
        shmem_putmem(second_block, second_block, BLOCK_BYTES, 1);
        shmem_quiet();
        CHECK(pthread_create(&first, NULL, put_first, NULL) == 0, "no thread");
        CHECK(pthread_create(&second, NULL, put_second, &first) == 0, "no thread");
        pthread_join(second, NULL);
        CHECK(atomic_load(&is_stopped), "the first put did not wait: the test tests nothing");
    } else {
        long seen;

        while (__atomic_load_n(&second_block[BLOCK_BYTES - 1], __ATOMIC_ACQUIRE) == 0) {
            sched_yield();
        }
        seen = __atomic_load_n(&word, __ATOMIC_ACQUIRE);
        CHECK(seen == 2, "word is %ld: the put has passed the message before shmem_fence()", seen);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
