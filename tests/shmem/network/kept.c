/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.c: operations that are started are sent although their PE is outside of the library from
 * then on. It waits for a signal of the target, which has them. No ping wakes it (CMakeLists.txt).
 */

#include "tests/shmem/check.h"
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    SIZE_BYTES = 24 << 20, /* more than the kernel keeps */
    ROUNDS     = 5,
    QUIET_US   = 300000, /* until the library's thread sleeps */
    LIMIT_S    = 30,
};

static long flag;
static long pid;

static void start(char *dest, const char *source, long round)
{
    const struct timespec limit = {.tv_sec = LIMIT_S};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    shmem_putmem_nbi(dest, source, SIZE_BYTES, 1);
    shmem_fence();
    shmem_long_p(&flag, round, 1);
    CHECK(sigtimedwait(&set, NULL, &limit) == SIGUSR1, "round %ld: PE 1 waits for data", round);
}

int main(void)
{
    sigset_t set;
    char *source;
    char *dest;
    long other;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    shmem_init();
    pid    = (long)getpid();
    source = calloc(1, SIZE_BYTES);
    dest   = shmem_malloc(SIZE_BYTES);
    CHECK((source != NULL) && (dest != NULL), "no memory");
    shmem_barrier_all();
    other = shmem_long_g(&pid, 0);
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_barrier_all();
        usleep(QUIET_US);
        if (shmem_my_pe() == 0) {
            start(dest, source, round);
        } else {
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
            kill((pid_t)other, SIGUSR1);
        }
    }
    shmem_barrier_all();
    shmem_free(dest);
    free(source);
    shmem_finalize();
    return 0;
}
