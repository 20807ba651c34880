/* SPDX-License-Identifier: BSD-3-Clause */
/* The main thread leaves by pthread_exit() and does not finalize: the process ends with the last
 * thread of the program, whatever threads the library and the network have. Nor have they taken the
 * program's signals. */

#include "tests/shmem/check.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { LATE_US = 100000 };

static const int numbers[] = {SIGABRT, SIGSEGV, SIGBUS, SIGTERM, SIGINT};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static long arrived;
static bool has_worked;

static void *work_late(void *unused)
{
    usleep(LATE_US);
    shmem_long_atomic_inc(&arrived, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_quiet();
    shmem_long_wait_until(&arrived, SHMEM_CMP_EQ, 1);
    has_worked = true;
    return unused;
}

static void judge(void)
{
    if (!has_worked) {
        _exit(1);
    }
}

int main(void)
{
    struct sigaction before[NUMBERS];
    struct sigaction after;
    int level = 0;
    pthread_t thread;

    atexit(judge);
    for (int i = 0; i < NUMBERS; i++) {
        sigaction(numbers[i], NULL, &before[i]);
    }
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) == 0, "no job");
    for (int i = 0; i < NUMBERS; i++) {
        sigaction(numbers[i], NULL, &after);
        CHECK(after.sa_handler == before[i].sa_handler, "signal %d has a handler", numbers[i]);
    }
    shmem_barrier_all();
    CHECK(pthread_create(&thread, NULL, work_late, NULL) == 0, "no thread");
    pthread_detach(thread);
    pthread_exit(NULL);
}
