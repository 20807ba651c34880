/* SPDX-License-Identifier: BSD-3-Clause */
/* quiets.c: two threads put and call shmem_quiet() at once. What one of them has put is there after
 * its own quiet, whatever the other's has completed. The target is read by the kernel, without the
 * library; nothing is tested where it refuses. */

#include "tests/shmem/check.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum { THREADS = 2, ROUNDS = 1000, BYTES = 20000 };

struct place {
    uint64_t pid;
    uint64_t address;
};

static struct place place; /* PE 1's */
static char target[THREADS][BYTES];
static char sources[THREADS][BYTES];

static void *put_and_look(void *source)
{
    const int mine = (int)(((char *)source - sources[0]) / BYTES);
    char seen[BYTES];

    for (int round = 1; round <= ROUNDS; round++) {
        const size_t bytes       = (round % 2 == 0) ? BYTES : 3000;
        const struct iovec here  = {seen, bytes};
        const struct iovec there = {(char *)(uintptr_t)place.address + (mine * BYTES), bytes};

        memset(source, round, bytes);
        shmem_putmem(target[mine], source, bytes, 1);
        shmem_quiet();
        if (process_vm_readv((pid_t)place.pid, &here, 1, &there, 1, 0) != (ssize_t)bytes) {
            break;
        }
        CHECK(memcmp(seen, source, bytes) == 0, "round %d: %zu bytes have not arrived after quiet",
              round, bytes);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int provided;

    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0, "start");
    if (shmem_my_pe() == 1) {
        const struct place own = {(uint64_t)getpid(), (uint64_t)(uintptr_t)target};

        shmem_putmem(&place, &own, sizeof own, 0);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        for (int i = 0; i < THREADS; i++) {
            CHECK(pthread_create(&threads[i], NULL, put_and_look, sources[i]) == 0, "thread");
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
