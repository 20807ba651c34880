/* SPDX-License-Identifier: BSD-3-Clause */
/* died.c: the last PE stops the launcher, so that it cannot end the job, and dies. */

#include "tests/shmem/check.h"
#include <signal.h>
#include <unistd.h>

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == shmem_n_pes() - 1) {
        kill(getppid(), SIGSTOP);
        raise(SIGKILL);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
