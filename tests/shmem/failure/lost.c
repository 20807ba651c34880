/* SPDX-License-Identifier: BSD-3-Clause */
/* lost.c [WHAT [OTHERS]]: one PE, the last, ends as WHAT says, or stops, while the others wait as
 * OTHERS says. All end, none with 0; but where it only sleeps for a while. */

#include "tests/shmem/check.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word;
static char data[1 << 20];

static void end(const char *what)
{
    if (strcmp(what, "stop") == 0) {
        raise(SIGSTOP);
    } else if (strcmp(what, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(what, "_exit") == 0) {
        _exit(0);
    } else if (strcmp(what, "exit") == 0) {
        exit(0);
    } else if (strcmp(what, "finalize") == 0) {
        shmem_finalize();
        exit(0);
    } else if (strcmp(what, "global") == 0) {
        usleep(300000); /* the others wait by then */
        shmem_global_exit(9);
    } else if (strcmp(what, "pause") == 0) {
        pause();
    } else if (strcmp(what, "sleep") == 0) {
        sleep(6);
    }
}

static void wait_for(const char *how, int pe)
{
    if (strcmp(how, "put") == 0) {
        for (;;) {
            shmem_putmem_nbi(data, data, sizeof data, pe);
            shmem_quiet();
        }
    } else if (strcmp(how, "get") == 0) {
        for (;;) {
            shmem_getmem(data, data, sizeof data, pe);
        }
    } else if (strcmp(how, "add") == 0) {
        for (;;) {
            shmem_long_atomic_add(&word, 1, pe);
        }
    } else if (strcmp(how, "wait") == 0) {
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, -1);
    } else {
        shmem_barrier_all();
    }
}

int main(int count, char **words)
{
    const char *what = (count > 1) ? words[1] : "pause";
    const char *how  = (count > 2) ? words[2] : "barrier";
    int last;

    if (strcmp(what, "late") == 0) {
        printf("a PE is process %d\n", (int)getpid());
        fflush(stdout);
        if (strcmp(getenv("PMIX_RANK"), how) == 0) {
            pause();
        }
    }
    shmem_init();
    last = shmem_n_pes() - 1;
    shmem_barrier_all();
    /* A script waits for these lines. */
    printf("PE %d is process %d\n", shmem_my_pe(), (int)getpid());
    fflush(stdout);
    shmem_barrier_all();
    if (shmem_my_pe() == last) {
        end(what);
    }
    wait_for(how, last);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
