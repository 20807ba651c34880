/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c: an empty program, whose last PE prints how many page faults its start and end have
 * been. */

#include <shmem.h>
#include <stdio.h>
#include <sys/resource.h>

static long faults(void)
{
    struct rusage use;

    return (getrusage(RUSAGE_SELF, &use) == 0) ? use.ru_minflt : -1;
}

int main(void)
{
    long before = faults();
    int is_last;

    shmem_init();
    is_last = (shmem_my_pe() == shmem_n_pes() - 1);
    shmem_finalize();
    if (is_last) {
        printf("%ld\n", faults() - before);
    }
    return 0;
}
