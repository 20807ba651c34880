/* SPDX-License-Identifier: BSD-3-Clause */
/* silent.c: a PE that waits for memory which the network changes without a word looks at it by
 * itself, as often after seconds as in the beginning. Counted are its sleeps, no times: of a wait
 * that backs off to eight looks a second there are a hundred. */

#include "tests/shmem/check.h"
#include <sys/resource.h>
#include <unistd.h>

enum { LATE_S = 5, SLEEPS_MIN = 400 };

static long word;
static long other;

static long sleeps_so_far(void)
{
    struct rusage usage;

    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0, "no usage");
    return usage.ru_nvcsw;
}

int main(void)
{
    shmem_init();
    shmem_long_p(&other, 1, (shmem_my_pe() + 1) % shmem_n_pes()); /* connections stand */
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        sleep(LATE_S);
        shmem_long_p(&word, 7, 1);
        shmem_quiet();
    } else if (shmem_my_pe() == 1) {
        long before = sleeps_so_far();
        long sleeps;

        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 7);
        sleeps = sleeps_so_far() - before;
        printf("%ld sleeps\n", sleeps);
        CHECK(sleeps >= SLEEPS_MIN, "%ld sleeps in %d s: stores are found late", sleeps, LATE_S);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
